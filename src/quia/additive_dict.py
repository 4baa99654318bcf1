"""The JSON format of an additive model: plain dicts in, the same dicts out.

A term is about a variable. Either it has `points` for each condition, in the words of the format of graphs, or a
`weight`, by which the number itself is multiplied after some `steps`. Of several scores, points and weights are lists
with a number for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from quia import conditions
from quia.additive import Additive
from quia.additive_points import Points, as_number
from quia.cuts import Cut, Interval
from quia.declarations import (
    VERSION,
    check_keys,
    check_version,
    declarations,
    declare,
    declared_cuts,
    given_in,
    given_of,
    read_classes,
)
from quia.errors import GraphError, did_you_mean, listed, shown
from quia.files import MOST_VALUES
from quia.places import LARGEST
from quia.ranges import Overlap, Ranges, owners, union
from quia.sums import Rule
from quia.terms import OPERANDS, Floats, Line, Step, Table, Term
from quia.variables import MISSING, Variable

ELSE = "else"
"""The condition of all states that no other names, unless a state is called so."""
RULES = ("cuts", "argmax")


class _Said(NamedTuple):
    """A term as it stands in the file: the name of its variable, and what its points are for, if it has conditions."""

    at: int
    data: Mapping[str, Any]
    name: str
    conditions: Sequence[Any] | None

    def fault(self, what: str) -> GraphError:
        """What is wrong with it."""
        return GraphError(f"term {self.at}, about {shown(self.name)}, {what}")


def read(data: Mapping[str, Any]) -> Additive:
    """An additive model from its JSON format; every fault is a GraphError that names the term.

    Complexity: linear in the data, and in the states of variables for each of their terms.
    """
    required = ("quia", "variables", "classes", "rule", "terms")
    optional = ("start", "end", "unit", "kind", "notes", "given")
    check_keys(data, "the additive model", required=required, optional=optional)
    check_version(data["quia"])
    declared = declarations(data["variables"], lines=True)
    classes = read_classes(data["classes"])
    points = Points.in_units_of(data.get("unit", 1))
    rule = _rule(data["rule"], points)
    scores = len(classes) if rule.kind == "argmax" else 1
    said = [_said(at, term, declared) for at, term in enumerate(_list(data["terms"], "'terms'", "objects"))]
    variables = _variables(declared, said)
    index = {variable.name: at for at, variable in enumerate(variables)}
    _refuse_many([(variables[index[each.name]], each) for each in said], scores)
    terms = [_term(each, index[each.name], variables[index[each.name]], points, scores) for each in said]
    return Additive(
        tuple(variables),
        tuple(classes),
        tuple(terms),
        points.row(data["start"], "'start'", scores) if "start" in data else (0.0,) * scores,
        rule,
        points.row(data["end"], "'end'", scores) if "end" in data else (),
        _text(data.get("kind", "additive model"), "kind"),
        tuple(_text(note, "notes") for note in _list(data.get("notes", []), "'notes'", "strings")),
        float(points.unit),
        given_in(data, variables),
    )


def write(model: Additive) -> dict[str, Any]:
    """The JSON format of an additive model."""
    points, notes = Points(Fraction(model.unit) if math.isfinite(model.unit) else Fraction(0)), model.notes
    whole = [*model.start, *model.end, *model.rule.cuts]
    whole += [number for term in model.terms if isinstance(term, Table) for number in np.unique(term.values).tolist()]
    lines = [term for term in model.terms if isinstance(term, Line)]
    weights = [number for line in lines for number in (*line.weights, *(line.missing or ()))]
    if not points.are_written_exactly(whole, weights):
        points, notes = Points(Fraction(1)), (*notes, f"points are multiplied by {model.unit:g}")
    by_variable: dict[int, list[Term]] = {v: [] for v in range(len(model.variables))}
    for term in model.terms:
        by_variable[term.variable].append(term)
    return {
        "quia": VERSION,
        "kind": model.kind,
        "variables": {v.name: _declared(v, by_variable[at]) for at, v in enumerate(model.variables)},
        "classes": list(model.classes),
        **({"notes": list(notes)} if notes else {}),
        **given_of(model),
        **({"unit": int(points.unit)} if points.unit != 1 else {}),
        "rule": {"kind": model.rule.kind, **({"cuts": points.written(model.rule.cuts)} if model.rule.cuts else {})},
        "start": points.written_row(model.start),
        **({"end": points.written_row(model.end)} if model.end else {}),
        "terms": [_written(model.variables[term.variable], term, points) for term in model.terms],
    }


def _declared(variable: Variable, terms: Sequence[Term]) -> dict[str, Any]:
    """The declaration of a variable, but for what its terms show."""
    missing = variable.missing and not terms
    if not variable.is_line:
        return declare(variable, range(len(variable.cuts)) if terms else (), missing=missing)
    ends = variable.range or (-LARGEST, LARGEST)
    return {
        "kind": "line",
        **({"low": as_number(ends[0])} if ends[0] != -LARGEST else {}),
        **({"high": as_number(ends[1])} if ends[1] != LARGEST else {}),
        **({"missing": True} if missing else {}),
    }


def _written(variable: Variable, term: Term, points: Points) -> dict[str, Any]:
    if isinstance(term, Table):
        among = _among(variable, term.cuts)
        texts = [conditions.write(among, ((s, s),), ((0, among.size - 1),)) for s in range(among.size)]
        keys = [text if isinstance(text, str) else text[0] for text in texts]
        rows = map(points.written_row, term.values.tolist())
        return {"variable": variable.name, "points": dict(zip(keys, rows, strict=True))}
    steps = [[name, *map(as_number, numbers)] for name, *numbers in term.steps]
    return {
        "variable": variable.name,
        **({"steps": steps} if steps else {}),
        "weight": points.written_row(term.weights),
        **({"missing": points.written_row(term.missing)} if term.missing is not None else {}),
    }


def _among(variable: Variable, cuts: Iterable[Cut]) -> Variable:
    """The variable whose states are the rows of a table: itself, or of a line one that has the table's cuts."""
    return Variable.numeric(variable.name, cuts, missing=variable.missing) if variable.is_line else variable


# ---- variables --------------------------------------------------------------------------------------------------


def _said(at: int, data: Any, declared: Mapping[str, Mapping[str, Any]]) -> _Said:
    """A term, its conditions parsed."""
    check_keys(data, f"term {at}", required=("variable",), optional=("points", "weight", "steps", "missing"))
    name = data["variable"]
    if not isinstance(name, str) or name not in declared:
        raise GraphError(f"term {at} is about {shown(name)}, which is no variable{did_you_mean(name, declared)}")
    said = _Said(at, data, name, None)
    if ("points" in data) == ("weight" in data):
        raise said.fault("has both 'points' and 'weight'" if "points" in data else "has neither 'points' nor 'weight'")
    if "points" not in data:
        return said
    if "steps" in data or "missing" in data:
        raise said.fault("has 'points', so it may have neither 'steps' nor 'missing', which is a condition")
    given, kind = data["points"], declared[name]["kind"]
    if isinstance(given, (list, tuple)) and kind != "line":
        return said
    if not isinstance(given, Mapping) or not given:
        raise said.fault(f"has the points {shown(given)}; they are an object from condition to number")
    if kind == "nominal":
        return said._replace(conditions=list(given))
    try:
        return said._replace(conditions=[ELSE if key == ELSE else conditions.alternatives([key]) for key in given])
    except GraphError as fault:
        raise said.fault(f"cannot be read: {fault}") from None


def _variables(declared: Mapping[str, Mapping[str, Any]], said: Sequence[_Said]) -> list[Variable]:
    """The variables, the numeric ones cut wherever a term, or their declaration, cuts them."""
    cuts = {name: dict.fromkeys(declared_cuts(name, given)) for name, given in declared.items()}
    missing = {name for name, given in declared.items() if given.get("missing")}
    for each in said:
        if declared[each.name]["kind"] == "nominal":
            continue
        if each.conditions is None:
            missing.update([each.name] if "missing" in each.data else [])
        elif any(MISSING in one for one in each.conditions):
            missing.add(each.name)
        cuts[each.name].update((cut, None) for cut in _cuts(each.conditions or ()))
    found = []
    for name, given in declared.items():
        if given["kind"] == "nominal":
            variable = Variable.nominal(name, given["states"], other=given.get("other"), no_value=given.get("missing"))
        elif given["kind"] == "numeric":
            single = given.get("type") == "float32"
            variable = Variable.numeric(name, cuts[name], missing=name in missing, single=single)
        else:
            plain = Points(Fraction(1))
            ends = [plain.number(given.get(key, end), f"{key!r} of variable {shown(name)}") for key, end in _ENDS]
            variable = Variable.line(name, *ends, missing=name in missing)
        found.append(variable)
    return found


_ENDS = (("low", -LARGEST), ("high", LARGEST))


def _cuts(said: Iterable[Any]) -> list[Cut]:
    return [cut for one in said if one != ELSE for each in one if isinstance(each, Interval) for cut in each if cut]


def _refuse_many(terms: Iterable[tuple[Variable, _Said]], scores: int) -> None:
    """Refuse tables that take gigabytes, as one of few conditions has a row for each state that another one makes."""
    rows = sum(2 * len(said.conditions or ()) + 2 if v.is_line else v.size for v, said in terms)
    if rows * scores > MOST_VALUES:
        raise GraphError(f"the tables have {rows * scores} numbers; models of more than {MOST_VALUES} are not read")


# ---- terms ------------------------------------------------------------------------------------------------------


def _term(said: _Said, v: int, variable: Variable, points: Points, scores: int) -> Term:
    what = f"term {said.at}, about {shown(said.name)}: "
    if "weight" in said.data:
        missing = said.data.get("missing")
        return Line(
            v,
            tuple(_step(said, step) for step in _list(said.data.get("steps", []), f"{what}'steps'", "steps")),
            points.row(said.data["weight"], f"{what}its weight", scores, exact=False),
            None if missing is None else points.row(missing, f"{what}'missing'", scores, exact=False),
        )
    given = said.data["points"]
    if said.conditions is None:
        rows = [points.row(row, f"{what}the points of state {s}", scores) for s, row in enumerate(given)]
        if len(rows) != variable.size:
            raise said.fault(f"has points for {len(rows)} of {variable.size} states; give a row for each")
        return Table(v, np.array(rows))
    among = _among(variable, _cuts(said.conditions) if variable.is_line else ())
    rows = [points.row(row, f"{what}the points of {shown(key)}", scores) for key, row in given.items()]
    values: Floats = np.array(rows)[_row_of_each_state(said, among)]
    return Table(v, values, tuple(among.cuts) if variable.is_line else ())


def _row_of_each_state(said: _Said, variable: Variable) -> list[int]:
    """Which of the conditions of a term holds in each state of a variable."""
    keys, rest = list(said.data["points"]), None
    sets: list[Ranges] = []
    for at, one in enumerate(said.conditions or ()):
        if one == ELSE and (variable.is_numeric or variable.state_called(ELSE) is None):
            rest = at
            sets.append(())
            continue
        try:
            found = conditions.states_where if variable.is_numeric else conditions.states_named
            sets.append(found(variable, one if variable.is_numeric else [one]))
        except GraphError as fault:
            raise said.fault(f"cannot be read: {fault}") from None
        if not sets[-1]:
            raise said.fault(f"has points for {shown(keys[at])}, which never holds")
    try:
        rows = owners(sets, variable.size)
    except Overlap as twice:
        both = _run(variable, twice.shared)
        first, second = shown(keys[twice.first]), shown(keys[twice.second])
        raise said.fault(f"has points for {both} twice, by {first} and by {second}") from None
    gaps = union((state, state) for state, row in enumerate(rows) if row < 0)
    if bool(gaps) == (rest is not None):
        return [rest if row < 0 and rest is not None else row for row in rows]
    if rest is not None:
        raise said.fault(f"has points for {ELSE!r}, but its other conditions name all states")
    raise said.fault(f"has no points for {_run(variable, gaps)}; add them, or some for {ELSE!r}")


def _run(variable: Variable, states: Ranges) -> str:
    """The first of some states, and of numbers the whole interval that they are in."""
    low, high = states[0]
    if not variable.is_numeric or variable.is_missing_state(low):
        return shown(variable.text(low))
    return shown(variable.interval(low, min(high, len(variable.cuts))).text)


def _step(said: _Said, data: Any) -> Step:
    is_step = isinstance(data, (list, tuple)) and data and isinstance(data[0], str)
    if not is_step or OPERANDS.get(data[0]) != len(data) - 1:
        raise said.fault(f"has the step {shown(data)}; write it as in ['subtract', 3], steps are {listed(OPERANDS)}")
    plain = Points(Fraction(1))
    return (data[0], *(plain.number(each, f"a step of term {said.at}") for each in data[1:]))


def _rule(data: Any, points: Points) -> Rule:
    check_keys(data, "the rule", required=("kind",), optional=("cuts",))
    if data["kind"] not in RULES:
        raise GraphError(f"the rule is {shown(data['kind'])}; it is one of {listed(RULES)}")
    cuts = _list(data.get("cuts", []), "the cuts of the rule", "numbers")
    return Rule(data["kind"], tuple(points.number(cut, "a cut of the rule") for cut in cuts))


def _list(data: Any, what: str, of: str) -> Sequence[Any]:
    if not isinstance(data, (list, tuple)):
        raise GraphError(f"{what} is {shown(data)}; it must be a list of {of}")
    return data


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise GraphError(f"{what!r} has {shown(value)}, which is no string")
    return value
