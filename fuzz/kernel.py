"""Mutated arrays through the kernel's bindings: a ValueError or an answer, never a crash.

    python fuzz/kernel.py [SECONDS] [SEED]

The tests run a short stretch of it; run it for hours with the sanitized kernel (`make sanitize`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from quia import _kernel

STRANGE = (-(2**31), -2, -1, 0, 1, 2, 7, 64, 1000, 2**31 - 1)


def random_arrays(rng: Random) -> tuple[list[Any], int, int]:
    """A sound graph as the kernel takes it, with its numbers of variables and classes."""
    variables, classes = rng.randint(1, 9), rng.randint(1, 4)
    sizes = [rng.randint(1, 4) for _ in range(variables)]
    tests, labels, edges = [], [], []
    for label in range(classes):
        tests.append(-1)
        labels.append(label)
        edges.append([])
    first = 0
    for variable in range(variables):  # ordered, so that no path tests a variable twice
        layer = len(tests)
        for _ in range(rng.randint(1, 3)):
            cut = rng.randint(1, sizes[variable])
            pairs = [(0, cut - 1), (cut, sizes[variable] - 1)][: 1 + (cut < sizes[variable])]
            tests.append(variable)
            labels.append(-1)
            edges.append([(rng.randrange(first, layer), pair) for pair in pairs])
        first = rng.choice((0, layer))
    flat = [edge for outgoing in edges for edge in outgoing]
    arrays = [
        np.array(tests, np.int32),
        np.array(labels, np.int32),
        np.cumsum([0, *map(len, edges)], dtype=np.int64),
        np.array([child for child, _ in flat], np.int32),
        np.arange(len(flat) + 1, dtype=np.int64),
        np.array([low for _, (low, _) in flat], np.int32),
        np.array([high for _, (_, high) in flat], np.int32),
        np.array(sizes, np.int32),
    ]
    return arrays, variables, classes


def mutate(rng: Random, arrays: list[Any]) -> None:
    """Put something strange somewhere, or cut an array short, or make it longer."""
    which = rng.randrange(len(arrays))
    array = arrays[which]
    action = rng.randrange(5)
    if action == 0 and len(array):
        arrays[which] = array[: rng.randrange(len(array))].copy()
    elif action == 1:
        arrays[which] = np.append(array, array[:1], axis=0)
    elif len(array):
        array[rng.randrange(len(array))] = rng.choice(STRANGE)


def use(rng: Random, graph: _kernel.Graph, sizes: Any, variables: int, classes: int) -> None:
    """Ask a graph everything, with strange numbers too."""
    strange = rng.random() < 0.2
    row = np.array([rng.choice(STRANGE) if strange else rng.randrange(max(int(s), 1)) for s in sizes], np.int32)
    rows = np.stack([row] * rng.randint(1, 3))
    frozen = np.array([rng.random() < 0.2 for _ in range(variables)], np.uint8)
    costs = np.array([rng.choice((1, 2, 5, 0 if strange else 3)) for _ in range(variables)], np.int64)
    length = classes + (rng.choice((-1, 0, 1)) if strange else 0)
    options: dict[str, Any] = {
        "keeps": rng.choice((None, np.array([rng.random() < 0.7 for _ in range(length)], np.uint8))),
        "frozen": rng.choice((None, frozen)),
        "costs": rng.choice((None, costs)),
    }
    graph.classify(rows)
    limits = {"timeout": rng.choice((None, 0.05)), "memory": rng.choice((2**30, 1000))}
    ask(rng, graph.necessary(row, shortest=rng.random() < 0.5, **options, **limits), options["costs"])
    graph.batch(rows, count_necessary=True, count_sufficient=True, limit=rng.randint(0, 3), **options)


def ask(rng: Random, family: _kernel.Family, costs: Any) -> None:
    """Ask a family everything."""
    members = [rng.choice(STRANGE) for _ in range(3)]
    for each in (family, family.dual(costs=costs, timeout=0.1)):
        assert each.count() == sum(each.counts_by_length().values())
        for found in islice(each.listing(costs), 20):
            assert each.contains(found)
        each.contains(members)
        each.restrict(members[:1], members[1:]).count()
        each.shortest(costs).count()
        if each.count():
            each.sample(2, rng.randrange(2**64))
        list(islice(each.hitting_sets(costs=costs, timeout=0.1), 20))


def replace(rng: Random, nnf: _kernel.Nnf) -> None:
    """Ask a formula what a circuit asks of it; what is left of it is a formula that the kernel takes."""
    strange = rng.random() < 0.1
    length = nnf.node_count + (rng.choice((0, 1, -1)) if strange else 0)
    fate = np.array([rng.choice((0, 1, 2, 2, 3 if strange else 2)) for _ in range(length)], np.uint8)
    assert len(nnf.values(fate)) == nnf.node_count
    left = _kernel.Nnf(*nnf.replaced(fate))
    assert left.node_count <= nnf.node_count + 2
    for kind in (3, 4):
        nnf.shared_variable(kind)
        nnf.sharing(kind)


def random_nnf(rng: Random) -> list[Any]:
    """A monotone formula as the kernel takes it, sometimes with an entry out of place."""
    size = rng.randint(1, 14)
    kind = [rng.choice((0, 1, 2, 2, 2))] + [rng.choice((2, 2, 3, 4)) for _ in range(size - 1)]
    children = [[rng.randrange(n) for _ in range(rng.randint(0, 3))] if k > 2 else [] for n, k in enumerate(kind)]
    arrays = [
        np.array(kind, np.uint8),
        np.array([rng.randrange(6) if k == 2 else -1 for k in kind], np.int32),
        np.cumsum([0, *map(len, children)], dtype=np.int64),
        np.array([child for each in children for child in each], np.int32),
    ]
    which = rng.randrange(len(arrays))
    if rng.random() < 0.5 and len(arrays[which]):
        arrays[which][rng.randrange(len(arrays[which]))] = rng.choice(STRANGE) % 256
    return arrays


def random_ensemble(rng: Random) -> tuple[list[Any], dict[str, Any], int]:
    """A sound ensemble as the kernel takes it, with its number of classes."""
    sizes = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
    scores = rng.randint(1, 3)
    shared = rng.random() < 0.4
    tests = [(v, low, rng.randrange(low, sizes[v])) for v in range(len(sizes)) for low in (rng.randrange(sizes[v]),)]
    start, test, yes, no = [0], [], [], []
    for _ in range(rng.randint(1, 4)):
        first, inner = len(test), rng.randint(0, 3)
        for n in range(2 * inner + 1):  # level by level, every test before every leaf
            asks = n < inner
            test.append(rng.randrange(len(tests)) if asks else -1)
            yes.append(first + 2 * n + 1 if asks else -1)
            no.append(first + 2 * n + 2 if asks else -1)
        start.append(len(test))
    trees, groups = len(start) - 1, rng.choice((0, 1))
    arrays = [
        np.array(start, np.int64),
        np.array(test, np.int32),
        np.array(yes, np.int32),
        np.array(no, np.int32),
        np.array([[rng.choice((-1, 0.1, 2)) for _ in range(scores if shared else 1)] for t in test if t < 0], float),
        np.array([v for v, _, _ in tests], np.int32),
        np.arange(len(tests) + 1, dtype=np.int64),
        np.array([low for _, low, _ in tests], np.int32),
        np.array([high for _, _, high in tests], np.int32),
        np.array(sizes, np.int32),
        np.array([-1 if shared else rng.randrange(scores) for _ in range(trees)], np.int32),
        np.zeros(scores),
        np.zeros(scores),
        np.array([trees] * groups, np.int64),
        np.ones(groups),
        np.ones(groups),
    ]
    by_cuts = scores == 1 and rng.random() < 0.8
    how = {
        "divisor": rng.choice((1.0, 3.0)),
        "single": rng.random() < 0.5,
        "rule": 0 if by_cuts else rng.randint(1, 4),
        "cuts": np.array([0.5] if by_cuts else []),
    }
    return arrays, how, 2 if by_cuts else scores


def search(rng: Random) -> None:
    """Ask an ensemble for decisions and for another one in a box, with strange numbers too."""
    arrays, how, classes = random_ensemble(rng)
    for _ in range(rng.choice((0, 0, 1, 2))):
        mutate(rng, arrays)
    arrays[9] = np.minimum(arrays[9], 1000)  # a variable may have 2^31 states, and then costs as much memory
    ensemble = _kernel.Ensemble(*arrays, **how)
    sizes = arrays[9].tolist()
    box = [
        np.arange(len(sizes), dtype=np.int32),
        np.arange(len(sizes) + 1, dtype=np.int64),
        np.zeros(len(sizes), np.int32),
        np.array([size - 1 for size in sizes], np.int32),
    ]
    if rng.random() < 0.3:
        mutate(rng, box)
    states = np.array([rng.randrange(size) for size in sizes], np.int32)
    assert len(ensemble.decide_rows(np.stack([states] * 2))) == 2
    keeps = np.array([rng.random() < 0.5 for _ in range(classes)], np.uint8)
    unknown = np.where([rng.random() < 0.2 for _ in sizes], -1, states).astype(np.int32)
    asked = _kernel.Inquiry(ensemble, unknown, keeps)
    found = asked.escape(*box, timeout=1.0)
    assert found is None or not keeps[ensemble.decide_rows(np.array([found], np.int32))[0]]


def random_chain(rng: Random) -> tuple[list[Any], int]:
    """A sound chain as the kernel takes it, with its number of classes."""
    levels, classes = rng.randint(1, 6), rng.randint(1, 3)
    counts = [rng.randint(1, 3) for _ in range(levels)]
    widths = [1, *(rng.randint(1, 3) for _ in range(levels - 1)), 1]
    start, here, there = [0], list[int](), list[int]()
    for level, count in enumerate(counts):
        for _ in range(count):
            for pair in np.ndindex(widths[level], widths[level + 1]):
                if rng.random() < 0.8:
                    here.append(pair[0])
                    there.append(pair[1])
            start.append(len(here))
    return [
        np.array(counts, np.int32),
        np.array(widths, np.int32),
        np.array(start, np.int64),
        np.array(here, np.int32),
        np.array(there, np.int32),
        np.array([[rng.choice((0, 0.1, 0.5, 1e-9)) for _ in range(classes)] for _ in here]).reshape(-1, classes),
        np.array([rng.choice((0, 0.5, 1)) for _ in range(classes)], float),
        np.full(levels, 1e-15),
    ], classes


def compile_chain(rng: Random) -> None:
    """Compile a chain, and sift what it gives, with strange numbers too."""
    arrays, classes = random_chain(rng)
    for _ in range(rng.choice((0, 0, 1, 2))):
        mutate(rng, arrays)
    arrays[1] = np.minimum(arrays[1], 1000)  # a separator may have 2^31 states, and then costs as much memory
    chain = _kernel.Chain(*arrays)
    limits = {"timeout": rng.choice((None, 1.0)), "memory": rng.choice((2**30, 2**30, 2**30, 1000))}
    work = rng.choice((None, None, 100))
    ranks = np.array(rng.sample(range(classes), classes), np.int32)
    graph, *_ = chain.compile(
        ranks, lambda _first, _rest: 0, lambda _first, _second: False, most_nodes=1000, most_work=work, **limits
    )
    flat = [array.copy() for array in graph[:3]]
    if rng.random() < 0.5:
        mutate(rng, flat)
    _kernel.sift(arrays[0], classes, *flat, graph[3], most_work=rng.choice((0, 1000)), **limits)


def cut(rng: Random) -> None:
    """Look for cuts and orders, with strange numbers too."""
    count = rng.randint(1, 7)
    beside: list[set[int]] = [set() for _ in range(count)]
    for _ in range(rng.randint(0, 9)):
        a, b = rng.randrange(count), rng.randrange(count)
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    arrays: list[Any] = [
        np.cumsum([0, *map(len, beside)], dtype=np.int64),
        np.array([other for each in beside for other in sorted(each)], np.int32),
        np.array([rng.randint(1, 4) for _ in range(count)], np.int32),
        np.array([rng.randint(0, 2048) for _ in range(count)], np.int64),
    ]
    is_feature = np.array([rng.random() < 0.6 for _ in range(count)], np.uint8)
    features = np.flatnonzero(is_feature).astype(np.int32)
    for _ in range(rng.choice((0, 0, 1, 2))):
        mutate(rng, arrays)
    asked = [features[: rng.randint(0, len(features))].copy(), features.copy()]
    if rng.random() < 0.2:
        mutate(rng, asked)
    separators = _kernel.Separators(*arrays, is_feature)
    left, separator = separators.least(asked[0])
    assert set(separator.tolist()) <= set(left.tolist())
    order = separators.shake(asked[1], most_cuts=rng.choice((0, 1, 50)), most_messages=100.0, timeout=1.0)
    assert sorted(order.tolist()) == sorted(asked[1].tolist())


def rounds(seed: int) -> Iterator[bool]:
    """Endless rounds; each tells whether the kernel took what it was given."""
    rng = Random(seed)
    while True:
        arrays, variables, classes = random_arrays(rng)
        for _ in range(rng.choice((0, 1, 1, 2))):
            mutate(rng, arrays)
        try:
            use(rng, _kernel.Graph(*arrays, classes), arrays[-1], variables, classes)
            nnf = _kernel.Nnf(*random_nnf(rng))
            replace(rng, nnf)
            ask(rng, nnf.necessary(), None)
            yield True
        except (ValueError, _kernel.OverBudget):
            yield False
        for work in (search, compile_chain, cut):
            try:
                work(rng)
                yield True
            except (ValueError, _kernel.OverBudget, _kernel.TooFarApart):
                yield False


if __name__ == "__main__":
    seconds, seed = float(sys.argv[1]) if len(sys.argv) > 1 else 10, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    stop = time.monotonic() + seconds
    taken = done = 0
    for was_taken in rounds(seed):
        taken, done = taken + was_taken, done + 1
        if time.monotonic() > stop:
            break
    print(f"{done} rounds, {taken} taken, none crashed")
