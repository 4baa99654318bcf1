"""OBDDs of the `dd` package: live functions (autoref and CUDD), its JSON dumps, and DDDMP text files.

In all of them an edge may be complemented, so a node stands for two functions; each that is reached becomes a node of
the decision graph. Files are read here, without `dd`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from quia.errors import FormatError, GraphError, Unsupported, did_you_mean, listed, shown
from quia.graph import DecisionGraph
from quia.load import naming
from quia.load.files import decode

OPTIONS = (*naming.OPTIONS, "root")

TRUE, FALSE = 1, -1


class Bdd(NamedTuple):
    """A BDD with complemented edges: node → its level, low and high; a negative node is the complement; 1 is ⊤."""

    order: list[str]
    nodes: dict[int, tuple[int, int, int]]
    root: int


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


def read_json(text: str, file: str | None, root: str | int | None) -> Bdd:
    """The BDD in a JSON dump of dd: `level_of_var`, `roots`, and `[level, low, high]` for each node."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as fault:
        line = getattr(fault, "lineno", None)
        raise FormatError(f"is not JSON: {getattr(fault, 'msg', fault)}", file=file, line=line) from None
    if not isinstance(content, dict) or not isinstance(content.get("level_of_var"), dict):
        raise FormatError("has no 'level_of_var'; a dump of dd has it, 'roots' and the nodes", file=file)
    levels = content.pop("level_of_var")
    order = sorted(levels, key=lambda name: levels[name] if type(levels[name]) is int else -1)
    if [levels[name] for name in order] != list(range(len(order))):
        raise FormatError("has variables whose levels are not 0, 1, 2, …", file=file)
    naming.distinct(order, file)
    roots = content.pop("roots", None)
    nodes = {}
    for key, value in content.items():
        number = _whole(key)
        if number is None or number < 2 or number in nodes or not _is_triple(value):
            raise FormatError(
                f"has {shown(key)}: {shown(value)}; a node is a number from 2 on with [level, low, high]", file=file
            )
        nodes[number] = (value[0], _json_child(value[1], file), _json_child(value[2], file))
    top = _json_child(_chosen(roots, root, file), file)
    if not nodes:  # a constant: CUDD writes the address of its one leaf as the root
        top = TRUE if top > 0 else FALSE
    bdd = Bdd(order, nodes, top)
    _check(bdd, {}, file)
    return bdd


def read_dddmp(text: str, file: str | None, root: str | int | None) -> Bdd:
    """The BDD in a DDDMP-2.0 text file: a header of `.key values`, then `id info index then else` for each node."""
    header: dict[str, list[str]] = {}
    nodes: dict[int, tuple[int, int, int]] = {}
    line_of: dict[int, int] = {}
    infos: list[tuple[int, str, int, int, int]] = []
    inside = ended = False
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        if not inside:
            if not words[0].startswith("."):
                raise FormatError(f"has {shown(line, 40)} where a '.key' should be", file=file, line=number)
            inside = words[0] == ".nodes"
            header[words[0]] = words[1:]
        elif words[0] == ".end":
            ended = True
            break
        else:
            values = [_whole(word) for word in words]
            if len(words) not in (4, 5) or None in (values[0], values[-2], values[-1]):
                raise FormatError(
                    f"is {shown(line, 40)}; a node is 'id variable index then else'", file=file, line=number
                )
            info = words[1] if len(words) == 5 else words[-3]
            infos.append((number, info, int(words[0]), int(words[-2]), int(words[-1])))
    if not inside or not ended:
        raise FormatError(f"has no {'.end' if inside else '.nodes'}; it is cut short", file=file, line=len(lines))
    if header.get(".mode", ["A"]) != ["A"]:
        raise FormatError(f"is in mode {shown(header['.mode'])}; text mode (A) is read", file=file)
    if [str(len(infos))] != header.get(".nnodes"):
        raise FormatError(f"has {len(infos)} nodes, but .nnodes says {shown(header.get('.nnodes'))}", file=file)
    order, level = _dddmp_variables(header, file)
    for number, info, node, high, low in infos:
        if node < 1 or node in line_of:
            raise FormatError(f"has the id {node} again or below 1; ids must differ", file=file, line=number)
        line_of[node] = number
        if high == low == 0:
            if node != TRUE or info not in ("T", "1"):
                raise FormatError("is a leaf that is not node 1, T; only BDDs are read", file=file, line=number)
            continue
        if info not in level:
            raise FormatError(f"tests {shown(info)}, which the header does not list", file=file, line=number)
        nodes[node] = (level[info], low, high)
    roots = [_whole(word) for word in header.get(".rootids", [])]
    chosen = _chosen(dict(zip(header.get(".rootnames", map(str, range(len(roots)))), roots, strict=False)), root, file)
    if not isinstance(chosen, int):
        raise FormatError(f"has the root {shown(chosen)}, which is no number", file=file)
    bdd = Bdd(order, nodes, chosen)
    _check(bdd, line_of, file)
    return bdd


def _dddmp_variables(header: Mapping[str, list[str]], file: str | None) -> tuple[list[str], dict[str, int]]:
    """The variables in their order, and the level that a node's variable info stands for."""
    columns = {key: header.get(key, []) for key in (".ids", ".permids", ".auxids", ".suppvarnames")}
    count = len(columns[".permids"])
    permuted = [_whole(word) for word in columns[".permids"]]
    if None in permuted or len(set(permuted)) < count or len(columns[".ids"]) != count:
        raise FormatError(".ids and .permids must be as many different numbers", file=file)
    places = [int(word) for word in columns[".permids"]]
    by_place = sorted(range(count), key=places.__getitem__)
    tested = columns[".suppvarnames"] if len(columns[".suppvarnames"]) == count else [f"x{w}" for w in columns[".ids"]]
    order = header.get(".orderedvarnames", [])
    if not set(tested) <= set(order):
        order = [tested[k] for k in by_place]
    naming.distinct(order, file)
    kind = (header.get(".varinfo") or [""])[0]
    key = {"0": ".ids", "1": ".permids", "2": ".auxids", "3": ".suppvarnames"}.get(kind)
    infos = columns[key] if key is not None else [str(k) for k in range(count)]
    if len(infos) != count:
        raise FormatError(f".varinfo is {shown(kind)}, but {key} does not list {count} variables", file=file)
    place = {name: level for level, name in enumerate(order)}
    return list(order), {info: place[name] for info, name in zip(infos, tested, strict=True)}


def _check(bdd: Bdd, line_of: Mapping[int, int], file: str | None) -> None:
    """That every child is there, and later in the order, so that there is no cycle."""
    last = len(bdd.order)
    for node, (level, *children) in bdd.nodes.items():
        fault = None if 0 <= level < last else f"has the level {level}, but there are {last} variables"
        for child in children:
            if abs(child) != TRUE and abs(child) not in bdd.nodes:
                fault = f"has the child {child}, which is no node"
            elif abs(child) != TRUE and bdd.nodes[abs(child)][0] <= level:
                fault = f"has the child {child}, whose variable is not after its own in the order"
        if fault is not None:
            raise FormatError(f"node {node} {fault}", file=file, line=line_of.get(node))
    if abs(bdd.root) != TRUE and abs(bdd.root) not in bdd.nodes:
        raise FormatError(f"the root is {bdd.root}, which is no node", file=file)


def _chosen(roots: Any, root: str | int | None, file: str | None) -> Any:
    known = dict(enumerate(roots)) if isinstance(roots, list) else roots
    if not isinstance(known, dict) or not known:
        raise FormatError("has no 'roots'; one function is needed", file=file)
    if root is None:
        if len(known) > 1:
            raise GraphError(f"the file has {len(known)} roots, {listed(known)}; say which with root=…")
        return next(iter(known.values()))
    if root not in known:
        raise GraphError(f"root is {shown(root)}; the file's are {listed(known)}{did_you_mean(root, map(str, known))}")
    return known[root]


def _json_child(value: Any, file: str | None) -> int:
    if value in ("T", "F") and isinstance(value, str):
        return TRUE if value == "T" else FALSE
    if type(value) is int and value != 0:
        return value
    raise FormatError(f"has {shown(value)} where a node, 'T' or 'F' should be", file=file)


def _is_triple(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and type(value[0]) is int


def _whole(word: str) -> int | None:
    digits = word.removeprefix("-")
    return int(word) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
