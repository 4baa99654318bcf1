"""Rows on and next to the cuts of a classifier, and its decisions and scores of many rows at once."""

import numpy as np

from quia.variables import encode_instance


def rows_near_cuts(classifier, rng, count, missing=True):
    """Numbers at the cuts of each variable, one step beside them in 32 and in 64 bits, others, and missing ones."""
    columns = []
    for variable in classifier.variables:
        cuts = np.array([cut.threshold for cut in variable.cuts if np.isfinite(cut.threshold)] or [0.0])
        t = rng.choice(cuts, count)
        with np.errstate(over="ignore"):
            single = t.astype(np.float32)
            moves = [
                t,
                single,
                np.nextafter(single, np.float32(-np.inf)),
                np.nextafter(single, np.float32(np.inf)),
                np.nextafter(t, -np.inf),
                np.nextafter(t, np.inf),
                rng.normal(size=count),
                rng.choice([0.0, -0.0, 1e-36, -1e-36, 5e-35], count),
                np.full(count, np.nan) if missing else t,
            ]
        columns.append(np.choose(rng.integers(0, len(moves), count), moves))
    return np.column_stack(columns).astype(np.float64)


def encoded(classifier, rows):
    tested = classifier.tested
    return np.array([encode_instance(classifier.variables, tested, row) for row in rows], np.int32)


def decisions(classifier, rows):
    """The names of the classes of rows: lists or mappings."""
    states = encoded(classifier, rows)
    decided = classifier.decide_rows(states) if hasattr(classifier, "decide_rows") else map(classifier.decide, states)
    return [classifier.classes[int(one)] for one in decided]


def scores(ensemble, rows):
    """The scores of rows, as the ensemble adds them."""
    return np.array([ensemble.scores(states) for states in encoded(ensemble, rows)])
