"""Reasons as plots: bands are where the literals end, arrows end in the change, and all is said in words."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.text import Text

import quia
from drawn import artists, bars, said, spans, texts
from quia.cuts import number_text
from quia.errors import InstanceError, TooLarge, Unsupported
from quia.plot import canvas
from quia.variables import Variable

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


def graph_of(variable: Variable, cells: list[tuple[tuple[int, int], int]], classes: int = 2) -> quia.DecisionGraph:
    """One test, whose states lead to classes."""
    names = [f"class {c}" for c in range(classes)]
    edges: list[Any] = [() for _ in names]
    edges.append(tuple(((ranges,), label) for ranges, label in cells))
    tests, labels = [*[-1] * classes, 0], [*range(classes), -1]
    return quia.DecisionGraph.build([variable], names, tests, labels, edges)


def both_of(one: Variable, other: Variable) -> quia.DecisionGraph:
    """'yes' only where both are in their second state."""
    edges: list[Any] = [(), (), ((((0, 0),), 0), (((1, 1),), 1)), ((((0, 0),), 0), (((1, 1),), 2))]
    return quia.DecisionGraph.build([one, other], ["no", "yes"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)


def all_of(count: int) -> quia.DecisionGraph:
    """'yes' only where so many features, with long names, are above 0."""
    variables = [Variable.numeric(f"a feature with a name that is very long, number {v}", [0]) for v in range(count)]
    edges: list[Any] = [(), ()]
    edges += [((((0, 0),), 0), (((1, 1),), 1 if v == 0 else v + 1)) for v in range(count)]
    tests, labels = [-1, -1, *range(count)], [0, 1, *[-1] * count]
    return quia.DecisionGraph.build(variables, ["no", "yes"], tests, labels, edges)


AGE = graph_of(Variable.numeric("age", [20, 30, 60]), [((0, 0), 1), ((1, 2), 0), ((3, 3), 1)])


def place(ax: Axes, text: str) -> float:
    """Where a number is written below the first row."""
    found = [each for each in artists(ax, "tick") if each.get_text() == text]
    return float(next(each.get_position()[0] for each in found if each.get_position()[1] < 0.5))


def test_a_row_has_value_interval_and_arrow() -> None:
    ax = quia.explain(AGE, {"age": 50}).plot()
    (band,) = spans(ax, "allowed", 0)
    assert band == pytest.approx((place(ax, "20"), place(ax, "60")))
    (led,) = spans(ax, "change", 0)
    assert led == pytest.approx((place(ax, "60"), 1.0)), "the nearer side"
    (dot,) = artists(ax, "value")
    assert band[0] < dot.get_xdata()[0] < band[1]
    (arrow,) = artists(ax, "arrow")
    assert arrow.xyann[0] == dot.get_xdata()[0]
    assert led[0] <= arrow.xy[0] <= led[1]
    assert {"age", "50", "> 20 and ≤ 60", "→ > 60", "The model decided class 0"} <= set(texts(ax))
    assert "whatever the rest" in said(ax) and "would be class 1" in said(ax)


def test_places_are_to_scale_or_it_is_said_that_they_are_not() -> None:
    cells = [((0, 0), 1), ((1, 1), 0), ((2, 2), 1)]
    ax = quia.explain(graph_of(Variable.numeric("age", [20, 60]), cells), {"age": 40}, data=[[0], [80]]).plot()
    (dot,) = artists(ax, "value")
    assert dot.get_xdata()[0] == pytest.approx((place(ax, "20") + place(ax, "60")) / 2)
    assert "drawn apart" not in said(ax)
    near = graph_of(Variable.numeric("age", [20, 1000]), cells)
    assert "Numbers that are close are drawn apart." in said(quia.explain(near, {"age": 21}).plot())


def test_states_of_a_nominal_feature_are_cells(examples: Path) -> None:
    why = quia.explain(quia.load(examples / "admissions.json"), APPLICANT)
    ax, reason = why.plot(), why.answer().shortest
    assert reason is not None and not all(literal.variable.is_numeric for literal in reason)
    for row, literal in enumerate(reason):
        (band,) = spans(ax, "allowed", row)
        assert band == pytest.approx((0, len(literal.states) / literal.variable.size))
        assert literal.signs in texts(ax)
    assert [each.get_text() for each in artists(ax, "state")].count("fail") == 2


def test_a_change_of_other_features_has_rows_of_its_own() -> None:
    both = both_of(Variable.numeric("one", [1]), Variable.numeric("other", [5]))
    ax = quia.explain(both, {"one": 0, "other": 0}).plot()
    assert len(spans(ax, "allowed", 0)) == 1 and not spans(ax, "allowed", 1)
    assert len(spans(ax, "change", 0)) == len(spans(ax, "change", 1)) == 1
    assert len(artists(ax, "arrow")) == len(artists(ax, "value")) == 2


def test_any_reason_can_be_drawn() -> None:
    why = quia.explain(AGE, {"age": 50})
    ax = why.plot(reason=why.sufficient_reasons()[0])
    assert spans(ax, "allowed", 0)[0] == pytest.approx((place(ax, "30"), place(ax, "60")))
    young = next(each for each in why.necessary_reasons(general=True) if each.changes[0].holds(10))
    ax = why.plot(reason=young)
    assert not artists(ax, "allowed")
    assert spans(ax, "change", 0) == [pytest.approx((0.0, place(ax, "20")))] and "→ ≤ 20" in texts(ax)


def test_what_is_no_reason_of_the_decision_is_refused() -> None:
    why = quia.explain(AGE, {"age": 50})
    with pytest.raises(InstanceError, match=r"reason is 'age'; give one of those that sufficient_reasons"):
        why.plot(reason="age")  # type: ignore[arg-type]
    other = quia.explain(graph_of(Variable.numeric("size", [1]), [((0, 0), 1), ((1, 1), 0)]), {"size": 3})
    with pytest.raises(InstanceError, match="speaks of 'size', which is no feature of this decision"):
        why.plot(reason=other.sufficient_reasons()[0])
    with pytest.raises(InstanceError, match="which does not hold of this instance"):
        why.plot(reason=quia.explain(AGE, {"age": 10}).sufficient_reasons()[0])
    assert not plt.get_fignums()


def test_against_a_class() -> None:
    three = graph_of(Variable.numeric("age", [20, 60]), [((0, 0), 0), ((1, 1), 1), ((2, 2), 2)], 3)
    ax = quia.explain(three, {"age": 10}, against="class 2").plot()
    assert ax.get_title(loc="left") == "The model decided class 0, not class 2"
    assert "it is not class 2, whatever" in said(ax)
    assert spans(ax, "change", 0) == [pytest.approx((place(ax, "60"), 1.0))]


def test_what_nothing_changes_is_said() -> None:
    why = quia.explain(AGE, {"age": 50}, frozen=["age"])
    ax = why.plot()
    assert "Nothing could change this: it is class 0 whatever the features are, with what is taken as given." in said(
        ax
    )
    assert not artists(ax, "value")
    assert "Nothing could change this decision" in said(why.plot_importance())


def test_missing_and_unknown_values() -> None:
    maybe = graph_of(Variable.numeric("age", [30], missing=True), [((0, 0), 0), ((1, 2), 1)])
    ax = quia.explain(maybe, {"age": None}).plot()
    numbers, missing = spans(ax, "allowed", 0)
    (dot,) = artists(ax, "value")
    assert missing[0] < dot.get_xdata()[0] < missing[1] and numbers[0] == pytest.approx(place(ax, "30"))
    assert texts(ax).count("missing") == 2, "the value, and its place"
    both = both_of(Variable.numeric("one", [1]), Variable.numeric("other", [5]))
    assert "Not known: other." in said(quia.explain(both, {"one": 0, "other": None}).plot())


def test_the_range_of_the_data() -> None:
    ax = quia.explain(AGE, {"age": 50}, data=[{"age": 20}, {"age": "60"}, {"age": None}]).plot()
    (data,) = artists(ax, "data")
    assert list(data.get_xdata()) == pytest.approx([place(ax, "20"), place(ax, "60")])
    assert "where the data lie" in said(ax)
    assert not artists(quia.explain(AGE, {"age": 50}).plot(), "data")


def test_numbers_that_are_not_cut() -> None:
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit([[float(x)] for x in range(20)], [x > 12 for x in range(20)])
    why = quia.explain(quia.load(model, ranges={"x0": (0, 20)}), [3])
    ax = why.plot()
    (literal,) = why.answer().shortest or ()
    assert literal.variable.is_line and literal.intervals[0].upper is not None
    (band,), (led,) = spans(ax, "allowed", 0), spans(ax, "change", 0)
    assert band == pytest.approx((0, place(ax, number_text(literal.intervals[0].upper.threshold))))
    (dot,) = artists(ax, "value")
    assert band[0] < dot.get_xdata()[0] < band[1] <= led[0] < led[1] == 1 and literal.signs in texts(ax)


@pytest.mark.parametrize("most", [1, 15])
def test_of_many_features_the_first_are_drawn_and_the_rest_is_said(most: int) -> None:
    graph = all_of(500)
    why = quia.explain(graph, [1] * 500)
    ax = why.plot(most=most)
    assert len(artists(ax, "value")) == most
    assert len(artists(ax, "arrow")) == 1, "what would change is drawn first"
    assert f"{500 - most} features more." in said(ax) and "these 500 conditions hold" in said(ax)
    ax = why.plot_importance(most=most)
    assert bars(ax, "share") == [1.0] * most and f"{500 - most} features more" in said(ax)
    names = [each.get_text() for each in ax.get_yticklabels()]
    assert len(set(names)) == most and all(len(name) < 60 for name in names)
    for wrong in (0, -1, "all"):
        with pytest.raises(InstanceError, match="most is"):
            why.plot(most=wrong)  # type: ignore[arg-type]


def test_nothing_runs_out_of_the_figure(examples: Path) -> None:
    why = quia.explain(all_of(30), [1] * 30)
    admissions = quia.load(examples / "admissions.json")
    for ax in (
        why.plot(),
        why.plot_importance(),
        admissions.plot(APPLICANT),
        quia.explain(admissions, APPLICANT).plot(),
    ):
        ax.figure.canvas.draw()
        inside = ax.figure.get_window_extent()
        for each in ax.findobj(Text):
            if each.get_visible() and each.get_text():
                box = each.get_window_extent()
                assert inside.x0 <= box.x0 and box.x1 <= inside.x1, each.get_text()
                assert inside.y0 <= box.y0 and box.y1 <= inside.y1, each.get_text()


def test_names_are_no_formulas() -> None:
    name = "cost in $ or $x_2"
    odd = graph_of(Variable.nominal(name, ["$a$", "b\n$", "c"]), [((0, 0), 0), ((1, 2), 1)])
    ax = quia.explain(odd, {name: "$a$"}).plot()
    ax.figure.canvas.draw()
    assert name in texts(ax) and "b $" in texts(ax)
    assert not any(each.get_parse_math() for each in ax.findobj(Text) if "$" in each.get_text())


def test_importance_is_the_share_of_the_reasons(examples: Path) -> None:
    why = quia.explain(quia.load(examples / "admissions.json"), APPLICANT)
    ax, shares = why.plot_importance(), why.importance()
    assert bars(ax, "share") == pytest.approx([float(share) for share in shares.values()])
    assert [each.get_text() for each in ax.get_yticklabels()] == list(shares)
    assert f"its {why.count_sufficient()} sufficient reasons" in said(ax)


def test_what_cannot_be_counted_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    why = quia.explain(AGE, {"age": 50})

    def too_many(*_: Any, **__: Any) -> None:
        raise TooLarge("the reasons could not be counted within 1 s; give it more time", limit=1)

    monkeypatch.setattr(type(why), "importance", too_many)
    with pytest.raises(TooLarge, match="could not be counted within 1 s; give it more time"):
        why.plot_importance(timeout=1)
    assert not plt.get_fignums(), "and no empty figure is left"


def luminance(colour: Any) -> float:
    """How light a colour is, as WCAG has it."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4

    return sum(w * linear(part) for w, part in zip((0.2126, 0.7152, 0.0722), to_rgb(colour), strict=True))


@pytest.mark.parametrize("style", ["default", "dark_background", "ggplot", "grayscale"])
def test_texts_are_read_in_any_style(style: str, examples: Path) -> None:
    """Every text stands out from the ground, by 4.5 to 1, as WCAG asks."""
    with plt.style.context(style):
        why = quia.explain(quia.load(examples / "admissions.json"), APPLICANT)
        drawn = [why.plot(), why.plot_importance()]
    for ax in drawn:
        ground = luminance(ax.get_facecolor())
        for each in ax.findobj(Text):
            if each.get_visible() and each.get_text():
                light, dark = sorted((luminance(each.get_color()), ground), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (each.get_text(), each.get_color())


def test_axes_that_are_given_are_drawn_on_and_returned() -> None:
    before = dict(mpl.rcParams)
    figure, (one, other) = plt.subplots(1, 2)
    why = quia.explain(AGE, {"age": 50})
    assert why.plot(ax=one) is one and why.plot_importance(ax=other) is other
    assert not artists(one, "share") and artists(other, "share")
    assert len(plt.get_fignums()) == 1 and dict(mpl.rcParams) == before
    figure.canvas.draw()
    with pytest.raises(InstanceError, match="ax is 'here'; give the Axes of a matplotlib figure"):
        why.plot(ax="here")  # type: ignore[arg-type]


def test_on_given_axes_pyplot_is_not_needed(examples: Path) -> None:
    program = """
import sys, quia
from matplotlib.figure import Figure
model = quia.load(sys.argv[1])
given = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
why = quia.explain(model, given)
for draw in (why.plot, why.plot_importance, lambda ax: model.plot(given, ax=ax)):
    draw(ax=Figure().add_subplot())
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program, str(examples / "admissions.json")], check=True)


def test_matplotlib_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)
    why = quia.explain(AGE, {"age": 50})
    for draw in (why.plot, why.plot_importance, AGE.plot):
        with pytest.raises(Unsupported, match=r"plots need matplotlib; pip install 'quia\[plot\]'"):
            draw()
