"""Lies: an audit document with one claim changed so that it is false, each with where it stands and what was done.

The mutator knows what it breaks: a count is another number, a decision another class, a condition another set. What
might stay true, such as another row that meets a rule too, is not generated.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from audit_oracle import Case

Data = dict[str, Any]
Place = tuple[str | int, ...]

_NOT_COUNTED = ("explained", "bytes", "seconds", "share")
_INSTANCES = ("values", "one", "other", "conditions", "where", "settings")
_MAY_VARY = ("alone", "turns", "better", "hanging")
"""Where values are missing, what would change is counted within bounds."""


def lies(case: Case, document: Data) -> Iterator[tuple[str, Data]]:
    """Every lie: what was done, and the document that has it."""
    return _told(_changes(case, document), document)


def omissions(document: Data) -> Iterator[tuple[str, Data]]:
    """Every lie that leaves out a part, or has it twice."""
    return _told(_omissions(document), document)


def _told(changes: Iterable[Change], document: Data) -> Iterator[tuple[str, Data]]:
    for place, change in changes:
        wrong = copy.deepcopy(document)
        at = wrong
        for key in place[:-1]:
            at = at[key]
        before = at[place[-1]]
        at[place[-1]] = change(copy.deepcopy(before))
        if at[place[-1]] != before:  # a number may be too large to be changed by a little
            yield f"{'.'.join(map(str, place))}: {before!r} -> {at[place[-1]]!r}", wrong


Change = tuple[Place, Callable[[Any], Any]]


def _changes(case: Case, document: Data) -> Iterator[Change]:
    is_sure = not any(value is None for row in case.rows for value in row.values() if value is not row["label"])
    for place, number in _numbers(document, ()):
        if any(key in _NOT_COUNTED for key in place) or place[-1] == "row":
            continue
        varies = not is_sure and any(key in _MAY_VARY for key in place)
        yield place, lambda n, varies=varies: n + (10**6 if varies else 1)
        if number:
            yield place, lambda n: n - 1
    yield from _identity(document)
    yield from _omissions(document)
    for at, rules in enumerate(document["rules"]):
        yield from _rules(case, ("rules", at), rules)
    for at, feature in enumerate(document["features"]):
        yield ("features", at, "tested"), lambda known: not known
        yield from _proof(case, ("features", at), "matters", feature)
    for at, protected in enumerate(document["protected"]):
        yield from _protected(case, ("protected", at), protected)
    yield from _monotonicity(case, document["monotonicity"])
    yield from _comparison(case, document["comparison"])


def _numbers(data: Any, place: Place) -> Iterator[tuple[Place, int]]:
    """Every count, with its place; those of instances and conditions are none."""
    items: Any = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(value, int) and not isinstance(value, bool):
            yield (*place, key), value
        elif key not in _INSTANCES or place[-1:] == ("labels",):
            yield from _numbers(value, (*place, key))


def _omissions(document: Data) -> Iterator[Change]:
    """Parts that are left out, are there twice, or stand at another place."""
    used = {each["decision"] for each in document["rules"] if each["of"]}
    for at, rules in enumerate(document["rules"]):
        if rules["decision"] in used:
            yield ("rules",), lambda each, at=at: each[:at] + each[at + 1 :]
        yield ("rules",), lambda each, at=at: [*each, each[at]]
    lists: list[Place] = [("features",), ("protected",), ("monotonicity", "features")]
    for place in lists:
        parts = document
        for key in place:
            parts = parts[key]
        for at in range(len(parts)):
            yield place, lambda each, at=at: each[:at] + each[at + 1 :]
            yield place, lambda each, at=at: [*each, each[at]]
        yield place, lambda each: each[::-1]
        yield place, lambda _: []
    for part in ("monotonicity", "comparison"):
        yield (part,), lambda _: None
    yield ("decisions", "labels"), lambda _: None
    yield ("identity", "compared"), lambda _: None
    yield ("features", 0, "feature"), lambda name: f"{name}x"
    for at, protected in enumerate(document["protected"]):
        yield from _omitted_of(("protected", at), protected)


def _omitted_of(place: Place, protected: Data) -> Iterator[Change]:
    if protected["worst"]:
        yield (*place, "worst"), lambda _: []
        yield (*place, "worst"), lambda each: [*each, each[0]]
    used = [at for at, group in enumerate(protected["groups"]) if group["rows"]]
    for at in used:
        yield (*place, "groups"), lambda each, at=at: each[:at] + each[at + 1 :]
        yield (*place, "groups", at, "labelled"), lambda _: None
    hanging = protected["hanging"]
    if hanging is not None:
        yield (*place, "hanging"), lambda _: None
        for at, group in enumerate(hanging["groups"]):
            if group["of"]:
                yield (*place, "hanging", "groups"), lambda each, at=at: each[:at] + each[at + 1 :]


def _identity(document: Data) -> Iterator[Change]:
    model = document["identity"]["model"]
    yield ("identity", "model", "kind"), lambda kind: f"{kind}s"
    if len(model["classes"]) > 1:
        yield ("identity", "model", "classes"), lambda classes: classes[::-1]
    yield ("identity", "model", "classes"), lambda classes: [*classes, "another"]
    for part in ("model", "data"):
        if document["identity"][part]["file"] is not None:
            digit = {"0": "1"}
            yield ("identity", part, "file", "sha256"), lambda text: digit.get(text[0], "0") + text[1:]
            yield ("identity", part, "file", "bytes"), lambda size: size + 1
    for at, each in enumerate(document["decisions"]["undecided"]):
        yield ("decisions", "undecided", at, "why"), lambda why: f"{why} indeed"
        yield ("decisions", "undecided", at, "first"), lambda rows: [0, *rows[1:]]
        del each
    counts = [each["rows"] for each in document["decisions"]["classes"]]
    if len(set(counts)) > 1:
        names = [each["decision"] for each in document["decisions"]["classes"]]
        low, high = counts.index(min(counts)), counts.index(max(counts))
        yield ("decisions", "classes", low, "decision"), lambda _: names[high]


def _rules(case: Case, place: Place, rules: Data) -> Iterator[Change]:
    others = [name for name in case.classes if name != rules["decision"]]
    if others and rules["rules"]:
        yield (*place, "decision"), lambda _: others[0]
    yield (*place, "complete"), lambda known: not known
    if len(rules["rules"]) > 1:
        yield (*place, "rules"), lambda each: each[1:]
    for at, rule in enumerate(rules["rules"]):
        yield from _region(case, (*place, "rules", at), rule)


def _region(case: Case, place: Place, rule: Data) -> Iterator[Change]:
    """Lies about a rule, or about a region where models differ."""
    if rule["conditions"]:
        yield (*place, "text"), lambda text: f"{text}9"
        yield (*place, "text"), lambda text: text[:-1]
        yield (*place, "conditions"), lambda conditions: conditions[1:]
        if len(rule["conditions"]) == 1:  # minimal, so nothing at all does not force it
            name = rule["conditions"][0]["feature"]
            yield place, lambda old: {**old, "conditions": [], "text": "nothing at all"}
            yield (*place, "conditions"), lambda conditions: [*conditions, {**conditions[0], "feature": f"not {name}"}]
    for at, condition in enumerate(rule["conditions"]):
        variable = next(v for v in case.variables if v.name == condition["feature"])
        here = (*place, "conditions", at)
        yield (*here, "text"), lambda text: f"{text}9"
        if "in" in condition:
            out = [name for name in variable.labels if name not in condition["in"]]
            if out:
                yield (*here, "in"), lambda names, out=out: [*names, out[0]]
            yield (*here, "in"), lambda names: names[1:]
        else:
            if variable.missing:
                yield (*here, "missing"), lambda known: not known
            for i, interval in enumerate(condition["intervals"]):
                for end in ("low", "high"):
                    closed = (*here, "intervals", i, f"{end}_closed")
                    if interval[end] is not None:
                        yield (*here, "intervals", i, end), lambda number: number + 0.25
                        yield closed, lambda known: not known
    yield (*place, "example", "row"), lambda _: len(case.rows) + 1
    yield from _row(case, (*place, "example"), rule["example"])


def _row(case: Case, place: Place, example: Data) -> Iterator[Change]:
    """Another row's number, and another value in one."""
    for number, row in enumerate(case.rows, 1):
        if any(row[name] != value for name, value in example["values"].items()):
            yield (*place, "row"), lambda _, number=number: number
            break
    for at, variable in enumerate(case.variables):
        if at in case.classifier.tested and variable.size > 1:
            yield (*place, "values", variable.name), lambda value, at=at: _another(case, at, value)
            break


def _another(case: Case, at: int, value: Any) -> Any:
    """A value of another state."""
    variable = case.variables[at]
    own = None if value is None and not variable.missing else variable.encode(value)
    return next(sample for state, sample in enumerate(case.samples[at]) if state != own and sample is not None)


def _proof(case: Case, place: Place, can: str, proof: Data) -> Iterator[Change]:
    """Lies about a pair of instances, or about there being none."""
    if proof[can] is None:
        return
    if not proof[can]:
        yield (*place, can), lambda _: True
        return
    yield (*place, can), lambda _: False
    yield place, lambda old: {**old, can: False, "pair": None}
    yield from _pair(case, (*place, "pair"), proof["pair"])


def _pair(case: Case, place: Place, pair: Data) -> Iterator[Change]:
    yield (*place, "decisions"), lambda labels: labels[::-1]
    yield (*place, "decisions"), lambda labels: [labels[0], labels[0]]
    yield (*place, "differing"), lambda _: []
    yield (*place, "differing"), lambda names: [*names, names[0]]
    yield (*place, "other"), lambda _: pair["one"]
    if len(pair["differing"]) == 1:
        yield (*place, "one", pair["differing"][0]), lambda _: pair["other"][pair["differing"][0]]
    for at, variable in enumerate(case.variables):
        if variable.name not in pair["differing"] and variable.size > 1:
            yield (*place, "one", variable.name), lambda value, at=at: _another(case, at, value)
            break


def _protected(case: Case, place: Place, protected: Data) -> Iterator[Change]:
    yield from _proof(case, (*place, "depends"), "can", protected["depends"])
    yield (*place, "features"), lambda names: [*names, "another"]
    if protected["in_model"]:
        yield (*place, "in_model"), lambda names: names[1:]
    groups = protected["groups"]
    if len(groups) > 1:
        yield (*place, "groups", 0, "where"), lambda _: groups[1]["where"]
        yield (*place, "groups", 0, "name"), lambda _: groups[1]["name"]
    for at, case_said in enumerate(protected["worst"]):
        here = (*place, "worst", at)
        yield (*here, "decision"), lambda _, said=case_said: said["other_decision"]
        yield (*here, "other_decision"), lambda _, said=case_said: said["decision"]
        yield (*here, "other"), lambda _, said=case_said: said["values"]
        yield (*here, "row"), lambda _: len(case.rows) + 1
        yield from _row(case, here, case_said)
    hanging = protected["hanging"]
    if hanging is not None:
        counts = {(turn["decision"], turn["otherwise"]): turn["rows"] for turn in hanging["turns"]}
        for at, turn in enumerate(hanging["turns"]):
            if counts.get((turn["otherwise"], turn["decision"])) != turn["rows"]:
                swapped = {**turn, "decision": turn["otherwise"], "otherwise": turn["decision"]}
                yield (*place, "hanging", "turns", at), lambda _, swapped=swapped: swapped


def _monotonicity(case: Case, said: Data) -> Iterator[Change]:
    if len(said["order"]) > 1:
        yield ("monotonicity", "order"), lambda order: order[::-1]
        yield ("monotonicity", "order"), lambda order: order[1:]
    yield ("monotonicity", "is_assumed"), lambda known: not known
    for at, feature in enumerate(said["features"]):
        for name in ("hurts", "helps"):
            place: Place = ("monotonicity", "features", at, name)
            yield from _proof(case, place, "can", feature[name])
            if feature[name]["can"]:
                pair = feature[name]["pair"]
                turned = {**pair, "one": pair["other"], "other": pair["one"], "decisions": pair["decisions"][::-1]}
                yield (*place, "pair"), lambda _, turned=turned: turned
        if feature["order"] is not None:
            yield ("monotonicity", "features", at, "order"), lambda order: order[::-1]


def _comparison(case: Case, said: Data) -> Iterator[Change]:
    yield ("comparison", "can_differ"), lambda known: not known
    if said["witness"] is not None:
        witness = said["witness"]
        yield ("comparison", "witness", "old"), lambda _: witness["new"]
        yield ("comparison", "witness", "new"), lambda _: witness["old"]
        yield ("comparison",), lambda old: {**old, "can_differ": False, "witness": None}
    for at, difference in enumerate(said["differences"]):
        place: Place = ("comparison", "differences", at)
        yield (*place, "old"), lambda _, new=difference["new"]: new
        yield (*place, "new"), lambda _, old=difference["old"]: old
        yield from _region(case, place, difference)
    names = [each["group"] for each in said["groups"]]
    if len(names) > 1 and said["groups"][0] | {"group": ""} != said["groups"][1] | {"group": ""}:
        yield ("comparison", "groups", 0, "group"), lambda _: names[1]
