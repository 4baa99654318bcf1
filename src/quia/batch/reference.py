"""Reference tables from whatever holds rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quia.batch.table import as_table, encode_table
from quia.errors import InstanceError
from quia.reference import Reference

if TYPE_CHECKING:
    from quia.classifier import Classifier


def reference(classifier: Classifier, data: Any) -> Reference:
    """The rows of a DataFrame, an Arrow table, a list of mappings or an array, in the classifier's states.

    A value may be missing; any other that is no value of its feature is a fault of the table.
    """
    if isinstance(data, Reference):
        if data.variables != tuple(classifier.variables):
            raise InstanceError("the reference is of a classifier with other variables; make it anew for this one")
        return data
    states, faults, _ = encode_table(classifier, as_table(data, classifier.variables))
    bad = np.flatnonzero(~faults.sound)
    if len(bad):
        others = f", and so have {len(bad) - 1:,} other rows" if len(bad) > 1 else ""
        raise InstanceError(
            f"row {bad[0]} of the reference table has a fault{others}: {faults.messages[faults.code[bad[0]]]}; mend or"
            " drop such rows"
        )
    return Reference.of(classifier.variables, states)
