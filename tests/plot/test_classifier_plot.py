"""Classifiers as plots: the way is lit, large graphs are pruned, and scores move as far as features move them."""

import random
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot as plt

import quia
from booleans import by_nnf
from drawn import artists, bars, said, texts
from quia.errors import InstanceError, Unsupported
from quia.show import layout
from quia.show.neighbourhood import top
from quia.variables import Variable

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


def tree(depth: int) -> quia.DecisionGraph:
    """A complete tree, each test of a feature of its own."""
    variables, tests, labels, edges = [], [], [], []  # type: ignore[var-annotated]

    def grow(left: int) -> int:
        if not left:
            tests.append(-1), labels.append(len(tests) % 2), edges.append(())
            return len(tests) - 1
        below = [grow(left - 1), grow(left - 1)]
        variables.append(Variable.numeric(f"x{len(variables)}", [0.5]))
        tests.append(len(variables) - 1), labels.append(-1)
        edges.append(((((0, 0),), below[0]), (((1, 1),), below[1])))
        return len(tests) - 1

    grow(depth)
    return quia.DecisionGraph.build(variables, ["no", "yes"], tests, labels, edges)


@pytest.mark.skipif(not layout.available(), reason="fast-sugiyama is not installed: pip install 'quia[draw]'")
def test_the_way_of_an_instance_is_lit(examples: Path) -> None:
    model = quia.load(examples / "admissions.json")
    assert isinstance(model, quia.DecisionGraph)
    ax = model.plot(APPLICANT)
    path = list(model.path(model.encode(APPLICANT)))
    assert len(artists(ax, "lit test")) == len(path) - 1 and len(artists(ax, "lit leaf")) == 1
    assert len(artists(ax, "lit test") + artists(ax, "test")) == sum(node[0] >= 0 for node in model.nodes)
    assert [each.get_text() for each in artists(ax, "lit condition")] == ["fail", "medium", "< 1450"]
    assert len(artists(ax, "lit edge")) == len(path) - 1
    thin = max(each.get_linewidth() for each in artists(ax, "edge"))
    assert all(each.get_linewidth() > 2 * thin for each in artists(ax, "lit edge"))
    assert ax.get_title(loc="left") == f"The model decided {model.classify(APPLICANT)}"
    assert {"here 1400", "here medium", "here fail"} <= set(texts(ax)) and "passes 3 tests" in said(ax)


def test_of_a_large_graph_the_way_and_what_branches_off() -> None:
    model = tree(6)
    instance = dict.fromkeys((v.name for v in model.variables), 0)
    ax = model.plot(instance)
    path = list(model.path(model.encode(instance)))
    assert len(artists(ax, "lit test")) == 6 and not artists(ax, "test")
    assert len(artists(ax, "stub")) == 5 and len(artists(ax, "leaf")) == 1
    shown = texts(ax)
    for node in path[:-2]:
        hidden = 2 ** (model.sizes["depth"] - path.index(node)) - 1
        assert f"{hidden} nodes more" in shown
    assert "dashed boxes stand for branches not taken" in said(ax)
    ax = model.plot(instance, most=2)
    assert len(artists(ax, "lit test")) == 2 and "of which the last 2 are drawn" in said(ax)


def test_without_an_instance_the_top_is_drawn() -> None:
    ax = tree(2).plot()
    assert len(artists(ax, "test")) == 3 and len(artists(ax, "leaf")) == 4 and not artists(ax, "stub")
    assert ax.get_title(loc="left") == "A decision tree of 7 nodes"
    large = tree(8)
    ax = large.plot()
    stubs = artists(ax, "stub")
    assert len(artists(ax, "test")) == 2**3 - 1 and len(stubs) == 8
    assert texts(ax).count("63 nodes more") == 8 and "Its top" in said(ax)
    assert not [each for each in ax.findobj() if str(each.get_gid()).startswith("lit")]


def test_the_top_of_any_graph_holds_together() -> None:
    draw = random.Random(5)
    for _ in range(40):
        model = tree(draw.randint(1, 7))
        drawn = top(model, draw.randint(2, 60))
        ends = [arrow.end for arrow in drawn.arrows]
        assert drawn.boxes[0].nodes == (len(model.nodes) - 1,) and sorted(ends) == list(range(1, len(drawn.boxes)))
        assert {arrow.start for arrow in drawn.arrows} == {
            place for place, box in enumerate(drawn.boxes) if box.kind == "test"
        }
        placed = layout.tidy(drawn).places
        assert len(set(placed.values())) == len(drawn.boxes)
        assert all(placed[arrow.end][1] == placed[arrow.start][1] + 1 for arrow in drawn.arrows)


def test_a_way_that_ends_where_a_value_is_missing() -> None:
    both = Variable.numeric("one", [1]), Variable.numeric("other", [5])
    # Whatever the second is, the class is 'no'.
    edges: list[Any] = [(), (), (), ((((0, 0),), 0), (((1, 1),), 1)), ((((0, 0),), 3), (((1, 1),), 2))]
    model = quia.DecisionGraph.build(both, ["no", "yes"], [-1, -1, -1, 1, 0], [0, 0, 1, -1, -1], edges)
    ax = model.plot({"one": 0, "other": None})
    assert "up to the first whose value is not known" in said(ax) and "here missing" in texts(ax)


def test_what_is_shared_needs_a_layout(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "available", lambda: False)
    model = quia.load(examples / "admissions.json")
    with pytest.raises(Unsupported, match=r"needs fast-sugiyama; pip install 'quia\[draw\]', or give an instance"):
        model.plot()  # type: ignore[attr-defined]
    ax = model.plot(APPLICANT)  # type: ignore[attr-defined]
    assert len(artists(ax, "lit test")) == 3, "the way alone"
    assert tree(3).plot() is not None


def test_boxes_shrink_with_the_axes() -> None:
    instance = dict.fromkeys((v.name for v in tree(6).variables), 0)
    alone = tree(6).plot(instance)
    _, (small, _) = plt.subplots(1, 2, figsize=(6, 3))
    assert tree(6).plot(instance, ax=small) is small
    sizes = [max(each.get_fontsize() for each in artists(ax, "lit condition")) for ax in (alone, small)]
    assert sizes[1] < 0.6 * sizes[0]


def test_points_of_a_scorecard(examples: Path) -> None:
    card = quia.load(examples / "credit_scorecard.csv")
    row: dict[str, Any] = dict(
        zip(*(line.split(",") for line in (examples / "applicant.csv").read_text().splitlines()[:2]), strict=True)
    )
    ax = card.plot(row)  # type: ignore[attr-defined]
    codes = quia.explain(card, row).reason_codes(12)
    gains = {each.feature: each.points for each in codes.codes}
    drawn = dict(zip((each.get_text().split(":")[0] for each in ax.get_yticklabels()), bars(ax, "gain"), strict=True))
    assert len(drawn) == 12 and gains and all(drawn[name] == pytest.approx(gain) for name, gain in gains.items())
    (rival,) = artists(ax, "rival")
    assert rival.get_xdata()[0] == pytest.approx(codes.missing)
    assert f"{codes.missing:g} points from grant" in said(ax) and "grant from here" in texts(ax)


def test_moves_of_an_ensemble_are_those_of_its_scores() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    draw = random.Random(2)
    rows = [[draw.random() for _ in range(4)] for _ in range(120)]
    labels = [int(row[0] + row[1] > 1) for row in rows]
    forest = ensemble.RandomForestClassifier(n_estimators=7, max_depth=3, random_state=1).fit(rows, labels)
    model = quia.load(forest)
    ax = model.plot(rows[0])
    states = list(model.encode(rows[0]))
    own, other = (0, 1) if model.decide(states) == 0 else (1, 0)

    def lead(changed: list[int]) -> float:
        scores = model.scores(changed)
        return float(scores[other] - scores[own])

    for name, gain, loss in zip(ax.get_yticklabels(), bars(ax, "gain"), bars(ax, "loss"), strict=True):
        v = next(v for v, each in enumerate(model.variables) if each.name == name.get_text().split(":")[0])
        moves = [
            lead([state if u == v else s for u, s in enumerate(states)]) - lead(states)
            for state in range(model.variables[v].size)
        ]
        assert gain == pytest.approx(max(moves)) and loss == pytest.approx(min(moves))
    assert artists(ax, "rival")[0].get_xdata()[0] == pytest.approx(-lead(states))
    with pytest.raises(Unsupported, match=r"a random forest has no drawing by itself; give an instance"):
        model.plot()
    with pytest.raises(InstanceError, match="most is 0"):
        model.plot(rows[0], most=0)


def test_a_circuit_has_no_drawing(tmp_path: Path) -> None:
    circuit = by_nnf(0b0110, 2, random.Random(1), tmp_path)
    assert isinstance(circuit, quia.Circuit)
    with pytest.raises(Unsupported, match=rf"a {circuit.kind} has no drawing; plot a decision on it, with explain"):
        circuit.plot()


def test_numbers_without_a_range_are_refused_as_everywhere() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    model = quia.load(linear.LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 0, 1]))
    with pytest.raises(Unsupported, match="x0 can be any number, so that nothing else forces a decision; say between"):
        model.plot([1])
    assert not plt.get_fignums()
