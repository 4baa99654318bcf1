"""Rows on and next to every threshold of a classifier, and what it says of them."""

import numpy as np


def rows_beside(classifier, rng, count, step=np.float64, missing=0.1):
    """Random rows: each value is a cut, one step below or above it in 32 or 64 bits, missing, or any number."""
    rows = np.empty((count, len(classifier.variables)))
    with np.errstate(over="ignore"):
        for column, variable in enumerate(classifier.variables):
            cuts = np.array([cut.threshold for cut in variable.cuts] or [0.0])
            at = rng.choice(cuts, count)
            single = at.astype(np.float32)
            moves = [at, at, rng.normal(size=count)]
            for value in (at, single):
                moves += [np.nextafter(value, value.dtype.type(end)).astype(np.float64) for end in (-np.inf, np.inf)]
            rows[:, column] = np.choose(rng.integers(0, len(moves), count), moves)
        rows = rows.astype(step)
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


def classes_of(classifier, rows):
    """The class of each row."""
    return [classifier.classify([float(value) for value in row]) for row in rows]


def scores_of(classifier, rows):
    """The scores of each row of an ensemble."""
    return np.array([classifier.scores(classifier.encode([float(value) for value in row])) for row in rows])
