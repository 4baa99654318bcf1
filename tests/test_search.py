"""Reasons found by nothing but `escape`: in order, one by one, all, and as far as time and number allow."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from threading import get_ident
from typing import Any

import pytest

import quia
from contract import Subject, all_reasons, cost, in_contract_order, random_question
from quia import patience as patience_module
from quia import reasons as reasons_module
from quia import search as search_module
from quia.classifier import ClassifierBase
from quia.errors import TooLarge
from quia.patience import Clock, OutOfTime
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


@pytest.mark.parametrize("seed", range(3))
def test_reasons_as_they_come(seed: int) -> None:
    """Both listings at once give all reasons, each once; then all are known, and come in order."""
    for rng, subject, question, expected in cases(60 + seed):
        search = Search(subject.twin(rng), question)
        listings = {kind: search.as_they_come(kind, Clock()) for kind in KINDS}
        found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        while listings:
            kind = rng.choice(sorted(listings))
            members = next(listings[kind], None)
            if members is None:
                del listings[kind]
            else:
                found[kind].append(members)
        assert search.complete
        for kind in KINDS:
            assert len(set(found[kind])) == len(found[kind]), "each once"
            assert {frozenset(members) for members in found[kind]} == expected[kind], (subject.d, question)


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_reason_takes_one_reduction(kind: str, general: bool) -> None:
    """3,432 reasons of each kind: what a limit does not ask for is not looked for."""
    asked = [0]
    votes = Votes(14, 8, lambda: asked.__setitem__(0, asked[0] + 1))
    why = quia.explain(votes, ["yes"] * 14)
    first = getattr(why, f"{kind}_reasons")(limit=1, general=general)
    (reason,) = first
    assert len(reason) in (7, 8) and reason.is_minimal
    assert asked[0] <= 15, "a call for each feature, and one to begin with"
    assert list(first) == [reason] and asked[0] <= 15, "it is kept"
    many = getattr(why, f"{kind}_reasons")(limit=30)
    before = asked[0]
    found = [reason.features for reason in many]
    assert found[0] == reason.features and len(set(found)) == 30 and not many.complete
    assert asked[0] - before < 31 * 20
    assert [reason.features for reason in many] == found, "replayed"


@pytest.mark.parametrize("kind", KINDS)
def test_iterating_without_a_limit_waits_a_while_for_the_order(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    time, asked = [0.0], [0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])

    def work() -> None:
        asked[0] += 1
        time[0] += 0.1

    many = quia.explain(Votes(14, 8, work), ["yes"] * 14)
    found = getattr(many, f"{kind}_reasons")()
    first = next(iter(found))
    assert time[0] < reasons_module.WAIT + 3 and not found.is_ordered and first.is_minimal
    few = quia.explain(Votes(4, 2, work), ["yes"] * 4)
    found = getattr(few, f"{kind}_reasons")()
    listed = list(found.members())
    assert found.is_ordered and listed == sorted(listed, key=lambda m: (len(m), m)) and found.complete


def test_a_limit_that_is_enough_for_all_gives_them_in_order() -> None:
    for general in (False, True):
        why = quia.explain(Votes(5, 3), ["yes"] * 5)
        reasons = why.sufficient_reasons(limit=50, general=general)
        assert reasons.complete and len(reasons) == 10 and reasons.is_ordered
        listed = [reason.features for reason in reasons]
        assert listed == sorted(listed)
        again = why.sufficient_reasons(limit=3, general=general)
        assert [reason.features for reason in again] == listed[:3] and again.count in (10, None), "all are known"
        assert why.sufficient_reasons(limit=3).count == 10


class Reducing(Votes):
    """Knows its own way to a sufficient reason, which takes a second for each feature that it tries."""

    def __init__(self, n: int, k: int, time: list[float]) -> None:
        super().__init__(n, k, lambda: time.__setitem__(0, time[0] + 1))
        self.time, self.asked = time, list[Any]()

    def reduce(self, question: Any, kept: Any, timeout: float | None) -> tuple[list[int], bool]:
        self.asked.append(tuple(kept))
        left = list(kept)
        end = None if timeout is None else self.time[0] + timeout
        for variable in kept:
            if end is not None and self.time[0] + 1 > end:
                return left, False
            self.time[0] += 1
            rest = [v for v in left if v != variable]
            left = rest if len(rest) >= self.k else left
        return left, True


def test_a_classifier_that_reduces_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    time = [0.0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])
    votes = Reducing(9, 5, time)
    why = quia.explain(votes, ["yes"] * 9)
    (reason,) = why.sufficient_reasons(limit=1)
    assert reason.features == ("v4", "v5", "v6", "v7", "v8") and votes.asked == [tuple(range(9))] and time == [9]
    costs = {"v8": 3, "v7": 2}
    (cheap,) = quia.explain(votes, ["yes"] * 9, costs=costs).sufficient_reasons(limit=1)
    assert votes.asked[-1][:2] == (8, 7) and cheap.features == ("v2", "v3", "v4", "v5", "v6")
    assert quia.explain(votes, ["yes"] * 9).count_sufficient() == 126


@pytest.mark.parametrize("classifier", [Reducing, Votes])
def test_time_that_runs_out_before_a_reason_is_minimal(classifier: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left by then is proved to force the decision, and is told so wherever it is seen."""
    time = [0.0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])
    work = time if classifier is Reducing else lambda: time.__setitem__(0, time[0] + 1)
    why = quia.explain(classifier(9, 5, work), ["yes"] * 9)
    for general in (False, True):
        reasons = why.sufficient_reasons(limit=3, timeout=2, general=general)
        (reason,) = reasons
        assert 5 < len(reason) < 9 and not reason.is_minimal and not reasons.complete and reasons.count is None
        assert why.holds_without({f"v{i}" for i in range(9)} - set(reason.features))
        assert not pickle.loads(pickle.dumps(reason)).is_minimal
        assert reasons.to_dict()["reasons"][0]["is_minimal"] is False
    answer = why.answer(timeout=5)
    assert not answer.sufficient[0].is_minimal and not answer.in_time
    told = "enough for the decision; time ran out before it was proved that all of it is needed"
    assert f"whatever the rest ({told})" in explanation_text(answer)
    assert told in page(why, answer=answer, timeout=5.0)
    assert answer.to_dict()["sufficient"]["reasons"][0]["is_minimal"] is False
    assert all(reason.is_minimal for reason in why.sufficient_reasons(limit=3, timeout=1000)), (
        "with more time, they are"
    )


def test_time_that_runs_out_before_a_necessary_reason_is_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    time = [0.0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])
    why = quia.explain(Votes(9, 5, lambda: time.__setitem__(0, time[0] + 1)), ["yes"] * 9)
    (reason,) = why.necessary_reasons(limit=3, timeout=3)
    assert 5 < len(reason) <= 9 and not reason.is_minimal
    answer = why.answer(timeout=6, general=False)
    if not answer.necessary[0].is_minimal:
        assert "enough to change it; time ran out" in explanation_text(answer)


class Patient(Votes):
    """Would take a hundred seconds for every answer, and gives up where it is told to."""

    def __init__(self, n: int, k: int, time: list[float]) -> None:
        super().__init__(n, k)
        self.time = time

    def escape(self, question: Any, region: Any) -> Any:
        self.time[0] += 100
        return super().escape(question, region)

    def escape_in_time(self, question: Any, region: Any, timeout: float | None) -> Any:
        if timeout is not None and timeout < 100:
            self.time[0] += timeout
            raise OutOfTime
        return self.escape(question, region)


def test_time_reaches_whatever_asks_a_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    time = [0.0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])
    votes = Patient(5, 3, time)
    instance, other = ["yes"] * 5, ["yes"] * 3 + ["no"] * 2
    why = quia.explain(votes, instance)

    def spent(question: Callable[[], Any], most: float = 3.0) -> Any:
        before = time[0]
        try:
            return question()
        finally:
            assert 0 < time[0] - before <= most, "no longer than it may"

    def refused(question: Callable[[], Any]) -> None:
        with pytest.raises(TooLarge, match=r"could not be|time ran out|more time"):
            spent(question)

    refused(lambda: why.holds_without(["v0"], timeout=2))
    refused(lambda: why.is_congruent(other, timeout=2))
    refused(lambda: why.common_reason(other, timeout=2))
    refused(lambda: why.count_sufficient(timeout=2))
    refused(lambda: why.importance(timeout=2))
    refused(lambda: bool(why.bias(["v0"], timeout=2)))
    refused(lambda: why.even_if(["v0"], timeout=2))
    refused(lambda: quia.bias_of_classifier(votes, ["v0"], timeout=2))
    bias = spent(lambda: why.bias(["v0"], timeout=2))
    assert bias.biased is None and "perhaps biased: time ran out" in str(bias) and bias.to_dict()["biased"] is None
    assert not spent(lambda: why.counterfactuals(timeout=2))
    assert not spent(lambda: list(why.necessary_reasons(timeout=2)))
    (whole,) = spent(lambda: list(why.sufficient_reasons(timeout=2)))
    assert len(whole) == 5 and not whole.is_minimal, "the whole instance forces its decision"
    answer = spent(lambda: why.answer(timeout=2, protected=["v0"]), 8)
    assert not answer.is_constant and not answer.in_time
    assert "perhaps biased: time ran out before it was told whether changing v0 alone" in explanation_text(answer)
    text = spent(lambda: str(why), 3 * patience_module.PATIENCE)
    assert "time ran out" in text, "nobody waits for ever for what is printed"
    assert spent(lambda: why._repr_html_(), 3 * patience_module.PATIENCE)
    for found in (why.sufficient_reasons(), why.necessary_reasons(general=True)):
        before = time[0]
        assert "not counted" in repr(found) and time[0] == before
        assert spent(lambda found=found: found._repr_html_(), 3 * patience_module.PATIENCE)
    assert spent(lambda: web_answers.answer(votes, {"instance": instance, "without": ["v0"]}, name="m"), 8)
    row = spent(lambda: quia.explain_batch(votes, [instance], timeout=2, all_reasons=2, counterfactuals=1), 8)
    assert not row.to_pylist()[0]["complete"]
    assert why.holds_without(["v0"]) and why.holds_without(["v0"], timeout=100)


def test_even_if_looks_for_what_is_left_alone() -> None:
    """Of 6,435 reasons 36 speak of none of these features: the others are not looked for."""
    asked = [0]
    votes = Votes(15, 7, lambda: asked.__setitem__(0, asked[0] + 1))
    answer = quia.explain(votes, ["yes"] * 15).even_if([f"v{i}" for i in range(6)], limit=3)
    assert answer.holds and len(answer.because) == 3 and asked[0] < 100
    assert all(int(name[1:]) >= 6 for reason in answer.because for name in reason.features)
    every = quia.explain(votes, ["yes"] * 15).even_if([f"v{i}" for i in range(6)])
    assert len(every.because) == 36


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
            assert set(first.members()) <= set(listed) and len(first) == min(1, len(listed))
            assert first.complete == (len(listed) <= 1)
            assert sorted(reasons.members()) == sorted(listed) and reasons.complete, (subject.d, question)
            assert list(reasons.members()) == listed and reasons.is_ordered, "all are known by now"
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
    told = "10 of them, as they were found"
    text = explanation_text(answer)
    assert "Sufficient reasons over 126 sets of features: the first 10\n" in text, "looking for changes has found all"
    assert f"Necessary reasons over 126 sets of features: {told}\n" in text
    few = quia.explain(votes, instance).sufficient_reasons(limit=10)
    assert len(list(few)) == 10 and (few.count, few.complete, few.is_ordered) == (None, False, False)
    assert answer.to_dict()["sufficient"]["count"] is None
    with pytest.raises(TooLarge, match="more than 20 reasons of a kind, and this classifier gives them one by one"):
        quia.explain(votes, instance).importance()
    everything = list(quia.explain(votes, instance).sufficient_reasons().members())
    assert len(everything) == 126 == len(set(everything))
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
        kind: [r.to_dict() for r in getattr(quia.explain(votes, instance), f"{kind}_reasons")(timeout=1e9)]
        for kind in KINDS
    }
    assert len(expected["sufficient"]) == len(expected["necessary"]) == 35
    why = quia.explain(votes, instance)
    began = time[0]
    answer = why.answer(timeout=float(seconds), limit=None)
    assert time[0] - began <= 4 * seconds + 12, "the time given, some for each last step, and one step that is begun"
    for kind in KINDS:
        found = getattr(answer, kind)
        listed = [reason.to_dict() for reason in found]
        assert found.complete == (len(listed) == 35)
        if found.is_ordered:
            assert listed == expected[kind], "in the contract order"
        elif found and not found[0].is_minimal:
            assert len(listed) == 1 and any(reason.items() <= listed[0].items() for reason in expected[kind])
        else:
            assert all(reason in expected[kind] for reason in listed)
        assert (found.count is not None) <= (len(listed) == 35)
    assert answer.in_time == (answer.necessary.count is not None and answer.sufficient.count is not None)
    short = why.necessary_reasons(shortest=True, timeout=float(seconds))
    assert short.complete == (len(short) == 35)
    changes = why.counterfactuals(timeout=float(seconds))
    assert changes.complete == (len(changes) == 35)
    if seconds <= 10:
        assert not answer.sufficient.complete and not answer.in_time
        assert "before time ran out" in explanation_text(answer)
    assert [r.to_dict() for r in why.sufficient_reasons(timeout=1e9)] == expected["sufficient"], "with time enough, all"
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
    assert "part complete" in page(quia.explain(votes, ["yes"] * 9), timeout=1e9)


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


class Hill(ClassifierBase):
    """Is yes where the numbers, each of a thousand states, add up to less than a sum."""

    def __init__(self, n: int, least: int, size: int = 1000) -> None:
        self.variables = tuple(Variable.numeric(f"v{i}", range(size - 1)) for i in range(n))
        self.classes, self.least, self.asked = ("no", "yes"), least, 0

    def decide(self, states: Any) -> int:
        return int(sum(states) < self.least)

    def escape(self, question: Any, region: Any) -> Any:
        self.asked += 1
        possible = region.intersection(question.within)
        for corner in (-1, 0):
            found = [possible.states(v)[corner][corner] for v in range(len(self.variables))]
            if self.decide(found) not in question.keeps:
                return found
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_widening_thousands_of_states_takes_few_questions(kind: str) -> None:
    """A bisection for each side, wherever the witnesses are: here always at a far corner."""
    hill = Hill(2, 700)
    why = quia.explain(hill, [100, 150])
    (reason,) = getattr(why, f"{kind}_reasons")(limit=1, general=True)
    assert hill.asked < 200
    if kind == "sufficient":
        assert reason.is_widest
        box = {literal.feature: literal.states for literal in reason}
        assert max(box["v0"]) + max(box["v1"]) == 699 and min(min(states) for states in box.values()) == 0
    else:
        assert reason.is_general and all(literal.holds(999) for literal in reason.changes)


def test_a_box_that_grew_until_time_was_out_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    time = [0.0]
    monkeypatch.setattr(patience_module, "monotonic", lambda: time[0])
    hill = Hill(4, 2500)
    why = quia.explain(hill, [100] * 4)
    ask = hill.escape
    monkeypatch.setattr(Hill, "escape", lambda self, *asked: (time.__setitem__(0, time[0] + 1), ask(*asked))[1])
    (reason,) = why.sufficient_reasons(limit=1, general=True, timeout=14)
    assert not reason.is_widest and reason.is_minimal and not pickle.loads(pickle.dumps(reason)).is_widest
    wide = [max(literal.states) - min(literal.states) for literal in reason]
    assert max(wide) > 200 and hill.decide([max(literal.states) for literal in reason]) == 1
    answer = why.answer(timeout=20, limit=1)
    told = "true, but not proved to be as wide as it can be"
    assert told in explanation_text(answer) and told in page(why, answer=answer, timeout=20.0)
    assert answer.to_dict()["sufficient"]["reasons"][0]["is_widest"] is False


@pytest.mark.parametrize(("kind", "values"), [("sufficient", [100, 150]), ("necessary", [900, 950])])
def test_conditions_that_are_too_many_to_look_for_are_no_lack_of_time(kind: str, values: list[int]) -> None:
    """A pair of features has hundreds of widest conditions: the widest found stands for all; nothing says *time*."""
    hill = Hill(2, 700)
    why = quia.explain(hill, values)
    answer = why.answer(limit=90, timeout=1000)
    found = getattr(answer, kind)
    assert answer.in_time and not found.complete and found.is_enough
    changes = pickle.loads(pickle.dumps(answer.changes))
    assert changes.is_enough != changes.complete and changes.complete == (kind == "sufficient")
    for said in (explanation_text(answer), page(why, answer=answer, timeout=1000.0)):
        assert "1 of them" in said and "time ran out" not in said
    (row,) = quia.explain_batch(hill, [values], counterfactuals=2).to_pylist()
    assert row["complete"] and len(row[f"shortest_{kind}"]) == 1 and row["counterfactuals"]


@pytest.mark.parametrize("threads", [1, 4])
def test_rows_of_a_batch_on_several_threads(threads: int) -> None:
    seen = set()
    votes = Votes(7, 4, lambda: seen.add(get_ident()))
    rng = Random(threads)
    rows = [[rng.choice(["no", "yes"]) for _ in range(7)] for _ in range(40)]
    one, many = (
        quia.explain_batch(votes, rows, threads=n, all_reasons=3, counts=True, counterfactuals=2).to_pylist()
        for n in (1, threads)
    )
    assert one == many and all(row["complete"] for row in one)
    assert (len(seen) > 1) == (threads > 1)


def test_a_batch_asks_for_no_more_reasons_than_it_lists() -> None:
    asked = [0]
    votes = Votes(14, 8, lambda: asked.__setitem__(0, asked[0] + 1))
    (row,) = quia.explain_batch(votes, [["yes"] * 14], shortest=(), all_reasons=2).to_pylist()
    assert [len(row[f"{kind}_reasons"]) for kind in KINDS] == [2, 2] and row["complete"]
    assert asked[0] < 150, "of 3,432 of each kind"


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
