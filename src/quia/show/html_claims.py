"""The parts at the end of the page: what it claims and what not, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quia.classifier import HasPath, offers
from quia.cuts import number_text
from quia.errors import listed
from quia.show.html_section import fold
from quia.show.markup import Markup, element, join, short
from quia.show.neighbourhood import Looked
from quia.show.words import plural

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.classifier import Classifier


def claims(answer: Answer) -> Markup:
    """What the explanation does and does not claim."""
    possible = "some changes that the model allows may be impossible"
    if answer.question.told:
        possible = "of what is impossible only that is known which was said to be"
    items = [
        "It is exact about this model and these facts: the reasons follow from the model by logic, for every value that"
        " the other features could have. Nothing is sampled or estimated.",
        f"It is about the model, not about cause. In life, changing one feature may change others, and {possible}.",
        "It does not say whether the decision is right, fair or lawful, nor whether the data are true.",
        "It does not speak for people: whoever decides with the model may decide otherwise.",
    ]
    ranges = [(v, v.range) for v in answer.question.variables if v.range is not None]
    if ranges:
        ends = (f"{short(v.name, 60)} {number_text(low)} to {number_text(high)}" for v, (low, high) in ranges)
        items.append(
            f"A number that counts itself could have any value in its range, and none outside: {listed(ends)}."
        )
    if answer.frozen:
        items.append(f"Taken as given, and so in no reason: {listed(short(name, 60) for name in answer.frozen)}.")
    return fold("claims", "What this page says, and what it does not", element("ul", [element("li", i) for i in items]))


def node_count(classifier: Classifier) -> int | None:
    """How many nodes a classifier has that has any; `sizes` would measure how deep a graph is, which takes longer."""
    return len(Looked(classifier).nodes) if offers(classifier, HasPath) else classifier.sizes.get("nodes")


def notes(classifier: Classifier, model: str | None) -> Markup:
    """Where the explanation comes from."""
    from quia import __version__

    said = [f"Model: {short(model)}. "] if model else []
    if (nodes := node_count(classifier)) is not None:
        said.append(f"A {classifier.kind} of {plural(nodes, 'node')}. ")
    said += [f"{short(note, 400)}. " for note in classifier.notes]
    return element("footer", element("p", join(said), f"Made by quia {__version__}."), class_="notes")
