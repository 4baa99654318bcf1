"""The classifiers that can be explained: what all of them offer is what `explain` and `verify` rest on."""

from __future__ import annotations

from typing import Any

from quia.circuit import Circuit
from quia.errors import Unsupported, shown
from quia.graph import DecisionGraph

Classifier = DecisionGraph | Circuit
"""Either has `variables`, `classes`, `tested`, `notes`, `encode`, `decide` and `classify`; the complete reason
(`complete`), the changes that violate a necessary reason (`counterfactual`) and the search for a witness (`verify`) are
the three places that ask which of the two it is."""


def loaded(given: Any) -> Classifier:
    """What is given, if it is a classifier; a model or a file has to be loaded first."""
    if isinstance(given, Classifier):
        return given
    what = shown(given) if isinstance(given, str) else f"a {type(given).__name__}"
    raise Unsupported(f"the classifier is {what}, which is not loaded", cure="load it first, with quia.load(…)")
