"""`quia check`: what is in a model, and is it sound?"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from quia.command import Subparsers, add_model, write
from quia.command.progress import working
from quia.errors import QuiaError
from quia.load import load

if TYPE_CHECKING:
    from quia.circuit import Circuit
    from quia.classifier import Classifier
    from quia.graph import DecisionGraph
    from quia.variables import Variable


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "check",
        help="what is in a model, and is it sound",
        description="Reads a model, checks it, and says what is in it and what had to be changed to explain it.",
    )
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="print JSON (schema quia/check/1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check, print; 1 if the model is not sound."""
    try:
        with working("reading the model"):
            classifier = load(arguments.model, format=arguments.format)
    except QuiaError as fault:
        if arguments.json:
            write(json.dumps({"schema": "quia/check/1", "sound": False, "fault": str(fault)}, ensure_ascii=False))
        print(f"quia: not sound: {fault}", file=sys.stderr)  # noqa: T201
        return 1
    facts = describe(classifier)
    write(json.dumps(facts, ensure_ascii=False, indent=2) if arguments.json else _text(arguments.model, facts))
    return 0


def describe(classifier: Classifier) -> dict[str, Any]:
    """What is in a classifier, as plain data."""
    from quia.graph import DecisionGraph

    return _graph(classifier) if isinstance(classifier, DecisionGraph) else _circuit(classifier)


def _circuit(circuit: Circuit) -> dict[str, Any]:
    formulas = dict(zip(circuit.classes, circuit.formulas, strict=True))
    return {
        "schema": "quia/check/1",
        "sound": True,
        "kind": circuit.kind,
        "nodes": len(circuit),
        "variables": {v.name: _variable(v, i in circuit.tested) for i, v in enumerate(circuit.variables)},
        "classes": {name: 0 if formula is None else len(formula) for name, formula in formulas.items()},
        "notes": list(circuit.notes),
    }


def _graph(graph: DecisionGraph) -> dict[str, Any]:
    leaves = int((graph.tests < 0).sum())
    return {
        "schema": "quia/check/1",
        "sound": True,
        "kind": "decision tree" if graph.is_tree else "decision graph",
        "nodes": len(graph),
        "leaves": leaves,
        "edges": len(graph.child),
        "depth": _depth(graph),
        "variables": {v.name: _variable(v, i in graph.tested) for i, v in enumerate(graph.variables)},
        "classes": {name: int((graph.labels == i).sum()) for i, name in enumerate(graph.classes)},
        "notes": list(graph.notes),
    }


def _variable(variable: Variable, tested: bool) -> dict[str, Any]:
    return {"kind": "numeric" if variable.is_numeric else "nominal", "states": variable.size, "tested": tested}


def _depth(graph: DecisionGraph) -> int:
    depth: list[int] = []
    for _, _, edges in graph.nodes:
        depth.append(1 + max((depth[child] for _, child in edges), default=-1))
    return depth[-1]


def _text(model: str, facts: dict[str, Any]) -> str:
    variables = facts["variables"]
    is_graph = "leaves" in facts
    size = f" ({facts['leaves']:,} leaves), {facts['edges']:,} edges, depth {facts['depth']:,}" if is_graph else ""
    unit = "leaves" if is_graph else "nodes"
    lines = [
        f"{model}: a sound {facts['kind']}",
        f"  {facts['nodes']:,} nodes{size}",
        "  classes: " + ", ".join(f"{name} ({n:,} {unit})" for name, n in facts["classes"].items()),
        f"  variables: {len(variables):,}, of which {sum(v['tested'] for v in variables.values()):,} are tested",
    ]
    shown = [(name, v) for name, v in variables.items() if v["tested"]][:20]
    width = max((len(name) for name, _ in shown), default=0)
    lines += [f"    {name:<{width}}  {v['kind']}, {v['states']} states" for name, v in shown]
    if len(shown) < sum(v["tested"] for v in variables.values()):
        lines.append("    …")
    lines += [f"  note: {note}" for note in facts["notes"]]
    return "\n".join(lines)
