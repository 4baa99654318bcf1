"""Every kind of classifier keeps the contract, and its twin with nothing but `escape` is explained just the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import attack_additive
import booleans
import oracle
import pairs
import quia
from contract import (
    Subject,
    all_reasons,
    answers,
    check_decisions,
    check_escape,
    check_general_reasons,
    check_reasons,
    random_question,
    verdict,
)
from ensemble_oracle import random_with_graph
from one_file import random_vote
from quia.classifier import (
    Batches,
    Classifier,
    FindsPairs,
    HasCompleteReason,
    HasJson,
    HasPath,
    ListsReasons,
    Widens,
    offers,
)
from quia.web.answers import answer, compare, describe
from strategies import random_costs, random_frozen, random_graph, random_instance, random_neighbour, raw_values

SEEDS = range(3)
EACH = 15


def _graph(**limits: Any) -> Callable[[Random, Path], Subject]:
    def made(rng: Random, _folder: Path) -> Subject:
        d = random_graph(rng, features=4, states=3, tests=10, **limits)
        return Subject(quia.DecisionGraph.from_dict(d), d)

    return made


def _circuit(form: str) -> Callable[[Random, Path], Subject]:
    def made(rng: Random, folder: Path) -> Subject:
        n = rng.choice((2, 3, 4))
        mask = rng.getrandbits(1 << n)
        return Subject(booleans.FORMS[form](mask, n, rng, folder), booleans.tree(mask, n))

    return made


def _ensemble(rng: Random, _folder: Path) -> Subject:
    return Subject(*random_with_graph(rng))


def _additive(rng: Random, _folder: Path) -> Subject:
    return Subject(*attack_additive.random_with_graph(rng, scores=3))


def _two(*kinds: str) -> Callable[[Random, Path], Subject]:
    def made(rng: Random, _folder: Path) -> Subject:
        both, d = pairs.random_with_graph(rng, kinds)
        return Subject(both.answering, d)

    return made


KINDS = {
    "tree": _graph(sharing=0.0, classes=2),
    "shared graph": _graph(classes=2),
    "several classes": _graph(classes=4),
    **{form: _circuit(form) for form in (".odd", "FBDD", "SDD balanced", ".sdd right", "c2d", "d4", "two circuits")},
    "vote": random_vote,
    "ensemble": _ensemble,
    "additive": _additive,
    "two graphs": _two("graph"),
    "two models": _two("ensemble", "additive"),
}
"""What is made of a random generator and a folder to write files into."""


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Random], Subject]:
    return lambda rng: KINDS[request.param](rng, tmp_path)


def instance_of(rng: Random, subject: Subject, unknown: float = 0.0) -> dict[str, Any]:
    """Raw values; some are missing, as long as the decision does not depend on them."""
    instance = random_instance(rng, subject.d)
    for feature in rng.sample(sorted(instance), len(instance)):
        variable = next(v for v in subject.variables if v.name == feature)
        if rng.random() < unknown and not variable.missing:
            fewer = {**instance, feature: None}
            if oracle.decision(subject.d, {x: value for x, value in fewer.items() if value is not None}) is not None:
                instance = fewer
    return instance


def is_decided(subject: Subject, instance: Mapping[str, Any]) -> bool:
    try:
        subject.classifier.decide(subject.classifier.encode(instance))
    except quia.InstanceError:
        return False
    return True


def question_of(rng: Random, subject: Subject) -> tuple[dict[str, Any], dict[str, Any]]:
    """An instance, and what `explain` is asked about it."""
    instance = instance_of(rng, subject, rng.choice((0.0, 0.3)))
    decided = subject.classifier.decide(subject.classifier.encode(instance))
    others = [c for c in subject.classes if c != subject.classes[decided]]
    return instance, {
        "against": rng.choice([None, *others]),
        "frozen": sorted(random_frozen(rng, subject.d)),
        "costs": random_costs(rng, subject.d),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_escape_finds_what_there_is_and_nothing_else(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(seed)
    for _ in range(EACH):
        subject = kind(rng)
        for classifier in (subject.classifier, subject.twin(rng)):
            check_escape(subject, classifier, rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_encode_decide_and_classify_agree(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(100 + seed)
    for _ in range(EACH):
        subject = kind(rng)
        instances = [instance_of(rng, subject) for _ in range(5)]
        instances += [{x: None if rng.random() < 0.3 else v for x, v in one.items()} for one in instances]
        for classifier in (subject.classifier, subject.twin(rng)):
            check_decisions(subject, classifier, instances)


@pytest.mark.parametrize("seed", SEEDS)
def test_reasons_in_possible_worlds_are_those_of_the_definition(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(200 + seed)
    for _ in range(EACH):
        subject = kind(rng)
        for classifier in (subject.classifier, subject.twin(rng)):
            check_reasons(subject, classifier, rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_general_reasons_are_those_of_the_definition(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(250 + seed)
    for _ in range(EACH):
        subject = kind(rng)
        instance, asked = question_of(rng, subject)
        for classifier in (subject.classifier, subject.twin(rng)):
            check_general_reasons(subject, classifier, instance, asked)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_twin_gives_the_same_answers(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(300 + seed)
    for _ in range(EACH):
        subject = kind(rng)
        twin = subject.twin(rng)
        instance, asked = question_of(rng, subject)
        other = random_neighbour(rng, subject.d, instance)
        if not is_decided(subject, other):  # it shares a missing value, and depends on it
            other = instance_of(rng, subject)
        features = random_frozen(rng, subject.d)
        why, same = (quia.explain(each, instance, **asked) for each in (subject.classifier, twin))
        expected, found = (answers(each, other, features) for each in (why, same))
        if why.answer().is_never:  # leaves are spoken of only where there are any
            assert found.pop("text").endswith("nothing can lead there.")
            assert expected.pop("text").endswith("no leaf of the classifier has that class.")
        about = (subject.d, instance, asked, other, features)
        assert found == expected, about
        assert same_models(subject, why, same), about
        if expected["congruent"]:  # then the states that they share force the decision, and so does their smallest box
            assert expected["common"] is not None, about
        if expected["common"] is not None:
            for each in (instance, other):
                quia.verify(twin, each, why.common_reason(other), "sufficient", against=asked["against"])


def same_models(subject: Subject, why: quia.Explanation, same: quia.Explanation) -> bool:
    """Whether the complete reasons hold in the same worlds."""
    one, other = why.complete_reason, same.complete_reason
    assert set(other.mentioned) <= set(one.mentioned), "what is in no reason need not be mentioned"
    every = (dict(zip(subject.d["variables"], world, strict=True)) for world in oracle.worlds(subject.d))
    return other.is_monotone and all(one.evaluate(world) == other.evaluate(world) for world in every)


@pytest.mark.parametrize("seed", SEEDS)
def test_verify_takes_and_refutes_the_same_claims(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(400 + seed)
    for _ in range(EACH):
        subject = kind(rng)
        twin = subject.twin(rng)
        instance, asked = question_of(rng, subject)
        del asked["costs"]
        question = quia.explain(subject.classifier, instance, **asked).question
        right = {k: {frozenset(subject.variables[v].name for v in r) for r in found} for k, found in
                 all_reasons(subject, question).items()}  # fmt: skip
        for claimed in oracle.subsets(subject.d["variables"]):
            for what in ("sufficient", "necessary"):
                said = {
                    verdict(lambda c=c, w=what, r=sorted(claimed): quia.verify(c, instance, r, w, **asked))
                    for c in (subject.classifier, twin)
                }
                assert len(said) == 1, (subject.d, instance, asked, claimed, what)
                assert (said == {"is a reason"}) == (claimed in right[what]), (subject.d, instance, asked, claimed)


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_of_the_whole_classifier(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(500 + seed)
    for _ in range(EACH):
        subject = kind(rng)
        protected = sorted(random_frozen(rng, subject.d)) or [rng.choice(sorted(subject.d["variables"]))]
        for classifier in (subject.classifier, subject.twin(rng)):
            found = quia.bias_of_classifier(classifier, protected)
            about = (subject.d, protected, found)
            assert found.biased == oracle.classifier_biased(subject.d, protected), about
            if found:
                assert found.decision != found.other_decision
                for states, decision in ((found.instance, found.decision), (found.other, found.other_decision)):
                    assert decided_so(subject, states, decision), about
                one, other = ({s.feature: s for s in states} for states in (found.instance, found.other))
                assert {x for x in one.keys() | other if one.get(x) != other.get(x)} <= set(protected), about


def decided_so(subject: Subject, states: Collection[Any], decision: str | None) -> bool:
    """Whether all worlds with these states have this class."""
    index = {v.name: i for i, v in enumerate(subject.variables)}
    fixed = {index[s.feature]: s.index for s in states}
    labels = {c for w, c in subject.table.items() if all(w[v] == s for v, s in fixed.items())}
    return {subject.classes[c] for c in labels} == {decision}


@pytest.mark.parametrize("seed", SEEDS)
def test_batches_have_the_same_rows(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(600 + seed)
    for _ in range(EACH // 2):
        subject = kind(rng)
        twin = subject.twin(rng)
        _, asked = question_of(rng, subject)
        rows = [instance_of(rng, subject, rng.choice((0.0, 0.3))) for _ in range(6)]
        rows.append({x: None if rng.random() < 0.5 else v for x, v in rows[0].items()})
        protected = sorted(random_frozen(rng, subject.d))
        more = {"all_reasons": 5, "counts": True, "counterfactuals": 3, "protected": protected, "limit": 3}
        columns = {x: [row[x] for row in rows] for x in subject.d["variables"]}
        one, other = (quia.explain_batch(c, columns, **asked, **more) for c in (subject.classifier, twin))
        assert one.schema == other.schema
        for mine, theirs in zip(one.to_pylist(), other.to_pylist(), strict=True):
            if mine["error"] is not None:  # which of the missing values is named may differ
                assert theirs["error"] is not None
                mine["error"] = theirs["error"] = None
            assert theirs == mine, (subject.d, asked, rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_server_answers_the_same(kind: Callable[[Random], Subject], seed: int) -> None:
    rng = Random(700 + seed)
    for _ in range(EACH // 2):
        subject = kind(rng)
        twin = subject.twin(rng)
        instance, asked = question_of(rng, subject)
        request = {"instance": instance, "without": sorted(random_frozen(rng, subject.d)), **asked}
        one, other = (answer(c, request, name="m") for c in (subject.classifier, twin))
        about = (subject.d, request)
        assert set(other.pop("mentioned")) <= set(one.pop("mentioned")), about
        for each in (one, other):  # a path, the formula as it is, scores, points, and what kind of classifier it is
            for part in ("way", "complete", "scores", "points", "notes"):
                each["html"].pop(part, None)
        assert other == one, about
        if None not in instance.values():
            pair = {"one": instance, "other": instance_of(rng, subject)}
            assert compare(twin, pair) == compare(subject.classifier, pair), about
        described = [describe(c, name="m", identity="1") for c in (subject.classifier, twin)]
        for each in described:
            del each["nodes"], each["notes"]
        assert described[0] == described[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_laws_of_reasons_found_by_escape(kind: Callable[[Random], Subject], seed: int) -> None:
    """Fewer possible worlds give no longer reasons; keeping all classes leaves none; each kind hits the other."""
    rng = Random(800 + seed)
    for _ in range(EACH):
        subject = kind(rng)
        twin = subject.twin(rng)
        question = random_question(rng, subject)
        why = quia.Explanation(twin, {}, question)
        sufficient, necessary = (
            {frozenset(m) for m in found().members()} for found in (why.sufficient_reasons, why.necessary_reasons)
        )
        named = {frozenset(map(str, r)) for r in necessary}
        assert oracle.minimal_hitting_sets(named) == {frozenset(map(str, r)) for r in sufficient}
        wider = quia.Explanation(twin, {}, question.freeze(question.frozen))
        for members in wider.sufficient_reasons().members():
            assert any(reason <= set(members) for reason in sufficient)
        held = quia.Explanation(twin, {}, question.freeze(range(len(subject.variables))))
        assert held.is_constant == (held.count_necessary() == 0)
        assert [r.to_dict() for r in held.sufficient_reasons()] == ([{}] if held.is_constant else [])


def test_a_twin_offers_nothing_but_escape() -> None:
    subject = KINDS["tree"](Random(1), Path())
    twin = subject.twin(Random(1))
    assert offers(twin, Classifier)
    for more in (HasCompleteReason, ListsReasons, Widens, FindsPairs, HasPath, HasJson, Batches):
        assert not offers(twin, more), more
        assert offers(subject.classifier, more), more


def test_the_kinds_have_what_is_hard() -> None:
    """Cuts on both sides, missing values that have a state, features that are not tested, several classes."""
    rng = Random(5)
    made = [KINDS["several classes"](rng, Path()) for _ in range(200)]
    assert any(v.missing for s in made for v in s.variables)
    assert any({cut.after for cut in v.cuts} == {True, False} for s in made for v in s.variables)
    assert any(len(s.classifier.tested) < len(s.variables) for s in made)
    assert any(len(s.classes) == 4 for s in made)
    assert all(raw_values(s.d, x) for s in made for x in s.d["variables"])
