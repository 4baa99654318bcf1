"""Many decisions at once."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quia.batch import spark

__all__ = ["spark"]


def __getattr__(name: str) -> Any:
    if name != "spark":
        raise AttributeError(f"module 'quia.batch' has no attribute {name!r}")
    return import_module("quia.batch.spark")
