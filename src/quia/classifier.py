"""The classifiers that can be explained: what all of them offer is what `explain` and `verify` rest on."""

from __future__ import annotations

from quia.circuit import Circuit
from quia.graph import DecisionGraph

Classifier = DecisionGraph | Circuit
"""Either has `variables`, `classes`, `tested`, `notes`, `encode`, `decide` and `classify`; the complete reason
(`complete`), the changes that violate a necessary reason (`counterfactual`) and the search for a witness (`verify`) are
the three places that ask which of the two it is."""
