"""Reasons found by nothing but `escape`: in order, one by one, all, and as far as time and number allow."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import Any

import pytest

import quia
from contract import Subject, all_reasons, cost, in_contract_order, random_question
from quia import patience as patience_module
from quia import search as search_module
from quia.classifier import ClassifierBase
from quia.errors import TooLarge
from quia.patience import Clock
from quia.search import Search
from quia.show.html import page
from quia.show.text import explanation_text
from quia.variables import UNKNOWN, Variable
from quia.web import answers as web_answers
from strategies import random_graph

KINDS = ("necessary", "sufficient")
CASES = 60


class Votes(ClassifierBase):
    """Is yes if at least k of n are; `escape` counts, and calls `work` first."""

    def __init__(self, n: int, k: int, work: Callable[[], None] = lambda: None) -> None:
        self.variables = tuple(Variable.nominal(f"v{i}", ["no", "yes"]) for i in range(n))
        self.classes, self.k, self.work = ("no", "yes"), k, work

    def decide(self, states: Any) -> int:
        return int(sum(state == 1 for state in states) >= self.k)

    def escape(self, question: Any, region: Any) -> Any:
        self.work()
        possible = region.intersection(question.within)
        if possible.is_empty:
            return None
        for wanted in (0, 1):
            found = [
                wanted if possible.states(v) == ((0, 1),) else possible.states(v)[0][0]
                for v in range(len(self.variables))
            ]
            if self.decide(found) not in question.keeps:
                return found
        return None


def cases(seed: int) -> Any:
    rng = Random(seed)
    for _ in range(CASES):
        d = random_graph(rng, features=5, states=3, tests=12)
        subject = Subject(quia.DecisionGraph.from_dict(d), d)
        question = random_question(rng, subject)
        yield rng, subject, question, all_reasons(subject, question)


def whole_costs(question: Any) -> Any:
    return None if question.costs is None else question.costs.whole


@pytest.mark.parametrize("seed", range(3))
def test_both_listings_at_once_are_in_the_contract_order(seed: int) -> None:
    """What one finds the other knows, and neither loses or repeats a reason."""
    for rng, subject, question, expected in cases(seed):
        search = Search(subject.twin(rng), question)
        listings = [search.in_order(kind, Clock()) for kind in KINDS]
        found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        waiting = dict(zip(KINDS, listings))
        while waiting:
            kind = rng.choice(sorted(waiting))
            members = next(waiting[kind], None)
            if members is None:
                del waiting[kind]
            else:
                found[kind].append(members)
        for kind in KINDS:
            assert found[kind] == in_contract_order(expected[kind], whole_costs(question)), (subject.d, question)
            assert set(search.known[kind]) == expected[kind]
        assert search.complete


@pytest.mark.parametrize("seed", range(3))
def test_gathering_finds_all_and_what_was_known_serves_again(seed: int) -> None:
    for rng, subject, question, expected in cases(10 + seed):
        twin = subject.twin(rng)
        search = Search(twin, question)
        if rng.random() < 0.5:  # something is known already
            next(search.in_order(rng.choice(KINDS), Clock()), None)
        assert search.gather(Clock()) and search.complete
        assert {kind: set(search.known[kind]) for kind in KINDS} == expected, (subject.d, question)
        for kind in KINDS:
            asked = Asked(twin)
            search.classifier = asked
            assert list(search.in_order(kind, Clock())) == in_contract_order(expected[kind], whole_costs(question))
            assert not asked.count, "all is known"


class Asked:
    """Counts what a classifier is asked."""

    def __init__(self, classifier: Any) -> None:
        self.classifier, self.count = classifier, 0

    def escape(self, question: Any, region: Any) -> Any:
        self.count += 1
        return self.classifier.escape(question, region)


@pytest.mark.parametrize("seed", range(3))
def test_one_reason(seed: int) -> None:
    for rng, subject, question, expected in cases(20 + seed):
        search = Search(subject.twin(rng), question)
        for kind in rng.sample(KINDS, 2):
            found = search.one(kind, Clock())
            assert found in expected[kind] if expected[kind] else found is None, (subject.d, question)
            assert search.one(kind, Clock()) == found


@pytest.mark.parametrize("seed", range(3))
def test_a_reason_within_features_that_are_enough(seed: int) -> None:
    """Costly features are left out first: no feature that is left could have been spared instead."""
    for rng, subject, question, expected in cases(30 + seed):
        search = Search(subject.twin(rng), question)
        for reason in expected["sufficient"]:
            more = reason | {v for v in search.changeable if rng.random() < 0.5}
            found = search.sufficient_within(more, Clock())
            assert found in expected["sufficient"] and found <= more
            costs = whole_costs(question)
            dropped = [v for v in more if not any(r <= more - {v} for r in expected["sufficient"])]
            assert set(dropped) <= found, "what is in all of them is in this one"
            if costs is not None and (
                spared := [v for v in more if any(r <= more - {v} for r in expected["sufficient"])]
            ):
                assert max(spared, key=lambda v: (costs[v], -v)) not in found


@pytest.mark.parametrize("most", [0, 1, 2])
def test_more_reasons_than_are_gathered_come_one_by_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "MOST_GATHERED", most)
    capped = 0
    for rng, subject, question, expected in cases(40 + most):
        costs = whole_costs(question)
        for kind in rng.sample(KINDS, 2):
            explained = quia.Explanation(subject.twin(rng), {}, question)
            listed = in_contract_order(expected[kind], costs)
            reasons = getattr(explained, f"{kind}_reasons")()
            if reasons.count is None:
                capped += 1
                with pytest.raises(TooLarge, match="one by one"):
                    getattr(explained, f"count_{kind}")()
            else:
                assert reasons.count == len(listed)
            first = getattr(explained, f"{kind}_reasons")(limit=1)
            assert list(first.members()) == listed[:1] and first.complete == (len(listed) <= 1)
            assert list(reasons.members()) == listed and reasons.complete, (subject.d, question)
            least = [m for m in listed if cost(m, costs) == cost(listed[0], costs)]
            assert list(getattr(explained, f"{kind}_reasons")(shortest=True).members()) == least
            assert getattr(explained, f"count_{kind}")() == len(listed), "all are known by now"
    assert capped, "some were too many"


def test_what_is_too_many_is_told_as_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """5 of 9 votes: 126 reasons of each kind, of which the text lists ten."""
    monkeypatch.setattr(search_module, "MOST_GATHERED", 20)
    votes, instance = Votes(9, 5), ["yes"] * 9
    answer = quia.explain(votes, instance).answer()
    assert (answer.sufficient.count, answer.sufficient.complete, len(answer.sufficient)) == (None, False, 10)
    assert not answer.in_time
    told = "the first 10; there may be more than could be counted"
    text = explanation_text(answer)
    assert f"Sufficient reasons: {told}" in text and f"Necessary reasons: {told}" in text
    assert answer.to_dict()["sufficient"]["count"] is None
    with pytest.raises(TooLarge, match="more than 20 reasons of a kind, and this classifier gives them one by one"):
        quia.explain(votes, instance).importance()
    everything = list(quia.explain(votes, instance).sufficient_reasons().members())
    assert len(everything) == 126 and everything == sorted(everything)
    row = quia.explain_batch(votes, [instance], shortest=(), counts=True, all_reasons=3).to_pylist()[0]
    assert (row["sufficient_count"], row["complete"], len(row["sufficient_reasons"])) == (None, False, 3)


@pytest.mark.parametrize("seconds", [0, 1, 3, 10, 30, 100])
def test_out_of_time_is_told_and_what_is_listed_is_right(seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `escape` takes a second of a clock that only it moves."""
    time = [0.0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])
    votes = Votes(7, 4, lambda: time.__setitem__(0, time[0] + 1))
    instance = dict.fromkeys((f"v{i}" for i in range(7)), "yes")
    expected = {
        kind: [r.to_dict() for r in getattr(quia.explain(votes, instance), f"{kind}_reasons")()] for kind in KINDS
    }
    assert len(expected["sufficient"]) == len(expected["necessary"]) == 35
    why = quia.explain(votes, instance)
    began = time[0]
    answer = why.answer(timeout=float(seconds), limit=None)
    assert time[0] - began <= 4 * seconds + 12, "the time given, some for each last step, and one step that is begun"
    for kind in KINDS:
        found = getattr(answer, kind)
        listed = [reason.to_dict() for reason in found]
        assert listed == expected[kind][: len(listed)], "a prefix of the contract order"
        assert found.complete == (len(listed) == 35)
        assert (found.count is not None) <= (len(listed) == 35)
    assert answer.in_time == (answer.necessary.count is not None and answer.sufficient.count is not None)
    short = why.necessary_reasons(shortest=True, timeout=float(seconds))
    assert short.complete == (len(short) == 35)
    changes = why.counterfactuals(timeout=float(seconds))
    assert changes.complete == (len(changes) == 35)
    if seconds <= 10:
        assert not answer.sufficient.complete and not answer.in_time
        assert "before time ran out" in explanation_text(answer)
    assert [r.to_dict() for r in why.sufficient_reasons()] == expected["sufficient"], "with time enough, all"
    assert why.counterfactuals().complete


def test_a_page_takes_no_more_time_than_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The complete reason is made of all necessary reasons, which are not looked for once time is out."""
    time = [0.0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])
    votes = Votes(9, 5, lambda: time.__setitem__(0, time[0] + 1))
    html = page(quia.explain(votes, ["yes"] * 9), timeout=4.0)
    assert time[0] < 40 and "part complete" not in html
    before = time[0]
    monkeypatch.setattr(web_answers, "TIMEOUT", 4.0)
    found = web_answers.answer(votes, {"instance": ["yes"] * 9}, name="m")
    assert time[0] - before < 40 and found["mentioned"] == [f"v{i}" for i in range(9)]
    assert "part complete" in page(quia.explain(votes, ["yes"] * 9))


def test_a_batch_row_out_of_time_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    time = [0.0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])
    votes = Votes(7, 4, lambda: time.__setitem__(0, time[0] + 1))
    rows = [["yes"] * 7, ["no"] * 7]
    slow = quia.explain_batch(votes, rows, timeout=2, counterfactuals=3, counts=True).to_pylist()
    quick = quia.explain_batch(votes, rows, counterfactuals=3, counts=True).to_pylist()
    for row, whole in zip(slow, quick, strict=True):
        assert not row["complete"] and whole["complete"]
        assert (row["decision"], row["error"]) == (whole["decision"], None)
        assert row["sufficient_count"] is None and whole["sufficient_count"] == 35
        assert not row["counterfactuals"] and len(whole["counterfactuals"]) == 3


def test_most_of_what_is_asked_is_new() -> None:
    """Votes need one call of escape for each reason of either kind, and a few for what each candidate becomes."""
    asked = [0]
    votes = Votes(9, 5, lambda: asked.__setitem__(0, asked[0] + 1))
    why = quia.explain(votes, dict.fromkeys((f"v{i}" for i in range(9)), "yes"))
    assert why.count_sufficient() == why.count_necessary() == 126
    assert asked[0] < 126 * 9 * 2
    before = asked[0]
    assert why.count_sufficient() == 126 and len(list(why.necessary_reasons(shortest=True))) == 126
    assert asked[0] == before, "what is known is not looked for again"


def test_nothing_to_find() -> None:
    search = Search(Votes(3, 0), quia.explain(Votes(3, 0), ["no"] * 3).question)
    assert (search.one("necessary", Clock()), search.one("sufficient", Clock())) == (None, frozenset())
    assert [list(search.in_order(kind, Clock())) for kind in KINDS] == [[], [()]]
    assert search.gather(Clock())


def test_unknown_and_held_features_are_in_no_reason(examples: Path) -> None:
    graph = quia.load(examples / "admissions.json")
    question = quia.explain(graph, {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}).question
    held = question.freeze([0])
    search = Search(graph, held)
    assert 0 not in search.changeable and set(search.changeable) == set(graph.tested) - {0}
    assert search.gather(Clock())
    named = chain(*chain(*zip_longest(*search.known.values(), fillvalue=())))
    assert 0 not in set(named) and UNKNOWN not in question.states
