"""Points cards and rows for them, made here: the same on every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.additive import Additive

MOST_POINTS = 60


def card(features: int, seed: int = 16) -> Additive:
    """A card of so many features, each with 3 to 6 names and whole points; the cutoff is what a mean row has."""
    import numpy as np

    from quia.additive import Additive
    from quia.sums import Rule
    from quia.terms import Table
    from quia.variables import Variable

    draw = np.random.default_rng(seed)
    variables, tables = [], []
    for v in range(features):
        points = np.sort(draw.integers(0, MOST_POINTS, draw.integers(3, 7))).astype(float)
        variables.append(Variable.nominal(f"feature {v + 1}", [f"level {n + 1}" for n in range(len(points))]))
        tables.append(Table(v, points[:, None]))
    cutoff = float(round(sum(table.values.mean() for table in tables)))
    rule = Rule("cuts", (cutoff,))
    return Additive(tuple(variables), ("deny", "grant"), tuple(tables), (0.0,), rule, kind="points card")


def rows(model: Additive, count: int, seed: int = 17) -> pa.Table:
    """So many rows, each value as likely as any other."""
    import numpy as np
    import pyarrow as pa

    draw = np.random.default_rng(seed)
    columns = {v.name: np.array(v.labels)[draw.integers(0, v.size, count)] for v in model.variables}
    return pa.table(columns)
