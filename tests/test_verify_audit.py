"""Audits checked: true documents hold, whatever the model; every lie in one is found; what is no audit is refused."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from audit_lies import lies
from audit_oracle import Case, made, random_case
from quia.auditing.checks import check
from quia.auditing.reading import from_dict, to_dict
from test_contract import KINDS

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
