"""Audits checked: true documents hold, whatever the model; every lie in one is found; what is no audit is refused."""

from __future__ import annotations

import hashlib
import json
import math
import re
from contextlib import suppress
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from audit_lies import lies, omissions
from audit_oracle import Case, made, random_case
from contract import random_region
from quia.additive import Additive
from quia.auditing.check_pairs import find_pair
from quia.auditing.check_sums import never_turns
from quia.auditing.check_world import World
from quia.auditing.checked import Wrong
from quia.auditing.checks import check
from quia.auditing.document import FileFacts, Settings
from quia.auditing.reading import from_dict, read_document, to_dict
from quia.auditing.said import read_all
from quia.cli import main
from quia.errors import FormatError, QuiaError
from quia.literal import Literal
from quia.patience import Clock
from quia.sums import Rule
from quia.terms import Line
from quia.variables import Variable
from test_contract import KINDS
from test_schemas import validator

ROOT = Path(__file__).parents[1]

CASES = {
    "tree": {},
    "shared graph": {"missing": 0.1},
    "several classes": {"worlds": True},
    "SDD balanced": {},
    "d4": {},
    "vote": {},
    "ensemble": {},
    "additive": {},
}


def case_of(kind: str, seed: int, folder: Path, **how: Any) -> Case:
    rng = Random(f"{kind} {seed}")
    return random_case(rng, KINDS[kind](rng, folder), **{**CASES.get(kind, {}), **how})


def checked(case: Case, document: Any) -> Any:
    return check(document, case.classifier, other=case.other, table=case.rows)


@pytest.mark.parametrize("worlds", [False, True])
@pytest.mark.parametrize("kind", CASES)
def test_all_that_is_true_holds(kind: str, worlds: bool, tmp_path: Path) -> None:
    for seed in range(3):
        case = case_of(kind, seed, tmp_path, worlds=worlds, **({"missing": 0.0} if worlds else {}))
        found = checked(case, made(case))
        assert [claim for claim in found.claims if claim.outcome != "holds"] == []
        assert len(found.claims) > 20


@pytest.mark.parametrize("kind", CASES)
def test_every_lie_is_found(kind: str, tmp_path: Path) -> None:
    """Of hundreds of lies about each document, some: 400 in all."""
    for seed in range(2):
        case = case_of(kind, seed, tmp_path, rows=15)
        every = list(lies(case, json.loads(json.dumps(to_dict(made(case))))))
        assert len(every) > 100
        some = Random(seed).sample(every, 25)
        assert [what for what, wrong in some if not checked(case, from_dict(wrong)).count("refuted")] == []


@pytest.mark.parametrize("kind", ["tree", "shared graph", "several classes"])
def test_whatever_is_left_out_is_found(kind: str, tmp_path: Path) -> None:
    case = case_of(kind, 3, tmp_path, rows=15)
    document = json.loads(json.dumps(to_dict(made(case))))
    every = list(omissions(document))
    assert len(every) > 30
    assert [what for what, wrong in every if not checked(case, from_dict(wrong)).count("refuted")] == []


def test_unknown_names_end_in_sentences(tmp_path: Path) -> None:
    """Every text of a document in turn is another one: claims are refuted or hold, and none fails."""
    case = case_of("tree", 4, tmp_path, rows=8)
    document = json.loads(json.dumps(to_dict(made(case))))
    renamed = list(_renamed(document, document))
    assert len(renamed) > 100
    for wrong in renamed[:: max(1, len(renamed) // 150)]:
        with suppress(QuiaError):
            checked(case, from_dict(wrong))


def _renamed(document: Any, part: Any) -> Any:
    """The document with each of its texts, and each name of a value, replaced."""
    for key in list(part) if isinstance(part, dict) else range(len(part)):
        value = part[key]
        if isinstance(value, str):
            part[key] = "nobody's"
            yield json.loads(json.dumps(document))
            part[key] = value
        elif isinstance(value, (dict, list)):
            yield from _renamed(document, value)
            if key in ("one", "other", "values"):
                part[key] = {f"{name} of nobody's": each for name, each in value.items()}
                yield json.loads(json.dumps(document))
                part[key] = value


def test_a_feature_that_is_none_is_told(tmp_path: Path) -> None:
    case = case_of("tree", 0, tmp_path)
    document = json.loads(json.dumps(to_dict(made(case))))
    document["features"][0]["feature"] += "x"
    found = checked(case, from_dict(document))
    why = {claim.place: claim.why for claim in found.having("refuted")}
    assert all("is no feature of the model" in (why[place] or "") for place in ("features", "features[0].shortest"))


def test_conditions_of_lines_near_0_are_what_literals_say() -> None:
    """A number very near to 0 counts as 0 on a line, so that > 0 begins after it."""
    for ends in ((0.0, 1.0), (-1.0, 0.0), (-1.0, 1.0), ()):
        line = Variable.line("x", *ends)
        zero, last = line.encode(0.0), line.size - 1
        for ranges in (((zero, zero),), ((zero + 1, last),), ((0, zero - 1),), ((zero, last),), ((0, zero),)):
            if not 0 <= ranges[0][0] <= ranges[0][1] <= last:
                continue
            literal = Literal(line, ranges)
            (said,) = read_all(json.loads(json.dumps([literal.condition])))
            said.check_text(line)
            assert said.states(line) == ranges
            (lie,) = read_all([{**literal.condition, "text": "> 0.25"}])
            with pytest.raises(FormatError, match="the text"):
                lie.check_text(line)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    for kind in ("tree", "additive"):
        document = made(case_of(kind, 0, tmp_path))
        assert from_dict(json.loads(json.dumps(to_dict(document)))) == document


def test_the_schema_file_is_what_the_types_say() -> None:
    spec = spec_from_file_location("schemas", ROOT / "docs" / "schemas.py")
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(schemas := module_from_spec(spec))
    for name in (schemas.AUDIT, schemas.VERIFIED):
        assert (schemas.FOLDER / name).read_text() == schemas.text(name), "run python docs/schemas.py"


def test_documents_are_what_the_schema_says(tmp_path: Path) -> None:
    validate = validator("audit").validate
    for kind in CASES:
        validate(json.loads(json.dumps(to_dict(made(case_of(kind, 1, tmp_path, rows=8))))))


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("schema",), "quia/audit/2", "its schema is 'quia/audit/2'; an audit's is 'quia/audit/1'"),
        (("rules", 0, "rules", 0, "rows"), "x", "rules[0].rules[0].rows is 'x'; it must be a whole number from 0 on"),
        (("rules", 0, "of"), -1, "rules[0].of is -1; it must be a whole number"),
        (("rules", 0, "of"), True, "rules[0].of is True; it must be a whole number"),
        (("decisions", "rows"), 10**400, "it must be a whole number from 0 on, below 2**63"),
        (("seconds",), 10**400, "it must be a number from 0 on"),
        (("rules", 0, "rules", 0, "example", "values"), {"A": 10**400}, "it must be a string, a number of 64 bits"),
        (("rules", 0, "rules", 0, "conditions"), [{"intervals": [10**400]}], "with numbers of 64 bits"),
        (("rules", 0, "of"), 1.5, "rules[0].of is 1.5; it must be a whole number"),
        (("rules",), {}, "rules is {}; it must be a list"),
        (("seconds",), float("inf"), "seconds is inf; it must be a number"),
        (("seconds",), None, "seconds is None; it must be a number"),
        (("decisions", "labels", "other"), {"a": -3}, "decisions.labels.other['a'] is -3; it must be"),
        (("features", 0, "pair"), 3, "features[0].pair is 3; it must be an object"),
        (("features", 0, "matters"), "no", "features[0].matters is 'no'; it must be true or false"),
        (("identity", "model", "file"), [], "identity.model.file is []; it must be an object"),
        (("identity", "settings", "share"), -0.5, "identity.settings.share is -0.5; it must be a number from 0 on"),
        (("identity", "settings", "options"), {"a": [float("nan")]}, "identity.settings.options['a'][0] is nan"),
        (("rules", 0, "rules", 0, "example", "values"), {"A": []}, "example.values['A'] is []; it must be a string"),
        (("more",), 1, "more is no field of an audit"),
        (("rules", 0, "ruls"), 1, "rules[0].ruls is no field of an audit (did you mean 'rules'?)"),
    ],
)
def test_what_is_no_audit_is_refused_by_its_place(place: Any, value: Any, said: str, tmp_path: Path) -> None:
    document = to_dict(made(case_of("tree", 0, tmp_path, rows=8)))
    at = document
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    with pytest.raises(FormatError) as fault:
        from_dict(document)
    assert said in str(fault.value)
    file = tmp_path / "audit.json"
    file.write_text(json.dumps(document))
    with pytest.raises(FormatError, match=r"audit\.json: "):
        read_document(str(file))


@pytest.mark.parametrize("key", ["schema", "identity", "rules", "comparison"])
def test_what_lacks_a_part_is_refused(key: str, tmp_path: Path) -> None:
    document = to_dict(made(case_of("tree", 0, tmp_path, rows=8)))
    del document[key]
    with pytest.raises(FormatError):
        from_dict(document)


@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 100_000, '{"schema": 1, "schema": 2}', '{"schema": NaN}', '{"seconds": 1e999}', "\ufeff{"]
)
def test_broken_files_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=r"audit\.json: "):
        read_document(str(file))


def test_what_is_not_given_is_not_checked(tmp_path: Path) -> None:
    case = case_of("tree", 0, tmp_path)
    found = check(made(case), case.classifier)
    assert found.count("refuted") == 0
    assert {claim.why for claim in found.having("not checked")} == {"no table is given", "the other model is not given"}
    assert found.count("holds") > 10


def test_every_claim_has_its_place_in_the_document(tmp_path: Path) -> None:
    case = case_of("several classes", 1, tmp_path)
    document = to_dict(made(case))
    for claim in checked(case, from_dict(document)).claims:
        at: Any = document
        for key in re.findall(r"[^.\[\]]+", claim.place):
            at = at[int(key)] if key.isdigit() else at[key]


@pytest.mark.parametrize("kind", [*CASES, "tree, escape alone"])
def test_pairs_that_rise_are_found_or_proved_not_to_be(kind: str, tmp_path: Path) -> None:
    """By brute force over all pairs of worlds, in any order of any of the states."""
    proved = 0
    for seed in range(20):
        rng = Random(f"{kind} {seed}")
        subject = KINDS[kind.partition(",")[0]](rng, tmp_path)
        world = World.of(subject.twin(rng) if "," in kind else subject.classifier, Settings())
        sign = rng.choice((1, -1))
        for v, variable in enumerate(subject.variables):
            order = rng.sample(range(variable.size), rng.randint(1, variable.size))
            order = sorted(order) if rng.random() < 0.6 else order

            def is_asked(a: int, b: int, sign: int = sign) -> bool:
                return sign * (b - a) > 0

            there = any(
                is_asked(label, subject.table[(*one[:v], later, *one[v + 1 :])])
                for one, label in subject.table.items()
                if one[v] in order
                for later in order[order.index(one[v]) + 1 :]
            )
            found = find_pair(world, [v], is_asked, order, Clock())
            assert (found is not None) == there
            if found is not None:
                one, other = found
                assert is_asked(*(world.asked.decide(states) for states in found))
                assert order.index(one[v]) < order.index(other[v])
                assert all(one[u] == other[u] for u in world.asked.tested if u != v)
            is_proved = never_turns(world, v, is_asked, order)
            assert not (is_proved and there)
            proved += is_proved
    assert proved or kind not in ("ensemble", "additive")


def test_lines_that_only_rise_are_proved_by_their_steps() -> None:
    income, age = Variable.line("income", 0, 100), Variable.line("age", 18, 99)
    for weight, name in ((0.5, "hurts"), (-0.5, "helps")):
        terms = (Line(0, (("subtract", 3.0), ("divide", 7.0)), (weight,)), Line(1, (("square",),), (0.25,)))
        model = Additive((income, age), ("deny", "grant"), terms, (0.0,), Rule("cuts", (3.0,)))
        world = World.of(model, Settings())
        worse = {"hurts": lambda a, b: a > b, "helps": lambda a, b: a < b}
        assert never_turns(world, 0, worse[name], None)
        assert not never_turns(world, 0, worse["helps" if name == "hurts" else "hurts"], None)
        assert not never_turns(world, 1, worse[name], None)


@pytest.mark.parametrize("kind", CASES)
def test_whether_conditions_force_a_class(kind: str, tmp_path: Path) -> None:
    """Random boxes against all worlds in them; the witness is in the box, and decided otherwise."""
    forced = 0
    for seed in range(30):
        rng = Random(f"{kind} {seed}")
        subject = KINDS[kind](rng, tmp_path)
        world = World.of(subject.classifier, Settings())
        region = random_region(rng, subject.variables, share=0.8)
        labels = {label for states, label in subject.table.items() if region.contains(states)}
        said = read_all(json.loads(json.dumps([literal.condition for literal in region.literals])))
        for label, name in enumerate(subject.classes):
            try:
                world.check_forces(said, name, Clock())
                forced += 1
                assert labels == {label}
            except Wrong:
                assert labels != {label}
    assert forced


def test_conditions_are_taken_exactly() -> None:
    """Intervals that end anywhere, in 32 and in 64 bits, against every number at and beside their ends and the cuts."""
    for seed in range(300):
        rng = Random(seed)
        ends = [rng.choice([0.1, 0.5, 0.8, 3.0, 0.30000001]) * rng.choice([1, 2]) for _ in range(3)]
        single = rng.random() < 0.5
        variable = Variable.numeric("x", [(end, rng.choice(["before", "after"])) for end in ends], single=single)
        is_single = rng.random() < 0.5
        low, high = sorted(float(np.float32(e)) if is_single else e for e in (rng.choice(ends), rng.random()))
        closed = [rng.random() < 0.5 for _ in range(2)]
        interval = {"low": low, "high": high, "low_closed": closed[0], "high_closed": closed[1]}
        condition = {"feature": "x", "intervals": [interval], "missing": False, "text": ""}
        (said,) = read_all([{**condition, **({"type": "float32"} if is_single else {})}])
        near = [low, high, *ends, *(float(np.float32(end)) for end in (low, high, *ends))]
        near += [float(np.nextafter(np.float32(x), np.float32(side))) for x in list(near) for side in (-9, 9)]
        near += [(a + b) / 2 for a in list(near) for b in list(near)]
        near += [math.nextafter(x, side) for x in list(near) for side in (-math.inf, math.inf)]
        meeting = set()
        for number in near:
            compared = float(np.float32(number)) if is_single else number
            is_above = low < compared or (closed[0] and compared == low)
            is_below = compared < high or (closed[1] and compared == high)
            assert said.holds(variable, number) == (is_above and is_below)
            if is_above and is_below:
                meeting.add(variable.encode(number))
        assert {s for a, b in said.states(variable) for s in range(a, b + 1)} == meeting


def test_another_model_that_cannot_read_the_table_is_told_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("A,B\nx,y\n")
    wrong = ROOT / "examples" / "admissions.json"
    case = case_of("tree", 0, tmp_path, rows=8)
    facts = FileFacts("model.json", "model.json", "0" * 64, 1)
    document = to_dict(made(replace(case, files=(facts, None))))
    audit = tmp_path / "audit.json"
    audit.write_text(json.dumps(document))
    assert main(["verify", str(wrong), str(audit), "--data", str(table)]) == 2
    said = capsys.readouterr().err
    own = hashlib.sha256(wrong.read_bytes()).hexdigest()
    assert f"audit.json: is of another model: its SHA-256 is '{'0' * 64}', that of {wrong} is '{own}'; " in said
