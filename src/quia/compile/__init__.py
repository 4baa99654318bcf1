"""Classifiers compiled into decision graphs: Bayesian networks, and models that add up what each feature gives."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quia.compile.additive import additive_as_graph
    from quia.compile.classifier import network_as_graph
    from quia.compile.network import Network, Node

# Each brings in what the others need not.
_LAZY = {
    "Network": "quia.compile.network",
    "Node": "quia.compile.network",
    "additive_as_graph": "quia.compile.additive",
    "network_as_graph": "quia.compile.classifier",
}

__all__ = ["Network", "Node", "additive_as_graph", "network_as_graph"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'quia.compile' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
