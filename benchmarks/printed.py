"""The figures that the paper prints in its Table 1.

Of each benchmark: examples, nodes, numeric and nominal features, classes, largest cardinality, accuracy in percent;
then of SR, SSR, NR and SNR: mean count, mean seconds (Python on a Xeon E5-2670 at 2.6 GHz), instances of 1,000 (or of
all there were) that did not finish in 60 s.
"""

from __future__ import annotations

from typing import Any

Figures = tuple[float, float, int]
_PROPERTIES = ("examples", "nodes", "num", "nom", "classes", "card", "acc")
_QUESTIONS = ("SR", "SSR", "NR", "SNR")
_TABLE: dict[str, tuple[tuple[float | None, ...], tuple[Figures, ...]]] = {
    "adult": (
        (48842, 726, 6, 7, 2, 24, 86.0),
        ((2.8, 0.0005, 0), (1.4, 0.0007, 0), (5.6, 0.0004, 0), (2.9, 0.0003, 0)),
    ),
    "compas": ((5278, 55, 5, 3, 2, 8, 71.2), ((1.7, 0.0002, 0), (1.1, 0.0003, 0), (2.9, 0.0002, 0), (1.8, 0.0001, 0))),
    "fash-mnist": (
        (70000, 6681, 734, 0, 10, 29, 80.8),
        ((1851.6, 3.7925, 657), (7.5, 0.0348, 8), (104.8, 0.0123, 0), (12.4, 0.0008, 0)),
    ),
    "gisette": (
        (7000, 231, 111, 0, 2, 3, 93.9),
        ((3288.4, 6.2361, 486), (95.5, 0.0545, 0), (31.8, 0.0013, 0), (7.4, 0.0004, 0)),
    ),
    "isolet": (
        (7797, 645, 201, 0, 26, 7, 83.9),
        ((8.9, 0.0008, 0), (1.5, 0.0026, 0), (17.7, 0.0006, 0), (10.1, 0.0003, 0)),
    ),
    "la1s.wc": (
        (3204, 457, 201, 0, 6, 3, 73.2),
        ((461.1, 1.8227, 36), (7.7, 0.0368, 0), (42.1, 0.0038, 0), (19.3, 0.0004, 0)),
    ),
    "mnist-784": (
        (70000, 4365, 477, 0, 10, 18, 88.3),
        ((1833.3, 4.6191, 622), (5.5, 0.0235, 1), (103.9, 0.0099, 0), (11.5, 0.0008, 0)),
    ),
    "nomao": (
        (34465, 932, 61, 25, 2, 17, 95.3),
        ((1640.8, 4.9576, 156), (2.4, 0.018, 0), (38.6, 0.0018, 0), (4.3, 0.0005, 0)),
    ),
    "ohscal.wc": (
        (11162, 1761, 582, 0, 10, 6, 70.9),
        ((787.1, 2.0714, 225), (86.2, 0.3018, 21), (59.9, 0.009, 0), (23.7, 0.0006, 0)),
    ),
    "spambase": (
        (4601, 189, 37, 0, 2, 8, 91.5),
        ((35.8, 0.0029, 0), (4.6, 0.006, 0), (16.9, 0.0007, 0), (4.1, 0.0003, 0)),
    ),
    "andes": (
        (None, 5454, None, 24, 2, 2, None),
        ((78.8, 0.166, 0), (2.6, 0.0295, 0), (58.0, 0.03, 0), (4.5, 0.0055, 0)),
    ),
    "emdec6g30": (
        (None, 4154, None, 30, 2, 2, None),
        ((11.6, 0.0362, 0), (1.8, 0.0445, 0), (13.6, 0.0184, 0), (2.9, 0.0048, 0)),
    ),
    "math-skills": (
        (None, 3693629, None, 46, 2, 2, None),
        ((9.6, 0.2895, 26), (7.6, 0.0261, 0), (9.9, 0.4271, 18), (3.4, 0.029, 0)),
    ),
    "mooring": (
        (None, 14468, None, 22, 2, 2, None),
        ((145.4, 2.3991, 14), (20.9, 3.9951, 7), (216.3, 0.7678, 1), (16.2, 0.0189, 0)),
    ),
    "tcc4e38": (
        (None, 22508, None, 38, 2, 2, None),
        ((14.4, 0.137, 0), (2.6, 0.0155, 0), (10.4, 0.0632, 0), (2.0, 0.0103, 0)),
    ),
}
GRAPHS = ("andes", "emdec6g30", "math-skills", "mooring", "tcc4e38")
"""The decision graphs among them, which are not public."""
INSTANCES = 13_963
NAMED_OTHERWISE = {"fashion_mnist": "fash-mnist", "mnist_784": "mnist-784"}


def names() -> tuple[str, ...]:
    """The fifteen benchmarks."""
    return tuple(_TABLE)


def printed(name: str) -> dict[str, Any] | None:
    """The paper's figures for a benchmark, by the paper's name or OpenML's; None if it has none.

    >>> printed("mnist_784")["SR"], printed("adult")["nodes"]
    ((1833.3, 4.6191, 622), 726)
    """
    found = _TABLE.get(NAMED_OTHERWISE.get(name, name))
    if found is None:
        return None
    properties, figures = found
    return {
        **dict(zip(_PROPERTIES, properties, strict=True)),
        **dict(zip(_QUESTIONS, figures, strict=True)),
    }
