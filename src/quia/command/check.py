"""`quia check`: what is in a model, and is it sound?"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from quia.command import Subparsers, add_model, load_model, model_options, write
from quia.command.progress import working
from quia.errors import QuiaError, listed

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.graph import DecisionGraph
    from quia.load.agreement import Agreement
    from quia.variables import Variable


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "check",
        help="what is in a model, and is it sound",
        description="Reads a model, checks it, and says what is in it and what had to be changed to explain it.",
    )
    add_model(parser)
    parser.add_argument(
        "--data",
        metavar="FILE.csv",
        help="compare with the model's own decisions on these rows, and at and around every threshold",
    )
    parser.add_argument(
        "--predicted",
        metavar="COLUMN",
        help="which column of --data has them, if the model itself cannot be asked",
    )
    parser.add_argument("--json", action="store_true", help="print JSON (schema quia/check/1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check, print; 1 if the model is not sound."""
    try:
        classifier = load_model(arguments)
    except QuiaError as fault:
        if arguments.json:
            write(json.dumps({"schema": "quia/check/1", "sound": False, "fault": str(fault)}, ensure_ascii=False))
        print(f"quia: not sound: {fault}", file=sys.stderr)  # noqa: T201
        return 1
    facts = describe(classifier)
    agreed = _compared(arguments)
    if agreed is not None:
        facts["agreement"] = agreed.to_dict()
    write(json.dumps(facts, ensure_ascii=False, indent=2) if arguments.json else _text(arguments.model, facts))
    if agreed is None:
        return 0
    if not arguments.json:
        write(f"  the model's own decisions: {agreed}")
    return 0 if agreed.holds else 1


def _compared(arguments: argparse.Namespace) -> Agreement | None:
    if arguments.data is None:
        return None
    from quia.load.agreement import check
    from quia.tables import read_csv

    with working("comparing decisions"):
        return check(
            arguments.model,
            read_csv(arguments.data).records(),
            predicted=arguments.predicted,
            format=arguments.format,
            **model_options(arguments),
        )


def describe(classifier: Classifier) -> dict[str, Any]:
    """What is in a classifier, as plain data."""
    from quia.graph import DecisionGraph

    tested = set(classifier.tested)
    facts = {
        "schema": "quia/check/1",
        "sound": True,
        "variables": {v.name: _variable(v, i in tested) for i, v in enumerate(classifier.variables)},
        "classes": list(classifier.classes),
        "notes": list(classifier.notes),
    }
    if not isinstance(classifier, DecisionGraph):
        return facts | {"kind": classifier.kind}
    return facts | {
        "kind": "decision tree" if classifier.is_tree else "decision graph",
        "nodes": len(classifier),
        "leaves": int((classifier.tests < 0).sum()),
        "edges": len(classifier.child),
        "depth": _depth(classifier),
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
    lines = [f"{model}: a sound {facts['kind']}"]
    if "nodes" in facts:
        lines.append("  {nodes:,} nodes ({leaves:,} leaves), {edges:,} edges, depth {depth:,}".format(**facts))
    lines += [
        f"  classes: {listed(facts['classes'])}",
        f"  variables: {len(variables):,}, of which {sum(v['tested'] for v in variables.values()):,} are tested",
    ]
    shown = [(name, v) for name, v in variables.items() if v["tested"]][:20]
    width = max((len(name) for name, _ in shown), default=0)
    lines += [f"    {name:<{width}}  {v['kind']}, {v['states']} states" for name, v in shown]
    if len(shown) < sum(v["tested"] for v in variables.values()):
        lines.append("    …")
    lines += [f"  note: {note}" for note in facts["notes"]]
    return "\n".join(lines)
