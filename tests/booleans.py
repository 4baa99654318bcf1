"""One Boolean function in every form that can be loaded; a function is an int mask over the worlds.

Bit w of the mask is the function's value in world w, and bit i of w is the value of variable v1, v2, … number i + 1.
"""

from contextlib import chdir
from functools import partial
from importlib import import_module
from itertools import combinations

from quia import DecisionGraph, Variable, formula, load
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


def by_order(mask, n, rng, *, free):
    """A decision graph of nodes (variable, low, high), children first; leaves are the nodes 0 and 1.

    Ordered by a random order or, where `free`, with a choice of its own for each part of the function (an FBDD).
    """
    nodes, known, order = [], {}, rng.sample(range(n), n)

    def part(worlds, left):
        """The node of the function of the variables in `left` that is true in just these worlds."""
        if not worlds or len(worlds) == 1 << len(left):
            return int(bool(worlds))
        if (worlds, left) not in known:
            variable = rng.choice(left) if free else next(v for v in order if v in left)
            rest = tuple(v for v in left if v != variable)
            low, high = (
                part(frozenset(w & ~(1 << variable) for w in worlds if w >> variable & 1 == side), rest)
                for side in (0, 1)
            )
            if low != high:
                nodes.append((variable, low, high))
            known[worlds, left] = low if low == high else len(nodes) + 1
        return known[worlds, left]

    root = part(frozenset(w for w in range(1 << n) if value(mask, w)), tuple(range(n)))
    return nodes, root, order


def by_odd(mask, n, rng, folder):
    nodes, root, order = by_order(mask, n, rng, free=False)
    if not nodes:
        nodes, root = [(order[-1], root, root)], 2  # the format has no file of a leaf alone
    lines = [f"[{', '.join(names(n)[v] for v in order)}]"]
    for number, (variable, *children) in enumerate(nodes, 2):
        below = [f"S{child}" if child < 2 else str(child) for child in children]
        lines.append(" ".join([str(number), str(order.index(variable)), *below]))
    (folder / "f.odd").write_text("\n".join(lines))
    return load(folder / "f.odd")


def by_fbdd(mask, n, rng):
    nodes, root, _ = by_order(mask, n, rng, free=True)
    written = {str(k): {"class": CLASSES[k]} for k in (0, 1) if k == root or any(k in node[1:] for node in nodes)}
    for number, (variable, low, high) in enumerate(nodes, 2):
        edges = [{"if": [state], "to": str(child)} for state, child in zip(CLASSES, (low, high))]
        written[str(number)] = {"test": names(n)[variable], "edges": edges}
    variables = {name: {"kind": "nominal", "states": list(CLASSES)} for name in names(n)}
    made = {"quia": 1, "variables": variables, "classes": list(CLASSES), "root": str(root), "nodes": written}
    return DecisionGraph.from_dict(made)


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


VTREES = ("left", "right", "vertical", "balanced", "random")
CIRCUITS = {
    **{f"SDD {kind}": partial(by_sdd, vtree=kind) for kind in VTREES},
    **{f".sdd {kind}": partial(by_sdd, vtree=kind, file=True) for kind in VTREES},
    "c2d": by_nnf,
    "d4": partial(by_nnf, d4=True),
    "two circuits": partial(by_nnf, both=True),
}
FORMS = {
    "tree": lambda mask, n, rng, folder: DecisionGraph.from_dict(tree(mask, n)),
    "FBDD": lambda mask, n, rng, folder: by_fbdd(mask, n, rng),
    ".odd": by_odd,
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
