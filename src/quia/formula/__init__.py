"""Discrete formulas (paper §2–3): syntax, semantics, and the universal quantification of states.

>>> from quia import Variable, formula
>>> exam, first = Variable.nominal("E", ["no", "yes"]), Variable.nominal("F", ["no", "yes"])
>>> delta = formula.parse("E=yes & !F", [exam, first])
>>> print(delta, "|", formula.forall({"E": "yes", "F": "no"}, delta))
E=yes & F=no | E=yes & F=no
"""

from __future__ import annotations

from quia.formula.classes import classifier, compiled
from quia.formula.connectives import equivalence, implication
from quia.formula.core import (
    FALSE,
    TRUE,
    Formula,
    conjunction,
    disjunction,
    member,
    negation,
    state,
)
from quia.formula.forms import negation_normal_form, positive_form
from quia.formula.meaning import (
    equivalent,
    models,
    prime_implicants,
    prime_implicates,
    worlds,
)
from quia.formula.nnfs import circuit, complete_reason, from_nnf, to_nnf
from quia.formula.quantify import Quantified, forall, quantify
from quia.formula.syntax import parse, parse_all
from quia.formula.validity import implies, is_satisfiable, is_valid

__all__ = [
    "FALSE",
    "TRUE",
    "Formula",
    "Quantified",
    "circuit",
    "classifier",
    "compiled",
    "complete_reason",
    "conjunction",
    "disjunction",
    "equivalence",
    "equivalent",
    "forall",
    "from_nnf",
    "implication",
    "implies",
    "is_satisfiable",
    "is_valid",
    "member",
    "models",
    "negation",
    "negation_normal_form",
    "parse",
    "parse_all",
    "positive_form",
    "prime_implicants",
    "prime_implicates",
    "quantify",
    "state",
    "to_nnf",
    "worlds",
]
