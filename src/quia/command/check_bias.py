"""What `quia check` says of a protected feature: whether any decision at all depends on it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from quia.bias import bias_of_classifier
from quia.command.possible import checked, given_of, within_of
from quia.command.progress import working
from quia.errors import TooLarge

if TYPE_CHECKING:
    from quia.classifier import Classifier


def found(arguments: argparse.Namespace, classifier: Classifier, feature: str) -> dict[str, Any]:
    """An item of `bias` of the JSON, whose text is for people; None, and why, if there was no time to tell."""
    try:
        with working(f"looking for a decision that depends on {feature}"):
            bias = bias_of_classifier(
                classifier,
                [feature],
                within=within_of(arguments, classifier.variables),
                given=checked(given_of(arguments), classifier.variables) or None,
                timeout=arguments.timeout,
            )
    except TooLarge as fault:
        return {"feature": feature, "biased": None, "text": f"not known whether it is biased: {fault}"}
    return {"feature": feature, "biased": bias.biased, "text": str(bias)}
