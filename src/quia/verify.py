"""An independent checker: a reason in, silence or a witness out.

It shares no code with the closed forms that find reasons. It asks one thing of the classifier, `escape`: is there
another decision when some features keep the instance's states and the others may be anything. A witness is classified
anew before it is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from quia.arguments import several
from quia.errors import InstanceError, Refuted, did_you_mean, shown

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.question import Question
    from quia.reason import Reason
    from quia.region import Region


def verify(
    classifier: Classifier,
    instance: Any,
    reason: Reason | Mapping[str, Any] | Iterable[str],
    kind: Literal["sufficient", "necessary"],
    /,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
) -> None:
    """Check that a reason is one; if it is not, raise Refuted with a witness.

    A *sufficient* reason forces the decision whatever the other features are, and no part of it does. Changing all
    of a *necessary* reason's features, in some way, changes the decision (against a class: to that class), and
    changing a part of them never does. A feature whose value is missing may be anything, and is in no reason.
    `reason` may be a Reason or names of features.

    Complexity: one search of the classifier for each feature in the reason.
    """
    if kind not in ("sufficient", "necessary"):
        raise InstanceError(f"the kind of reason is {shown(kind)}; it is 'sufficient' or 'necessary'")
    from quia.classifier import loaded  # not above, as `verify` is there before NumPy is
    from quia.question import ask

    classifier = loaded(classifier)
    check = _Check(classifier, ask(classifier, instance, against=against, frozen=frozen))
    claimed = check.features(reason)
    if kind == "sufficient":
        check.check_sufficient(claimed)
    else:
        check.check_necessary(claimed)


class _Check:
    def __init__(self, classifier: Classifier, question: Question) -> None:
        self.classifier, self.question, self.states = classifier, question, question.states
        self.index = {v.name: i for i, v in enumerate(question.variables)}
        decided = repr(question.classes[question.decision])
        self.what = f"the decision {decided if question.against is None else f'not {question.against!r}'}"

    def features(self, reason: Any) -> tuple[int, ...]:
        """The variables of a claimed reason; states or values, where it names them, must be the instance's."""
        texts: Mapping[str, Any] = reason if isinstance(reason, Mapping) else {}
        names = reason.features if hasattr(reason, "features") else reason
        if hasattr(reason, "to_dict"):
            texts = reason.to_dict()
        claimed = tuple(self._index(name) for name in several(names, "the reason", "features, or a Reason"))
        for name, text in texts.items():
            variable = self._index(name)
            own = self._text(variable)
            if text != own and not self._is_of(variable, text):
                raise Refuted(
                    f"the reason says {name} is {shown(text)}, but the instance's state is {own!r}",
                    witness={name: own},
                )
        return claimed

    def _is_of(self, variable: int, value: Any) -> bool:
        """Whether a value is one of the instance's state."""
        try:
            return self.question.variables[variable].encode(value) == self.states[variable]
        except InstanceError:
            return False

    def check_sufficient(self, claimed: Sequence[int]) -> None:
        found = self._escaped(self.question.worlds(claimed))
        if found is not None:
            raise Refuted(
                f"{self._named(claimed)} does not force {self.what}: {self._told(found)} keeps it and is decided"
                " otherwise",
                witness=found,
            )
        for feature in claimed:
            rest = [v for v in claimed if v != feature]
            if self._escaped(self.question.worlds(rest)) is None:
                raise Refuted(
                    f"{self._named(claimed)} is not minimal: {self._named(rest)} forces {self.what} too",
                    witness={self.question.variables[v].name: self._text(v) for v in rest},
                )

    def check_necessary(self, claimed: Sequence[int]) -> None:
        if self._escaped(self.question.worlds_changing(claimed)) is None:
            raise Refuted(f"no change of {self._named(claimed)} alone changes {self.what}", witness=None)
        for feature in claimed:
            rest = [v for v in claimed if v != feature]
            found = self._escaped(self.question.worlds_changing(rest))
            if found is not None:
                raise Refuted(
                    f"{self._named(claimed)} is not minimal: changing {self._named(rest)} is enough to change"
                    f" {self.what}, as {self._told(found)} shows",
                    witness=found,
                )

    def _escaped(self, region: Region) -> dict[str, str] | None:
        """An instance in the region that is decided otherwise, in words, or None if there is none."""
        found = self.classifier.escape(self.question, region)
        if found is None:
            return None
        if not region.contains(found) or self.classifier.decide(found) in self.question.keeps:
            raise AssertionError("the classifier lacks the form that its kind must have")
        variables = self.question.variables
        return {variables[v].name: variables[v].text(found[v]) for v in self.classifier.tested}

    def _index(self, name: Any) -> int:
        if not isinstance(name, str) or name not in self.index:
            raise InstanceError(f"{shown(name)} is no feature{did_you_mean(name, self.index)}")
        return self.index[name]

    def _text(self, variable: int) -> str:
        state = self.states[variable]
        if state >= 0:
            return self.question.variables[variable].text(state)
        return "not known" if variable in self.classifier.tested else "not tested"

    def _named(self, variables: Iterable[int]) -> str:
        return " and ".join(self.question.variables[v].name for v in variables) or "nothing at all"

    def _told(self, witness: Mapping[str, str]) -> str:
        differing = [f"{name}: {text}" for name, text in witness.items() if text != self._text(self.index[name])]
        return "the instance with " + ", ".join(differing[:8]) + (" …" if len(differing) > 8 else "")
