"""What a classifier is: `Classifier` is all that an explanation needs; the other protocols are faster ways to it.

A new kind of classifier is a class with `variables`, `classes`, `decide` and `escape`. It is then explained, verified,
reported, served and batched: `search` finds its reasons. Where its structure gives more, it offers that too; where its
`escape` may take long, it offers `KeepsTime`, so that no question takes longer than it may.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeGuard, TypeVar

from quia.errors import Unsupported, shown
from quia.look import Shown, counted, few, tagged
from quia.variables import Variable, decide_instance, encode_instance

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes

    from quia._kernel import BatchResult, Family
    from quia.contrast import Contrast
    from quia.families import FindsReasons
    from quia.nnf import NNF
    from quia.patience import Clock
    from quia.question import Question
    from quia.ranges import Ranges
    from quia.reason import Kind
    from quia.region import Region

P = TypeVar("P")


class Classifier(Protocol):
    """What gives instances a class and can be asked whether a region of them forces a decision."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The features, tested or not, in the model's order."""
        ...

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        ...

    @property
    def tested(self) -> tuple[int, ...]:
        """The indices of the variables that decisions may depend on; others need no value."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how it was made."""
        ...

    @property
    def kind(self) -> str:
        """What it is called: `decision tree`, `SDD`."""
        ...

    @property
    def sizes(self) -> Mapping[str, int]:
        """How large it is, by what is counted: nodes, leaves; what people who check a model want to see."""
        ...

    def encode(self, instance: Any) -> tuple[int, ...]:
        """The state of every tested variable in an instance; UNKNOWN for the others, and where a value is missing."""
        ...

    def classify(self, instance: Any) -> str:
        """The class of an instance."""
        ...

    def decide(self, states: Sequence[int]) -> int:
        """The index of the class of an encoded instance, the same whatever its UNKNOWN variables are.

        If it depends on one of them, MissingValue names that.
        """
        ...

    def escape(self, question: Question, region: Region) -> Sequence[int] | None:
        """An instance in the region, and possible, whose class does not keep the decision; None: the region forces it.

        Every tested variable has a state in it. The nearer it is to the question's instance, the less a search costs.
        """
        ...


def model_line(model: ClassifierBase, *facts: str) -> str:
    """A classifier in one line: what it is, its features and its classes."""
    tested, every = len(model.tested), len(model.variables)
    features = counted(every, "feature") if tested == every else f"{tested:,} of {counted(every, 'feature')} tested"
    return tagged(type(model).__name__, *facts, features, f"classes {few(possible_classes(model))}")


def possible_classes(model: ClassifierBase) -> list[str]:
    """The classes but that of what is impossible, if there is one."""
    left_out = getattr(model, "impossible", -1)
    return [name for label, name in enumerate(model.classes) if label != left_out]


class ClassifierBase(Shown):
    """What most classifiers have alike, made of `variables`, `classes` and `decide`."""

    variables: tuple[Variable, ...]
    classes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    kind: str = "classifier"
    given: tuple[Any, ...] = ()
    """Constraints between its features, as texts or formulas, which hold in every world that counts in an answer."""
    any_worlds: ClassVar[bool] = False
    """Whether its own ways to reasons and boxes answer whatever worlds are possible, not only where some are frozen."""

    def decide(self, states: Sequence[int]) -> int:
        """The index of the class of an encoded instance."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return model_line(self, self.kind) if hasattr(self, "variables") else super().__repr__()

    @property
    def tested(self) -> tuple[int, ...]:
        """The indices of the variables that decisions may depend on: all."""
        return tuple(range(len(self.variables)))

    @property
    def sizes(self) -> Mapping[str, int]:
        """How large it is: nothing is counted."""
        return {}

    def encode(self, instance: Any) -> tuple[int, ...]:
        """The state of every tested variable in an instance; UNKNOWN for the others, and where a value is missing."""
        return encode_instance(self.variables, self.tested, instance, partial=True)

    def classify(self, instance: Any) -> str:
        """The class of an instance."""
        return self.classes[decide_instance(self, self.encode(instance), instance)]

    def plot(self, instance: Any = None, *, ax: Axes | None = None, most: int = 15) -> Axes:
        """Draw the classifier, and if it is given an instance, how that is decided.

        A decision graph is drawn with the instance's way lit: all of a small one, of a large one the way, at most the
        last `most` tests of it, and what branches off; without an instance, its top. Of a model that adds up a score
        each of `most` features is drawn with how far it alone, all else kept, could move the score, and how far the
        other decision is. Needs matplotlib; draws on `ax` if that is given, and returns the Axes.
        """
        from quia.plot.classifier import plot_classifier

        return plot_classifier(self, instance, ax, most)


class ClassifierOfModel(ClassifierBase):
    """What classifiers have alike that ask another one, their `model`."""

    model: Classifier

    @property
    def kind(self) -> str:  # type: ignore[override]
        """What the model is called."""
        return self.model.kind

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """The notes of the model."""
        return tuple(self.model.notes)

    @property
    def sizes(self) -> Mapping[str, int]:
        """How large the model is."""
        return self.model.sizes


class HasCompleteReason(Protocol):
    """A classifier whose complete reason has a closed form, at least where nothing but frozen variables is held."""

    def complete_reason(self, question: Question) -> NNF:
        """Why the decision is what it is (paper, Def. 2)."""
        ...


class HasGeneralReason(Protocol):
    """A classifier whose general reason has a closed form, at least where nothing but frozen variables is held.

    Where all variables have two states it is the complete reason, and need not be offered.
    """

    def general_reason(self, question: Question) -> NNF:
        """The worlds in which the decision is kept, and kept whatever is put back to the instance's values."""
        ...


class KeepsTime(Protocol):
    """A classifier whose `escape` may take long, and which gives up when its time is over."""

    def escape_in_time(self, question: Question, region: Region, timeout: float | None) -> Sequence[int] | None:
        """As `escape`; OutOfTime if so many seconds (None: no limit) are not enough for an answer."""
        ...


class Reduces(Protocol):
    """A classifier that knows a faster way than `escape` to one sufficient reason."""

    def reduce(self, question: Question, kept: Sequence[int], timeout: float | None) -> tuple[Sequence[int], bool]:
        """Of variables that force the decision together, some that do, and whether these are a sufficient reason.

        It tries to do without each in turn, the first first. Where so many seconds are not enough, what is left until
        then is proved to force the decision, but not that all of it is needed.
        """
        ...


class ListsReasons(Protocol):
    """A classifier whose necessary reasons are found straight from its structure."""

    def find_necessary(self, question: Question, **limits: Any) -> Family:
        """The necessary reasons, as sets of variables."""
        ...


class FindsOwnReasons(Protocol):
    """A classifier that finds the reasons of both kinds itself, in whatever worlds are possible."""

    def reasons_of(self, question: Question) -> FindsReasons:
        """The reasons of a decision, worked out when they are asked for."""
        ...


class Widens(Protocol):
    """A classifier that knows a faster way than `escape` to all largest boxes over a reason's variables."""

    def widen(
        self,
        question: Question,
        kind: Kind,
        members: Sequence[int],
        intervals: bool,
        *,
        limit: int | None = None,
        certain: bool = False,
        timeout: float | None = None,
    ) -> list[tuple[Ranges, ...]] | None:
        """The boxes, the `limit` widest first: of states that force the decision, or of changes that all change it.

        None where it knows no faster way.
        Where variables are unknown, changes could change it; those that are `certain` do, whatever these are.
        """
        ...


class EndsNear(Protocol):
    """A classifier whose conditions may end a little before they need to, where scores are all but equal."""

    def ends_near(self, question: Question, kind: Kind, members: Sequence[int]) -> bool:
        """Whether the conditions over some variables may."""
        ...


class FindsPairs(Protocol):
    """A classifier that knows a faster way than `escape` to two instances that differ in few variables."""

    def find_pair(
        self, contrast: Contrast, possible: Region, clock: Clock
    ) -> tuple[Sequence[int], Sequence[int]] | None:
        """Two instances in a region that a contrast looks for; None if there are none.

        What is UNKNOWN in both may be anything that is possible, as long as it is the same in both. OutOfTime when the
        clock ends, TooLarge where it would take more than a limit allows.
        """
        ...


class HasPath(Protocol):
    """A classifier whose decision on an instance is a path through nodes, which can be drawn."""

    @property
    def nodes(self) -> Sequence[tuple[int, int, Sequence[tuple[Ranges, int]]]]:
        """Each node's variable (or -1), class (or -1) and (states, child) edges, children first."""
        ...

    @property
    def is_tree(self) -> bool:
        """Whether no node has two parents."""
        ...

    def path(self, states: Sequence[int]) -> Iterator[int]:
        """The nodes that an encoded instance passes."""
        ...


class ChecksPlainly(Classifier, Protocol):
    """A classifier whose `escape` is intricate, and that has a plain second way to the same, for `verify`."""

    def plain_escape(self, question: Question, region: Region, clock: Callable[[], None]) -> Sequence[int] | None:
        """What `escape` gives, found by a search that shares nothing with it; the clock is called now and then."""
        ...


class HasJson(Protocol):
    """A classifier that quia's JSON format can hold."""

    def to_dict(self) -> dict[str, Any]:
        """The classifier in the JSON format."""
        ...


class TakesRanges(Classifier, Protocol):
    """A classifier with numbers that it does not cut: it must be told between which they lie."""

    @property
    def unbounded(self) -> tuple[str, ...]:
        """The features whose range is still to be told."""
        ...

    def with_ranges(self, ranges: Mapping[str, Sequence[float]]) -> TakesRanges:
        """The same classifier, where features have these ranges."""
        ...


class DecidesRows(Protocol):
    """A classifier that decides many encoded rows at once."""

    def decide_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class of each row; -2 - v where it depends on the unknown variable v."""
        ...


class Batches(Classifier, Protocol):
    """A classifier that decides and explains many encoded rows at once."""

    def decide_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class of each row; -2 - v where it depends on the unknown variable v."""
        ...

    def batch(self, rows: npt.NDArray[Any], **asked: Any) -> BatchResult:
        """The reasons of each row, as `_kernel.Graph.batch` has them."""
        ...

    def boxed(self, possible: Region) -> Callable[..., BatchResult]:
        """`batch` for rows that are all in a box, whose worlds alone are possible."""
        ...


class Weighed(NamedTuple):
    """Of each row what changing each variable to its worst takes away at the most, and what the decision can bear.

    Changing a set of variables can change the decision if its `losses` sum to more than the `budget`, and cannot if
    they do not. Both are whole numbers if the model's sums are exact; else a sum that is no more than the `margin` away
    from the budget tells nothing. A variable that cannot change loses nothing.
    """

    losses: npt.NDArray[Any]
    budget: npt.NDArray[Any]
    margin: float


class WeighsRows(Classifier, Protocol):
    """A classifier whose decisions turn on sums, and that weighs many encoded rows at once."""

    def weigh_rows(
        self, rows: npt.NDArray[Any], keeps: frozenset[int], frozen: Collection[int]
    ) -> Sequence[Weighed] | None:
        """One for each way in which the decision on these rows, which is kept by some classes, can change.

        None if a way takes more than one sum.
        """
        ...


def offers(classifier: object, protocol: type[P]) -> TypeGuard[P]:
    """Whether a classifier has what one of these protocols asks for, told from its class.

    `isinstance` would try every property, whatever that costs, each time.
    """
    own: Any = type(classifier)
    asked: Any = protocol
    return _offers(own, asked)


@cache
def _offers(kind: type, protocol: type) -> bool:
    wanted = [name for name in vars(protocol) if not name.startswith("_")]
    # Variables and classes may be set when a classifier is made, so that its class does not have them.
    return all(hasattr(kind, name) for name in wanted if name not in ("variables", "classes"))


def answers_directly(classifier: Classifier, question: Question) -> bool:
    """Whether a classifier's own ways to reasons and boxes, if it has any, answer this question."""
    return question.is_only_frozen or bool(getattr(classifier, "any_worlds", False))


def escape_within(classifier: Classifier, question: Question, region: Region, clock: Clock) -> Sequence[int] | None:
    """`Classifier.escape` as long as a clock runs; OutOfTime when it ends, at once where the classifier keeps time."""
    clock()
    if offers(classifier, KeepsTime):
        return classifier.escape_in_time(question, region, clock.left)
    return classifier.escape(question, region)


def loaded(given: Any) -> Classifier:
    """What is given, if it is a classifier; a model or a file has to be loaded first."""
    if offers(given, Classifier):
        return given
    what = shown(given) if isinstance(given, str) else f"a {type(given).__name__}"
    raise Unsupported(f"the classifier is {what}, which is not loaded", cure="load it first, with quia.load(…)")
