"""The parts of a batch by themselves: flat answers against plain lists, the cache against a dict, summaries by hand."""

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from quia.batch.answers import Answers, Lists, Numbers, spread
from quia.batch.cache import Cache
from quia.batch.summary import Summary

# ---- answers: what they say of each row, in plain Python ----------------------------------------------------------

Row = dict[str, Any]


def made_row(rng: Random) -> Row:
    """What is known of one row: a class, whether all is known, a list of sets, and a number that may be large."""
    known = rng.random() < 0.8
    sets = [
        ([(v, rng.randrange(3)) for v in sorted(rng.sample(range(6), rng.randrange(1, 4)))], rng.randrange(-1, 3))
        for _ in range(rng.randrange(4) if known else 0)
    ]
    number = rng.choice([-1, 0, 7, 2**62, 2**70 + rng.randrange(9)])
    return {"decision": rng.randrange(3), "complete": rng.random() < 0.7, "known": known, "sets": sets, "n": number}


def flat(rows: list[Row]) -> Answers:
    """Rows as the batch keeps them."""
    sets = [one for row in rows for one in row["sets"]]
    members = [member for one, _ in sets for member in one]
    lists = Lists(
        np.array([row["known"] for row in rows], bool),
        np.cumsum([0, *(len(row["sets"]) for row in rows)]),
        np.cumsum([0, *(len(one) for one, _ in sets)]),
        np.array([v for v, _ in members], np.int32),
        np.array([s for _, s in members], np.int32),
        np.array([label for _, label in sets], np.int32),
    )
    numbers = Numbers(
        np.array([row["n"] if row["n"] < 2**63 else -1 for row in rows], np.int64),
        {at: row["n"] for at, row in enumerate(rows) if row["n"] >= 2**63},
    )
    decision = np.array([row["decision"] for row in rows], np.int32)
    return Answers(decision, np.array([row["complete"] for row in rows], bool), {"sets": lists}, {"n": numbers})


def plain(answers: Answers) -> list[Row]:
    """The rows back, one by one."""
    lists, numbers = answers.lists["sets"], answers.numbers["n"]
    rows = []
    for at in range(len(answers)):
        sets = []
        for k in range(lists.set_start[at], lists.set_start[at + 1]):
            items = range(lists.member_start[k], lists.member_start[k + 1])
            sets.append(([(int(lists.variables[j]), int(lists.states[j])) for j in items], int(lists.labels[k])))
        number = numbers.large.get(at, int(numbers.values[at]))
        facts = {"decision": int(answers.decision[at]), "complete": bool(answers.complete[at])}
        rows.append(facts | {"known": bool(lists.known[at]), "sets": sets, "n": number})
    return rows


@pytest.mark.parametrize("seed", range(20))
def test_answers_are_taken_and_joined_like_lists(seed: int) -> None:
    rng = Random(seed)
    parts = [[made_row(rng) for _ in range(rng.randrange(5))] for _ in range(rng.randrange(1, 4))]
    rows = [row for part in parts for row in part]
    joined = Answers.join([flat(part) for part in parts])
    assert plain(joined) == rows
    assert len(joined) == len(rows)
    chosen = [rng.randrange(len(rows)) for _ in range(6)] if rows else []
    assert plain(joined.take(np.array(chosen, np.int64))) == [rows[at] for at in chosen]
    nothing = {"decision": -1, "complete": False, "known": False, "sets": [], "n": -1}
    assert plain(Answers.join([joined, joined.nothing()])) == [*rows, nothing]


def test_answers_tell_how_much_memory_they_take() -> None:
    """About: more sets and more members take more, and a row takes something by itself."""
    row = {"decision": 0, "complete": True, "known": True, "sets": [], "n": 1}
    longer = row | {"sets": [([(v, 0) for v in range(50)], -1)] * 100}
    empty, full = flat([row] * 10), flat([longer] * 10)
    arrays = 10 * 100 * (50 * 8 + 8)  # variables and states of four bytes each; where each set starts
    assert arrays <= full.nbytes - empty.nbytes < 2 * arrays
    assert flat([row] * 20).nbytes - empty.nbytes >= 10 * (4 + 1 + 8 + 8)


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
    sets = [([(v, number) for v in range(number % 3)], -1)] * (number % 4)
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
    return Summary(rows=19, reasoned=Counter(no=11, yes=8), sets=sets)


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
        summary.add(part)
    assert summary.errors == Counter({"always": 140} | {f"fault {number}": 1 for number in range(49)})
    assert summary.sets == {
        ("no", ("0",)): (1, "row 0"),
        ("no", ("always",)): (140, "row 0"),
        ("no", ("1",)): (1, "row 1"),
    }
