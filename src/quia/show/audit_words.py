"""What an audit says in sentences: on the page and in a terminal the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from quia.auditing.document import Comparison, Condition, Document, Monotonicity, Proof, Protected, Rules, Value, Values
from quia.cuts import Cut, Interval, number_text
from quia.show.markup import short
from quia.show.words import number, part_text, plural, possible_text, share_text
from quia.variables import MISSING

MOST_NAMED = 6
"""How many features or classes a sentence names; all of them are in the JSON."""


PROTECTED = "Protected features"
UNCOMPARED = "No row can be compared: "
"""How the one of a comparison's sentences begins that says why it has no rows."""


class Finding(NamedTuple):
    """One of the things that matter most: what it is about, its figure and a sentence."""

    about: str
    figure: str
    said: str


def summary_sentences(document: Document) -> list[str]:
    """What was audited, how it decided, and how that agrees with the label."""
    identity, decisions = document.identity, document.decisions
    said = [
        f"{'The model' if identity.model.file is None else model_name(document)} decided"
        f" {share_text(decisions.decided, decisions.rows)} rows of {data_name(document)}."
    ]
    if decisions.decided:
        classes = sorted(decisions.classes, key=lambda each: -each.rows)
        told = [f"{short(each.decision, 60)} {share_text(each.rows, each.of)}" for each in classes[:MOST_NAMED]]
        more = f", and {plural(len(classes) - len(told), 'class')} more" if len(classes) > len(told) else ""
        said.append(f"The decisions are {', '.join(told)}{more}.")
    labels = decisions.labels
    if labels is not None:
        said.append(
            f"{share_text(labels.right, labels.rows)} rows are decided as their label {short(labels.column, 60)} says."
        )
    if identity.model.tested < identity.model.features:
        said.append(f"The model tests {number(identity.model.tested)} of {plural(identity.model.features, 'feature')}.")
    return said


def findings(document: Document) -> list[Finding]:
    """What matters most, as far as it was asked: protected features, where more hurts, and where two models differ."""
    found = []
    if document.protected:
        found.append(_hanging(together(document.protected), document))
    if document.monotonicity is not None:
        found.append(_hurting(document.monotonicity, every_input(document)))
    if document.comparison is not None:
        found.append(_differing(document.comparison, new_name(document), every_input(document)))
    return found


def not_asked(document: Document) -> list[str]:
    """What the audit does not speak of, because nobody asked."""
    said = [
        (not document.protected, "Protected features: none was named (--protected)."),
        (document.decisions.labels is None, "Labels: no column was named (--label)."),
        (document.monotonicity is None, "Monotonicity: no feature has an order, or it was left out."),
        (document.comparison is None, "Two models: no other one was given (--compare)."),
    ]
    return [sentence for is_so, sentence in said if is_so]


def unfinished_sentence(document: Document) -> str:
    """Whether all was found, and if not how much was not."""
    if not document.unfinished:
        return "Nothing was cut short: every figure is exact."
    parts = plural(len(document.unfinished), "part")
    return f"Time did not suffice for {parts} of the audit; what is not known is marked, never guessed."


def possible_sentence(document: Document) -> str | None:
    """Which inputs count, if not all do: proofs are about these, too."""
    settings = document.identity.settings
    told = [*(f"{name} {condition}" for name, condition in (settings.within or {}).items()), *settings.given]
    return possible_text([short(each, 200) for each in told]) if told else None


def every_input(document: Document) -> str:
    """What a proof is about."""
    return "every input that is possible (see Settings)" if possible_sentence(document) else "every input"


def any_input(document: Document) -> str:
    """What a proof that something never is so is about."""
    return "any input that is possible (see Settings)" if possible_sentence(document) else "any input"


def favourable_class(document: Document) -> str | None:
    """The class that is taken as the best; None if the model has no class."""
    classes = document.identity.settings.favourable[:1] or document.identity.model.classes[-1:]
    return classes[0] if classes else None


def favourable_sentence(document: Document) -> str | None:
    """Which classes are taken as favourable, and whether anybody said so; None where nothing depends on that."""
    said, found = document.identity.settings.favourable, document.monotonicity
    best = favourable_class(document)
    if best is None or not (document.protected or found):
        return None
    is_assumed = not said if found is None else found.is_assumed
    names = ", then ".join(short(name, 60) for name in said[:MOST_NAMED] or (best,))
    more = f" and {number(len(said) - MOST_NAMED)} more" if len(said) > MOST_NAMED else ""
    return f"Favourable: {names}{more}" + (" (assumed: the last class; say --favourable)" if is_assumed else "")


def untested_sentence(protected: Protected) -> str:
    """Which protected features the model does not test; empty if it tests all."""
    outside = [name for name in protected.features if name not in protected.in_model]
    return f"The model does not test {named(outside)}, so no decision hangs on that." if outside else ""


def unlooked(document: Document) -> str:
    """Why a count is of no row."""
    return "time ran out before any row was looked at" if document.decisions.decided else "no row has a decision"


def uncompared(found: Comparison) -> str:
    """That no row could be compared, and why."""
    whys = [each.removeprefix(UNCOMPARED) for each in found.inputs if each.startswith(UNCOMPARED)]
    why = whys[0] if whys else "one or both models decide none" if found.undecided else "the table has none"
    return f"No row could be compared: {why.rstrip('.')}."


def rules_sentence(found: Rules) -> str:
    """How many rules cover how many rows."""
    if not found.rules:
        if not found.of:
            return "no row has this decision"
        return f"no rule was found{'' if found.complete else ' in time'} (of {plural(found.of, 'row')})"
    covers = "covers" if len(found.rules) == 1 else "cover"
    return f"{plural(len(found.rules), 'rule')} {covers} {share_text(found.covered, found.of)} rows"


def together(protected: Sequence[Protected]) -> Protected:
    """All protected features at once, which is what most hangs on."""
    return max(protected, key=lambda each: len(each.features))


def _hanging(protected: Protected, document: Document) -> Finding:
    about, untested = PROTECTED, untested_sentence(protected)
    if not protected.in_model:
        return Finding(about, "none", untested)
    names, also = named(protected.in_model, "or"), f" {untested}" if untested else ""
    if protected.depends.can is False:
        proved = f"proved for {every_input(document)}{because(protected.depends)}"
        return Finding(about, "none", f"No decision of the model can depend on {names}: {proved}.{also}")
    hanging, every = protected.hanging, document.decisions.decided
    if hanging is None or not hanging.of:
        why = _why(protected.why if hanging is None else unlooked(document))
        return Finding(about, "not known", f"How many decisions hang on {names} is not known: {why}{also}")
    if not hanging.rows and protected.depends.can:
        also = f" On other inputs some do.{also}"
    hang = f"decisions hang on {names}: they would change if only that changed.{also}"
    if hanging.of < every:
        hang = f"have a decision that hangs on {names}: it would change if only that changed.{also}"
    return Finding(about, part_text(hanging.rows, hanging.of, every), hang)


def because(proof: Proof) -> str:
    """Why something is proved, where there is more to say than that; empty if not."""
    return f": {proof.why.rstrip('.')}" if proof.why else ""


def _hurting(found: Monotonicity, inputs: str) -> Finding:
    about, count = "Where more hurts", len(found.features)
    hurts = [each.feature for each in found.features if each.hurts.can]
    proved = sum(each.hurts.can is False for each in found.features)
    unknown = count - len(hurts) - proved
    if unknown == count:
        why = "no feature has an order" if not count else "time ran out"
        return Finding(about, "not known", f"Whether more of a feature can make a decision worse is not known: {why}.")
    that = "proved" if inputs == "every input" else f"proved for {inputs}"
    if proved == count:
        of = f"all {plural(count, 'feature')}" if count > 1 else named([found.features[0].feature])
        on = "" if inputs == "every input" else f", and {inputs}"
        return Finding(about, "none", f"More of a feature never makes a decision worse: proved for {of}{on}.")
    never = f"of {number(proved)} of {plural(count, 'feature')} it never does: {that}"
    rest = [*([never] if proved else []), *([f"of {number(unknown)} it is not known"] if unknown else [])]
    if not hurts:
        said = f"More of a feature was not found to make a decision worse; {', '.join(rest)}."
        return Finding(about, "none found", said)
    said = "; ".join([f"More of {named(hurts, 'or')} can make a decision worse", *rest])
    return Finding(about, f"{number(len(hurts))} of {plural(count, 'feature')}", f"{said}.")


def _differing(found: Comparison, new: str, inputs: str) -> Finding:
    about = "Two models"
    if found.can_differ is False:
        return Finding(about, "equivalent", f"{new} decides {inputs} as this model does: proved.")
    if not found.of:
        return Finding(about, "not known", uncompared(found))
    return Finding(about, share_text(found.rows, found.of), f"rows are decided differently by {new}.")


def model_name(document: Document) -> str:
    """What the audited model is called."""
    file = document.identity.model.file
    return "the model" if file is None else short(file.name, 80)


def new_name(document: Document) -> str:
    """What the model is called that is compared."""
    compared = document.identity.compared
    return "the new model" if compared is None or compared.file is None else short(compared.file.name, 80)


def data_name(document: Document) -> str:
    """What the table is called."""
    file = document.identity.data.file
    return "the table" if file is None else short(file.name, 80)


def named(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence, not too many.

    >>> named(["sex", "race"], "or"), named(list("abcdefgh"))
    ('sex or race', 'a, b, c, d, e, f and 2 more')
    """
    shown = [short(name, 60) for name in names[:MOST_NAMED]]
    if len(names) > len(shown):
        return f"{', '.join(shown)} and {number(len(names) - len(shown))} more"
    return shown[0] if len(shown) == 1 else f" {last} ".join([", ".join(shown[:-1]), shown[-1]] if shown else ["none"])


def _why(why: str | None) -> str:
    return f"{(why or 'time ran out').rstrip('.')}."


def condition_text(condition: Condition) -> str:
    """What a condition says of its feature, with the signs that people read.

    >>> condition_text({"feature": "GPA", "in": ["low", "medium"], "text": "≠ high"})
    'low or medium'
    >>> ends = {"low": 26.5, "high": 65.0, "low_closed": False, "high_closed": True}
    >>> condition_text({"feature": "age", "intervals": [ends], "missing": True, "text": "(26.5, 65] or missing"})
    '> 26.5 and ≤ 65 or missing'
    """
    if "in" in condition:
        names = [str(name) or "''" for name in condition["in"]]
        return " or ".join(names) if len(names) <= 2 else str(condition["text"])
    single = condition.get("type") == "float32"
    told = [_interval(ends).readable(single=single).signs for ends in condition["intervals"]]
    return " or ".join([*told, *([MISSING] if condition["missing"] else [])])


def _interval(ends: Mapping[str, float | bool | None]) -> Interval:
    low, high = ends["low"], ends["high"]
    return Interval(
        None if low is None else Cut(low, after=not ends["low_closed"]),
        None if high is None else Cut(high, after=bool(ends["high_closed"])),
    )


def value_text(value: Value) -> str:
    """A value as people read it.

    >>> value_text(None), value_text(39.0), value_text("Private"), value_text("")
    ('missing', '39', 'Private', "''")
    """
    if value is None:
        return MISSING
    if isinstance(value, float):
        return number_text(value)
    return short(str(value), 60).strip() or "''"


def values_text(values: Values, names: Iterable[str], most: int = 40) -> str:
    """Values with their names, in a line."""
    every = list(names)
    told = [f"{short(name, 40)} {value_text(values.get(name))}" for name in every[:most]]
    return ", ".join([*told, *([f"and {number(len(every) - most)} more"] if len(every) > most else [])])
