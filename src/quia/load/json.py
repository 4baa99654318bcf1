"""quia's own JSON format: read and written."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, GraphError, shown
from quia.files import decode, refuse_many_values, write_text

if TYPE_CHECKING:
    from quia.additive import Additive
    from quia.classifier import HasJson
    from quia.ensemble import Ensemble
    from quia.graph import DecisionGraph

OPTIONS = ("classes", "cutoff")


def read(
    data: bytes, file: str | None = None, *, cutoff: Any = None, classes: Any = None
) -> DecisionGraph | Ensemble | Additive:
    """The classifier in a JSON file; an object that has a name twice is an error, not a silent loss.

    `cutoff` and `classes` go before what is in the file of a model that compares one score with cutoffs.
    """
    from quia.additive import Additive
    from quia.ensemble import Ensemble
    from quia.graph import DecisionGraph

    refuse_many_values(data, file)
    try:
        content = json.loads(decode(data, file), object_pairs_hook=_with_unique_names, parse_constant=_refuse_constant)
    except json.JSONDecodeError as fault:
        raise FormatError(f"is not JSON: {fault.msg} (column {fault.colno})", file=file, line=fault.lineno) from None
    except RecursionError:
        raise FormatError("nests lists or objects too deeply for a decision graph", file=file) from None
    except ValueError as fault:  # an int with thousands of digits
        raise FormatError(f"has a number that cannot be read: {fault}", file=file) from None
    kind: type[DecisionGraph | Ensemble | Additive] = DecisionGraph
    if isinstance(content, dict):
        kind = Ensemble if "trees" in content else Additive if "terms" in content else DecisionGraph
    model = kind.from_dict(content)
    if cutoff is None and classes is None:
        return model
    from quia.load.cutoffs import with_cutoffs

    return with_cutoffs(model, content, cutoff, classes)


def write(graph: HasJson, file: str | os.PathLike[str]) -> None:
    """Write a graph, an ensemble or an additive model to a file."""
    write_text(dumps(graph), file)


def dumps(graph: HasJson) -> str:
    """The JSON text of a classifier, one line for each variable, constraint, node, test, tree or term."""
    data = graph.to_dict()
    lines = []
    for key, value in data.items():
        if key in ("nodes", "variables"):
            inner = ",\n".join(f"  {_line(name)}: {_line(content)}" for name, content in value.items())
            lines.append(f" {_line(key)}: {{\n{inner}}}" if inner else f" {_line(key)}: {{}}")
        elif key in ("given", "tests", "trees", "terms") and value:
            inner = ",\n".join(f"  {_line(each)}" for each in value)
            lines.append(f" {_line(key)}: [\n{inner}]")
        else:
            lines.append(f" {_line(key)}: {_line(value)}")
    return "{" + ",\n".join(lines)[1:] + "}\n"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _with_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise GraphError(f"the name {shown(name)} is given twice in one object; names must differ")
            seen.add(name)
    return content


def _refuse_constant(constant: str) -> Any:
    raise GraphError(f"{constant} stands where a string should be; JSON has no such number")
