"""OBDDs of the `dd` package: live functions (autoref and CUDD), its JSON dumps, and DDDMP text files.

In all of them an edge may be complemented, so a node stands for two functions; each that is reached becomes a node of
the decision graph. Files are read without `dd`, by `dd_files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quia.errors import Unsupported
from quia.files import decode
from quia.graph import DecisionGraph
from quia.load import naming
from quia.load.dd_files import FALSE, TRUE, Bdd, read_dddmp, read_json

OPTIONS = (*naming.OPTIONS, "root")


def read(
    data: bytes,
    file: str | None = None,
    *,
    root: str | int | None = None,
    classes: Iterable[str] | None = None,
    states: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    names: Iterable[str] | Mapping[Any, str] | None = None,
) -> DecisionGraph:
    """The decision graph of a BDD in dd's JSON or in DDDMP text; `root` says which if there are several."""
    text = decode(data, file)
    bdd = read_dddmp(text, file, root) if text.lstrip().startswith(".") else read_json(text, file, root)
    return graph_of(bdd, classes=classes, states=states, names=names)


def convert(
    source: Any,
    *,
    root: object = None,
    classes: Iterable[str] | None = None,
    states: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    names: Iterable[str] | Mapping[Any, str] | None = None,
) -> DecisionGraph:
    """The decision graph of a live BDD function, over all variables of its manager in their order."""
    if not all(hasattr(source, name) for name in ("bdd", "low", "high", "negated", "var")):
        raise Unsupported(f"a {type(source).__qualname__} of dd cannot be loaded", cure="give a function of a dd BDD")
    if root is not None:
        raise Unsupported("'root' tells the functions in a file apart", cure="give the function itself")
    manager = source.bdd
    order = sorted(manager.vars, key=manager.level_of_var)
    level = {name: i for i, name in enumerate(order)}
    number: dict[int, int] = {}
    nodes: dict[int, tuple[int, int, int]] = {}

    def known(function: Any) -> int | None:
        """Its number, if it has one; the complement of a function has the negated number."""
        if function.var is None:
            return FALSE if function.negated else TRUE
        found = number.get(int(~function if function.negated else function))
        return None if found is None else -found if function.negated else found

    work = [source]
    while work:
        function = work[-1]
        if known(function) is not None:
            work.pop()
            continue
        low, high = function.low, function.high  # of the function itself, or of its complement if it is negated
        numbers = known(low), known(high)
        if numbers[0] is None or numbers[1] is None:
            work.extend(child for child, found in zip((low, high), numbers, strict=True) if found is None)
            continue
        fresh = number[int(~function if function.negated else function)] = len(number) + 2
        nodes[fresh] = (level[function.var], numbers[0], numbers[1])
        work.pop()
    top = known(source)
    assert top is not None
    return graph_of(Bdd(order, nodes, top), classes=classes, states=states, names=names)


def graph_of(
    bdd: Bdd,
    *,
    classes: Iterable[str] | None,
    states: Iterable[str] | Mapping[str, Iterable[str]] | None,
    names: Iterable[str] | Mapping[Any, str] | None,
) -> DecisionGraph:
    """The decision graph of a BDD, with a node for each of a BDD node's two functions that is reached."""
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]  # type: list[int], list[int], list[Any]
    place = {FALSE: 0, TRUE: 1}
    work = [bdd.root]
    while work:
        node = work[-1]
        if node in place:
            work.pop()
            continue
        level, low, high = bdd.nodes[abs(node)]
        below = (low, high) if node > 0 else (-low, -high)
        waiting = [child for child in below if child not in place]
        if waiting:
            work.extend(waiting)
            continue
        place[node] = len(tests)
        tests.append(level)
        labels.append(-1)
        edges.append(((((0, 0),), place[below[0]]), (((1, 1),), place[below[1]])))
        work.pop()
    used = [leaf for leaf in (0, 1) if any(child == leaf for outgoing in edges for _, child in outgoing)]
    if abs(bdd.root) == TRUE:
        used = [place[bdd.root]]
    kept = [*used, *range(2, len(tests))]
    renumbered = {node: i for i, node in enumerate(kept)}
    return DecisionGraph.build(
        naming.named_variables(bdd.order, [2] * len(bdd.order), states, names),
        naming.named_classes(2, classes),
        [tests[node] for node in kept],
        [labels[node] for node in kept],
        [tuple((ranges, renumbered[child]) for ranges, child in edges[node]) for node in kept],
    )
