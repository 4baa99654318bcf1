"""One Boolean function in every form that can be loaded; a function is an int mask over the worlds.

Bit w of the mask is the function's value in world w, and bit i of w is the value of variable v1, v2, … number i + 1.
"""

from contextlib import chdir
from functools import partial
from importlib import import_module
from itertools import combinations

from quia import Variable, formula, load
from strategies import complete_tree

CLASSES = ("0", "1")


def names(n):
    return [f"v{i + 1}" for i in range(n)]


def value(mask, world):
    return mask >> world & 1


def tree(mask, n):
    """The complete decision tree, as JSON."""
    space = {name: ["0", "1"] for name in names(n)}

    def decide(world):
        return value(mask, sum(int(world[name]) << i for i, name in enumerate(names(n))))

    made = complete_tree(space, decide)
    made["classes"] = list(CLASSES)
    return made


def as_formula(mask, n):
    variables = [Variable.nominal(name, ["0", "1"]) for name in names(n)]
    return formula.disjunction(
        formula.conjunction(formula.state(v, w >> i & 1) for i, v in enumerate(variables))
        for w in range(1 << n)
        if value(mask, w)
    ), variables


def by_formula(mask, n):
    delta, variables = as_formula(mask, n)
    return load(delta, variables=variables)


def bdd(mask, n, backend, order=None):
    """A live dd function; with `order`, the variables are declared in it."""
    small = {"memory_estimate": 2**24, "initial_cache_size": 2**8}  # CUDD takes much by itself
    manager = backend.BDD(**small) if backend.__name__ == "dd.cudd" else backend.BDD()
    manager.declare(*(order or names(n)))
    found = manager.false
    for w in range(1 << n):
        if value(mask, w):
            found |= manager.cube({name: bool(w >> i & 1) for i, name in enumerate(names(n))})
    return manager, found


def pysdd(mask, n, vtree_type, order=None):
    from pysdd.sdd import SddManager, Vtree

    tree = Vtree(var_count=n, var_order=order or list(range(1, n + 1)), vtree_type=vtree_type)
    manager = SddManager.from_vtree(tree)
    found = manager.false()
    for w in range(1 << n):
        if value(mask, w):
            term = manager.true()
            for i in range(n):
                term &= manager.literal(i + 1 if w >> i & 1 else -i - 1)
            found |= term
    return manager, found


class Compiler:
    """A small compiler into Decision-DNNF: splits off independent parts, decides a variable where there are none."""

    def __init__(self, mask, n, rng):
        self.rng = rng
        self.nodes = []  # ("L", literal) | ("A", children) | ("O", variable, children)
        self.cache = {}
        worlds = frozenset(w for w in range(1 << n) if value(mask, w))
        self.root = self.compile(worlds, tuple(range(n)))

    def add(self, *node):
        if node not in self.cache:
            self.cache[node] = len(self.nodes)
            self.nodes.append(node)
        return self.cache[node]

    def compile(self, worlds, variables):
        """The node of the function of these variables that is true in just these worlds (other bits are 0)."""
        key = (worlds, variables)
        if key not in self.cache:
            self.cache[key] = self._compile(worlds, variables)
        return self.cache[key]

    def _compile(self, worlds, variables):
        if not worlds:
            return self.add("O", 0, ())
        if len(worlds) == 1 << len(variables):
            return self.add("A", ())
        for size in range(1, len(variables) // 2 + 1):
            for left in combinations(variables, size):
                parts = left, tuple(v for v in variables if v not in left)
                bits = [sum(1 << v for v in part) for part in parts]
                ours = [frozenset(w & b for w in worlds) for b in bits]
                if len(ours[0]) * len(ours[1]) == len(worlds) and len(ours[0]) < 1 << len(left):
                    return self.add("A", tuple(self.compile(o, p) for o, p in zip(ours, parts)))
        decided = self.rng.choice(variables)
        rest = tuple(v for v in variables if v != decided)
        children = []
        for sign in (1, 0):
            below = frozenset(w & ~(1 << decided) for w in worlds if w >> decided & 1 == sign)
            if not below:
                continue
            literal = self.add("L", decided + 1 if sign else -decided - 1)
            part = self.compile(below, rest)
            children.append(literal if self.nodes[part] == ("A", ()) else self.add("A", (literal, part)))
        return children[0] if len(children) == 1 else self.add("O", decided + 1, tuple(children))

    def reached(self):
        """The nodes that the root needs, renumbered, the root last."""
        used = {self.root}
        for i in range(self.root, -1, -1):
            if i in used and self.nodes[i][0] != "L":
                used.update(self.nodes[i][-1])
        place = {node: i for i, node in enumerate(sorted(used))}
        return [
            (*self.nodes[i][:-1], tuple(place[c] for c in self.nodes[i][-1]))
            if self.nodes[i][0] != "L"
            else self.nodes[i]
            for i in sorted(used)
        ]

    def c2d(self, n):
        lines = []
        for node in self.reached():
            if node[0] == "L":
                lines.append(f"L {node[1]}")
            else:
                first = f"O {node[1]}" if node[0] == "O" else "A"
                lines.append(" ".join([first, str(len(node[-1])), *map(str, node[-1])]))
        edges = sum(len(node[-1]) for node in self.reached() if node[0] != "L")
        return "\n".join([f"nnf {len(lines)} {edges} {n}", *lines, ""])

    def d4(self):
        """Nodes and arcs, as d4 numbers them: from 1, the root first; literals sit on the arcs."""
        nodes = self.reached()
        number = {i: len(nodes) - i for i in range(len(nodes))}
        kinds, arcs = [], []
        for i in reversed(range(len(nodes))):
            node = nodes[i]
            if node[0] == "L":  # a conjunction with one arc to true
                kinds.append(f"a {number[i]} 0")
                arcs.append(f"{number[i]} {len(nodes) + 1} {node[1]} 0")
                continue
            kinds.append(f"{'t' if node == ('A', ()) else 'f' if not node[-1] else node[0].lower()} {number[i]} 0")
            for child in node[-1]:
                below = nodes[child]
                if node[0] == "O" and below[0] == "A":
                    (literal, part) = below[1]
                    arcs.append(f"{number[i]} {number[part]} {nodes[literal][1]} 0")
                elif below[0] == "L":
                    arcs.append(f"{number[i]} {len(nodes) + 1} {below[1]} 0")
                else:
                    arcs.append(f"{number[i]} {number[child]} 0")
        return "\n".join([*kinds, f"t {len(nodes) + 1} 0", *arcs, ""])


def by_bdd(mask, n, rng, folder, *, backend="autoref", negated=False, file=None):
    module = import_module(f"dd.{backend}")
    manager, function = bdd(mask, n, module, rng.sample(names(n), n))
    if negated:
        return load(~function, classes=("1", "0"))
    if file is None:
        return load(function)
    path = folder / f"{rng.getrandbits(64)}.{file}"  # dd does not write over a file
    with chdir(folder):  # where it also keeps a shelf meanwhile
        manager.dump(str(path), roots=[function])
    return load(path)


def by_sdd(mask, n, rng, folder, *, vtree, file=False):
    manager, node = pysdd(mask, n, vtree, rng.sample(range(1, n + 1), n))
    if not file:
        return load(node, names=names(n))
    node.save(str(folder / "f.sdd").encode())
    manager.vtree().save(str(folder / "f.vtree").encode())
    return load(folder / "f.sdd", vtree=folder / "f.vtree", names=names(n))


def by_nnf(mask, n, rng, folder, *, d4=False, both=False):
    (folder / "positive.nnf").write_text(Compiler(mask, n, rng).d4() if d4 else Compiler(mask, n, rng).c2d(n))
    if not both:
        return load(folder / "positive.nnf", names=names(n))
    (folder / "negative.nnf").write_text(Compiler(~mask & (1 << (1 << n)) - 1, n, rng).c2d(n))
    return load(folder / "positive.nnf", negative=folder / "negative.nnf", names=names(n))


CIRCUITS = {
    **{f"SDD {kind}": partial(by_sdd, vtree=kind) for kind in ("left", "right", "balanced")},
    **{f".sdd {kind}": partial(by_sdd, vtree=kind, file=True) for kind in ("left", "right", "balanced")},
    "c2d": by_nnf,
    "d4": partial(by_nnf, d4=True),
    "two circuits": partial(by_nnf, both=True),
}
FORMS = {
    "formula": lambda mask, n, rng, folder: by_formula(mask, n),
    "autoref": by_bdd,
    "autoref negated": partial(by_bdd, negated=True),
    "autoref JSON": partial(by_bdd, file="json"),
    "CUDD": partial(by_bdd, backend="cudd"),
    "CUDD negated": partial(by_bdd, backend="cudd", negated=True),
    "CUDD JSON": partial(by_bdd, backend="cudd", file="json"),
    "CUDD dddmp": partial(by_bdd, backend="cudd", file="dddmp"),
    **CIRCUITS,
}
"""Each makes a classifier of a function; in all of them the variables are v1, v2, …"""
