"""What is possible, through the server's answers: those of `quia.explain`, shown without a trace of how they are found.

The random questions, and what brute force says of them, are those of the tests of possible worlds.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from attack_worlds import check_codes
from quia.additive import Additive
from quia.score_moves import moves_of, scoring
from quia.show.html import page, parts
from quia.variables import UNKNOWN
from quia.web import answers
from quia.web.schema import Question
from web.test_schema import fitting
from worlds_cases import MODELS, Model, random_case
from worlds_oracle import Case, Worlds, asking

EACH = 8
ASKED = set(Question.__struct_fields__)


def cases(kind: str, folder: Path, count: int = EACH) -> Iterator[tuple[Model, Case]]:
    rng, made = Random(f"shown {kind}"), 0
    while made < count:
        model = MODELS[kind](rng, folder)
        case = random_case(rng, model)
        if case is not None:
            made += 1
            yield model, case


def request_of(case: Case) -> dict[str, Any]:
    """A question as clients send it: in JSON."""
    asked = {"instance": case.instance, **case.asked}
    assert asked.keys() <= ASKED
    return dict(json.loads(json.dumps(asked)))


def own_states(model: Model, case: Case) -> dict[str, str]:
    """The state of each known feature that the model tests, in the model's own words."""
    variables, states = model.classifier.variables, model.classifier.encode(case.instance)
    return {v.name: v.text(state) for v, state in zip(variables, states, strict=True) if state != UNKNOWN}


def tried_in(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The values that the buttons of a page put into the form."""
    for part in made.values():
        yield from (json.loads(unescape(found)) for found in re.findall(r'data-set="(.*?)"', part))


@pytest.mark.parametrize("kind", MODELS)
def test_answers_are_those_of_explain_and_show_no_trace_of_what_is_impossible(kind: str, tmp_path: Path) -> None:
    for model, case in cases(kind, tmp_path):
        found = answers.answer(model.classifier, {**request_of(case), "without": [case.features[0].name]}, name="m")
        why = quia.explain(model.classifier, case.instance, **case.asked)
        assert found["explanation"] == why.to_dict(), case.asked
        fitting("Answer", found)
        told = found["explanation"]
        assert own_states(model, case).items() <= told["states"].items()
        is_bounded = bool(case.asked.keys() - {"against", "frozen", "costs"})
        assert ("possible" in told) == is_bounded
        shown = "".join(found["html"].values())
        assert ("Only what is possible counts: " in shown) == is_bounded
        texts = [shown, page(why), why._repr_html_(), why.reason_codes()._repr_html_(), why.reason_codes().to_json()]
        for text in [*texts, why.to_json(), json.dumps(why.even_if([case.features[0].name]).to_dict())]:
            assert not re.search(r'>impossible<|"impossible"|(all|would be|could be|it is) impossible\b', text), text


@pytest.mark.parametrize("kind", MODELS)
def test_what_is_tried_is_possible_and_decided_as_promised(kind: str, tmp_path: Path) -> None:
    tried = 0
    for model, case in cases(kind, tmp_path, 3 * EACH):
        worlds = Worlds(case)
        why = quia.explain(model.classifier, case.instance, **case.asked)
        for values in tried_in(parts(why, [why.answer()], editable=True)):
            tried += 1
            changed = {**case.instance, **values}
            for name, value in values.items():
                assert worlds.cell_of(name, value) in worlds.bounds(name), (case.asked, values)
                assert name not in case.frozen
            # The worlds beside the changed instance are others, and it is in them.
            theirs = asking(case, instance=changed, against=None)
            assert len(theirs.possible_classes) == 1
            after = quia.explain(model.classifier, changed, **{**case.asked, "against": None})
            assert after.decision == theirs.decision
            assert (after.decision == case.against) if case.against else (after.decision != why.decision)
    assert tried >= EACH // 2


@pytest.mark.parametrize("kind", ["additive", "lines"])
def test_points_are_gained_only_where_it_is_possible(kind: str, tmp_path: Path) -> None:
    """Against every possible cell of a feature, all else kept."""
    seen = {"gains": 0, "tied": 0}
    for model, case in cases(kind, tmp_path, 12 * EACH):
        worlds, why = Worlds(case), quia.explain(model.classifier, case.instance, **case.asked)
        scored, moves = scoring(why.classifier), moves_of(why.classifier, why.question)
        assert isinstance(scored, Additive)
        if kind == "additive":
            check_codes(worlds, why)
        if moves is None or len(scored.start) > 1 or UNKNOWN in (why.states[v] for v in why.classifier.tested):
            continue
        sign = 1 if moves.rival > why.question.decision else -1
        here = float(scored.scores(why.states)[0])
        for v in moves.changeable:
            variable = why.variables[v]
            possible = np.flatnonzero(worlds.changing([variable.name], worlds.is_possible))
            ends = [end for at in possible.tolist() for end in worlds.cells[variable.name][at]]

            def gained(
                value: Any, v: int = v, here: float = here, scored: Additive = scored, sign: int = sign
            ) -> float:
                states = [*why.states]
                states[v] = why.variables[v].encode(value)
                return sign * (float(scored.scores(states)[0]) - here) / scored.unit

            most = max([0.0, *(gained(end) for end in ends if end is not None)])
            if most == 0.0 and None in ends:
                most = max(0.0, gained(None))
            assert math.isclose(moves.gain(v), most, rel_tol=1e-6, abs_tol=1e-9), (case.asked, variable.name)
            seen["gains"] += most > 0
            seen["tied"] += bool(moves.constraint is not None and v in moves.constraint.tested)
        assert ("points" in parts(why, [why.answer()])) == (moves is not None)
    assert min(seen.values()) > EACH, seen


def test_a_scorecard_says_what_could_be_gained_where_features_tie_each_other(examples: Path) -> None:
    """Without an account 42 points are gained, if one has a guarantor; this applicant has none."""
    card = quia.load(examples / "credit_scorecard.csv")
    names, values = (line.split(",") for line in (examples / "applicant.csv").read_text().splitlines())
    applicant = dict(zip(names, values, strict=True))
    free, tied = (
        quia.explain(card, applicant, given=given) for given in (None, 'checking="no account" -> guarantor=yes')
    )
    for why, points, favourable in ((free, 42, "checking=no account"), (tied, 34, "checking=good")):
        [code] = (code for code in why.reason_codes(9).codes if code.feature == "checking")
        assert (code.points, str(code.favourable), code.alone) == (points, favourable, False)
        table = parts(why, [why.answer()])["points"]
        assert f">checking</th><td>overdrawn</td><td>0</td><td>{points}</td>" in table
    assert tied.reason_codes().instead == "grant"


@pytest.mark.parametrize("kind", ["several classes", "ensemble", "lines"])
def test_comparisons_are_in_possible_worlds(kind: str, tmp_path: Path) -> None:
    rng, seen = Random(3), {"congruent": 0, "refused": 0}
    for model, case in cases(kind, tmp_path, 5 * EACH):
        worlds = asking(case, against=None, frozen=(), only_up=(), only_down=(), near={})
        other = model.draw(rng)
        theirs = asking(worlds.case, instance=other)
        asked = {name: value for name, value in worlds.case.asked.items() if name in ("within", "given")}
        sent = json.loads(json.dumps({"one": case.instance, "other": other, **asked}))
        if not theirs.possible_classes:
            with pytest.raises(quia.InstanceError, match="impossible"):
                answers.compare(model.classifier, sent)
            seen["refused"] += 1
            continue
        if len(theirs.classes_of_completions) != 1:
            continue
        found = answers.compare(model.classifier, sent)
        fitting("Comparison", found)
        assert found["decisions"] == [worlds.decision, theirs.decision]
        assert found["congruent"] == worlds.is_congruent(other)
        assert (found["common_reason"] is not None) == worlds.has_common_reason(other)
        assert "impossible" not in found["html"]
        seen["congruent"] += found["congruent"]
    assert min(seen.values()) > 0, seen


@pytest.mark.parametrize("kind", MODELS)
def test_a_form_begins_with_what_is_possible(kind: str, tmp_path: Path) -> None:
    for model, case in cases(kind, tmp_path, 2 * EACH):
        possible = {name: value for name, value in case.asked.items() if name in ("within", "given")}
        told = answers.describe(model.classifier, name="m", identity="1", possible=possible)
        fitting("Model", told)
        assert told.get("possible", {}) == possible
        quia.explain(model.classifier, told["example"], **possible)
        if kind != "lines":  # of which numbers next to nothing count as 0
            assert asking(case, instance=told["example"], only_up=(), only_down=(), near={}).possible_classes


def test_constraints_of_the_model_itself_are_told_and_kept() -> None:
    edges = [(), (), ((((0, 0),), 0), (((1, 1),), 1)), ((((0, 0),), 2), (((1, 1),), 1))]
    sex, pregnant = (quia.Variable.nominal(*about) for about in (("sex", ["F", "M"]), ("pregnant", ["no", "yes"])))
    graph = quia.DecisionGraph.build([sex, pregnant], ["no", "yes"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)
    graph = replace(graph, given=("pregnant=yes -> sex=F",))
    told = answers.describe(graph, name="m", identity="1")
    assert told["given"] == ["pregnant=yes -> sex=F"]
    fitting("Model", told)
    found = answers.answer(graph, {"instance": {"sex": "M", "pregnant": "no"}, "given": ["sex=M"]}, name="m")
    assert found["explanation"]["possible"] == ["pregnant=yes -> sex=F", "sex=M"]
    with pytest.raises(quia.InstanceError, match="pregnant=yes -> sex=F"):
        answers.answer(graph, {"instance": {"sex": "M", "pregnant": "yes"}}, name="m")


def test_lines_that_cannot_be_read_are_told_one_by_one() -> None:
    graph = quia.DecisionGraph.build(
        [quia.Variable.numeric("age", [30])],
        ["no", "yes"],
        [-1, -1, 0],
        [0, 1, -1],
        [(), (), ((((0, 0),), 0), (((1, 1),), 1))],
    )
    with pytest.raises(answers.Unreadable) as told:
        answers.answer(
            graph, {"instance": {"age": 3}, "given": ["age < 90", "age <", "<b>age</b>", "age > 1"]}, name="m"
        )
    assert list(told.value.given) == [1, 2]
    assert "in 'age <', column 6: " in str(told.value)
    with pytest.raises(quia.InstanceError, match="nothing can meet 2 constraints together: age < 1; age > 2"):
        answers.answer(graph, {"instance": {"age": 3}, "given": ["age < 1", "age > 2"]}, name="m")
