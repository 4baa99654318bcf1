"""Variables from PMML fields, and predicates as sets of their states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from quia.conditions import states_where
from quia.cuts import Cut, Interval, nearest_single
from quia.errors import InstanceError, Unsupported, listed, shown
from quia.load.pmml_choice import Predicate, Test, Work, join, merged
from quia.load.pmml_schema import NUMBERS, Field, Usable, number_of, spelled
from quia.load.xml import Document, Element
from quia.ranges import Ranges, covers, difference, union
from quia.variables import Variable

DEEPEST_PREDICATE = 100
"""Compound predicates may nest this deep."""

PREDICATES = ("SimplePredicate", "SimpleSetPredicate", "CompoundPredicate", "True", "False")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_OPPOSITE = {"notEqual": "equal", "greaterOrEqual": "lessThan", "greaterThan": "lessOrEqual", "isNotIn": "isIn"}


class Reader:
    """Reads predicates twice: first to gather cuts and states, then, once the variables exist, as sets of states."""

    def __init__(self, document: Document, inputs: Mapping[str, Field], usable: Usable, work: Work) -> None:
        self.document, self.usable, self.work = document, usable, work
        self.index_of = {id(field): index for index, field in enumerate(inputs.values())}
        self.fields = list(inputs.values())
        self.variables: list[Variable] = []
        self._absent: dict[int, Ranges] = {}

    def gather(self, predicate: Element) -> None:
        """Record the cuts and states that a predicate mentions."""
        for element in self._simple(predicate):
            field = self._field(element)
            field.tested = True
            if element.tag == "SimpleSetPredicate":
                values = self._array(element, field)
            elif element.attributes.get("operator") in ("isMissing", "isNotMissing"):
                values = []
            else:
                values = [spelled(field, self.document.need(element, "value"))]
            if not field.numeric:
                field.seen.update(dict.fromkeys(values))
            elif field.type not in NUMBERS:
                raise Unsupported(
                    f"the tree compares {shown(field.name)}, which is continuous of type {shown(field.type)}",
                    cure="export it as a number",
                )
            elif values:
                self._settle_precision(field, element)
                operator = element.attributes.get("operator", "equal")
                for value in values:
                    field.cuts.update(dict.fromkeys(self._cuts(field, operator, value, element)))

    def indices(self, predicate: Element) -> list[int]:
        """The indices of the fields that a predicate tests."""
        return [self.index_of[id(self._field(element))] for element in self._simple(predicate)]

    def _settle_precision(self, field: Field, element: Element) -> None:
        """Record whether a field is compared in 32 bits, which must be the same everywhere."""
        named = self.usable[element.attributes["field"]]
        single = not isinstance(named, Unsupported) and named.single
        if field.single not in (None, single):
            raise Unsupported(
                f"the tree compares {shown(field.name)} in 32 bits, and in 64 bits too (line {element.line})",
                cure="export the model so that all predicates test the same copy of the field",
            )
        field.single = single

    def check_invalid_values(self, missing: bool, fractional: bool) -> None:
        """Refuse fields whose treatment of invalid or missing values is not supported."""
        for field in self.fields:
            if not field.tested:
                continue
            if field.bounded and field.invalid_are == "asValue":
                raise Unsupported(
                    f"field {shown(field.name)} has invalidValueTreatment='asValue', which replaces some of its values",
                    cure="export the model with 'returnInvalid', 'asIs' or 'asMissing'",
                )
            if (
                field.numeric
                and field.invalid_are == "asMissing"
                and field.bounded
                and field.single
                and field.type != "float"
            ):
                raise Unsupported(
                    f"field {shown(field.name)} has invalid values in 64 bits, and the tree compares it in 32",
                    cure="export the model with invalidValueTreatment='returnInvalid' or 'asIs'",
                )
            if missing and field.taken_for_missing and (field.refuses_missing or fractional):
                how = "missingValueTreatment='returnInvalid'" if field.refuses_missing else "the missingValueStrategy"
                raise Unsupported(
                    f"field {shown(field.name)} has values that count as missing, for which {how} gives no one leaf",
                    cure="load it with missing=False if there are none in your data",
                )

    def make_variables(self, missing: bool) -> None:
        """Build the variables, each with all its states."""
        self.variables = []
        self._absent = {}
        for field in self.fields:
            routed = missing and field.routed and not field.refuses_missing
            if field.numeric:
                if field.tested:
                    ends = (cut for intervals in self._validity(field) for interval in intervals for cut in interval)
                    field.cuts.update(dict.fromkeys(cut for cut in ends if cut is not None))
                cuts = [(cut.threshold, cut.after) for cut in field.cuts]
                self.variables.append(Variable.numeric(field.name, cuts, missing=routed, single=_is_single(field)))
                continue
            states = [state for state in field.declared or field.seen if state not in field.absent]
            if routed:
                states += field.absent
            other = None if field.declared else _unused_name("any other", states)
            no_value = _unused_name("missing", states) if routed else None
            if field.declared and field.invalid_are == "asMissing":
                other = no_value
            self.variables.append(
                Variable.nominal(
                    field.name,
                    dict.fromkeys([*states, *(s for s in (other, no_value) if s is not None)]),
                    other=other,
                    no_value=no_value,
                )
            )

    def predicate(self, element: Element, depth: int = 0) -> Predicate:
        """A predicate over the variables' states."""
        if element.tag in ("True", "False"):
            return element.tag == "True"
        if element.tag == "CompoundPredicate":
            predicates = tuple(self.predicate(child, depth + 1) for child in self._children(element, depth))
            operator = self._operator(element)
            return join(operator, merged(operator, predicates, lambda v: self.variables[v].size))
        field = self._field(element)
        index = self.index_of[id(field)]
        size = self.variables[index].size
        true, unknown = self._states(element, field, self.variables[index])
        self.work.spend(len(true) + len(unknown))
        if true == ((0, size - 1),):
            return True
        if not true and not unknown:
            return False
        return Test(index, true, unknown)

    def _states(self, element: Element, field: Field, variable: Variable) -> tuple[Ranges, Ranges]:
        """The states in which a simple predicate holds, and those in which it is unknown."""
        operator = self._operator(element)
        all_states = ((0, variable.size - 1),)
        absent = self.absent(self.index_of[id(field)])
        if operator in ("isMissing", "isNotMissing"):
            unset = () if field.replacement is not None else absent
            return (unset, ()) if operator == "isMissing" else (difference(all_states, unset), ())
        if element.tag == "SimpleSetPredicate":
            values = self._array(element, field)
        else:
            values = [spelled(field, self.document.need(element, "value"))]
        base = _OPPOSITE.get(operator, operator)
        holds = union(pair for value in values for pair in self._where(field, variable, base, value, element))
        if base != operator:
            holds = difference(all_states, holds)
        if field.replacement is None:
            return difference(holds, absent), absent
        try:
            replaced_by = variable.encode(field.replacement)
        except InstanceError as fault:
            raise self.document.fault(f"missingValueReplacement: {fault}", element) from None
        # The replacement is used as it is, even if its value would count as missing in a row.
        return (union([*holds, *absent]) if covers(holds, replaced_by) else difference(holds, absent)), ()

    def absent(self, index: int) -> Ranges:
        """The states of a variable that mean missing."""
        if index not in self._absent:
            self._absent[index] = self._missing_states(self.fields[index], self.variables[index])
        return self._absent[index]

    def _missing_states(self, field: Field, variable: Variable) -> Ranges:
        if variable.labels is not None:
            marks = {*field.absent, variable.no_value}
            return union((state, state) for state, label in enumerate(variable.labels) if label in marks)
        valid, marked = self._validity(field)
        invalid = difference(((0, len(variable.cuts)),), states_where(variable, valid)) if valid else ()
        unset = ((variable.size - 1,) * 2,) if variable.missing else ()
        return union([*invalid, *states_where(variable, marked), *unset])

    def _validity(self, field: Field) -> tuple[list[Interval], list[Interval]]:
        """The intervals of valid numbers, empty if all are valid, and the intervals whose numbers count as missing."""
        marked = self._points(field, field.absent)
        if field.invalid_are != "asMissing":
            return [], marked
        rounded = [
            Interval(*(cut and Cut(_rounded(field, cut.threshold), cut.after) for cut in i)) for i in field.intervals
        ]
        return rounded + self._points(field, field.declared), marked + self._points(field, field.invalid)

    def _points(self, field: Field, values: Iterable[str]) -> list[Interval]:
        return [Interval(*self._cuts(field, "equal", value, None)) for value in values]

    def _where(
        self, field: Field, variable: Variable, operator: str, value: str, element: Element
    ) -> Iterator[tuple[int, int]]:
        """The states, missing ones aside, that equal a value or are less than it."""
        if variable.labels is None:
            first, second = ([*self._cuts(field, operator, value, element), None])[:2]
            assert first is not None
            beyond = _beyond(variable, first)
            low, high = (0, beyond) if second is None else (beyond, _beyond(variable, second))
            if low < high:
                yield low, high - 1
            return
        if operator in ("equal", "isIn"):
            if (state := variable.state_called(value)) is not None:
                yield state, state
            return
        state = variable.state_called(value)
        if field.optype != "ordinal" or value not in field.declared or state is None:
            raise Unsupported(
                f"the predicate {operator} {shown(value)} on {shown(field.name)} needs an order of its values",
                cure="declare the field as ordinal with its values in order, or as continuous",
            )
        last = state - (operator == "lessThan")
        if last >= 0:
            yield 0, last

    def _cuts(self, field: Field, operator: str, value: str, element: Element | None) -> list[Cut]:
        number = _rounded(field, number_of(value))
        if number != number:
            message = f"{shown(field.name)} is compared with {shown(value)}, which is no number"
            raise self.document.fault(message, element or self.document.elements[0])
        base = _OPPOSITE.get(operator, operator)
        if base in ("lessThan", "lessOrEqual"):
            return [Cut(number, base == "lessOrEqual")]
        return [Cut(number, False), Cut(number, True)]

    def _array(self, element: Element, field: Field) -> list[str]:
        array = self.document.child(element, "Array")
        if array is None:
            raise self.document.fault("<SimpleSetPredicate> has no <Array>", element)
        tokens = (
            (re.sub(r"\\(.)", r"\1", token[1]) if token[1] is not None else token[2])
            for token in _TOKEN.finditer(array.text)
        )
        values = [spelled(field, value) for value in tokens]
        if (count := array.attributes.get("n")) is not None and count != str(len(values)):
            raise self.document.fault(f"an <Array> of n={shown(count)} has {len(values)} values", array)
        return values

    def _operator(self, element: Element) -> str:
        key = "operator" if element.tag == "SimplePredicate" else "booleanOperator"
        known = {
            "SimplePredicate": (
                "equal",
                "notEqual",
                "lessThan",
                "lessOrEqual",
                "greaterThan",
                "greaterOrEqual",
                "isMissing",
                "isNotMissing",
            ),
            "SimpleSetPredicate": ("isIn", "isNotIn"),
            "CompoundPredicate": ("and", "or", "xor", "surrogate"),
        }[element.tag]
        operator = self.document.need(element, key)
        if operator not in known:
            raise self.document.fault(f"the operator {shown(operator)} is not one of {listed(known)}", element)
        return operator

    def _field(self, element: Element) -> Field:
        name = self.document.need(element, "field")
        if name not in self.usable:
            raise Unsupported(
                f"the tree tests {shown(name)} (line {element.line}), which is no active field, or one derived by a"
                " transformation",
                cure="export the model without transformations, on its own columns",
            )
        named = self.usable[name]
        if isinstance(named, Unsupported):
            raise named
        return named.field

    def _children(self, element: Element, depth: int) -> list[Element]:
        if depth >= DEEPEST_PREDICATE:
            raise self.document.fault(f"compound predicates nest deeper than {DEEPEST_PREDICATE}", element)
        children = self.document.children(element, *PREDICATES)
        if not children:
            raise self.document.fault("a <CompoundPredicate> has no predicates", element)
        return children

    def _simple(self, predicate: Element) -> Iterator[Element]:
        """The simple predicates inside a predicate."""
        work = [(predicate, 0)]
        while work:
            element, depth = work.pop()
            if element.tag not in ("True", "False"):
                self._operator(element)
            if element.tag == "CompoundPredicate":
                work += [(child, depth + 1) for child in reversed(self._children(element, depth))]
            elif element.tag not in ("True", "False"):
                yield element


def _is_single(field: Field) -> bool:
    return field.type == "float" if field.single is None else field.single


def _rounded(field: Field, number: float) -> float:
    return nearest_single(number) if _is_single(field) else number


def _beyond(variable: Variable, cut: Cut) -> int:
    if cut.has_empty_side:
        return len(variable.cuts) + 1 if cut.after else 0
    return variable.state_beyond(cut)


def _unused_name(name: str, used: Sequence[str]) -> str:
    while name in used:
        name = f"({name})"
    return name
