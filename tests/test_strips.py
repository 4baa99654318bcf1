"""Pictures of reasons: what is drawn of random questions lies where the conditions hold, and nowhere else."""

from bisect import bisect_left
from itertools import pairwise
from random import Random

import pytest

import quia
from quia.literal import Literal
from quia.show.strips import Span, Strip, strips
from quia.variables import UNKNOWN, Variable
from strategies import random_case


def inside(at: float, spans: tuple[Span, ...]) -> bool:
    return any(span.start - 1e-9 <= at <= span.end + 1e-9 for span in spans)


def check(strip: Strip, literal: Literal | None, spans: tuple[Span, ...]) -> None:
    """The spans of a strip are those of a literal: by the names of its cells, or by the numbers at its ends."""
    if literal is None:
        assert spans == ()
        return
    assert all(0 <= span.start <= span.end <= 1 for span in spans)
    if strip.cells:
        wide = 1 / len(strip.cells)
        drawn = [name for place, name in enumerate(strip.cells) if inside((place + 0.5) * wide, spans)]
        assert sorted(drawn) == sorted(literal.variable.text(state) for state in literal.states)
        assert len(spans) == 1  # so that it can be seen at once
        return
    numbers = [(tick.at, float(tick.text)) for tick in strip.ticks if tick.text != "missing"]
    assert numbers == sorted(numbers)
    ends = {number: at for at, number in numbers}
    expected = []
    for interval in literal.intervals:
        low = 0.0 if interval.lower is None else ends[interval.lower.threshold]
        assert interval.upper is None or inside(ends[interval.upper.threshold], spans)
        expected.append(low)
    assert [span.start for span in spans][: len(expected)] == pytest.approx(expected)
    assert (len(spans) > len(expected)) == literal.admits_missing


@pytest.mark.parametrize("seed", range(6))
def test_what_is_drawn_is_what_is_said(seed: int) -> None:
    rng, drawn = Random(seed), 0
    for _ in range(60):
        case = random_case(rng)
        try:
            why = quia.explain(
                quia.DecisionGraph.from_dict(case.graph),
                case.instance,
                against=case.against,
                frozen=case.frozen,
                costs=case.costs,
            )
        except quia.QuiaError:  # against the class that is decided
            continue
        answer = why.answer(intervals=rng.random() < 0.5)
        index = {variable.name: v for v, variable in enumerate(answer.variables)}
        for reason in [*answer.sufficient][:2]:
            for change in [(), *(each.changes for each in answer.changes[:2])]:
                made = strips(answer, reason, change)
                said = {literal.feature: literal for literal in reason}
                led = {literal.feature: literal for literal in change}
                assert [strip.feature for strip in made] == list(dict.fromkeys([*said, *led]))
                for strip in made:
                    drawn += 1
                    because, leads = said.get(strip.feature), led.get(strip.feature)
                    assert (strip.condition, strip.changed) == tuple(
                        "" if literal is None else literal.signs for literal in (because, leads)
                    )
                    check(strip, because, strip.because)
                    check(strip, leads, strip.change)
                    state = answer.states[index[strip.feature]]
                    assert (strip.at is None) == (state == UNKNOWN)
                    if strip.at is not None and because is not None:
                        assert inside(strip.at, strip.because)
                    if strip.arrow is not None:
                        assert strip.arrow.start == strip.at
                        assert inside(strip.arrow.end, strip.change)
    assert drawn > 50


def graph_of(*cuts: float) -> quia.DecisionGraph:
    """Which interval of x it is, as a class."""
    x = Variable.numeric("x", cuts)
    leaves = len(cuts) + 1
    edges = [((((state, state),), state)) for state in range(leaves)]
    tests, labels = [*[-1] * leaves, 0], [*range(leaves), -1]
    return quia.DecisionGraph.build(
        [x], [f"c{n}" for n in range(leaves)], tests, labels, [*[()] * leaves, tuple(edges)]
    )


@pytest.mark.parametrize(
    ("cuts", "value"),
    [
        ((5.0, 5.5, 1e6), 5.2),
        ((-1e308, 1e308), 0.0),
        ((0.0,), float("-inf")),
        ((3.0,), 3.0),
        ((1e-300, 2e-300), 1.5e-300),
    ],
)
def test_close_and_huge_numbers_are_told_apart(cuts: tuple[float, ...], value: float) -> None:
    answer = quia.explain(graph_of(*cuts), {"x": value}).answer()
    (strip,) = strips(answer, answer.sufficient[0], answer.changes[0].changes)
    places = [tick.at for tick in strip.ticks]
    assert all(b - a > 0.05 for a, b in pairwise(places))
    assert strip.at is not None
    assert inside(strip.at, strip.because)
    exact = bisect_left(cuts, value)
    assert strip.condition == answer.sufficient[0].literals[0].signs
    assert answer.decision == f"c{exact}"


def test_numbers_far_apart_are_drawn_to_scale() -> None:
    answer = quia.explain(graph_of(0.0, 50.0, 100.0), {"x": 25}).answer()
    (strip,) = strips(answer, answer.sufficient[0], extents={"x": (-20.0, 120.0)})
    low, high = (tick.at for tick in strip.ticks)
    assert strip.to_scale
    assert strip.at == pytest.approx((low + high) / 2)
    assert strip.data is not None
    assert strip.data.end - strip.data.start == pytest.approx((high - low) * 140 / 50)


def test_a_missing_value_has_a_place_of_its_own() -> None:
    pay = Variable.numeric("pay", [10, 20], missing=True)
    edges = [(), (), ((((0, 0), (3, 3)), 0), (((1, 2),), 1))]
    graph = quia.DecisionGraph.build([pay], ["no", "yes"], [-1, -1, 0], [0, 1, -1], edges)
    answer = quia.explain(graph, {"pay": None}).answer()
    (strip,) = strips(answer, answer.sufficient[0], answer.changes[0].changes)
    assert strip.now == "missing"
    assert strip.at is not None
    assert inside(strip.at, strip.because[-1:])
    assert strip.ticks[-1].text == "missing" and not strip.ticks[-1].is_end
    assert all(tick.is_end for tick in strip.ticks[:-1])
    assert max(tick.at for tick in strip.ticks[:-1]) < strip.because[-1].start
    assert strip.change[0].end < strip.because[-1].start
