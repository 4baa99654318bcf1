"""quia: why a classifier decided as it did, exactly.

>>> import quia
>>> graph = quia.load("model.json")                                             # doctest: +SKIP
>>> print(quia.explain(graph, {"SAT": 1400, "GPA": "medium", "Essay": "fail"}))  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, GraphError, InstanceError, QuiaError, Refuted, TooLarge, Undecided, Unsupported
from quia.load import load
from quia.variables import Variable
from quia.verify import verify

if TYPE_CHECKING:
    from quia import batch, compile, formula, paper
    from quia.additive import Additive
    from quia.auditing.audit import Audit, audit
    from quia.batch.arrow import explain_batch
    from quia.bias import bias_of_classifier
    from quia.circuit import Circuit
    from quia.ensemble import Ensemble
    from quia.explanation import Explanation, explain
    from quia.graph import DecisionGraph
    from quia.nnf import NNF
    from quia.reason import Reason
    from quia.reasons import Reasons
    from quia.reference import Reference

__version__ = "0.1.0"

# NumPy takes longer to import than all else, so the names that need it are fetched when they are first used.
_LAZY = {
    "Additive": "quia.additive",
    "Audit": "quia.auditing.audit",
    "Circuit": "quia.circuit",
    "DecisionGraph": "quia.graph",
    "Ensemble": "quia.ensemble",
    "Explanation": "quia.explanation",
    "NNF": "quia.nnf",
    "Reason": "quia.reason",
    "Reasons": "quia.reasons",
    "Reference": "quia.reference",
    "audit": "quia.auditing.audit",
    "bias_of_classifier": "quia.bias",
    "explain": "quia.explanation",
    "explain_batch": "quia.batch.arrow",
}

_MODULES = ("batch", "compile", "formula", "paper")

__all__ = [
    "NNF",
    "Additive",
    "Audit",
    "Circuit",
    "DecisionGraph",
    "Ensemble",
    "Explanation",
    "FormatError",
    "GraphError",
    "InstanceError",
    "QuiaError",
    "Reason",
    "Reasons",
    "Reference",
    "Refuted",
    "TooLarge",
    "Undecided",
    "Unsupported",
    "Variable",
    "audit",
    "batch",
    "bias_of_classifier",
    "compile",
    "explain",
    "explain_batch",
    "formula",
    "load",
    "paper",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"quia.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'quia' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LAZY[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
