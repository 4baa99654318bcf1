"""A single claim of `quia verify`: that conditions are a reason of a decision."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from quia.auditing.checked import Checked, CheckedClaim
from quia.command import distinct, instance, load_model
from quia.command.possible import condition_of, possible_of
from quia.command.progress import working
from quia.errors import InstanceError, Refuted, Undecided, did_you_mean, listed, shown
from quia.literal import all_of
from quia.verify import verify

if TYPE_CHECKING:
    from quia.classifier import Classifier


def checked(arguments: argparse.Namespace) -> Checked:
    """What became of the claim that the options make, and of the decision if one is claimed."""
    kind = "sufficient" if arguments.sufficient else "necessary"
    said = arguments.sufficient or arguments.necessary
    if not said and arguments.decision is None:
        raise InstanceError(
            "there is nothing to check; give AUDIT.json, or a claim: --sufficient 'FEATURE CONDITION', --necessary"
            " 'FEATURE CONDITION' or --class CLASS"
        )
    classifier = load_model(arguments)
    given = instance.read(arguments, [variable.name for variable in classifier.variables])
    claims = [] if arguments.decision is None else [_decision(classifier, given, arguments.decision)]
    if said:
        reason = distinct((_condition(text, classifier, given, f"--{kind}") for text in said), f"--{kind}")
        with working("checking"):
            claims.append(_reason(arguments, classifier, given, reason, kind))
    return Checked(tuple(claims))


def _decision(classifier: Classifier, given: dict[str, Any], decision: str) -> CheckedClaim:
    if decision not in classifier.classes:
        known = f"the classes are {listed(classifier.classes)}{did_you_mean(decision, classifier.classes)}"
        raise InstanceError(f"--class is {shown(decision)}; {known}")
    found = classifier.classify(given)
    says = f"the decision is {decision}"
    if found == decision:
        return CheckedClaim("class", says, "holds", None)
    return CheckedClaim("class", says, "refuted", f"it is {found}")


def _condition(text: str, classifier: Classifier, given: dict[str, Any], option: str) -> tuple[str, Any]:
    """A feature, and what is said of it; of a feature alone, that it is in the state of its value."""
    name = text.strip()
    if any(variable.name == name for variable in classifier.variables):
        if name not in given:
            raise InstanceError(f"{option} names {shown(name)}, of which the instance has no value; give it")
        return name, given[name]
    return condition_of(text, classifier.variables, option)


def _reason(
    arguments: argparse.Namespace, classifier: Classifier, given: dict[str, Any], reason: dict[str, Any], kind: Any
) -> CheckedClaim:
    about = f" against {arguments.against}" if arguments.against is not None else ""
    widest = ", as wide as it can be" if arguments.maximal else ""
    texts = arguments.sufficient or arguments.necessary
    says = f"{all_of(text.strip() for text in texts)} is a {kind} reason{about}, and no part of it is{widest}"
    try:
        verify(
            classifier,
            given,
            reason,
            kind,
            against=arguments.against,
            frozen=instance.features_of(arguments.frozen, classifier, "--frozen"),
            maximal=arguments.maximal,
            intervals=not arguments.sets,
            timeout=arguments.timeout,
            **possible_of(arguments, classifier),
        )
    except Refuted as fault:
        return CheckedClaim(kind, says, "refuted", str(fault))
    except Undecided as fault:
        return CheckedClaim(kind, says, "not checked", str(fault))
    return CheckedClaim(kind, says, "holds", None)
