"""What pages, views and plots say of a decision is true: with costs, what is frozen and what is not known."""

import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import quia
from drawn import artists, said
from quia.show.html import page
from quia.sums import Rule
from quia.terms import Table
from quia.variables import Variable
from strategies import complete_tree

BITS = ["0", "1"]


def tree(rule: str) -> quia.DecisionGraph:
    """What a formula over the bits a, b and c says."""
    space = dict.fromkeys("abc", BITS)
    return quia.DecisionGraph.from_dict(
        complete_tree(space, lambda world: str(eval(rule, {n: world[n] == "1" for n in "abc"})))
    )


def words(html: str) -> str:
    """What can be read of a page."""
    body = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_the_cheapest_reason_is_the_cheapest() -> None:
    why = quia.explain(tree("(a and b) or c"), dict.fromkeys("abc", "1"), costs={"c": 10})
    answer = why.answer()
    assert answer.shortest is not None
    assert set(answer.shortest.features) == {"a", "b"}
    assert "The cheapest reason: 2 conditions" in words(page(why))
    cheap = quia.explain(tree("(a and b) or c"), dict.fromkeys("abc", "1"), costs={"c": 2, "a": 1}).answer().shortest
    assert cheap is not None
    assert set(cheap.features) == {"c"}, "of the cheapest the shortest"


def test_what_is_taken_as_given_is_said_wherever_a_reason_is() -> None:
    """Without it, 'a is 1, whatever the rest' is false: where b is 0 it is not so."""
    why = quia.explain(tree("a and b"), dict.fromkeys("abc", "1"), frozen=["b"])
    told = "Taken as given: b."
    lead = re.search(r'<header class="verdict">.*?</header>', page(why), re.DOTALL)
    assert lead is not None
    assert told in words(lead[0])
    assert told in words(why._repr_html_() or "")
    assert told in said(why.plot())
    free = quia.explain(tree("a and b"), dict.fromkeys("abc", "1"))
    assert "Taken as given" not in words(page(free)) + words(free._repr_html_() or "") + said(free.plot())


def test_what_hangs_on_what_is_not_known_is_not_said_to_be_certain() -> None:
    why = quia.explain(tree("a or (b and c)"), {"a": "1", "b": "1", "c": None})
    assert [change.certain for change in why.answer().changes] == [False]
    drawn = words(page(why))
    assert "the nearest change, which could make it False" in drawn
    assert "makes it" not in drawn
    seen = words(why._repr_html_() or "")
    assert "could change it" in seen
    assert "would" not in seen
    assert "With the nearest change it could be False." in said(why.plot())


def test_a_necessary_reason_is_not_taken_for_the_nearest_change() -> None:
    why = quia.explain(tree("a and (b or c)"), dict.fromkeys("abc", "1"))
    (far,) = (each for each in why.necessary_reasons(general=True) if len(each) == 2)
    assert "With this change it would change." in said(why.plot(reason=far))
    assert "nearest" not in said(why.plot(reason=far))
    # In the states of the instance it only says that some change of these does it.
    (perhaps,) = (each for each in why.necessary_reasons() if len(each) == 2)
    assert "With this change it could change." in said(why.plot(reason=perhaps))


def test_a_necessary_reason_over_an_image_does_not_borrow_the_nearest_changes_class() -> None:
    """Pixel 1 dark makes it b, and pixel 2 dark c."""
    pixels = [Variable.numeric(f"pixel{n}", [50]) for n in (1, 2)]
    edges = [(), (), (), ((((0, 0),), 2), (((1, 1),), 0)), ((((0, 0),), 1), (((1, 1),), 3))]
    model = quia.DecisionGraph.build(pixels, ["a", "b", "c"], [-1, -1, -1, 1, 0], [0, 1, 2, -1, -1], edges)
    why = quia.explain(model, {"pixel1": 200, "pixel2": 200})
    assert why.answer().changes[0].decision == "b"
    other = why.necessary_reasons(general=True).containing("pixel2")[0]
    told = said(why.plot(reason=other, image_shape=(1, 2)))
    assert "It would change if row 1, column 2" in told
    assert "would be b" not in told


@pytest.mark.parametrize(("own", "is_enough"), [("low", True), ("high", False)])
def test_a_feature_that_just_reaches_the_cut_is_enough(own: str, is_enough: bool) -> None:
    """A score of 10 is 'yes', which is what a low one can gain; a high one can lose as much, and stays 'yes'."""
    x = Variable.nominal("x", ["low", "high"])
    points = np.array({"low": [[0.0], [10.0]], "high": [[10.0], [20.0]]}[own])
    model = quia.Additive((x,), ("no", "yes"), (Table(0, points),), (0.0,), Rule("cuts", (10.0,)))
    now = {"x": own}
    other = {"x": "high" if own == "low" else "low"}
    assert (model.classify(now) != model.classify(other)) == is_enough
    ax = model.plot(now)
    (gain,) = artists(ax, "gain")
    (line,) = artists(ax, "rival")
    assert (gain.get_facecolor()[:3] == pytest.approx(to_rgb(line.get_color()))) == is_enough
