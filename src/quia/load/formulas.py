"""Class formulas as a source: one formula, or a mapping from class to formula."""

from __future__ import annotations

from typing import Any

from quia.errors import Unsupported
from quia.formula import Formula, classifier
from quia.graph import DecisionGraph

OPTIONS = ("variables", "classes", "order", "limit")


def convert(source: Any, **options: Any) -> DecisionGraph:
    """The decision graph of class formulas; the options are those of `quia.formula.classifier`."""
    if not isinstance(source, (Formula, dict)):
        raise Unsupported(f"a {type(source).__qualname__} is no formula", cure="give a Formula or a dict of them")
    return classifier(source, **options)
