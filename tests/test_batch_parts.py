"""The parts of a batch by themselves: flat answers against plain lists, the cache against a dict, summaries by hand."""

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from quia.batch.answers import Answers, Numbers
from quia.batch.cache import Cache
from quia.batch.coverage import Coverage, _ones_by_table, joined_reference
from quia.batch.lists import Gathered, Lists, spread
from quia.batch.regions import Listed
from quia.batch.summary import Summary
from quia.errors import InstanceError
from quia.literal import Literal
from quia.ranges import union
from quia.reference import Reference
from quia.variables import Variable

# ---- answers: what they say of each row, in plain Python ----------------------------------------------------------

Row = dict[str, Any]


def made_ranges(rng: Random, ranges: bool) -> tuple[tuple[int, int], ...]:
    """A single state, or a set of them."""
    states = rng.sample(range(6), rng.randrange(1, 5)) if ranges else [rng.randrange(6)]
    return union((state, state) for state in states)


def made_row(rng: Random, ranges: bool) -> Row:
    """What is known of one row: a class, whether all is known, a list of sets, and a number that may be large."""
    known = rng.random() < 0.8
    sets = [
        (
            [(v, made_ranges(rng, ranges)) for v in sorted(rng.sample(range(6), rng.randrange(4)))],
            rng.randrange(-1, 3),
        )
        for _ in range(rng.randrange(4) if known else 0)
    ]
    number = rng.choice([-1, 0, 7, 2**62, 2**70 + rng.randrange(9)])
    return {"decision": rng.randrange(3), "complete": rng.random() < 0.7, "known": known, "sets": sets, "n": number}


def flat(rows: list[Row], ranges: bool = False) -> Answers:
    """Rows as the batch keeps them."""
    gathered = Gathered(ranges=ranges)
    for row in rows:
        for members, label in row["sets"]:
            gathered.add([v for v, _ in members], [states for _, states in members], label)
        gathered.end_row(row["known"])
    numbers = Numbers(
        np.array([row["n"] if row["n"] < 2**63 else -1 for row in rows], np.int64),
        {at: row["n"] for at, row in enumerate(rows) if row["n"] >= 2**63},
    )
    decision = np.array([row["decision"] for row in rows], np.int32)
    complete = np.array([row["complete"] for row in rows], bool)
    lists = gathered.lists()
    return Answers(decision, complete, {"sets": Listed.of(lists) if ranges else lists}, {"n": numbers})


def plain_sets(lists: Lists | Listed, row: int) -> list[Any]:
    """The sets of a row, read as the docstrings of `Lists` and `Listed` say."""
    sets = []
    for k in range(lists.set_start[row], lists.set_start[row + 1]):
        if isinstance(lists, Lists):
            items = range(lists.member_start[k], lists.member_start[k + 1])
            members = [(int(lists.variables[j]), ((int(lists.low[j]), int(lists.high[j])),)) for j in items]
        else:
            regions, region = lists.regions, lists.which[k]
            conditions = list(regions.conditions)
            members = [conditions[regions.members[j]] for j in range(*regions.start[region : region + 2])]
        sets.append((members, int(lists.labels[k])))
    return sets


def plain(answers: Answers) -> list[Row]:
    """The rows back, one by one."""
    lists, numbers = answers.lists["sets"], answers.numbers["n"]
    rows = []
    for at in range(len(answers)):
        sets = plain_sets(lists, at)
        number = numbers.large.get(at, int(numbers.values[at]))
        facts = {"decision": int(answers.decision[at]), "complete": bool(answers.complete[at])}
        rows.append(facts | {"known": bool(lists.known[at]), "sets": sets, "n": number})
    return rows


@pytest.mark.parametrize("ranges", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_answers_are_taken_and_joined_like_lists(seed: int, ranges: bool) -> None:
    rng = Random(seed)
    parts = [[made_row(rng, ranges) for _ in range(rng.randrange(5))] for _ in range(rng.randrange(1, 4))]
    rows = [row for part in parts for row in part]
    joined = Answers.join([flat(part, ranges) for part in parts])
    assert plain(joined) == rows
    assert len(joined) == len(rows)
    chosen = [rng.randrange(len(rows)) for _ in range(6)] if rows else []
    assert plain(joined.take(np.array(chosen, np.int64))) == [rows[at] for at in chosen]
    nothing = {"decision": -1, "complete": False, "known": False, "sets": [], "n": -1}
    assert plain(Answers.join([joined, joined.nothing()])) == [*rows, nothing]
    lengths = [rng.randrange(len(row["sets"]) + 1) for row in rows]
    first = joined.lists["sets"].first(np.array(lengths, np.int64))
    wanted = [row["sets"][:length] for row, length in zip(rows, lengths, strict=True)]
    assert [plain_sets(first, at) for at in range(len(rows))] == wanted


@pytest.mark.parametrize("colliding", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_distinct_regions_are_found_once_and_stay_what_they_are(
    monkeypatch: pytest.MonkeyPatch, seed: int, colliding: bool
) -> None:
    """Also where all hashes are the same; and whatever the order of the rows, the regions are in the same order."""
    if colliding:
        monkeypatch.setattr("quia.batch.regions._mixed", lambda values: values & np.uint64(1))
    rng = Random(seed)
    rows = [made_row(rng, True) for _ in range(30)]
    listed = flat(rows, True).lists["sets"]
    assert isinstance(listed, Listed)
    assert [plain_sets(listed, at) for at in range(len(rows))] == [row["sets"] for row in rows]
    once = listed.distinct()
    regions = list(once.regions)
    assert len(set(regions)) == len(regions) and len(set(once.regions.conditions)) == len(once.regions.conditions)
    assert [plain_sets(once, at) for at in range(len(rows))] == [row["sets"] for row in rows]
    told = [[list(zip(*region, strict=True)) for region in sets] for sets in once.each_row()]
    assert told == [[members for members, _ in row["sets"]] for row in rows]
    order = rng.sample(range(len(rows)), 20)
    chosen = [rows[at] for at in order]
    again, taken = flat(chosen, True).lists["sets"].distinct(), once.take(np.array(order)).distinct()
    assert list(again.regions) == list(taken.regions), "whatever else was in the table"
    assert np.array_equal(taken.which, again.which) and np.array_equal(taken.set_start, again.set_start)
    assert [plain_sets(once.at_most(2), at) for at in range(len(rows))] == [row["sets"][:2] for row in rows]


def test_tables_of_regions_do_not_grow_by_what_is_left_out() -> None:
    """Rows are taken and joined again and again, as in a cache; the table has what they have."""
    rng = Random(5)
    listed = flat([made_row(rng, True) for _ in range(50)], True).lists["sets"]
    for _ in range(20):
        few = listed.take(np.array([0, 1]))
        listed = Listed.join([few, few])
    assert len(listed.regions) == len(listed.which) <= 12


# ---- coverage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_regions_are_counted_as_the_reference_counts_them(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr("quia.batch.coverage.BLOCK", 7)
    monkeypatch.setattr("quia.batch.coverage._WORDS_AT_ONCE", 3)
    rng = Random(seed)
    if seed % 2:
        monkeypatch.setattr("quia.batch.coverage._ones", _ones_by_table)
    variables = tuple(Variable.nominal(f"v{n}", list("abcdef")) for n in range(6))
    states = np.array([[rng.randrange(-1, 3) for _ in range(6)] for _ in range(rng.randrange(200))], np.int32)
    states = np.concatenate([states.reshape(-1, 6), states.reshape(-1, 6)[: len(states) // 2]])
    states[:, 2:] = 0
    reference = Reference.of(variables, states)
    cuts = sorted(rng.randrange(len(states) + 1) for _ in range(3))
    joined = joined_reference(variables, np.split(states, cuts))
    assert sorted(zip(joined.rows.tolist(), joined.repeats.tolist(), strict=True)) == sorted(
        zip(reference.rows.tolist(), reference.repeats.tolist(), strict=True)
    )
    listed = flat([made_row(rng, True) for _ in range(20)], True).lists["sets"].distinct()
    found = Coverage(joined).rows_of(listed.regions)
    conditions = [Literal(variables[v], ranges) for v, ranges in listed.regions.conditions]
    for k in range(len(listed.regions)):
        members = listed.regions.members[slice(*listed.regions.start[k : k + 2])]
        assert found[k] == reference.fitting([conditions[c] for c in members])


def test_a_reference_that_fills_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quia.batch.coverage.MOST_CELLS", 5)
    states = np.arange(4, dtype=np.int32).reshape(-1, 1)
    variables = (Variable.numeric("v", range(10)),)
    assert len(joined_reference(variables, [states, states])) == 8
    with pytest.raises(InstanceError, match="needs the 6 and more distinct rows of the table in memory"):
        joined_reference(variables, [states, states + 2])


def test_answers_tell_how_much_memory_they_take() -> None:
    """About: more sets and more members take more, and a row takes something by itself."""
    row = {"decision": 0, "complete": True, "known": True, "sets": [], "n": 1}
    longer = row | {"sets": [([(v, ((0, 0),)) for v in range(50)], -1)] * 100}
    empty, full = flat([row] * 10), flat([longer] * 10)
    arrays = 10 * 100 * (50 * 8 + 8)  # variables and states of four bytes each; where each set starts
    assert arrays <= full.nbytes - empty.nbytes < 2 * arrays
    assert flat([row] * 20).nbytes - empty.nbytes >= 10 * (4 + 1 + 8 + 8)
    ranges = 10 * 100 * 50 * (8 + 8 + 4)  # which condition each is, where its ranges start, and their other end
    assert ranges <= flat([longer] * 10, True).nbytes - full.nbytes < 1.1 * ranges


def test_lists_that_are_chosen_may_be_empty_or_come_twice() -> None:
    items, starts = spread(np.array([0, 3, 3, 4]), np.array([1, 2, 0, 2]))
    assert (items.tolist(), starts.tolist()) == ([3, 0, 1, 2, 3], [0, 0, 1, 4, 5])


# ---- the cache ----------------------------------------------------------------------------------------------------


class Worked:
    """Works answers out, and remembers for which rows it was asked; `whole` says whether a row's is whole."""

    def __init__(self, whole: Callable[[int], bool] = lambda row: True) -> None:
        self.asked: list[int] = []
        self.whole = whole

    def __call__(self, rows: Any) -> Answers:
        numbers = rows[:, 0].tolist()
        self.asked += numbers
        return flat([expected(number, self.whole(number)) for number in numbers])


def expected(number: int, whole: bool = True) -> Row:
    sets = [([(v, ((number, number),)) for v in range(number % 3)], -1)] * (number % 4)
    return {"decision": number % 5, "complete": whole, "known": True, "sets": sets, "n": number}


def look_up(cache: Cache, numbers: list[int], worked: Worked, hashed: Callable[[int], int] = lambda n: 97 * n) -> None:
    """Ask for some distinct rows; every row gets the answer that is its own."""
    rows = np.array([[number, 1] for number in numbers], np.int32).reshape(-1, 2)
    parts, place = cache.look_up(np.array([hashed(n) for n in numbers], np.uint64), rows, worked)
    answers = plain(Answers.join(parts).take(place))
    assert [row["n"] for row in answers] == numbers
    assert [row | {"complete": True} for row in answers] == [expected(number) for number in numbers]


def test_only_whole_answers_are_kept() -> None:
    """A row that a time limit has cut short is worked out again whenever it comes, alone or among others."""
    cache, impatient = Cache(), Worked(whole=lambda row: row % 2 == 0)
    look_up(cache, list(range(8)), impatient)
    again = Worked(whole=lambda row: row in (1, 5))
    look_up(cache, list(range(8)), again)
    assert again.asked == [1, 3, 5, 7]
    patient = Worked()
    look_up(cache, [7, 0, 5, 3, 1], patient)
    assert patient.asked == [7, 3]
    last = Worked()
    look_up(cache, list(range(8)), last)
    assert last.asked == []
    assert (cache.asked, cache.answered) == (29, 4 + 3 + 8)


def test_nothing_is_kept_where_nothing_is_whole() -> None:
    cache, never = Cache(), Worked(whole=lambda row: False)
    for _ in range(3):
        look_up(cache, [1, 2, 3], never)
    assert never.asked == [1, 2, 3] * 3
    assert cache.answered == 0


def test_rows_that_share_a_hash_are_told_apart() -> None:
    cache, worked = Cache(), Worked()
    for _ in range(3):
        look_up(cache, [1, 2, 3, 4], worked, lambda n: n // 2)
    assert worked.asked == [1, 2, 3, 4, 3, 3], "of two rows with one hash the first is kept"


@pytest.mark.parametrize("seed", range(30))
def test_the_cache_gives_what_is_worked_out(seed: int) -> None:
    """Whatever it keeps and forgets; and where all fits, each row is worked out once."""
    rng = Random(seed)
    small = {"most_rows": rng.randrange(1, 12), "most_bytes": rng.choice([200, 10**6])}
    forgetful, roomy, worked, once = Cache(**small), Cache(), Worked(), Worked()
    met: set[int] = set()
    for _ in range(30):
        numbers = rng.sample(range(25), rng.randrange(8))
        look_up(forgetful, numbers, worked)
        look_up(roomy, numbers, once)
        met |= set(numbers)
        for generation in (forgetful._young, forgetful._old):
            assert generation is None or len(generation.rows) <= small["most_rows"] + 7
    # What waits to join the rest is worked out again: it is no more than a share of what is there.
    assert set(once.asked) == met
    assert len(once.asked) <= 1.5 * len(met)
    assert roomy.answered + len(once.asked) == roomy.asked
    assert forgetful.answered + len(worked.asked) == forgetful.asked


def test_what_is_met_again_stays_and_the_rest_is_forgotten() -> None:
    cache, worked = Cache(most_rows=4), Worked()
    for start in range(10, 40, 3):
        look_up(cache, [1, start, start + 1, start + 2], worked)
    assert worked.asked.count(1) == 1
    look_up(cache, [10], worked)
    assert worked.asked.count(10) == 2


def test_a_generation_holds_as_many_rows_as_it_may() -> None:
    """Not one less: rows that just fit beside what is there join it, and nothing is forgotten."""
    cache, worked = Cache(most_rows=4), Worked()
    look_up(cache, [1, 2], worked)
    look_up(cache, [3, 4], worked)
    assert cache._old is None and cache._young is not None and len(cache._young.rows) == 4
    look_up(cache, [5], worked)
    look_up(cache, [1, 2, 3, 4], worked)
    assert worked.asked == [1, 2, 3, 4, 5]


def test_looking_is_given_up_where_rows_do_not_come_again() -> None:
    """But for a trial now and then, which finds out when they do."""
    cache, worked = Cache(most_rows=1000), Worked()
    for start in (0, 1000):
        look_up(cache, list(range(start, start + 1000)), worked)
    assert cache._idle == 10
    few = Worked()
    for _ in range(9):
        look_up(cache, [1500], few)
    assert few.asked == [1500] * 9, "it does not look"
    look_up(cache, [1500], few)
    assert len(few.asked) == 9, "it looks again, and finds"
    assert cache._idle == 0


def test_no_rows_are_no_work() -> None:
    cache, worked = Cache(), Worked()
    look_up(cache, [], worked)
    assert worked.asked == [] and cache.asked == 0


# ---- the summary --------------------------------------------------------------------------------------------------


def rare_and_common() -> Summary:
    sets = {
        ("no", ("a",)): (8, "row 1"),
        ("no", ("b",)): (1, "row 9"),
        ("no", ("a", "c")): (1, "row 3"),
        ("no", ("c", "d")): (1, "row 2"),
        ("yes", ("b",)): (2, "row 4"),
        ("yes", ("d",)): (6, "row 5"),
    }
    return Summary(rows=19, reasoned=Counter(no=11, yes=8), sets=sets, rules=Counter({RULE: 3, OTHER_RULE: 5}))


RULE = ("no", ((0, ((1, 3),)), (2, ((0, 0), (4, 4)))))
OTHER_RULE = ("yes", ())


def test_the_rarest_reasons_are_the_most_surprising() -> None:
    """One in eleven before one in four before one in 8/6; of equally rare ones the longest, then the first row."""
    found = rare_and_common().surprising()
    assert [(row, label, names) for _, row, label, names in found] == [
        ("row 2", "no", ("c", "d")),
        ("row 3", "no", ("a", "c")),
        ("row 9", "no", ("b",)),
        ("row 4", "yes", ("b",)),
        ("row 1", "no", ("a",)),
        ("row 5", "yes", ("d",)),
    ]
    bits = [bits for bits, *_ in found]
    assert bits == pytest.approx([np.log2(11), np.log2(11), np.log2(11), 2, np.log2(11 / 8), np.log2(8 / 6)])
    assert rare_and_common().surprising(2) == found[:2]
    assert (
        len(Summary(reasoned=Counter(no=99), sets={("no", (str(n),)): (1, "") for n in range(12)}).surprising()) == 10
    )


def test_a_summary_written_in_short_has_the_rarest_sets() -> None:
    whole = rare_and_common()
    assert Summary.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole
    assert whole.to_dict(most_sets=1)["rules"] == [["yes", (), 5]]
    short = whole.to_dict(most_sets=4)["sets"]
    assert sorted((label, names) for label, names, _, _ in short) == [
        ("no", ["a", "c"]),
        ("no", ["b"]),
        ("no", ["c", "d"]),
        ("yes", ["b"]),
    ]


def test_summaries_are_added_count_by_count() -> None:
    one, other = rare_and_common(), rare_and_common()
    one.rejected, one.already, one.incomplete = 2, 3, 4
    other.rejected, other.already, other.incomplete = 10, 20, 30
    other.sets["no", ("z",)] = (5, "row 7")
    other.errors["a fault"] = 3
    other.asked_bias, other.biased, other.bias_features = True, Counter(no=2), Counter(age=2)
    other.features, other.lengths, other.sizes = (
        {"k": {"no": Counter(a=1)}},
        {"k": Counter({2: 1})},
        {"n": Counter({1: 4})},
    )
    one.add(other)
    one.add(other)
    assert (one.rows, one.rejected, one.already, one.incomplete) == (57, 22, 43, 64)
    assert one.explained == 57 - 22 - 43
    assert one.reasoned == Counter(no=33, yes=24)
    assert one.rules == Counter({RULE: 9, OTHER_RULE: 15})
    assert one.sets["no", ("a",)] == (24, "row 1") and one.sets["no", ("z",)] == (10, "row 7")
    assert one.errors == Counter({"a fault": 6})
    assert (one.asked_bias, one.biased, one.bias_features) == (True, Counter(no=4), Counter(age=4))
    assert one.features == {"k": {"no": Counter(a=2)}}
    assert (one.lengths, one.sizes) == ({"k": Counter({2: 2})}, {"n": Counter({1: 8})})


def test_summaries_of_endlessly_many_faults_and_sets_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quia.batch.summary.MOST_SETS", 3)
    summary = Summary()
    for number in range(70):
        part = Summary(errors=Counter({f"fault {number}": 1, "always": 2}))
        part.sets = {("no", (str(number),)): (1, f"row {number}"), ("no", ("always",)): (2, f"row {number}")}
        part.rules = Counter({("no", ((0, ((number, number),)),)): 1, OTHER_RULE: 2})
        summary.add(part)
    assert summary.errors == Counter({"always": 140} | {f"fault {number}": 1 for number in range(49)})
    assert summary.sets == {
        ("no", ("0",)): (1, "row 0"),
        ("no", ("always",)): (140, "row 0"),
        ("no", ("1",)): (1, "row 1"),
    }
    assert len(summary.rules) == 3 and summary.rules[OTHER_RULE] == 140
