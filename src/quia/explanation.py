"""Explanations: the frozen answers that everything else shows."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.answer import Answer, Shares
from quia.arguments import feature_indices, flag, seconds, several, whole_or_all
from quia.asking import Terms
from quia.bias import Bias
from quia.caching import cached_property
from quia.classifier import (
    Classifier,
    FindsOwnReasons,
    HasCompleteReason,
    HasGeneralReason,
    HasPath,
    KeepsTime,
    ListsReasons,
    TakesRanges,
    answers_directly,
    escape_within,
    loaded,
    offers,
)
from quia.complete import complete_reason, of_necessary, of_sufficient
from quia.constrained import Constrained
from quia.counterfactual import Counterfactuals, changes, told, without_missing
from quia.errors import TooLarge, Unsupported, with_article
from quia.extents import within_table
from quia.families import Families, FindsReasons, Found
from quia.general import GeneralReasons
from quia.look import Shown, one_line, tagged
from quia.nnf import NNF
from quia.patience import PATIENCE, Clock, OutOfTime, Patience
from quia.pickling import ByFields
from quia.question import AboutQuestion, Question, given_values
from quia.ranges import difference, size
from quia.reason import KINDS, Kind, Members, Reason
from quia.reasons import MOMENT, Reasons
from quia.reference import Reference
from quia.search import SearchedReasons
from quia.superfluous import Superfluity
from quia.values import readable_value
from quia.variables import UNKNOWN, decide_instance
from quia.widen import Widening, common_reason
from quia.worlds import Worlds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quia.even_if import EvenIf
    from quia.reason_codes import ReasonCodes

# Of the time that is left for an answer: to find all reasons, then the necessary ones (that counted), then changes.
_GATHERING_SHARE, _NECESSARY_SHARE, _CHANGES_SHARE = 0.2, 0.4, 0.4
_SHORTEST_SHARE = 0.6
_MOST_TOLD = 5  # of the instance's values, in one line


def explain(
    classifier: Classifier,
    instance: Any,
    /,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
    within: Mapping[str, Any] | None = None,
    only_up: Collection[str] = (),
    only_down: Collection[str] = (),
    near: Mapping[str, Any] | None = None,
    given: Any = None,
    costs: Mapping[str, Any] | None = None,
    data: Any = None,
) -> Explanation:
    """Why a classifier decided on an instance as it did; with `against`, why it did not decide for that class.

    `frozen` features cannot change: they count as given, and no reason mentions them. Only worlds that are possible
    count: `within` has conditions on features (`{"age": ">= 52"}`), those in `only_up` and `only_down` cannot fall or
    rise from where they are, those in `near` stay so near to it (`{"income": 5000}`, or `"10%"` of their range), and
    `given` are constraints between features, text or formulas (`"pregnant=yes -> sex=female"`). `costs` say what
    changing a feature costs (1 where nothing is said), so that 'shortest' means 'cheapest'. A value may be missing if
    the decision does not depend on it: the reasons then hold whatever it is, and do not mention it. With a reference
    table, `data`, the widest of several general reasons is the one that fits the most of its rows, and each knows how
    many; what `Reference.of_table` makes of a table once serves many instances. Numbers of a model that does not cut
    them, and that have no range yet, then lie where they lie in that table.

    >>> import quia
    >>> switch = quia.DecisionGraph.from_dict({
    ...     "quia": 1, "variables": {"E": {"kind": "nominal", "states": ["no", "yes"]}},
    ...     "classes": ["deny", "admit"], "root": "e", "nodes": {
    ...         "e": {"test": "E", "edges": [{"if": ["no"], "to": "d"}, {"if": ["yes"], "to": "a"}]},
    ...         "d": {"class": "deny"}, "a": {"class": "admit"}}})
    >>> print(quia.explain(switch, {"E": "no"}).complete_reason)
    E=no
    """
    classifier = loaded(classifier)
    if data is not None and not isinstance(data, Reference) and offers(classifier, TakesRanges):
        classifier = within_table(classifier, data)
    terms = Terms.of(
        classifier,
        against=against,
        frozen=frozen,
        costs=costs,
        within=within,
        only_up=only_up,
        only_down=only_down,
        near=near,
        given=given,
    )
    asked, question = terms.at(instance)
    reference = None if data is None else Reference.of_table(asked, data)
    return Explanation(asked, given_values(asked.variables, instance), question, reference, terms.worlds)


def _undecided(what: str, timeout: float | None) -> TooLarge:
    within = "the memory there is" if timeout is None else f"{timeout:g} s"
    return TooLarge(f"{what} could not be told within {within}; give it more time", limit=int(timeout or 0))


class _Form(NamedTuple):
    """What reasons say of their features: the instance's states, or general conditions, of numbers as intervals."""

    general: bool
    intervals: bool = True


_STATES = _Form(general=False)


@dataclass(frozen=True, eq=False)
class Explanation(Shown, ByFields, AboutQuestion):
    """Why one decision was made: `explain` makes it; its reasons are worked out when they are asked for.

    It can be pickled: then what is asked travels, and the reasons are worked out anew.
    """

    classifier: Classifier
    instance: Mapping[str, Any]
    question: Question
    reference: Reference | None = None
    worlds: Worlds | None = field(default=None, repr=False)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The features that the classifier tests and whose values are missing: the decision is the same for any."""
        return self.names(v for v in self.classifier.tested if self.states[v] == UNKNOWN)

    @cached_property
    def complete_reason(self) -> NNF:
        """The formula that says why (paper Def. 2); ⊤ if nothing could make the decision another one.

        Where the classifier has no closed form of it, it is made of the diagram of all sufficient reasons, or is the
        conjunction of all necessary ones; TooLarge if they cannot be found.
        """
        if answers_directly(self.classifier, self.question) and offers(self.classifier, HasCompleteReason):
            return complete_reason(self.classifier, self.question)
        sufficient = self.find("sufficient", False, Patience(None)).family
        if sufficient is not None and sufficient.is_zdd:
            return of_sufficient(self.question, sufficient)
        reasons = self.necessary_reasons()
        reasons.exact_count()
        return of_necessary(self.question, reasons.members())

    @cached_property
    def general_reason(self) -> NNF:
        """The formula of sets of states that says why, as generally as is true (Ji and Darwiche 2023).

        A world satisfies it if the decision is kept there, and in every world between it and the instance: with the
        instance's values for any of the features. The complete reason implies it, and equals it where all variables
        have two states; every general sufficient reason implies it too. It is said whatever unknown values are.

        >>> import quia
        >>> essay = quia.Variable.nominal("Essay", ["fail", "pass", "top"])
        >>> graph = quia.DecisionGraph.build(
        ...     [essay], ["no", "yes"], [-1, -1, 0], [0, 1, -1], [(), (), ((((0, 1),), 0), (((2, 2),), 1))])
        >>> why = quia.explain(graph, {"Essay": "fail"})
        >>> print(why.complete_reason, "/", why.general_reason)
        Essay=fail / Essay ≠ top
        """
        if all(self.variables[v].size <= 2 for v in self.classifier.tested):
            return self.complete_reason
        if answers_directly(self.classifier, self.question) and offers(self.classifier, HasGeneralReason):
            return self.classifier.general_reason(self.question)
        kind = with_article(self.classifier.kind)
        where = "for some worlds only" if offers(self.classifier, HasGeneralReason) else f"for {kind}"
        raise Unsupported(
            f"the general reason has no closed form {where}",
            cure="ask for what it is made of, with sufficient_reasons(general=True)",
        )

    @property
    def has_closed_form(self) -> bool:
        """Whether the complete reason is made from the classifier, not from all necessary reasons."""
        return answers_directly(self.classifier, self.question) and offers(self.classifier, HasCompleteReason)

    @property
    def is_constant(self) -> bool:
        """Whether no change of features that may change can change the decision: its complete reason is ⊤."""
        return self.classifier.escape(self.question, self.question.within) is None

    def _holds_whatever(self, changing: Collection[int], timeout: float | None = None) -> bool:
        """Whether the decision sticks whatever these variables are, all others kept, frozen or not.

        TooLarge if time is not enough.
        """
        question = self.question.freeze(())
        # A single question that takes no time is answered however short the time is.
        clock = Clock(seconds(timeout) if offers(self.classifier, KeepsTime) else None)
        try:
            return escape_within(self.classifier, question, question.worlds_changing(changing), clock) is None
        except OutOfTime:
            names = ", ".join(self.names(changing)[:5]) + (" …" if len(changing) > 5 else "")
            raise _undecided(f"whether the decision holds whatever {names} may be", timeout) from None

    def necessary_reasons(
        self,
        *,
        general: bool = False,
        intervals: bool = True,
        shortest: bool = False,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Reasons:
        """Minimal sets of facts which, altered properly, change the decision (prime implicates).

        A classifier without closed form, such as an ensemble, must look for them: see `sufficient_reasons`.

        With `general`, each set of features comes with its largest regions of changes, the widest first: every point
        of `reason.changes`, all else kept, changes the decision. With `intervals` the changes of a number are an
        interval, without they may be any set.
        """
        return self._reasons("necessary", general, intervals, shortest, limit, timeout)

    def sufficient_reasons(
        self,
        *,
        general: bool = False,
        intervals: bool = True,
        shortest: bool = False,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Reasons:
        """Minimal sets of facts that alone force the decision (prime implicants).

        With `general`, each set of features comes with its conditions as wide as they can be and still true, the widest
        first. With `intervals` the conditions on a number are an interval, without they may be any set.

        A classifier without closed form, such as an ensemble, must look for them. With a `limit` they come as they are
        found, the first by one reduction; without, all are looked for first, until `timeout` (or, if there is none, for
        a few seconds), and come in the order of `Reasons` where these are all, else as they are found. If time runs out
        before one is proved minimal, the first is what is proved to force the decision, with `is_minimal` False.
        """
        return self._reasons("sufficient", general, intervals, shortest, limit, timeout)

    def _reasons(
        self, kind: Kind, general: bool, intervals: bool, shortest: bool, limit: int | None, timeout: float | None
    ) -> Reasons:
        form = _Form(flag(general, "general"), flag(intervals, "intervals"))
        return self._found(kind, form, flag(shortest, "shortest"), whole_or_all(limit), Patience(seconds(timeout)))

    def _found(
        self, kind: Kind, form: _Form, shortest: bool, limit: int | None, patience: Patience, **how: Any
    ) -> Reasons:
        # A method and its arguments, unlike a lambda, can be pickled.
        search, glance = partial(self.find, kind, shortest), partial(self._glance, kind, shortest)
        found = (kind, self.variables, self.states, limit, patience, search)
        is_tied = kind == "sufficient" and isinstance(self.classifier, Constrained)
        every = partial(self.find, "sufficient", False)
        if not form.general:
            implied = Superfluity(self.classifier, self.question, every) if is_tied else None
            return Reasons(*found, reference=self.reference, superfluous=implied, glance=glance, **how)
        widening = Widening(self.classifier, self.question, kind, form.intervals, self.reference)
        implied = Superfluity(self.classifier, self.question, every, widening) if is_tied else None
        return GeneralReasons(*found, widening=widening, superfluous=implied, glance=glance, **how)

    def find(self, kind: Kind, shortest: bool, patience: Patience, wait: float | None = None) -> Found:
        """The reasons of a kind as sets of variables; what was worked out is kept. `wait` as for `FindsReasons`."""
        return self._families.answer(kind, shortest=shortest, patience=patience, wait=wait)

    def _glance(self, kind: Kind, shortest: bool) -> Found | None:
        """The reasons of a kind, where a moment is enough to find them: None if that would be a search."""
        if isinstance(self.classifier, Constrained) or (shortest and self.is_searched):
            return None
        return self.find(kind, shortest, Patience(MOMENT), 0.0)

    @property
    def is_searched(self) -> bool:
        """Whether no structure of the classifier gives the reasons, so that they are looked for one by one."""
        closed = (ListsReasons, HasCompleteReason)
        is_closed = answers_directly(self.classifier, self.question)
        return not is_closed or not any(offers(self.classifier, form) for form in closed)

    @cached_property
    def _families(self) -> FindsReasons:
        classifier, question = self.classifier, self.question
        is_closed = answers_directly(classifier, question)
        if is_closed and offers(classifier, ListsReasons):
            return Families.of(partial(classifier.find_necessary, question), question.costs)
        if is_closed and offers(classifier, HasCompleteReason):
            return Families.of(self.complete_reason.find_necessary, question.costs)
        if is_closed and offers(classifier, FindsOwnReasons):
            return classifier.reasons_of(question)
        return SearchedReasons.of(classifier, question)

    def count_necessary(self, *, timeout: float | None = None) -> int:
        """How many necessary reasons there are, exactly; TooLarge if time or memory is not enough."""
        return self.necessary_reasons(timeout=timeout).exact_count()

    def count_sufficient(self, *, timeout: float | None = None) -> int:
        """How many sufficient reasons there are, exactly; TooLarge if time or memory is not enough."""
        return self.sufficient_reasons(timeout=timeout).exact_count()

    def importance(self, *, timeout: float | None = None) -> Shares:
        """For each feature the share of the sufficient reasons that it is in, exactly; the largest first.

        TooLarge if time or memory is not enough.
        """
        reasons = self.sufficient_reasons(timeout=timeout)
        counts = reasons.counts_by_feature()
        ranked = sorted(counts, key=lambda name: -counts[name])
        total = reasons.exact_count()
        return Shares({name: Fraction(counts[name], total) for name in ranked})

    def counterfactuals(
        self, *, limit: int | None = None, timeout: float | None = None, missing: bool = False
    ) -> Counterfactuals:
        """The nearest changes: regions of the fewest (with costs, the cheapest) features that change the decision.

        Of each shortest necessary reason's features the largest regions of changes after which the decision is one
        class (against a class: that class), wherever in the region. Every set of features comes before any comes twice,
        then those come first that move the instance least. That a value goes missing is no advice, unless `missing`
        asks for it. Where features are unknown, a change after which the class is that one whatever they are is
        `certain`, and comes before those after which it only could be. The `complete` of what is returned says whether
        limit and time were enough for all; where it ran out before the shortest were told, the changes are
        those of the necessary reasons found until then, and there may be nearer ones.
        """
        return self._nearest(whole_or_all(limit), Patience(seconds(timeout)), flag(missing, "missing"))

    def _nearest(self, limit: int | None, patience: Patience, missing: bool = False) -> Counterfactuals:
        found = self._nearest_of(self.question, limit, patience, missing)
        if found or missing or not found.complete:
            return found
        # Whatever is shortest needs a value to go missing: ask what would be if none could.
        advisable = without_missing(self.question)
        is_same = advisable.possible.bounds == self.question.possible.bounds
        return found if is_same else self._nearest_of(advisable, limit, patience, missing)

    def _nearest_of(self, question: Question, limit: int | None, patience: Patience, missing: bool) -> Counterfactuals:
        asked = self if question is self.question else replace(self, question=question)
        # Where the shortest must be looked for, some time is left to say what they change to.
        own = patience.share(_SHORTEST_SHARE) if asked.is_searched else patience
        shortest = asked._found("necessary", _STATES, True, None, own)
        all_known = shortest.found
        found: Iterable[Members] = shortest.members()
        if not all_known and isinstance(asked._families, SearchedReasons):
            found = asked._families.known("necessary")
        with patience.last_step() as clock:
            regions = changes(self.classifier, question, found, clock, missing=missing, most=limit)
            return Counterfactuals.within(told(question, regions, self.instance), limit, all_known)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {v.name: i for i, v in enumerate(self.variables)}

    def is_congruent(self, other_instance: Any, *, timeout: float | None = None) -> bool:
        """Whether another instance is decided the same for a common reason: their shared states force the decision.

        Paper: Def. 4, Prop. 9. Frozen or not, features may differ. Against a class, the decision is: not that class.
        TooLarge if time is not enough.
        """
        return self._holds_whatever(self._apart(other_instance), timeout)

    def common_reason(self, other_instance: Any, *, timeout: float | None = None) -> Reason | None:
        """A general sufficient reason for the decisions on both instances; None if there is none.

        There is one if and only if the smallest box with both in it (of a number, all between; of a name, both) forces
        the decision. That may be so where they are not congruent, as congruence asks for states that they share.
        Frozen or not, features may differ. Against a class, the decision is: not that class. TooLarge if time is not
        enough to tell; where it is not enough for the widest, there may be a wider one.
        """
        states = self._encoded(other_instance)
        clock = Clock(seconds(timeout) if self.is_searched else None)
        try:
            return common_reason(self.classifier, self.question.freeze(()), states, clock)
        except OutOfTime:
            raise _undecided("whether both decisions have a common reason", timeout) from None

    def _apart(self, other_instance: Any) -> list[int]:
        """The variables that tell another instance from this one."""
        states = self._encoded(other_instance)
        return [v for v in self.classifier.tested if states[v] != self.states[v]]

    def _encoded(self, other_instance: Any) -> tuple[int, ...]:
        if self.worlds is not None:  # directions and distances are this instance's own, and bind no other
            self.worlds.check_instance(self.worlds.classifier.encode(other_instance), other_instance)
        states = self.classifier.encode(other_instance)
        decide_instance(self.classifier, states, other_instance)  # refuses what is not decided
        return states

    def holds_without(self, features: Collection[str], *, timeout: float | None = None) -> bool:
        """Whether the decision would stick whatever these features were, all others kept.

        Against a class, it sticks as long as it is not that class. TooLarge if time is not enough.
        Complexity: linear in the complete reason; without a closed form, one search of the classifier.
        """
        return self._holds_whatever(feature_indices(self._index, features, "features", or_one=True), timeout)

    def even_if(
        self,
        features: Collection[str],
        *,
        general: bool = True,
        intervals: bool = True,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> EvenIf:
        """Whether the decision would have stuck even if these features were otherwise, and because of what.

        It sticks if it is the same (against a class: not that class) whatever they are, all others kept, and then
        because of the sufficient reasons that speak of none of them: general ones, unless `general` is False. Printed,
        the answer is that sentence; or, if the decision would not stick, the fewest (cheapest) changes of these
        features alone that change it.
        """
        from quia.even_if import even_if

        named = feature_indices(self._index, features, "features", or_one=True)
        return even_if(self, named, general=general, intervals=intervals, limit=limit, timeout=timeout)

    def bias(
        self,
        protected: Collection[str],
        *,
        general: bool = False,
        intervals: bool = True,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Bias:
        """Whether the decision can change, against a class: to that class, by changing protected features alone.

        That is told in linear time; without a closed form it is a search, and where `timeout` is too short for it,
        `biased` is None. The other options are for the reasons why, which are found when they are read, and `timeout`
        also for the nearest change that proves it.
        """
        form = _Form(flag(general, "general"), flag(intervals, "intervals"))
        return self.bias_of(feature_indices(self._index, protected, "protected", or_one=True), limit, timeout, form)

    def bias_of(
        self, protected: Collection[int], limit: int | None, timeout: float | None, form: _Form = _STATES
    ) -> Bias:
        """`bias` in indices."""
        names = self.names(protected)
        others = set(range(len(self.variables))).difference(protected)
        alone = replace(self, question=self.question.freeze(others))
        reasons = alone.necessary_reasons(**form._asdict(), limit=limit, timeout=timeout)
        try:
            is_biased = not self._holds_whatever(protected, timeout)
        except TooLarge:
            return Bias(names, None, self.decision, reasons, against=self.against)
        if not is_biased:
            is_vacuous = bool(names) and not self.can_differ(protected)
            return Bias(names, False, self.decision, reasons, against=self.against, is_vacuous=is_vacuous)
        nearest = alone.counterfactuals(limit=1, timeout=timeout, missing=True)
        if not nearest:  # the time was too short even for one
            return Bias(names, True, self.decision, reasons, against=self.against)
        found = (nearest[0].changes, nearest[0].decision, self.against, nearest[0].certain)
        return Bias(names, True, self.decision, reasons, *found)

    def can_differ(self, protected: Collection[int]) -> bool:
        """Whether a possible world differs from the instance in some of these variables, and in no other."""
        question = self.question.freeze(())
        worlds = question.worlds_changing(protected)
        constraint = self.classifier.constraint if isinstance(self.classifier, Constrained) else None
        for v in protected:
            if self.states[v] == UNKNOWN:
                if v not in self.classifier.tested and size(worlds.states(v)) > 1:
                    return True  # no decision depends on it
                continue
            others = difference(worlds.states(v), ((self.states[v], self.states[v]),))
            changed = worlds.replaced({v: others})
            if others and (constraint is None or constraint.left_by(changed) is not None):
                return True
        return False

    def reason_codes(self, n: int = 4, *, timeout: float | None = None) -> ReasonCodes:
        """The n principal reasons of the decision: features of a shortest sufficient reason, with what is favourable.

        The feature that alone moves the score most comes first, and of several shortest reasons it is the one whose
        features move it most; a model without a score puts first what alone changes the decision. `timeout` is for the
        reason and once more for its conditions.
        """
        from quia.reason_codes import reason_codes

        return reason_codes(self, n, timeout)

    def answer(
        self,
        *,
        limit: int | None = 10,
        timeout: float | None = None,
        shortest: bool = False,
        protected: Collection[str] = (),
        general: bool = True,
        intervals: bool = True,
    ) -> Answer:
        """What is shown of an explanation, found once: both kinds of reasons, the nearest changes, and any bias.

        At most `limit` of each; `timeout` is for all of it, and once more for the bias. Without one, a classifier that
        has no closed form is given PATIENCE seconds. The reasons are general, unless the instance's states are asked
        for.
        """
        most, patience = whole_or_all(limit), Patience(seconds(timeout))
        form = _Form(flag(general, "general"), flag(intervals, "intervals"))
        how = (form, flag(shortest, "shortest"), most)
        if self.is_searched:
            patience = Patience(PATIENCE) if timeout is None else patience
            necessary, sufficient, nearest = self._looked_for(*how, patience)
        else:
            necessary, sufficient = (self._found(kind, *how, patience) for kind in KINDS)
            # Where they come one by one, the time is theirs first.
            _ = necessary.complete, sufficient.complete
            nearest = self._nearest(most, patience)
        constant = self._is_seen_constant(necessary, patience)
        every, has_leaves = range(len(self.variables)), offers(self.classifier, HasPath)
        return Answer(
            self.question,
            self.instance,
            self.classifier.tested,
            necessary,
            sufficient,
            nearest,
            self._bias_shown(protected, most, patience.seconds, form),
            is_shortest=shortest,
            is_constant=constant,
            is_never=constant and has_leaves and self.against is not None and self._holds_whatever(every),
            is_general=form.general,
            rows=None if self.reference is None else len(self.reference),
        )

    def _looked_for(
        self, form: _Form, shortest: bool, limit: int | None, patience: Patience
    ) -> tuple[Reasons, Reasons, Counterfactuals]:
        """What an answer shows where it must be looked for: all reasons for a while, then as they come.

        What takes the most, to widen sufficient reasons, comes last and has what the others left.
        """
        wait = None if patience.left is None or limit is None else _GATHERING_SHARE * patience.left
        own = patience.share(_NECESSARY_SHARE)
        necessary = self._found("necessary", form, shortest, limit, own, gathers=False, wait=wait)
        _ = necessary.complete
        nearest = self._nearest(limit, patience.share(_CHANGES_SHARE))
        own = patience.share(1.0)
        sufficient = self._found("sufficient", form, shortest, limit, own, gathers=False, wait=0.0)
        _ = sufficient.complete
        return necessary, sufficient, nearest

    def _is_seen_constant(self, necessary: Reasons, patience: Patience) -> bool:
        """Whether it is known that nothing can change the decision."""
        if necessary.set_count is not None:
            return not necessary.set_count
        if not self.is_searched:
            return self.is_constant
        if necessary:
            return False
        try:
            with patience.last_step() as clock:
                return escape_within(self.classifier, self.question, self.question.within, clock) is None
        except OutOfTime:
            return False

    def _bias_shown(
        self, protected: Collection[str], limit: int | None, timeout: float | None, form: _Form
    ) -> Bias | None:
        if not several(protected, "protected"):
            return None
        return self.bias(protected, **form._asdict(), limit=limit, timeout=timeout)

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """The explanation as plain data, with at most `limit` (10) reasons of each kind and as many counterfactuals.

        The options are those of `answer`; `timeout` is for all of it.
        """
        return self.answer(**options).to_dict()

    def to_json(self, **options: Any) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(**options), ensure_ascii=False, indent=2)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        reason: Reason | None = None,
        image_shape: tuple[int, int] | None = None,
        most: int = 15,
        timeout: float | None = None,
    ) -> Axes:
        """Draw a reason, the shortest general sufficient one or that given, and the nearest change, a row a feature.

        Each row has a feature's value, what the reason allows it to be, the range of the data, and an arrow to where
        the nearest change takes it; at most `most` rows are drawn. With an `image_shape`, rows and columns, the
        features are pixels: the instance is drawn as an image, over it what forces the decision and what would change
        it. Needs matplotlib; draws on `ax` if that is given, and returns the Axes.
        """
        from quia.plot.reason import plot_reason

        return plot_reason(self, ax, reason, image_shape, most, timeout)

    def plot_importance(self, *, ax: Axes | None = None, most: int = 12, timeout: float | None = None) -> Axes:
        """Draw each feature's share of the sufficient reasons as a bar, the `most` largest first.

        TooLarge where they cannot be counted in time. Needs matplotlib; draws on `ax` if that is given, and returns the
        Axes.
        """
        from quia.plot.importance import plot_importance

        return plot_importance(self, ax, most, timeout)

    def __str__(self) -> str:
        from quia.show.text import explanation_text

        return explanation_text(self.answer())

    def __repr__(self) -> str:
        asked = f"why {self.decision}" + ("" if self.against is None else f", not {self.against}")
        given = (f"{name} {readable_value(value)}" for name, value in islice(self.instance.items(), _MOST_TOLD))
        more = max(len(self.instance) - _MOST_TOLD, 0)
        values = ", ".join(one_line(each, 40) for each in given)
        return tagged("Explanation", f"{one_line(asked, 80)}? {values}{f' and {more:,} more' if more else ''}")
