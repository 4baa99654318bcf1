"""Facts in words, and as the small signs (chips) that the page shows them by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from quia.errors import listed as said_of
from quia.literal import Literal
from quia.ranges import Ranges
from quia.show.markup import Markup, element, join, short
from quia.variables import MISSING, Variable

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.bias import Bias
    from quia.counterfactual import Counterfactual
    from quia.reason import Reason

MOST_SAID = 5
"""So much of what is possible is said; all of it is in the JSON."""
MOST_TOLD = 4
"""How many facts a sentence tells."""


def listed(parts: Sequence[str | Markup], last: str = "and") -> Markup:
    """Parts in a row as in a sentence, where an 'and' within a part is not taken for one between them.

    >>> print(listed(["a", "b", "c"]), listed(["W is more than 1 and at most 2", "GPA is low"]), sep="; ")
    a, b and c; W is more than 1 and at most 2, and GPA is low
    """
    return join(_in_a_row(parts, last))


def _in_a_row(parts: Sequence[str], last: str = "and") -> Sequence[str]:
    """The parts and what is said between them."""
    if len(parts) <= 1:
        return parts
    commas = [piece for part in parts[:-2] for piece in (part, ", ")]
    comma = "," if any(f" {word} " in part for part in parts for word in ("and", "or")) else ""
    return [*commas, parts[-2], f"{comma} {last} ", parts[-1]]


def number(count: int) -> str:
    """A count with its thousands apart; a huge one by its size.

    >>> number(2592), number(10**30)
    ('2,592', 'about 1.0·10^30')
    """
    if count < 10**15:
        return f"{count:,}"
    digits = str(count)
    return f"about {digits[0]}.{digits[1]}·10^{len(digits) - 1}"


def percent(share: float) -> str:
    """A share in percent, where a little is not nothing and almost all is not all.

    >>> percent(0.5), percent(0.0001), percent(0.9999), percent(1)
    ('50 %', '< 1 %', '> 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "< 1 %"
    if 0.99 < share < 1:
        return "> 99 %"
    return f"{round(100 * share)} %"


def share_text(rows: int, of: int) -> str:
    """How many of how many, and the share in percent to a tenth, where a little is not nothing.

    >>> share_text(1575, 48842), share_text(1, 48842), share_text(0, 0)
    ('1,575 of 48,842 (3.2 %)', '1 of 48,842 (< 0.1 %)', '0 of 0')
    """
    return f"{number(rows)} of {number(of)}" + (f" ({_tenths(rows, of)} %)" if of else "")


def part_text(rows: int, of: int, every: int) -> str:
    """How many of how many rows, and that these are a part, where not every one was looked at.

    >>> part_text(1575, 48842, 48842), part_text(406, 3583, 48842)
    ('1,575 of 48,842 (3.2 %)', '406 of the 3,583 rows that were looked at (of 48,842)')
    >>> part_text(0, 1, 7), part_text(0, 0, 7), part_text(0, 0, 0)
    ('0 of the 1 row that was looked at (of 7)', 'not known', 'no row has a decision')
    """
    if not of:
        return "not known" if every else "no row has a decision"
    if of >= every:
        return share_text(rows, of)
    looked = f"{plural(of, 'row')} that {'was' if of == 1 else 'were'} looked at"
    return f"{number(rows)} of the {looked} (of {number(every)})"


def told_apart(names: Iterable[str], most: int = 60) -> dict[str, str]:
    """Each name as it is shown: a long one cut in its middle, unless another one would then look the same.

    >>> told_apart(["Male", "Female, black", "Female, brown"], 7)
    {'Male': 'Male', 'Female, black': 'Fem…ack', 'Female, brown': 'Fem…own'}
    >>> told_apart(["Female, a, old", "Female, b, old"], 7)
    {'Female, a, old': 'Female, a, old', 'Female, b, old': 'Female, b, old'}
    """
    tail = (most - 1) // 2
    cut = {name: name if len(name) <= most else f"{name[: most - 1 - tail]}…{name[-tail:]}" for name in names}
    alike = Counter(cut.values())
    return {name: shown if alike[shown] == 1 else name for name, shown in cut.items()}


def _tenths(rows: int, of: int) -> str:
    """Percent to a tenth; only all is 100.

    >>> _tenths(1, 1), _tenths(9999, 10000), _tenths(0, 7), _tenths(1, 3)
    ('100', '> 99.9', '0', '33.3')
    """
    if rows in (0, of):
        return "100" if rows else "0"
    if 1000 * rows < of:
        return "< 0.1"
    return "> 99.9" if 1000 * (of - rows) < of else f"{100 * rows / of:.1f}"


def plural(count: int, name: str) -> str:
    """A count and a noun.

    >>> plural(1, "step"), plural(3, "branch"), plural(2, "way of life")
    ('1 step', '3 branches', '2 way of lifes')
    """
    ending = "" if count == 1 else "es" if name.endswith(("ch", "s", "x")) else "s"
    return f"{number(count)} {name}{ending}"


def possible_text(told: Sequence[str]) -> str:
    """Which worlds count, in a sentence.

    >>> possible_text(["age >= 52", "debt can only go down"])
    'Only what is possible counts: age >= 52; debt can only go down.'
    """
    more = f"; and {len(told) - MOST_SAID} more" if len(told) > MOST_SAID + 1 else ""
    return f"Only what is possible counts: {'; '.join(told[:MOST_SAID] if more else told)}{more}."


SUPERFLUOUS = "implied by another, as features tie each other"
"""What is said of a sufficient reason that covers fewer possible worlds than another one."""


def no_possible_change(answer: Answer) -> str:
    """That nothing that is possible changes a decision, which is no guess."""
    other = "anything else" if answer.against is None else answer.against
    return f"No possible change makes it {other}: proved."


def given_text(answer: Answer, most: int = 4) -> str:
    """What no reason speaks of as it is taken as given, in a sentence; empty if nothing is."""
    return f"Taken as given: {said_of(map(short, answer.frozen), most)}." if answer.frozen else ""


def outcome(change: Counterfactual) -> str:
    """What a decision is after a change."""
    return f"{'would' if change.certain else 'could'} be {change.decision}"


def outcome_of(reason: Reason, answer: Answer) -> str:
    """What a decision is after the changes of a necessary reason.

    That is not certain where only some of these changes do it, or where it hangs on what is not known.
    """
    would = "would" if reason.is_general and not answer.unknown else "could"
    return f"{would} change" if answer.against is None else f"{would} be {answer.against}"


def without_text(found: Bias) -> str:
    """Whether a decision stands without some facts, in a sentence."""
    without = f"Without {''.join(_in_a_row(found.protected))}"
    if found.biased is None:
        return f"{without} the decision may or may not stand: time ran out before it was told."
    if not found.biased:
        why = "no possible world differs in that alone" if found.is_vacuous else "the other facts force it"
        return f"{without} the decision still stands: {why}."
    falls = f"{without} the decision no longer stands"
    if not found.changes:
        return f"{falls}; time ran out before an example was found."
    would = "would" if found.certain else "could"
    changed = "".join(_in_a_row([literal.phrase for literal in found.changes]))
    return f"{falls}: with {changed} it {would} be {found.changed_decision}."


class Facts:
    """How the facts about one classifier's variables are shown: by name, each with its number."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self.variables = tuple(variables)
        self.index = {v.name: i for i, v in enumerate(self.variables)}
        self._signs: dict[tuple[int, Ranges], str] = {}

    def signs(self, variable: int, ranges: Ranges) -> str:
        """What is said of some states; a large tree says the same in many places."""
        if (variable, ranges) not in self._signs:
            self._signs[variable, ranges] = Literal(self.variables[variable], ranges).signs
        return self._signs[variable, ranges]

    def chip(self, literal: Literal, *, extra: str = "") -> Markup:
        """A fact as a small sign that lights up with its feature."""
        feature = literal.feature
        return element(
            "span",
            element("b", short(feature)),
            " ",
            element("span", short(literal.signs), class_="state"),
            [" ", element("span", extra, class_="was")] if extra else None,
            # Circuits number their features, and "1 0" says little.
            class_="fact equals" if feature.isdecimal() and not literal.variable.is_numeric else "fact",
            data_f=self.index[feature],
        )

    def given(self, feature: str, value: Any, most: int = 60) -> str:
        """A value as it was given, or that it is missing; the empty name of a state is shown by its quotes."""
        missing = self.variables[self.index[feature]].is_missing(value)
        return MISSING if missing else short(str(value), most).strip() or "''"

    def now(self, literal: Literal, values: Mapping[str, Any]) -> str:
        """What a feature that would change is at present."""
        return f"now {self.given(literal.feature, values.get(literal.feature), 40)}"

    def numbers(self, features: Iterable[str]) -> str:
        """The features' numbers, as the page's script wants them."""
        return " ".join(str(self.index[name]) for name in features)

    def clause(self, literal: Literal, *, verb: str = "is", now: str = "") -> Markup:
        """A fact as part of a sentence; `now` is what the feature's value is at present."""
        said = f" {verb} {literal.predicate if literal.variable.is_numeric else short(literal.predicate, 120)}"
        feature = literal.feature
        made = element("span", element("bdi", short(feature, 60)), said, class_="clause", data_f=self.index[feature])
        return join([made, f" ({now})"]) if now else made

    def clauses(
        self,
        literals: Collection[Literal],
        *,
        verb: str = "is",
        most: int = MOST_TOLD,
        values: Mapping[str, Any] | None = None,
    ) -> Markup:
        """A reason as a sentence, of a long one the beginning and how many facts more; `values` are the present."""
        told = [
            self.clause(literal, verb=verb, now="" if values is None else self.now(literal, values))
            for literal in islice(literals, most)
        ]
        more = len(literals) - len(told)
        return join([listed(told), f" (and {plural(more, 'fact')} more)" if more else ""])
