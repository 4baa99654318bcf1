"""What `quia check` says of a Bayesian network: its variables, and which of them can be decided about."""

from __future__ import annotations

import argparse
import json
import shlex
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

from quia.command import model_options
from quia.errors import listed
from quia.show.words import plural

if TYPE_CHECKING:
    from quia.compile.network import Network

NETWORKS = ("bif", "xmlbif", "hugin")
"""The formats of networks."""
_MOST_SHOWN = 40
_MOST_FEATURES = 6
"""So many features are proposed."""


def network_of(arguments: argparse.Namespace) -> Network | None:
    """The network in the model's file, if that is what it has."""
    from quia.files import read_bytes
    from quia.load import FORMATS, format_name

    name = format_name(arguments.model, arguments.format)
    if name not in NETWORKS:
        return None
    network: Network = import_module(FORMATS[name].module).read_network(read_bytes(arguments.model), arguments.model)
    return network


def asks_for_no_decision(arguments: argparse.Namespace) -> bool:
    """Whether no option says what to decide about, and nothing is asked of decisions."""
    asked = ("data", "predicted", "protected", "given", "given_file", "within")
    return not any(getattr(arguments, name) for name in asked) and not model_options(arguments)


def describe_network(network: Network) -> dict[str, Any]:
    """What is in a network that nothing is decided about yet, as plain data."""
    return {
        "schema": "quia/check/1",
        "sound": True,
        "kind": "Bayesian network",
        "network": _facts(network),
        "notes": list(network.notes),
    }


def with_network(network: Network, target: str, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a graph that was compiled from a network, and what it was compiled from."""
    hidden = [name for name in network.names if name != target and name not in facts["variables"]]
    return {**facts, "network": {**_facts(network), "target": target, "hidden": hidden}}


def compiled_text(facts: dict[str, Any]) -> list[str]:
    """Lines about what a graph was compiled from, and about features that it need not ask for."""
    network = facts["network"]
    lines = [f"  compiled from a Bayesian network: {_size(network)}, {len(network['hidden']):,} of them hidden"]
    idle = [name for name, variable in facts["variables"].items() if not variable["tested"]]
    if idle:
        lines.append(f"  never change the decision: {listed(idle)}")
    return lines


def network_text(model: str, facts: dict[str, Any], network: Network, format: str | None) -> str:
    """What there is to say of a network, its variables, and what to type next."""
    about = facts["network"]
    lines = [
        f"{model}: a sound Bayesian network",
        f"  {_size(about)}, {plural(about['arrows'], 'arrow')}, {_probabilities(about)}",
        f"  roots: {listed(about['roots'])}",
        f"  leaves: {listed(about['leaves'])}",
        *(f"  note: {note}" for note in facts["notes"]),
        "  variables that can be the target of decisions:",
    ]
    states = {name: found["states"] for name, found in about["variables"].items() if len(found["states"]) > 1}
    shown = list(states)[:_MOST_SHOWN]
    width = max(map(len, shown), default=0)
    lines += [f"    {name:<{width}}  {listed(states[name], 8)}" for name in shown]
    if len(shown) < len(states):
        lines.append(f"    … ({len(states):,} in all)")
    return "\n".join([*lines, *_next(model, network, format)])


def _next(model: str, network: Network, format: str | None) -> list[str]:
    """A command that goes on, with a target and features that could be chosen."""
    target, features = _proposed(network)
    if not features:
        return ["  no other variable has several states, so there is nothing to decide by"]
    plain = all("," not in name and name == name.strip() for name in features)
    named = ",".join(features) if plain else json.dumps(features, ensure_ascii=False)
    command = ["quia", "check", model, *(() if format is None else ("--format", format))]
    return [
        "  next: a target, and what is observed (all leaves, if nothing is said), as in",
        f"    {shlex.join([*command, '--option', f'target={target}'])} \\",
        f"      {shlex.join(['--option', f'features={named}'])}",
    ]


def _proposed(network: Network) -> tuple[str, list[str]]:
    """The variable between causes and effects that most others descend from, and some leaves that do."""
    ancestors = {name: network.ancestors([place]) for place, name in enumerate(network.names)}
    counted = Counter(place for found in ancestors.values() for place in found)
    able = [place for place, size in enumerate(network.sizes) if size > 1]
    if not able:
        return "", []
    target = max(able, key=lambda place: (counted[place] > 1, bool(network.nodes[place].parents), counted[place]))
    leaves = [name for name in network.leaves if target in ancestors[name] and network.place(name) != target]
    others = [network.names[place] for place in able if place != target]
    return network.names[target], (leaves or others)[:_MOST_FEATURES]


def _facts(network: Network) -> dict[str, Any]:
    return {
        "variables": {
            node.name: {"states": list(node.states), "parents": [network.names[place] for place in node.parents]}
            for node in network.nodes
        },
        "arrows": sum(len(node.parents) for node in network.nodes),
        "probabilities": sum(node.table.size for node in network.nodes),
        "roots": [node.name for node in network.nodes if not node.parents],
        "leaves": list(network.leaves),
    }


def _size(network: dict[str, Any]) -> str:
    return plural(len(network["variables"]), "variable")


def _probabilities(network: dict[str, Any]) -> str:
    count = network["probabilities"]
    return f"{count:,} {'probability' if count == 1 else 'probabilities'}"
