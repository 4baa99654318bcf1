"""What is possible, on the command line: conditions, directions, neighbourhoods and constraints between features."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from quia.command import distinct, instance, note
from quia.errors import FormatError, InstanceError, QuiaError, did_you_mean, listed, shown
from quia.files import decode, read_bytes

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.variables import Variable

C = TypeVar("C", bound="Classifier")


class Given(NamedTuple):
    """A constraint as text, and where it stands: the line of a file, or the command line."""

    text: str
    file: str | None = None
    line: int | None = None
    indent: int = 0


def add_possible(parser: argparse.ArgumentParser) -> None:
    """The options that say which worlds count, beside the model's own constraints."""
    group = parser.add_argument_group("what is possible (worlds that are not cannot refute a reason, nor are advice)")
    _add_within(group)
    group.add_argument(
        "--only-up", metavar="FEATURE", action="append", default=[], help="a number that cannot fall; repeat it"
    )
    group.add_argument(
        "--only-down", metavar="FEATURE", action="append", default=[], help="a number that cannot rise; repeat it"
    )
    group.add_argument(
        "--near",
        metavar="FEATURE=N",
        action="append",
        default=[],
        help="a number that can change by at most N, or by a share of its range: --near income=5000 --near age=10%%",
    )
    _add_given(group)


def add_given(parser: argparse.ArgumentParser, title: str = "what is possible", *, within: bool = False) -> None:
    """The options for constraints between features, and maybe for conditions on single ones."""
    group = parser.add_argument_group(title)
    if within:
        _add_within(group)
    _add_given(group)


def _add_within(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--within",
        metavar="'FEATURE CONDITION'",
        action="append",
        default=[],
        help="what holds of a feature in every world that counts: --within 'age >= 52' --within 'region in {north,"
        " south}'; repeat it",
    )


def _add_given(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--given",
        metavar="CONSTRAINT",
        action="append",
        default=[],
        help="what holds between features in every world that counts: --given 'pregnant=yes -> sex=female'; repeat it",
    )
    group.add_argument(
        "--given-file",
        metavar="FILE",
        action="append",
        default=[],
        help="the same, one constraint a line; lines that begin with # are comments",
    )


def possible_of(arguments: argparse.Namespace, classifier: Classifier) -> dict[str, Any]:
    """What the options say is possible, as keyword arguments of `explain` and of batches."""
    variables = classifier.variables
    names = [variable.name for variable in variables]
    near = (instance.pair(text, names, "--near") for text in arguments.near)
    return {
        "within": within_of(arguments, variables),
        "only_up": instance.features_of(arguments.only_up, classifier, "--only-up"),
        "only_down": instance.features_of(arguments.only_down, classifier, "--only-down"),
        "near": {name: _distance(name, said) for name, said in distinct(near, "--near").items()} or None,
        "given": checked(given_of(arguments), variables) or None,
    }


def within_of(arguments: argparse.Namespace, variables: Sequence[Variable]) -> dict[str, str] | None:
    """The conditions on single features that are given."""
    return distinct((condition_of(text, variables, "--within") for text in arguments.within), "--within") or None


def given_of(arguments: argparse.Namespace) -> list[Given]:
    """The constraints that are given, on the command line and in files."""
    return [*map(Given, arguments.given), *(each for file in arguments.given_file for each in _lines(file))]


def with_given_of(arguments: argparse.Namespace, classifier: C) -> C:
    """A classifier that keeps the constraints that are given."""
    given = checked(given_of(arguments), classifier.variables)
    if not given:
        return classifier
    from quia.own_constraints import with_given

    return with_given(classifier, given)


def given_files(arguments: argparse.Namespace) -> dict[str, str | None]:
    """The files that constraints are read from, by what they are called where one is written over."""
    several = len(arguments.given_file) > 1
    return {f"--given-file {file}" if several else "--given-file": file for file in arguments.given_file}


def _lines(file: str) -> Iterator[Given]:
    """The constraints in a file; empty lines and comments are none, and a file without any is noted."""
    from quia.own_constraints import MOST_LETTERS

    data = read_bytes(file)
    if b"\0" in data:
        raise FormatError("has a NUL character, so it is no text; give constraints, one a line, in UTF-8", file=file)
    if len(data) > MOST_LETTERS:
        raise FormatError(f"holds more than {MOST_LETTERS:,} bytes; constraints are fewer", file=file)
    has_any = False
    for number, line in enumerate(decode(data, file).split("\n"), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            has_any = True
            yield Given(text, file, number, len(line) - len(line.lstrip()))
    if not has_any:
        note(f"{file} has no constraint: lines that are empty or begin with # are none")


def checked(given: Sequence[Given], variables: Sequence[Variable]) -> list[str]:
    """The constraints as text, each of which can be read; a fault is told with the place where it stands."""
    from quia.formula import parse
    from quia.given import bare

    known = [bare(variable) for variable in variables]
    for each in given:
        try:
            parse(" " * each.indent + each.text, known)  # so that columns are those of the line
        except QuiaError as fault:
            if each.file is None:
                raise InstanceError(f"--given is {shown(each.text)}: {fault}") from None
            said = f"the constraint {shown(each.text)} cannot be read: {fault}"
            raise FormatError(said, file=each.file, line=each.line) from None
    return [each.text for each in given]


def condition_of(text: str, variables: Sequence[Variable], option: str) -> tuple[str, str]:
    """FEATURE CONDITION taken apart; of several features whose names it begins with, the longest is meant.

    >>> from quia.variables import Variable
    >>> known = [Variable.numeric("age", [30]), Variable.nominal("region", ["north", "south"])]
    >>> texts = "age in (20, 30]", "age>=52", "region in {north, south}", "region=north"
    >>> [condition_of(text, known, "--within") for text in texts]
    [('age', '(20, 30]'), ('age', '>=52'), ('region', 'in {north, south}'), ('region', 'north')]
    """
    said = text.strip()
    known = sorted((v for v in variables if _is_about(said, v.name)), key=lambda v: -len(v.name))
    if not known:
        names, begin = [v.name for v in variables], said.split(" ")[0]
        raise InstanceError(
            f"{option} is {shown(text)}, which begins with no feature; write 'FEATURE CONDITION', as in 'age >= 52';"
            f" features are {listed(names)}{did_you_mean(begin, names)}"
        )
    variable = known[0]
    condition = said[len(variable.name) :].strip()
    if variable.is_numeric:
        condition = condition.removeprefix("in ").lstrip()
    elif condition.startswith(("≠", "!=")):
        condition = f"≠ {condition.removeprefix('≠').removeprefix('!=').strip()}"
    elif condition.startswith("="):
        condition = condition[1:].strip()
    if not condition:
        raise InstanceError(f"{option} is {shown(text)}, which says nothing of {variable.name}; write a condition too")
    return variable.name, condition


def _is_about(text: str, name: str) -> bool:
    """Whether a condition on a feature begins with its name, and not with a longer word."""
    rest = text[len(name) :]
    return text.startswith(name) and (not rest or rest[0] in " <>=≠!([")


def _distance(name: str, said: str) -> float | str:
    """How far a feature may move: a number, or a percentage, which stays text."""
    try:
        distance = float(said.removesuffix("%")) if "_" not in said else -1.0
    except ValueError:
        distance = -1.0
    if not 0 <= distance < float("inf"):
        raise InstanceError(f"--near is {shown(f'{name}={said}')}; write FEATURE=5000, or FEATURE=10% of its range")
    if said.endswith("%"):
        return said
    return int(distance) if distance.is_integer() else distance
