"""Limits hold: of time, of memory, of how many; and what ends early is told, never raised by the kernel."""

import json
import os
import threading
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from costs import said_by
from quia import _kernel, families, formula, patience
from quia.caching import cached_property
from quia.cli import main
from quia.families import OneByOne
from quia.nnf import Builder
from quia.patience import OutOfTime, Patience
from quia.show.html import page
from strategies import random_case

needs_fork = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="this system has no fork: run the tests on Linux or macOS"
)


def boolean(names: list[str]) -> list[quia.Variable]:
    return [quia.Variable.nominal(name, ["0", "1"]) for name in names]


def grid(n: int) -> tuple[quia.DecisionGraph, set[frozenset[str]]]:
    """A clause for each two neighbours on a grid, and these pairs: millions of covers, few pairs."""
    cells = {(r, c): f"x{r}_{c}" for r in range(n) for c in range(n)}
    pairs = [
        (cells[r, c], cells[r + dr, c + dc])
        for r, c in cells
        for dr, dc in ((0, 1), (1, 0))
        if (r + dr, c + dc) in cells
    ]
    text = " & ".join(f"({a}=1 | {b}=1)" for a, b in pairs)
    return formula.compiled(formula.parse(text, boolean(list(cells.values())))), set(map(frozenset, pairs))


@pytest.fixture(scope="module")
def large_grid() -> tuple[quia.DecisionGraph, set[frozenset[str]]]:
    return grid(9)


def features(reasons: Any) -> set[frozenset[str]]:
    return {frozenset(reason.features) for reason in reasons}


def test_few_sufficient_reasons_behind_millions_of_necessary_ones(large_grid: Any) -> None:
    graph, pairs = large_grid
    why = quia.explain(graph, ["0"] * 81)
    assert why.count_necessary() > 10**7  # listing these took gigabytes and minutes
    sufficient = why.sufficient_reasons()
    assert sufficient.complete and features(sufficient) == pairs
    assert features(why.sufficient_reasons(shortest=True)) == pairs
    row = dict.fromkeys((v.name for v in graph.variables), "0")
    table = quia.explain_batch(graph, [row], shortest=["sufficient"], limit=200, counts=True).to_pylist()[0]
    assert table["sufficient_count"] == len(pairs) and table["complete"]


@pytest.mark.parametrize("seed", range(4))
def test_hitting_sets_through_the_diagram_are_those_of_the_sets(seed: int) -> None:
    """`few=0` never lists the clauses; both ways, all and shortest, with costs and without."""
    rng = Random(seed)
    for _ in range(150):
        case = random_case(rng, sharing=0.7)
        graph = quia.DecisionGraph.from_dict(case.graph)
        found = quia.explain(graph, case.instance).complete_reason.find_necessary()
        costs = np.array([rng.randint(1, 4) for _ in graph.variables], np.int64)
        assert found.is_zdd
        assert list(found.dual(few=0).listing()) == list(_kernel.Family(list(found.listing())).dual().listing())
        for prices in (None, costs):
            listed = _kernel.Family(list(found.listing())).dual(shortest=True, costs=prices)
            diagram = found.dual(shortest=True, costs=prices, few=0)
            assert list(diagram.listing(prices)) == list(listed.listing(prices))


def chain(n: int, gate: str) -> quia.NNF:
    """All of n literals, or any of them."""
    build = Builder(boolean([f"x{i}" for i in range(n)]))
    literals = [build.literal(i, 1) for i in range(n)]
    return build.nnf(getattr(build, gate)(literals))


@pytest.mark.parametrize(("gate", "each", "together"), [("conjunction", 1, 50_000), ("disjunction", 50_000, 1)])
def test_tens_of_thousands_of_features(gate: str, each: int, together: int) -> None:
    """Tables of sets of so many members would not fit; counting by length went through every length at every node."""
    n = 50_000
    necessary = chain(n, gate).find_necessary()
    assert necessary.counts_by_length() == {each: n // each}
    sufficient = necessary.dual()
    assert sufficient.count() == each and sufficient.counts_by_length() == {together: each}
    assert [len(first) for first in islice(sufficient.listing(), 2)] == [together] * min(2, each)


@pytest.mark.parametrize("seed", range(3))
def test_counts_by_length(seed: int) -> None:
    rng = Random(seed)
    for _ in range(200):
        sets = [rng.sample(range(12), rng.randint(1, 6)) for _ in range(rng.randint(0, 12))]
        family = _kernel.Family(sets).dual()
        lengths = [len(members) for members in family.listing()]
        assert family.counts_by_length() == {n: lengths.count(n) for n in sorted(set(lengths))}


# ---- time -----------------------------------------------------------------------------------------------------


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(patience, "monotonic", made)
    return made


def test_patience_counts_work_and_nothing_else(clock: Clock) -> None:
    mine = Patience(8.0)
    with mine.spending():
        clock.now += 3
    clock.now += 100
    assert mine.left == 5
    with mine.spending():
        clock.now += 6
    assert mine.left == 0 and mine.for_last_step == 2, "the last step has a quarter of the time in any case"
    with mine.last_step() as poll:
        clock.now += 1.9
        poll()
        clock.now += 0.2
        with pytest.raises(OutOfTime):
            poll()
    assert Patience(None).left is None and Patience(None).for_last_step is None


def test_trying_again_needs_more_patience() -> None:
    assert Patience(2.0).is_more_than(1.0) and Patience(None).is_more_than(1.0)
    assert not Patience(1.0).is_more_than(1.0) and not Patience(0.5).is_more_than(1.0)
    assert not Patience(5.0).is_more_than(None), "memory ran out, not time"


def test_one_timeout_is_for_all_that_is_shown(clock: Clock, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call of the kernel takes a second of the clock; what it is given is what is left."""
    given = []

    def slow(find: Any) -> Any:
        def found(*arguments: Any, **options: Any) -> Any:
            given.append(options["timeout"])
            clock.now += 1
            return find(*arguments, **options)

        return found

    why = quia.explain(quia.load(examples / "admissions.json"), [1400, "medium", "fail", "fail"])
    monkeypatch.setattr(quia.DecisionGraph, "find_necessary", slow(quia.DecisionGraph.find_necessary))
    assert why.to_dict(timeout=10, shortest=True)["necessary"]["count"] == 1
    assert given == [10, 9], "the shortest necessary reasons, then all, for the sufficient ones"


def test_nearest_changes_end_with_the_time(examples: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = 12
    names = [f"{side}{i}" for i in range(pairs) for side in "xy"]
    text = " | ".join(f"(x{i}=1 & y{i}=1)" for i in range(pairs))
    why = quia.explain(formula.compiled(formula.parse(text, boolean(names))), ["1"] * len(names))
    assert (len(why.counterfactuals(limit=5)), why.counterfactuals(limit=5).complete) == (5, False)
    assert (len(why.counterfactuals()), why.counterfactuals().complete) == (2**pairs, True)
    ticks = count()
    monkeypatch.setattr(patience, "monotonic", lambda: float(next(ticks)))
    found = why.counterfactuals(timeout=2_000)
    assert 0 < len(found) < 2**pairs and not found.complete
    shown = why.answer(limit=None, timeout=2_000)
    assert not shown.in_time and shown.to_dict()["counterfactuals_complete"] is False


# ---- memory ---------------------------------------------------------------------------------------------------


class WithoutDiagram:
    """A family of necessary reasons, the diagram of whose hitting sets does not fit."""

    def __init__(self, family: _kernel.Family) -> None:
        self.family = family

    def dual(self, **_: Any) -> _kernel.Family:
        raise _kernel.OverBudget("the memory limit was reached")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.family, name)


@pytest.fixture
def no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    find = quia.DecisionGraph.find_necessary
    monkeypatch.setattr(
        quia.DecisionGraph, "find_necessary", lambda *given, **limits: WithoutDiagram(find(*given, **limits))
    )


def test_what_does_not_fit_comes_one_by_one(no_memory: None, examples: Path) -> None:
    model = str(examples / "admissions.json")
    why = quia.explain(quia.load(model), [1400, "medium", "fail", "fail"])
    reasons = why.sufficient_reasons()
    assert reasons.count is None and [len(reason) for reason in reasons] == [2, 3] and reasons.complete
    assert [why.sufficient_reasons(limit=n).complete for n in range(4)] == [False, False, True, True]
    assert [len(reason) for reason in reasons.containing("SAT")] == [3]
    assert reasons.containing("SAT").complete and len(reasons.avoiding("SAT", "Essay")) == 0
    for asked in (lambda: reasons.sample(2, seed=1), reasons.counts_by_length, reasons.exact_count, why.importance):
        with pytest.raises(quia.TooLarge, match="could not be"):
            asked()
    assert "1 reason found within the time and memory given" in page(why, limit=1)


def test_commands_say_that_time_or_memory_was_not_enough(
    no_memory: None, examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [f"--set={pair}" for pair in ("SAT=1400", "GPA=medium", "Essay=fail", "Interview=fail")]
    asked = ["explain", str(examples / "admissions.json"), *settings]
    for form in ([], ["--states"]):
        assert main([*asked, "--limit", "1", *form]) == 3
        assert "Sufficient reasons: the first 1; there may be more than could be counted" in capsys.readouterr().out
        assert main([*asked, "--limit", "1", "--json", *form]) == 3
        found = json.loads(capsys.readouterr().out)["sufficient"]
        assert (found["complete"], found["count"], found["sets"]) == (False, None, None)
        # They come one by one, and to their end: nothing is lacking.
        assert main([*asked, *form]) == 0
        assert "2 sufficient reasons\n" in capsys.readouterr().out


def test_the_memory_cap_is_for_the_whole_process() -> None:
    """Clauses whose hitting sets need more: what the process grows by is little more than the cap."""
    code = """
import numpy as np
from quia import _kernel
random = np.random.default_rng(1)
family = _kernel.Family([sorted(random.choice(60, 5, replace=False).tolist()) for _ in range(400)])
before = peak()
try:
    family.dual(memory=48 << 20)
except _kernel.OverBudget as over:
    print(over, (peak() - before) >> 20)
"""
    pytest.importorskip(
        "resource", reason="this system does not tell what a process takes: run the tests on Linux or macOS"
    )
    message, _, grown = said_by(code).strip().rpartition(" ")
    assert message == "the memory limit was reached"
    assert int(grown) < 64


# ---- reasons that come one by one -----------------------------------------------------------------------------


def counted(sets: list[list[int]]) -> tuple[OneByOne, list[int]]:
    """The hitting sets of a family one by one, and how often they were begun."""
    begun: list[int] = []
    family = _kernel.Family(sets)

    def find() -> Any:
        begun.append(1)
        return family.hitting_sets()

    return OneByOne(find), begun


def test_what_was_found_is_not_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found, begun = counted([[0, 1], [2, 3]])
    first = iter(found)
    assert next(first) == (0, 2)
    assert list(found) == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert list(first) == [(0, 3), (1, 2), (1, 3)] and len(begun) == 1 and found.complete
    monkeypatch.setattr(families, "KEPT", 2)
    found, begun = counted([[0, 1], [2, 3]])
    assert list(found) == list(found) == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert len(begun) == 3, "what is not kept is found again, by each reader"


@needs_fork
def test_a_forked_process_does_not_wait_for_a_lock_of_its_parent() -> None:
    found, _ = counted([[0, 1], [2, 3]])
    with found._lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if len(list(found)) == 4 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_value_in_work_blocks_no_other_thread() -> None:
    """Of the same class, but another instance: Python 3.11's own cached_property waits here."""

    class Slow:
        def __init__(self, ready: threading.Event) -> None:
            self.ready = ready

        @cached_property
        def value(self) -> bool:
            return self.ready.wait(60)

    hard, easy = Slow(threading.Event()), Slow(threading.Event())
    easy.ready.set()
    worker = threading.Thread(target=lambda: hard.value)
    worker.start()
    asked = threading.Thread(target=lambda: easy.value)
    asked.start()
    asked.join(30)
    assert not asked.is_alive() and worker.is_alive()
    hard.ready.set()
    worker.join()
    assert hard.value and easy.value and "value" in hard.__dict__


# ---- bias -----------------------------------------------------------------------------------------------------


def test_bias_lists_no_more_reasons_than_are_read(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = 22  # four million necessary reasons
    names = [f"{side}{i}" for i in range(pairs) for side in "xy"]
    text = " | ".join(f"(x{i}=1 & y{i}=1)" for i in range(pairs))
    why = quia.explain(formula.compiled(formula.parse(text, boolean(names))), ["1"] * len(names))
    bias = why.bias(names)
    assert bias and len(bias.changes) == pairs and len(bias.reasons) == 2**pairs
    few = why.bias(names, limit=2).to_dict()
    assert len(few["reasons"]) == 2 and few["complete"] is False  # type: ignore[arg-type]
    assert why.bias(["x0"]).to_dict() == {
        "protected": ["x0"],
        "biased": False,
        "reasons": [],
        "complete": True,
        "changes": [],
        "decision": None,
        "certain": True,
    }


def test_reasons_by_their_place(examples: Path) -> None:
    reasons = quia.explain(
        quia.load(examples / "admissions.json"), [1400, "medium", "fail", "fail"]
    ).necessary_reasons()
    listed = list(reasons)
    assert [reasons[i] for i in (0, 1, 2, -1, -3)] == [listed[i] for i in (0, 1, 2, -1, -3)]
    assert reasons[1:] == listed[1:] and reasons[::-1] == listed[::-1] and reasons[-2:] == listed[-2:]
    for place in (3, -4):
        with pytest.raises(IndexError, match="there are 3"):
            reasons[place]
