"""BDDs in files: dd's JSON dumps and DDDMP text, read without `dd`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from quia.errors import FormatError, GraphError, did_you_mean, listed, shown
from quia.files import refuse_many_values
from quia.load import naming

TRUE, FALSE = 1, -1


class Bdd(NamedTuple):
    """A BDD with complemented edges: node → its level, low and high; a negative node is the complement; 1 is ⊤."""

    order: list[str]
    nodes: dict[int, tuple[int, int, int]]
    root: int


def read_json(text: str, file: str | None, root: str | int | None) -> Bdd:
    """The BDD in a JSON dump of dd: `level_of_var`, `roots`, and `[level, low, high]` for each node."""
    where = _Keys(text, file)
    refuse_many_values(text, file)
    try:
        content = json.loads(text, object_pairs_hook=where.distinct)
    except (ValueError, RecursionError) as fault:
        line = getattr(fault, "lineno", 1)
        raise FormatError(f"is not JSON: {getattr(fault, 'msg', fault)}", file=file, line=line) from None
    if not isinstance(content, dict) or not isinstance(content.get("level_of_var"), dict):
        where.fail("level_of_var", "has no 'level_of_var'; a dump of dd has it, 'roots' and the nodes")
    levels = content.pop("level_of_var")
    order = sorted(levels, key=lambda name: levels[name] if type(levels[name]) is int else -1)
    if [levels[name] for name in order] != list(range(len(order))):
        where.fail("level_of_var", "has variables whose levels are not 0, 1, 2, …")
    naming.distinct(order, file, where.line("level_of_var"))
    roots = content.pop("roots", None)
    nodes = {}
    for key, value in content.items():
        number = _whole(key)
        if number is None or number < 2 or number in nodes or not _is_triple(value):
            where.fail(key, f"has {shown(key)}: {shown(value)}; a node is a number from 2 on with [level, low, high]")
        nodes[number] = (value[0], _json_child(value[1], key, where), _json_child(value[2], key, where))
    top = _json_child(_chosen(roots, root, file, where.line("roots")), "roots", where)
    if not nodes:  # a constant: CUDD writes the address of its one leaf as the root
        top = TRUE if top > 0 else FALSE
    bdd = Bdd(order, nodes, top)
    _check(bdd, lambda node: where.line("roots" if node is None else str(node)), file)
    return bdd


class _Keys:
    """Where the names of a JSON object stand in its text; looked for only when there is a fault to tell."""

    def __init__(self, text: str, file: str | None) -> None:
        self.text, self.file = text, file

    def line(self, key: str) -> int:
        """The line of a name, the first where it is missing or written with escapes."""
        quoted = json.dumps(key, ensure_ascii=False)
        at = re.search(re.escape(quoted) + r"\s*:", self.text)
        return 1 if at is None else self.text.count("\n", 0, at.start()) + 1

    def fail(self, key: str, fault: str) -> NoReturn:
        raise FormatError(fault, file=self.file, line=self.line(key))

    def distinct(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The pairs of an object, none of which is given twice."""
        made: dict[str, Any] = {}
        for name, value in pairs:
            if name in made:
                self.fail(name, f"gives {shown(name)} a second time; names and ids must differ")
            made[name] = value
        return made


def read_dddmp(text: str, file: str | None, root: str | int | None) -> Bdd:
    """The BDD in a DDDMP-2.0 text file: a header of `.key values`, then `id info index then else` for each node."""
    header: dict[str, list[str]] = {}
    line_of_key: dict[str, int] = {}
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
            line_of_key[words[0]] = number
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
        fault = f"is in mode {shown(' '.join(header['.mode']))}; text mode (A) is read"
        raise FormatError(fault, file=file, line=line_of_key[".mode"])
    if [str(len(infos))] != header.get(".nnodes"):
        said = "is missing" if ".nnodes" not in header else f"says {shown(' '.join(header['.nnodes']))}"
        raise FormatError(f".nnodes {said}; there are {len(infos)}", file=file, line=line_of_key.get(".nnodes", 1))
    order, level = _dddmp_variables(header, line_of_key, file)
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
    named = dict(zip(header.get(".rootnames", map(str, range(len(roots)))), roots, strict=False))
    line_of_roots = line_of_key.get(".rootids", 1)
    chosen = _chosen(named, root, file, line_of_roots)
    if not isinstance(chosen, int):
        raise FormatError("has a root that is no number", file=file, line=line_of_roots)
    bdd = Bdd(order, nodes, chosen)
    _check(bdd, lambda node: line_of_roots if node is None else line_of[node], file)
    return bdd


def _dddmp_variables(
    header: Mapping[str, list[str]], line_of_key: Mapping[str, int], file: str | None
) -> tuple[list[str], dict[str, int]]:
    """The variables in their order, and the level that a node's variable info stands for."""
    columns = {key: header.get(key, []) for key in (".ids", ".permids", ".auxids", ".suppvarnames")}
    count = len(columns[".permids"])
    permuted = [_whole(word) for word in columns[".permids"]]
    if None in permuted or len(set(permuted)) < count or len(columns[".ids"]) != count:
        line = line_of_key.get(".permids", line_of_key.get(".ids", 1))
        raise FormatError(".ids and .permids must be as many different numbers", file=file, line=line)
    places = [int(word) for word in columns[".permids"]]
    by_place = sorted(range(count), key=places.__getitem__)
    tested = columns[".suppvarnames"] if len(columns[".suppvarnames"]) == count else [f"x{w}" for w in columns[".ids"]]
    order = header.get(".orderedvarnames", [])
    if not set(tested) <= set(order):
        order = [tested[k] for k in by_place]
    naming.distinct(order, file, line_of_key.get(".orderedvarnames", line_of_key.get(".suppvarnames", 1)))
    kind = (header.get(".varinfo") or [""])[0]
    key = {"0": ".ids", "1": ".permids", "2": ".auxids", "3": ".suppvarnames"}.get(kind)
    infos = columns[key] if key is not None else [str(k) for k in range(count)]
    if len(infos) != count:
        fault = f".varinfo is {shown(kind)}, but {key} does not list {count} variables"
        raise FormatError(fault, file=file, line=line_of_key.get(key or "", line_of_key[".varinfo"]))
    place = {name: level for level, name in enumerate(order)}
    return list(order), {info: place[name] for info, name in zip(infos, tested, strict=True)}


def _check(bdd: Bdd, line_of: Callable[[int | None], int], file: str | None) -> None:
    """That every child is there, and later in the order, so that there is no cycle.

    `line_of` tells the line of a node, and of None that of the root.
    """
    last = len(bdd.order)
    for node, (level, *children) in bdd.nodes.items():
        fault = None if 0 <= level < last else f"has the level {level}, but there are {last} variables"
        for child in children:
            if abs(child) != TRUE and abs(child) not in bdd.nodes:
                fault = f"has the child {child}, which is no node"
            elif abs(child) != TRUE and bdd.nodes[abs(child)][0] <= level:
                fault = f"has the child {child}, whose variable is not after its own in the order"
        if fault is not None:
            raise FormatError(f"node {node} {fault}", file=file, line=line_of(node))
    if abs(bdd.root) != TRUE and abs(bdd.root) not in bdd.nodes:
        raise FormatError(f"the root is {bdd.root}, which is no node", file=file, line=line_of(None))


def _chosen(roots: Any, root: str | int | None, file: str | None, line: int) -> Any:
    known = dict(enumerate(roots)) if isinstance(roots, list) else roots
    if not isinstance(known, dict) or not known:
        raise FormatError("has no 'roots'; one function is needed", file=file, line=line)
    if root is None:
        if len(known) > 1:
            raise GraphError(f"the file has {len(known)} roots, {listed(known)}; say which with root=…")
        return next(iter(known.values()))
    if root not in known:
        raise GraphError(f"root is {shown(root)}; the file's are {listed(known)}{did_you_mean(root, map(str, known))}")
    return known[root]


def _json_child(value: Any, key: str, where: _Keys) -> int:
    if value in ("T", "F") and isinstance(value, str):
        return TRUE if value == "T" else FALSE
    if type(value) is int and value != 0:
        return value
    return where.fail(key, f"has {shown(value)} where a node, 'T' or 'F' should be")


def _is_triple(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and type(value[0]) is int


def _whole(word: str) -> int | None:
    digits = word.removeprefix("-")
    return int(word) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
