"""General reasons against brute force over their definitions, on hundreds of random graphs.

Nominal and numeric features, missing values that have a state and unknown ones that have none, shared nodes, tests
repeated, several classes, against a class, frozen features, costs, reference tables.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import general_oracle as general
import oracle
import quia
from contract import Subject
from general_oracle import Box
from strategies import Case, random_case, random_instance, random_neighbour

KINDS = ("necessary", "sufficient")
EACH = 40
LIMITS = {"features": 4, "states": 4, "tests": 12}


@dataclass(frozen=True)
class Asked:
    """A random question, put to quia and, with what is known of the instance, to the oracle."""

    rng: Random
    case: Case
    known: dict[str, Any]
    graph: quia.DecisionGraph

    @property
    def d(self) -> dict[str, Any]:
        return self.case.graph

    @property
    def options(self) -> dict[str, Any]:
        return {"against": self.case.against, "frozen": sorted(self.case.frozen), "costs": self.case.costs}

    @property
    def to_the_oracle(self) -> tuple[Any, ...]:
        return self.d, self.known, self.case.against, self.case.frozen, self.case.costs

    @property
    def keeps(self) -> set[str]:
        return general.classes_that_keep(self.d, self.known, self.case.against)

    def why(self, classifier: Any = None, **more: Any) -> quia.Explanation:
        return quia.explain(classifier or self.graph, self.given, **self.options, **more)

    @property
    def given(self) -> dict[str, Any]:
        """The instance as users write it."""
        return {x: self.known.get(x) for x in self.d["variables"]}


def questions(seed: int, count: int = EACH, **limits: Any) -> Iterator[Asked]:
    """Questions that can be asked: the decision is the same whatever is unknown, and not the class asked against."""
    rng = Random(seed)
    while count:
        case = random_case(rng, **{**LIMITS, "sharing": rng.choice((0.0, 0.4, 0.7)), **limits})
        graph = quia.DecisionGraph.from_dict(case.graph)
        known = dict(case.instance)
        for x in rng.sample(sorted(known), len(known)):
            fewer = {y: value for y, value in known.items() if y != x}
            has_no_state = not next(v for v in graph.variables if v.name == x).missing
            if has_no_state and rng.random() < 0.15 and oracle.decision(case.graph, fewer) is not None:
                known = fewer
        if oracle.decision(case.graph, known) != case.against:
            count -= 1
            yield Asked(rng, case, known, graph)


def reasons_of(why: quia.Explanation, kind: str, **how: Any) -> quia.Reasons:
    return getattr(why, f"{kind}_reasons")(general=True, **how)


def box_of(reason: quia.Reason) -> Box:
    """The box that a reason is: of its literals, or of its changes."""
    literals = reason.literals if reason.kind == "sufficient" else reason.changes
    return tuple((literal.feature, literal.states) for literal in literals)


def boxes_of(reasons: Any) -> list[Box]:
    return [box_of(reason) for reason in reasons]


# The definitions


@pytest.mark.parametrize("seed", range(10))
def test_all_boxes_in_their_order(seed: int) -> None:
    for asked in questions(seed):
        why = asked.why()
        for kind, intervals, shortest in product(KINDS, (True, False), (False, True)):
            expected = general.general_reasons(kind, *asked.to_the_oracle, intervals=intervals, shortest=shortest)
            found = reasons_of(why, kind, intervals=intervals, shortest=shortest)
            about = (asked, kind, intervals, shortest)
            assert boxes_of(found) == expected, about
            assert found.complete and found.count in (None, len(expected)) and len(found) == len(expected), about


@pytest.mark.parametrize("seed", range(3))
def test_what_each_reason_says_of_itself(seed: int) -> None:
    for asked in questions(100 + seed):
        why = asked.why()
        for kind, intervals in product(KINDS, (True, False)):
            for reason in reasons_of(why, kind, intervals=intervals):
                assert (reason.kind, reason.is_general, reason.rows) == (kind, True, None)
                assert reason.features == tuple(literal.feature for literal in reason.literals)
                assert all(literal.holds(asked.known[literal.feature]) for literal in reason.literals)
                stated = tuple((literal.feature, literal.states) for literal in reason.literals)
                if kind == "sufficient":
                    assert reason.changes == ()
                    continue
                assert stated == general.negated(asked.d, box_of(reason))
                assert not any(change.holds(asked.known[change.feature]) for change in reason.changes)
            plain = getattr(why, f"{kind}_reasons")()
            assert all(r.kind == kind and not r.is_general for r in plain)


@pytest.mark.parametrize("seed", range(3))
def test_features_are_those_of_the_plain_reasons_in_their_order(seed: int) -> None:
    for asked in questions(200 + seed, features=5):
        why = asked.why()
        for kind, shortest in product(KINDS, (False, True)):
            plain = [r.features for r in getattr(why, f"{kind}_reasons")(shortest=shortest)]
            found = [r.features for r in reasons_of(why, kind, shortest=shortest)]
            assert list(dict.fromkeys(found)) == plain, asked
            # The boxes of one set of features come together.
            assert found == sorted(found, key=plain.index), asked


@pytest.mark.parametrize("seed", range(3))
def test_the_general_reason(seed: int) -> None:
    for asked in questions(300 + seed):
        worlds = general.general_reason(*asked.to_the_oracle[:4])
        formula = asked.why().general_reason
        for world in oracle.worlds(asked.d):
            instance = dict(zip(asked.d["variables"], world, strict=True))
            assert formula.evaluate(instance) == (world in worlds), (asked, world)


@pytest.mark.parametrize("seed", range(3))
def test_every_reason_is_verified(seed: int) -> None:
    """By `verify`, which shares no code with what finds them; and what is wider is refuted."""
    for asked in questions(400 + seed, 20):
        why = asked.why()
        options = {"against": asked.case.against, "frozen": sorted(asked.case.frozen)}
        for kind, intervals in product(KINDS, (True, False)):
            for reason in reasons_of(why, kind, intervals=intervals):
                quia.verify(asked.graph, asked.given, reason, kind, maximal=True, intervals=intervals, **options)


# Listing, cutting short, choosing


@pytest.mark.parametrize("seed", range(4))
def test_listings_can_be_cut_replayed_and_indexed(seed: int) -> None:
    for asked in questions(500 + seed):
        why = asked.why()
        for kind, intervals in product(KINDS, (True, False)):
            found = reasons_of(why, kind, intervals=intervals)
            listed = list(found)
            assert list(found) == listed, "replayed"
            assert boxes_of(reasons_of(asked.why(), kind, intervals=intervals)) == boxes_of(listed)
            assert bool(found) == bool(listed)
            for limit in {0, 1, 2, len(listed), len(listed) + 1} - {-1}:
                cut = reasons_of(why, kind, intervals=intervals, limit=limit)
                assert list(cut) == listed[:limit], (asked, kind, limit)
                assert (len(cut), cut.complete) == (min(limit, len(listed)), limit >= len(listed)), (asked, kind, limit)
            assert [found[at] for at in range(len(listed))] == listed
            assert [found[at] for at in range(-len(listed), 0)] == listed
            for part in (slice(1, None), slice(None, 2), slice(None, None, 2), slice(-2, None), slice(None, None, -1)):
                assert found[part] == listed[part]
            with pytest.raises(IndexError):
                found[len(listed)]
            again = pickle.loads(pickle.dumps(found))
            assert boxes_of(again) == boxes_of(listed)


@pytest.mark.parametrize("seed", range(4))
def test_listings_are_asked_for_features_and_members(seed: int) -> None:
    for asked in questions(600 + seed):
        why = asked.why()
        for kind in KINDS:
            found = reasons_of(why, kind)
            listed = list(found)
            some = asked.rng.choice(sorted(asked.d["variables"]))
            more = asked.rng.choice(sorted(asked.d["variables"]))
            assert list(found.containing(some)) == [r for r in listed if some in r.features], asked
            assert list(found.avoiding(some)) == [r for r in listed if some not in r.features], asked
            both = found.containing(some).avoiding(more)
            assert list(both) == [r for r in listed if some in r.features and more not in r.features], asked
            if listed:
                assert next(iter(found.containing(*listed[0].features))) == listed[0]
            for reason in listed:
                assert reason in found, asked
            of_features = {frozenset(r.features) for r in listed}
            for claimed in oracle.subsets(asked.d["variables"]):
                assert (claimed in found) == (claimed in of_features), (asked, claimed)
            drawn = found.sample(12, seed=3)
            assert drawn == found.sample(12, seed=3)
            assert len(drawn) == (12 if listed else 0)
            assert all(reason in listed for reason in drawn), asked


@pytest.mark.parametrize("seed", range(2))
def test_a_box_that_is_none_of_them_is_not_among_them(seed: int) -> None:
    """Narrower ones and those of the plain form, where they are not the widest."""
    seen = 0
    for asked in questions(700 + seed):
        why = asked.why()
        found = reasons_of(why, "sufficient")
        boxes = boxes_of(found)
        for plain in why.sufficient_reasons():
            is_widest = box_of(plain) in boxes
            assert (plain in found) == is_widest, (asked, plain)
            seen += not is_widest
    assert seen


def test_no_time_at_all_is_told(examples: Path) -> None:
    why = quia.explain(quia.load(examples / "admissions.json"), ADMISSION)
    for kind in KINDS:
        found = reasons_of(why, kind, timeout=0)
        assert found.complete == (len(list(found)) == len(list(reasons_of(why, kind))))


def test_a_sample_has_every_reason_in_it() -> None:
    """Also those of a set of features that has several."""
    for asked in questions(800, 200):
        found = reasons_of(asked.why(), "necessary")
        listed = list(found)
        if len({frozenset(r.features) for r in listed}) < len(listed):
            drawn = found.sample(200 * len(listed), seed=1)
            assert set(map(box_of, drawn)) == set(map(box_of, listed)), asked
            return
    pytest.fail("no decision with several boxes for one set of features was drawn")


# Counterfactuals


def region_of(change: Any) -> general.Region:
    return tuple((c.feature, c.states) for c in change.changes), change.decision, change.certain


@pytest.mark.parametrize("seed", range(8))
def test_counterfactuals_are_regions(seed: int) -> None:
    for asked in questions(900 + seed):
        why = asked.why()
        for missing in (False, True):
            expected = general.counterfactual_regions(*asked.to_the_oracle, missing=missing)
            found = why.counterfactuals(missing=missing)
            assert [region_of(c) for c in found] == expected, (asked, missing)
            assert found.complete
            for limit in (0, 1, 2, len(expected)):
                cut = why.counterfactuals(missing=missing, limit=limit)
                assert cut == found[:limit]
                assert cut.complete == (limit >= len(expected))
        assert why.counterfactuals() == why.counterfactuals(missing=False)
        assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("seed", range(2))
def test_changes_are_told_beside_what_is_now(seed: int) -> None:
    for asked in questions(1000 + seed):
        for change in asked.why().counterfactuals():
            assert len(change.now) == len(change.changes)
            for literal, now in zip(change.changes, change.now, strict=True):
                value = asked.known[literal.feature]
                if isinstance(value, str):
                    assert now == value
                assert not literal.holds(value)
                assert f"{literal} (now {now})" in str(change)
            assert str(change).endswith(change.decision)


# Two instances


@pytest.mark.parametrize("seed", range(4))
def test_a_common_reason_is_one_for_both(seed: int) -> None:
    seen = set()
    for asked in questions(1100 + seed, 60):
        d = asked.d
        other = random_neighbour(asked.rng, d, asked.case.instance)
        why = asked.why()
        # Frozen or not, features may differ.
        forced = general.forces(d, general.smallest_box(d, asked.known, other), asked.keeps)
        common = why.common_reason(other)
        seen.add(forced)
        assert (common is not None) == forced, (asked, other)
        if common is None:
            continue
        assert common.is_general and common.kind == "sufficient"
        box = box_of(common)
        for each in (asked.known, other):
            assert general.is_sufficient_for(d, box, each, asked.keeps), (asked, other, common)
        assert general.is_widest(d, box, asked.keeps), (asked, other, common)
    assert seen == {True, False}


# Reference tables


@pytest.mark.parametrize("seed", range(5))
def test_most_rows_first_with_a_reference_table(seed: int) -> None:
    for asked in questions(1200 + seed):
        rows = [random_instance(asked.rng, asked.d) for _ in range(12)]
        why = asked.why(data=rows)
        for kind, intervals in product(KINDS, (True, False)):
            found = list(reasons_of(why, kind, intervals=intervals))
            expected = general.general_reasons(kind, *asked.to_the_oracle, intervals=intervals, rows=rows)
            assert boxes_of(found) == expected, (asked, kind, intervals, rows)
            for reason in found:
                assert reason.rows == general.rows_in(asked.d, box_of(reason), rows), (asked, reason, rows)


@pytest.mark.parametrize("seed", range(2))
def test_every_kind_of_table_is_taken(seed: int) -> None:
    import pyarrow as pa

    for asked in questions(1300 + seed, 20):
        rows = [random_instance(asked.rng, asked.d) for _ in range(8)]
        columns = {x: [row[x] for row in rows] for x in asked.d["variables"]}
        found = [
            [(box_of(r), r.rows) for r in reasons_of(asked.why(data=table), "sufficient")]
            for table in (rows, columns, pa.table(columns))
        ]
        assert found[0] == found[1] == found[2], asked


def test_an_unknown_column_or_value_of_a_reference_table_fits_nothing(examples: Path) -> None:
    admissions = quia.load(examples / "admissions.json")
    rows = [ADMISSION, {**ADMISSION, "GPA": "low"}, {**ADMISSION, "GPA": None}, {**ADMISSION, "SAT": 1500}]
    why = quia.explain(admissions, ADMISSION, data=rows)
    assert [(str(r), r.rows) for r in why.sufficient_reasons(general=True)] == [
        ("Essay=fail and Interview=fail", 4),
        ("SAT < 1450 and GPA ≠ high and Interview=fail", 2),
    ]


# Others that must agree


@pytest.mark.parametrize("seed", range(4))
def test_a_twin_that_has_only_escape_agrees(seed: int) -> None:
    for asked in questions(1400 + seed, 25, states=3):
        subject = Subject(asked.graph, asked.d)
        twin = subject.twin(asked.rng)
        other = random_neighbour(asked.rng, asked.d, asked.case.instance)
        rows = [random_instance(asked.rng, asked.d) for _ in range(6)]
        one, same = (asked.why(c, data=rows) for c in (asked.graph, twin))
        assert everything(same, other) == everything(one, other), asked


@pytest.mark.parametrize("seed", range(2))
def test_a_graph_written_and_read_and_a_tree_of_it_agree(seed: int) -> None:
    """What the nodes are, and in which order, does not matter: only what is decided does."""
    for asked in questions(1500 + seed, 20, states=3):
        tree = quia.DecisionGraph.from_dict(unfolded(asked.d))
        again = quia.DecisionGraph.from_dict(asked.graph.to_dict())
        other = random_neighbour(asked.rng, asked.d, asked.case.instance)
        expected = everything(asked.why(), other)
        assert everything(asked.why(again), other) == expected, asked
        assert everything(asked.why(tree), other) == expected, asked


def everything(why: quia.Explanation, other: Any) -> dict[str, Any]:
    """All that is said in general form, as plain values."""
    common = why.common_reason(other)
    listed = {
        (kind, intervals): [(r.to_dict(), box_of(r), r.rows) for r in reasons_of(why, kind, intervals=intervals)]
        for kind, intervals in product(KINDS, (True, False))
    }
    return {
        "counterfactuals": [(str(c), c.to_dict(), region_of(c)) for c in why.counterfactuals()],
        "common": None if common is None else box_of(common),
        "text": "" if why.is_constant else str(why),  # leaves are spoken of only where there are any
        **{str(key): found for key, found in listed.items()},
    }


def unfolded(d: dict[str, Any]) -> dict[str, Any]:
    """The graph with a node for each path to it: shared nodes once for each way that leads there."""
    nodes: dict[str, Any] = {}
    work = [("root", d["root"])]
    while work:
        path, name = work.pop()
        node = d["nodes"][name]
        if "test" not in node:
            nodes[path] = node
            continue
        edges = [{"if": edge["if"], "to": f"{path}.{k}"} for k, edge in enumerate(node["edges"])]
        nodes[path] = {"test": node["test"], "edges": edges}
        work += [(f"{path}.{k}", edge["to"]) for k, edge in enumerate(node["edges"])]
    return {**d, "root": "root", "nodes": nodes}


# The paper's examples in general form

ADMISSION = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


def texts(reasons: Sequence[Any]) -> list[str]:
    return [str(reason) for reason in reasons]


def test_admissions(examples: Path) -> None:
    """Figures 1 and 2: with a GPA that is low the applicant is rejected as well."""
    why = quia.explain(quia.load(examples / "admissions.json"), ADMISSION)
    assert [{x: sorted(states) for x, states in box_of(reason)} for reason in why.sufficient_reasons(general=True)] == [
        {"Essay": [0], "Interview": [0]},
        {"SAT": [0], "GPA": [0, 1], "Interview": [0]},
    ]
    assert texts(why.sufficient_reasons(general=True)) == [
        "Essay=fail and Interview=fail",
        "SAT < 1450 and GPA ≠ high and Interview=fail",
    ]
    necessary = why.necessary_reasons(general=True)
    assert texts(necessary) == ["Interview=fail", "SAT < 1450 and Essay=fail", "GPA ≠ high and Essay=fail"]
    assert [texts(reason.changes) for reason in necessary] == [
        ["Interview=pass"],
        ["SAT >= 1450", "Essay=pass"],
        ["GPA=high", "Essay=pass"],
    ]
    assert texts(why.counterfactuals()) == ["Interview=pass (now fail): Accept"]


def test_iris(examples: Path) -> None:
    """Figure 3: virginica whatever the petal's width above 0.6, once it is long enough; the facts widen."""
    iris = quia.load(examples / "iris.json")
    why = quia.explain(iris, {"petalwidth": 0.8, "petallength": 5.3})
    found = why.sufficient_reasons(general=True)
    for reason in found:
        quia.verify(iris, why.instance, reason, "sufficient", maximal=True)
    assert {r.features for r in found} == {("petallength", "petalwidth")}
    for reason in why.necessary_reasons(general=True):
        quia.verify(iris, why.instance, reason, "necessary", maximal=True)


def test_target(examples: Path) -> None:
    """Figure 4: why x₂y₁ is not c₃: y₁ alone; the change to y₂ is the whole region."""
    tree = quia.load(examples / "target.json")
    why = quia.explain(tree, {"X": "x2", "Y": "y1"}, against="c3")
    assert [texts(r.changes) for r in why.necessary_reasons(general=True)] == [["Y=y2"]]
    assert texts(why.counterfactuals()) == ["Y=y2 (now y1): c3"]
