"""Where something ends that is true up to there: the right place, by few questions."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

import quia
from quia import additive_asked
from quia.asking import why
from quia.bisecting import furthest, turning
from quia.patience import Clock
from quia.reason_codes import _whole
from quia.sums import Rule
from quia.terms import Line


def test_the_furthest_is_found_from_any_guess_and_step() -> None:
    for most in range(12):
        for border in range(most + 1):
            for near in range(-1, most + 3):
                for step in (1, 3, most + 1):
                    assert furthest(lambda n, border=border: n <= border, near, most, step) == border


@pytest.mark.parametrize("seed", range(20))
def test_a_turning_is_found_however_a_value_falls(seed: int) -> None:
    rng = Random(seed)
    border = rng.random() ** rng.choice((1, 9))
    bends = [rng.choice((1e-9, 1.0, 1e9)) for _ in range(2)]
    jump = rng.choice((0.0, 1e-3, 1e6))

    def value(x: float) -> float:
        return (border - x) * bends[x > border] - jump * (x > border)

    asked: list[float] = []
    found = turning(lambda x: asked.append(x) or value(x), 1e-14 * min(bends))
    assert abs(found - border) < 1e-9 and len(asked) < 110


def test_borders_of_many_lines_take_few_sums_and_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    count = 30
    variables = tuple(quia.Variable.line(f"x{i}", -3, 3) for i in range(count))
    terms = tuple(Line(i, (), (float(weight),)) for i, weight in enumerate(rng.normal(size=count)))
    model = quia.Additive(variables, ("no", "yes"), terms, (0.1,), Rule("cuts", (0.0,)))
    question = why(model, [variables[i].encode(float(x)) for i, x in enumerate(rng.normal(size=count))])
    members, is_whole = model.reduce(question, model.tested, None)
    asked, ask = [], additive_asked.Asked.is_good
    monkeypatch.setattr(additive_asked.Asked, "is_good", lambda self, box: asked.append(box) or ask(self, box))
    monkeypatch.setattr(quia.Additive, "escape_in_time", None)  # what one sum tells is never searched for
    (box,) = model.widen(question, "sufficient", members, True)
    assert is_whole and len(members) > 10 and len(asked) < 20 * 2 * len(members)
    monkeypatch.undo()
    asked_of = additive_asked.Asked(model, question, "sufficient", tuple(members), True, False, Clock())
    assert asked_of.is_good(box)
    for place, states in enumerate(box):  # to the last bit
        for low, high in ((states[0][0] - 1, states[0][1]), (states[0][0], states[0][1] + 1)):
            if low >= 0 and high < variables[members[place]].size:
                wider = (*box[:place], ((low, high),), *box[place + 1 :])
                region = question.within.replaced(dict(zip(members, wider, strict=True)))
                assert model.escape(question, region) is not None and not asked_of.is_good(wider)


def test_numbers_made_whole_add_up_exactly() -> None:
    numbers = {0: 0.1, 1: 0.2, 2: 0.3, 3: math.ulp(0.0), 4: 0.0}
    whole = _whole(numbers)
    assert whole[0] + whole[1] != whole[2] and whole[3] == 1 and whole[4] == 0
    assert _whole({}) == {}
