"""Answers: what was found of one decision, once; text, JSON, pages and tables only show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from quia.bias import Bias
from quia.counterfactual import Counterfactuals
from quia.look import Shown, counted, one_line, tagged
from quia.question import AboutQuestion, Question
from quia.reason import Reason
from quia.reasons import Reasons
from quia.refine import coarse_state
from quia.values import plain_value, readable_value
from quia.variables import UNKNOWN, Variable

SCHEMA = "quia/explanation/2"


class Shares(Shown, dict[str, Fraction]):
    """Feature → its share of the sufficient reasons; a feature that is in none has the share 0."""

    def __missing__(self, feature: str) -> Fraction:
        return Fraction(0)

    def __str__(self) -> str:
        from quia.show.lists import shares_text

        return shares_text(self)

    def __repr__(self) -> str:
        told = (
            f"{one_line(name, 30)} {float(share):.0%}".replace("%", " %") for name, share in islice(self.items(), 6)
        )
        return tagged("Shares", counted(len(self), "feature"), *told, "…" if len(self) > 6 else "")


@dataclass(frozen=True, eq=False)
class Answer(Shown, AboutQuestion):
    """What was found of a decision, within a limit and a time.

    `instance` has the values as they were given, `tested` the variables that the classifier tests. With `is_shortest`
    only the shortest reasons were asked for. A decision `is_constant` if nothing can change it; the class that it is
    asked against `is_never` given if no leaf has it. The reasons are general, unless `is_general` is False; `rows` is
    how many rows the reference table has, if there is one.
    """

    question: Question
    instance: Mapping[str, Any]
    tested: tuple[int, ...]
    necessary: Reasons
    sufficient: Reasons
    changes: Counterfactuals
    bias: Bias | None = None
    is_shortest: bool = False
    is_constant: bool = False
    is_never: bool = False
    is_general: bool = True
    rows: int | None = None

    def __repr__(self) -> str:
        decided = self.decision if self.against is None else f"{self.decision}, not {self.against}"
        found = (next(each.known_facts()) for each in (self.sufficient, self.necessary))
        return tagged("Answer", one_line(decided, 60), *found, counted(len(self.changes), "change"))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The features whose values are missing: the decision is the same whatever they are."""
        return self.names(v for v in self.tested if self.states[v] == UNKNOWN)

    def in_model(self, v: int) -> tuple[Variable, int]:
        """A variable as the model has it, and its state that the instance's value is in.

        What is possible may cut numbers where the model does not, which people need not know of.
        """
        variable, state = self.variables[v], self.states[v]
        if variable.is_line or not self.question.own:
            return variable, state
        return self.question.own[v], coarse_state(self.question.own[v], variable, state)

    @property
    def plain_instance(self) -> dict[str, Any]:
        """The values as they were given, as JSON can hold them."""
        return {name: plain_value(value) for name, value in self.instance.items()}

    @property
    def readable_instance(self) -> dict[str, Any]:
        """The same as people read them."""
        return {name: readable_value(value) for name, value in self.instance.items()}

    @property
    def in_time(self) -> bool:
        """Whether time and memory were enough; a limit is no fault."""
        limit = self.necessary.limit
        shown = (self.necessary, self.sufficient, self.changes)
        listed = (each.complete or len(each) == limit or each.is_enough for each in shown)
        counted = (each.complete or each.set_count is not None for each in (self.necessary, self.sufficient))
        return all(listed) and all(counted)

    @property
    def shortest(self) -> Reason | None:
        """Of the sufficient reasons that were found the shortest, of these the first that says something new.

        Where changes have costs it is the cheapest.
        """
        return min(self.sufficient.as_shown(), key=self._cost, default=None)

    def _cost(self, reason: Reason) -> tuple[int, int]:
        costs = self.question.costs
        if costs is None:
            return 0, len(reason)
        named = set(reason.features)
        paid = (cost for cost, variable in zip(costs.whole, self.variables, strict=True) if variable.name in named)
        return sum(paid), len(reason)

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data: the JSON format `quia/explanation/2`."""
        known = {self.variables[v].name: self.in_model(v) for v in self.tested if self.states[v] != UNKNOWN}
        return {
            "schema": SCHEMA,
            "instance": self.plain_instance,
            "states": {name: variable.text(state) for name, (variable, state) in known.items()},
            **({"unknown": list(self.unknown)} if self.unknown else {}),
            **({"possible": list(self.question.told)} if self.question.told else {}),
            "decision": self.decision,
            "against": self.against,
            "general": self.is_general,
            **({} if self.rows is None else {"rows": self.rows}),
            "necessary": self.necessary.to_dict(),
            "sufficient": self.sufficient.to_dict(),
            "counterfactuals": [change.to_dict() for change in self.changes],
            **({} if self.changes.complete else {"counterfactuals_complete": False}),
            **({} if self.bias is None else {"bias": self.bias.to_dict()}),
        }
