"""What a notebook shows of each public object: a compact view that follows the notebook's colours.

A view is HTML that is put into a page of somebody else's: it runs no script and loads nothing, lets no style of the
host in and none of its own out, and reads well where the host strips its style. `notebook.css` says how.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quia.answer import Answer, Shares
from quia.auditing.audit import Audit
from quia.bias import Bias, ClassifierBias
from quia.classifier import ClassifierBase
from quia.compare import Comparison
from quia.counterfactual import Counterfactual, Counterfactuals
from quia.even_if import EvenIf
from quia.explanation import Explanation
from quia.formula import Formula
from quia.nnf import NNF
from quia.reason import Reason
from quia.reason_codes import ReasonCodes
from quia.reasons import Reasons
from quia.show import notebook_lists as lists
from quia.show.notebook_audit import audit_view
from quia.show.notebook_models import formula_view, model_view
from quia.show.notebook_why import answer_view, explanation_view

VIEWS: dict[type, Callable[[Any], str]] = {
    Explanation: explanation_view,
    Answer: answer_view,
    Reasons: lists.reasons_view,
    Reason: lists.reason_view,
    Counterfactuals: lists.changes_view,
    Counterfactual: lists.change_view,
    Bias: lists.bias_view,
    ClassifierBias: lists.classifier_bias_view,
    EvenIf: lists.even_if_view,
    Comparison: lists.comparison_view,
    ReasonCodes: lists.codes_view,
    Shares: lists.shares_view,
    Audit: audit_view,
    ClassifierBase: model_view,
    NNF: formula_view,
    Formula: formula_view,
}
"""What makes the view of an object, by its class or the nearest of its bases."""


def view(thing: object) -> str:
    """The view of an object as HTML."""
    made = next(VIEWS[kind] for kind in type(thing).__mro__ if kind in VIEWS)
    return made(thing)
