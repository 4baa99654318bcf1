"""Generated circuits in the text of their file formats: SDDs of random functions, Decision-DNNFs of thresholds."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from benchmarks import generate


class Compiled(NamedTuple):
    """The text of a circuit's file, and its nodes and edges: lines of nodes, and children that they name."""

    data: bytes
    nodes: int
    edges: int


def random_sdd(variables: int, *, seed: int = 1) -> Compiled:
    """The compressed and trimmed SDD of a random function on a balanced vtree."""
    table = Random(seed).getrandbits(1 << variables)
    return _SddCompiler().compiled(table, variables)


def balanced_vtree(variables: int) -> bytes:
    """The vtree of `random_sdd` in the text of a `.vtree` file, its nodes numbered from left to right."""
    lines: list[str] = []

    def put(low: int, high: int) -> int:
        if high - low == 1:
            lines.append(f"L {2 * low} {low + 1}")
            return 2 * low
        middle = (low + high) // 2
        left, right = put(low, middle), put(middle, high)
        lines.append(f"I {2 * middle - 1} {left} {right}")
        return 2 * middle - 1

    put(0, variables)
    return "\n".join([f"vtree {len(lines)}", *lines, ""]).encode()


class _SddCompiler:
    """Truth tables to SDD nodes: bit w of a table is the value in world w; the first variable is its highest bit."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.edges = 0
        self.known: dict[tuple[int, int, int], int] = {}

    def compiled(self, table: int, variables: int) -> Compiled:
        self.node(0, variables, table)
        return Compiled("\n".join([f"sdd {len(self.lines)}", *self.lines, ""]).encode(), len(self.lines), self.edges)

    def node(self, low: int, high: int, table: int) -> int:
        """The node of a function of the variables from `low` up to `high`."""
        full = (1 << (1 << high - low)) - 1
        key = (0, 0, int(table == full)) if table in (0, full) else (low, high, table)
        if key not in self.known:
            self.known[key] = self._made(low, high, table, full)
        return self.known[key]

    def _made(self, low: int, high: int, table: int, full: int) -> int:
        if table in (0, full):
            return self._line(f"{'T' if table else 'F'} {{}}")
        if high - low == 1:
            return self._line(f"L {{}} {2 * low} {low + 1 if table == 2 else -low - 1}")
        middle = (low + high) // 2
        width = 1 << high - middle  # the worlds of the right side
        primes: dict[int, int] = {}  # sub → the worlds of the left side that leave it
        for world in range(1 << middle - low):
            sub = table >> world * width & (1 << width) - 1
            primes[sub] = primes.get(sub, 0) | 1 << world
        nothing, everything = 0, (1 << width) - 1
        if len(primes) == 1:
            return self.node(middle, high, next(iter(primes)))
        if primes.keys() == {nothing, everything}:
            return self.node(low, middle, primes[everything])
        parts = [(self.node(low, middle, prime), self.node(middle, high, sub)) for sub, prime in primes.items()]
        self.edges += 2 * len(parts)
        return self._line(f"D {{}} {2 * middle - 1} {len(parts)} " + " ".join(f"{p} {s}" for p, s in parts))

    def _line(self, form: str) -> int:
        self.lines.append(form.format(len(self.lines)))
        return len(self.lines) - 1


def conjoined_thresholds(nodes: int, *, parts: int = 4, variables: int = 30, seed: int = 1) -> Compiled:
    """The Decision-DNNF of a conjunction of naive Bayes classifiers over features of their own, as c2d writes it."""
    lines = ["O 0 0", "A 0"]
    edges = parts
    roots = []
    for part in range(parts):
        graph = generate.threshold_graph(max(nodes // (3 * parts), 3), variables, seed=seed + part)
        first = part * variables
        literals = {}
        for literal in (s * v for v in range(first + 1, first + variables + 1) for s in (1, -1)):
            literals[literal] = len(lines)
            lines.append(f"L {literal}")
        place: list[int] = []
        for test, label, outgoing in graph.nodes:
            if test < 0:
                place.append(label)
                continue
            variable = first + test + 1
            low, high = (place[child] for _, child in outgoing)
            lines.append(f"A 2 {literals[variable]} {high}")
            lines.append(f"A 2 {literals[-variable]} {low}")
            lines.append(f"O {variable} 2 {len(lines) - 2} {len(lines) - 1}")
            edges += 6
            place.append(len(lines) - 1)
        roots.append(place[-1])
    lines.append(" ".join(["A", str(parts), *map(str, roots)]))
    header = f"nnf {len(lines)} {edges} {parts * variables}"
    return Compiled("\n".join([header, *lines, ""]).encode(), len(lines), edges)
