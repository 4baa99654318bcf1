"""Scorecards in CSV decide as a person does who adds up points by hand; what is not clear is refused with its line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import quia
from quia import Additive
from quia.errors import FormatError, QuiaError, Unsupported

HEAD = "feature,condition,points\n"
CARD = (
    HEAD
    + """base,,0.1
age,< 30,0.1
age,"[30, 50)",0.2
age,>= 50,0.7
age,missing,-0.1
job,"{cook, clerk}",0.1
job,= none,-0.4
job,else,0
rooms,<= 2,0
rooms,> 2 or missing,0.05
cutoff,deny,
cutoff,grant,0.8
"""
)


def written(folder: Path, text: str) -> Path:
    file = folder / "card.csv"
    file.write_text(text)
    return file


def near(*numbers: float) -> list[float]:
    return [x for n in numbers for x in (math.nextafter(n, -math.inf), n, math.nextafter(n, math.inf))]


# What the card above says, by hand: nothing of quia's is used.
def by_hand(age: float | None, job: str, rooms: float | None) -> Fraction:
    total = Fraction("0.1")
    if age is None:
        total -= Fraction("0.1")
    else:
        total += Fraction("0.1") if age < 30 else Fraction("0.2") if age < 50 else Fraction("0.7")
    total += {"cook": Fraction("0.1"), "clerk": Fraction("0.1"), "none": Fraction("-0.4")}.get(job, Fraction(0))
    return total + (Fraction(0) if rooms is not None and rooms <= 2 else Fraction("0.05"))


def people() -> Iterator[dict[str, Any]]:
    numbers = [None, -1e9, *near(30, 50), math.inf]
    for age, job, rooms in product(numbers, ("cook", "clerk", "none", "pilot"), [None, *near(2), 1e300]):
        yield {"age": age, "job": job, "rooms": rooms}


def test_it_decides_as_a_person_adds_up(tmp_path: Path) -> None:
    card = quia.load(written(tmp_path, CARD))
    assert isinstance(card, Additive)
    assert (card.kind, card.classes, card.unit, card.is_exact) == ("scorecard", ("deny", "grant"), 100.0, True)
    ties = 0
    for person in people():
        points = by_hand(**person)
        ties += points == Fraction("0.8")
        assert card.classify(person) == ("grant" if points >= Fraction("0.8") else "deny"), (person, points)
        assert Fraction(float(card.scores(card.encode(person))[0])) == points * 100
    assert ties and 0.1 + 0.7 < 0.8, "those who add binary fractions deny what people grant"


def test_all_reasons_are_those_of_the_definition(tmp_path: Path) -> None:
    card = quia.load(written(tmp_path, CARD))
    states = [range(variable.size) for variable in card.variables]
    for own in product(*states):
        person = {v.name: _value(v, state) for v, state in zip(card.variables, own, strict=True)}
        decision = _decided(card, own)
        forcing = {
            kept
            for kept in (frozenset(v for v in range(3) if bits >> v & 1) for bits in range(8))
            if all(
                _decided(card, other) == decision for other in product(*states) if all(other[v] == own[v] for v in kept)
            )
        }
        wanted = {kept for kept in forcing if not any(other < kept for other in forcing)}
        why = quia.explain(card, person)
        names = [v.name for v in card.variables]
        assert {frozenset(map(names.index, r.features)) for r in why.sufficient_reasons(general=False)} == wanted
        for reason in why.sufficient_reasons(general=True):
            quia.verify(card, person, reason, "sufficient")


def _value(variable: Any, state: int) -> Any:
    if variable.labels is not None:
        return "pilot" if variable.labels[state] == variable.other else variable.labels[state]
    return None if variable.is_missing_state(state) else (variable.below[state] if state < len(variable.cuts) else 99)


def _decided(card: Additive, states: Sequence[int]) -> bool:
    job = ["cook", "clerk", "none", "pilot"][states[1]]
    return by_hand(_value(card.variables[0], states[0]), job, _value(card.variables[2], states[2])) >= Fraction("0.8")


@pytest.mark.parametrize("seed", range(3))
def test_random_cards(seed: int, tmp_path: Path) -> None:
    """Bins with either kind of end, in any order, with decimals: at each border and one step beside it."""
    rng = Random(seed)
    for _ in range(30):
        card, bins, base, cutoffs = _random_card(rng)
        model = quia.load(written(tmp_path, card))
        assert model.is_exact
        for _ in range(20):
            person = {name: rng.choice(near(*ends) or [0.0]) for name, (ends, _, _) in bins.items()}
            points = base + sum(_in_bin(bins[name], value) for name, value in person.items())
            expected = sum(points >= cutoff for cutoff in cutoffs)
            assert model.classes.index(model.classify(person)) == expected, (card, person)


def _random_card(rng: Random) -> tuple[str, dict[str, Any], Fraction, list[Fraction]]:
    bins: dict[str, Any] = {}
    lines = []
    for name in "abcd"[: rng.randint(1, 4)]:
        ends = sorted(rng.sample([-7, -1.5, 0, 0.1, 0.3, 2, 1e6], rng.randint(1, 4)))
        after = [rng.random() < 0.5 for _ in ends]
        points = [f"{rng.randint(-30, 30) / 10}{rng.choice(['', '0', '25'])}" for _ in range(len(ends) + 1)]
        bins[name] = ends, after, points
        for at, number in enumerate(points):
            lines.append(f'{name},"{_condition(ends, after, at, rng)}",{number}')
    rng.shuffle(lines)
    base = rng.choice(["0", "1.5", "-0.1"])
    cutoffs = sorted({Fraction(rng.randint(-40, 40), 20) for _ in range(rng.randint(1, 3))})
    lines += [f"base,,{base}", *(f"Cutoff,,{float(cutoff)}" for cutoff in cutoffs)]
    return HEAD + "\n".join(lines) + "\n", bins, Fraction(base), cutoffs


def _condition(ends: Sequence[float], after: Sequence[bool], at: int, rng: Random) -> str:
    if at == 0:
        return f"{'<=' if after[0] else '<'} {ends[0]}"
    if at == len(ends):
        return f"{'>' if after[-1] else rng.choice(['>=', '≥'])} {ends[-1]}"
    return f"{'(' if after[at - 1] else '['}{ends[at - 1]}, {ends[at]}{']' if after[at] else ')'}"


def _in_bin(of: tuple[Sequence[float], Sequence[bool], Sequence[str]], value: float) -> Fraction:
    ends, after, points = of
    return Fraction(points[sum(value > end or (value == end and not a) for end, a in zip(ends, after, strict=True))])


def test_how_a_card_may_be_written(tmp_path: Path) -> None:
    card = quia.load(
        written(
            tmp_path,
            "Characteristic;Attribute;Comment;SCORE\n"
            "Base Score;;;10\n"
            "rate;≤ 3;cheap;1\n"
            "rate;else;;2\n"
            "children;0;;5\n"
            "children;{1, 2};;4\n"
            "children;otherwise;;0\n"
            "code;7;;1\n"
            "code;8;;2\n"
            ";;;\n"
            "housing;= else;a house called so;1\n"
            "housing;= over 3;;1\n"
            "housing;above the shop;;1\n"
            "housing;missing;;0\n"
            "Cut-off;;;14.5\n"
            "Cut-off;;;18\n",
        )
    )
    assert card.classes == ("below 14.5", "14.5 to below 18", "18 or more")
    assert card.notes == ("columns that are not read: Comment",)
    children = card.variables[1]
    assert [children.text(s) for s in range(children.size)] == ["< 0", "= 0", "(0, 1)", "= 1", "(1, 2)", "= 2", "> 2"]
    assert card.variables[2].labels == ("7", "8"), "codes: no other is taken"
    assert (card.variables[3].labels, card.variables[3].no_value) == (
        ("else", "over 3", "above the shop", "missing"),
        "missing",
    )
    told = [card.classify({"rate": 3, "children": n, "code": 7, "housing": None}) for n in ("0.0", 2, 1.5)]
    assert told == ["14.5 to below 18", "14.5 to below 18", "below 14.5"]
    assert card.classify({"rate": 4, "children": 0, "code": "8", "housing": "else"}) == "18 or more"


def test_options_go_before_rows(tmp_path: Path) -> None:
    file = written(tmp_path, CARD)
    person = {"age": 60, "job": "cook", "rooms": 3}  # 0.95
    assert quia.load(file, cutoff="0.95").classify(person) == "grant"
    assert quia.load(file, cutoff=0.96).classify(person) == "deny"
    assert quia.load(file, cutoff=0.96, base=0.11).classify(person) == "grant"
    three = quia.load(file, cutoff=(0.5, 0.95), classes=("no", "maybe", "yes"))
    assert (three.classify(person), three.classes) == ("yes", ("no", "maybe", "yes"))
    assert quia.load(file, classes=["a", "b"]).classes == ("a", "b")
    assert quia.load(file, cutoff=["1", "2"]).classes == ("below 1", "1 to below 2", "2 or more")
    for options, words in (
        ({"cutoff": "high"}, "cutoff is 'high'; give a number such as 600"),
        ({"cutoff": True}, "cutoff is True"),
        ({"cutoff": math.inf}, "cutoff is inf"),
        ({"cutoff": (2, 1)}, "several that ascend"),
        ({"cutoff": ()}, "several that ascend"),
        ({"base": None, "classes": "no"}, "classes is 'no'; give a list of names"),
        ({"classes": ["no"]}, "tell 2 classes apart; give 2 names"),
        ({"classes": ["no", "no"]}, "give 2 names that differ"),
        ({"base": "12,5"}, "base is '12,5'"),
    ):
        with pytest.raises(Unsupported, match=words):
            quia.load(file, **options)


ROWS = "age,< 30,1\nage,>= 30,2\ncutoff,,2\n"
FAULTS = [
    ("age,< 30,1\nage,>= 30,2\n", None, "has no cutoff, so it tells no class; add a row such as 'cutoff,,600'"),
    ("age,< 30,1\nage,>= 29,2\ncutoff,,2\n", 3, "'age' has points for [29, 30) here and in line 2; let conditions not"),
    ("age,<= 30,1\nage,>= 30,2\ncutoff,,2\n", 3, "'age' has points for = 30 here and in line 2"),
    ("age,< 30,1\nage,> 30,2\ncutoff,,2\n", 2, "'age' has no points for = 30; add a row for that, or one for 'else'"),
    ("age,< 30,1\nage,>= 40,2\ncutoff,,2\n", 2, "'age' has no points for [30, 40)"),
    ("age,>= 0,1\ncutoff,,2\n", 2, "'age' has no points for < 0"),
    ("age,< 30,1\nage,< 30,1\nage,else,2\ncutoff,,2\n", 3, "'age' has points for < 30 here and in line 2"),
    ("age,< 30,1\nage,missing,1\nage,>= 30 or missing,2\ncutoff,,2\n", 4, "'age' has points for missing here and in"),
    ("age,< 30,1\nage,>= 30,2\nage,else,3\ncutoff,,2\n", 4, "'age' has a row for the rest, but other rows name all"),
    ("age,< 30,1\nage,else,2\nage,otherwise,3\ncutoff,,2\n", 4, "'age' has a second row for the rest"),
    ("age,else,2\nage,missing,3\ncutoff,,2\n", 2, "'age' has no row but for the rest or for missing values"),
    ("age,< 30,1\nage,old,2\ncutoff,,2\n", 3, "'age' is 'old', but a number in line 2 (< 30)"),
    ("age,old,2\nage,< 30,1\ncutoff,,2\n", 2, "'age' is 'old', but a number in line 3 (< 30)"),
    ("age,18-25,2\nage,26+,1\ncutoff,,2\n", 2, "the condition '18-25' does not say which of its ends are in"),
    ("age,18 to 25,2\nage,26+,1\ncutoff,,2\n", 2, "or as '= 18 to 25' if it is a name"),
    ("age,18 <= x < 25,2\nage,else,1\ncutoff,,2\n", 2, "the condition '18 <= x < 25' cannot be read; write it as in"),
    ("age,!= 25,2\nage,else,1\ncutoff,,2\n", 2, "'!= 25' cannot be read"),
    ("age,≠ 25,2\nage,else,1\ncutoff,,2\n", 2, "or as '= ≠ 25' if it is a name"),
    ("age,under 25,2\nage,else,1\ncutoff,,2\n", 2, "'under 25' cannot be read"),
    ("age,25 and over,2\nage,else,1\ncutoff,,2\n", 2, "'25 and over' cannot be read"),
    ("age,Between 18 and 25,2\nage,else,1\ncutoff,,2\n", 2, "'Between 18 and 25' cannot be read"),
    (
        "job,['cook' 'clerk'],2\njob,else,1\ncutoff,,2\n",
        2,
        "cannot be read; write it as in '< 30', '[20, 30)' or '{cook",
    ),
    ("intercept,,2\njob,else,1\ncutoff,,2\n", 2, "or call it 'base' if every score begins with it"),
    ("age,26+,2\ncutoff,,2\n", 2, "'26+' does not say"),
    ("age,< 30k,1\nage,else,2\ncutoff,,2\n", 2, "has '30k' where a number should be"),
    ('age,"[30, 20)",1\nage,else,2\ncutoff,,2\n', 2, "holds for no number"),
    ("age,> inf,1\nage,else,2\ncutoff,,2\n", 2, "'age' is > inf, which holds for no number"),
    ("job,cook,1\njob,cook,1\ncutoff,,2\n", 3, "'job' has points for 'cook' here and in line 2; keep one"),
    ('job,cook,1\njob,"{clerk, cook}",1\ncutoff,,2\n', 3, "'job' has points for 'cook' here and in line 2"),
    ('job,"{clerk, }",1\ncutoff,,2\n', 2, "names a value that is empty"),
    ("job,cook,1\njob,missing,1\njob,Missing,2\ncutoff,,2\n", 4, "'job' has a second row for missing values"),
    ("job,cook,1\nJob,clerk,1\ncutoff,,2\n", 3, "'Job' is called 'job' in line 2; spell it alike"),
    ("job,cook,many\ncutoff,,2\n", 2, "the points of 'job' are 'many', which is no number; write it as in 25 or -12.5"),
    ('job,cook,"12,5"\ncutoff,,2\n', 2, "'12,5', which is no number"),
    ("job,cook,1e400\ncutoff,,2\n", 2, "'1e400', which is no number"),
    ("job,cook,nan\ncutoff,,2\n", 2, "'nan', which is no number"),
    ("job,cook,\ncutoff,,2\n", 2, "'job' has no points here; write 0 for none"),
    ("job,,3\ncutoff,,2\n", 2, "'job' has no condition; write one such as '>= 30'"),
    (",cook,3\ncutoff,,2\n", 2, "a row names no feature"),
    ("job,cook\ncutoff,,2\n", 2, "row 1 has 2 values and there are 3 columns"),
    ("base,,1\nbase,,1\n" + ROWS, 3, "the base score is given here and in line 2"),
    ("base,,\n" + ROWS, 2, "'base' has no points here"),
    ("cutoff,,2\n", None, "has no row about a feature"),
    ("", None, "has no rows below the names of its columns"),
    (ROWS + "cutoff,,2.0\n", 5, "the cutoff is that of line 4; keep one"),
    (ROWS + "cutoff,grant,3\n", 4, "the cutoff in line 5 names its class, 'grant'; name that of every cutoff"),
    ("age,< 3,1\nage,else,2\ncutoff,grant,3\n", 4, "such as 'cutoff,deny,', the class below all of them"),
    ("age,< 3,1\nage,else,2\ncutoff,a,3\ncutoff,a,\n", 4, "the cutoffs name the classes a, a; classes must differ"),
    ("age,< 3,1\nage,else,2\ncutoff,a,\ncutoff,b,\n", 5, "only the class below all cutoffs has none"),
    (ROWS.replace("cutoff,,2", "cutoff,,"), 4, "a cutoff has neither points nor a class"),
    ("age,< 3,0.00000000000001\nage,else,90000\ncutoff,,2\n", None, "too many digits for exact sums; round them"),
]


@pytest.mark.parametrize(("text", "line", "words"), FAULTS, ids=[words[:40] for _, _, words in FAULTS])
def test_faults(text: str, line: int | None, words: str, tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + text)
    with pytest.raises(FormatError) as fault:
        quia.load(file)
    assert words in str(fault.value) and "\n" not in str(fault.value)
    assert fault.value.line == line


def test_which_files_are_scorecards(tmp_path: Path) -> None:
    for head in ("VARIABLE\tBin\tPoints\n", '\ufeff"feature" , "condition" , "points"\r\n', "id|feature|value|score\n"):
        mark = next(d for d in "\t|," if d in head)
        rows = [["a", "x", "1"], ["cutoff", "", "1"]]
        more = ["1"] if "id" in head else []
        file = tmp_path / "any.name"
        file.write_text(head + "".join(mark.join([*more, *row]) + "\n" for row in rows))
        assert quia.load(file).classify({"a": "x"}) == "1 or more"
    with pytest.raises(
        FormatError, match=r"line 1: a scorecard has the columns .*this file has feature, points, but no"
    ):
        quia.load(written(tmp_path, "feature,points\nage,3\n"), format="scorecard")
    (tmp_path / "wide.csv").write_bytes((HEAD + ROWS).encode("utf-16"))
    with pytest.raises(FormatError, match="is not UTF-8 text; save it as UTF-8"):
        quia.load(tmp_path / "wide.csv")
    blanks = "feature;condition;points;;\nage;< 30;1;;\nage;else;2;;\ncutoff;;2;;\n;;;;\n"
    assert quia.load(written(tmp_path, blanks)).notes == ()
    with pytest.raises(FormatError, match="two columns called 'points'"):
        quia.load(written(tmp_path, "feature,points,condition,Points\nage,3,x,4\n"))


def test_what_a_table_lacks_to_be_a_scorecard(tmp_path: Path) -> None:
    columns = "a scorecard has the columns feature, condition, points; this file has"
    for text, words in (
        ("feature,points\nage,3\n", f"{columns} feature, points, but no 'condition'"),
        ("sep=;\nfeatur;Bin;Score\n", f"{columns} featur (did you mean 'feature'?), Bin, Score, but no 'feature'"),
        ("id\tpoints", f"{columns} id, points, but no 'feature' and no 'condition'"),
        ("age,debt\n3,4\n", "is a table of rows, not a model; learn a tree from them: quia learn "),
        ("Dear all,\nthis is a letter\n", "which is no format known here; `quia check --help` lists those that are"),
    ):
        with pytest.raises(FormatError) as fault:
            quia.load(written(tmp_path, text))
        assert words in str(fault.value) and "\n" not in str(fault.value)


EUROPEAN = "feature;condition;points\n"


def test_a_card_of_a_european_spreadsheet(tmp_path: Path) -> None:
    """What it says with decimal commas is what it says with points: by hand, at every border."""
    text = (
        "\ufeffsep=;\r\n"
        + EUROPEAN.replace("\n", "\r\n")
        + 'base;;0,1\r\nage;< 30,5;0,1\r\nage;"[30,5; 50)";0,2\r\nage;[50, 60,25);1,125\r\nage;≥ 60,25;−0,7\r\n'
        "rooms;= 1,5;0,3\r\nrooms;{2, 2,5};0,4\r\nrooms;else;0\r\ncode;1.100;0\r\ncode;1.200;0,05\r\n"
        "cutoff;deny;\r\ncutoff;grant;0,6\r\n"
    )
    card = quia.load(written(tmp_path, text))
    assert (card.unit, card.is_exact, card.variables[2].labels) == (1000.0, True, ("1.100", "1.200"))
    for age, rooms, code in product(near(30.5, 50, 60.25), near(1.5, 2, 2.5), ("1.100", "1.200")):
        points = Fraction("0.1") + Fraction(
            "0.1" if age < 30.5 else "0.2" if age < 50 else "1.125" if age < 60.25 else "-0.7"
        )
        points += Fraction({1.5: "0.3", 2: "0.4", 2.5: "0.4"}.get(rooms, "0")) + Fraction(
            "0.05" if code == "1.200" else "0"
        )
        person = {"age": age, "rooms": rooms, "code": code}
        assert card.classify(person) == ("grant" if points >= Fraction("0.6") else "deny"), person


REST = "age;else;0\ncutoff;;2\n"
IN_TWO_WAYS = "may be 1200 or a decimal; write it without a thousands separator or, as a decimal, with one more 0"


@pytest.mark.parametrize(
    ("rows", "line", "words"),
    [
        ("age;< 30;1.200\n", 2, f"'1.200' {IN_TWO_WAYS}: '1.2000'"),
        ("age;< 30;1,200\n", 2, f"'1,200' {IN_TWO_WAYS}"),
        ("age;< 1.200;1\n", 2, f"'1.200' {IN_TWO_WAYS}"),
        ("age;1.200;1\n", 2, f"'1.200' {IN_TWO_WAYS}"),
        ("age;[0, 1.200);1\n", 2, f"'1.200' {IN_TWO_WAYS}"),
        ("base;;12,5\nage;< 30;1.200\n", 3, "'1.200' has a thousands separator; write it without"),
        ("base;;12.5\nage;< 30;1,200\n", 3, "'1,200' has a thousands separator"),
        ("base;;12,5\nage;< 1.200;1\n", 3, "'1.200' has a thousands separator"),
        ("base;;12,5\nage;1.200;1\n", 3, "'1.200' has a thousands separator"),
        ("age;< 30;1.200,5\n", 2, "'1.200,5' has a thousands separator"),
        ("age;< 30;1.200.000\n", 2, "'1.200.000' has a thousands separator"),
        ("age;< 30;1 200\n", 2, "'1 200' has a thousands separator"),
        ("age;< 1.200,5;1\n", 2, "'1.200,5' has a thousands separator"),
        ("base;;12,5\nage;< 30;1.5\n", 3, "'1.5' has another decimal mark than '12,5' in line 2; write all numbers"),
        ("base;;12,5\nage;[1,5,3);1\n", 3, "does not say which comma is between its ends; write a space after that"),
        ("base;;12,5\nage;{1,5};1\n", 3, "'{1,5}' may be one number or two"),
    ],
)
def test_thousands_are_never_guessed(rows: str, line: int, words: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as fault:
        quia.load(written(tmp_path, EUROPEAN + rows + REST))
    assert words in str(fault.value) and fault.value.line == line


def test_a_point_or_comma_that_others_show_is_taken_for_decimals(tmp_path: Path) -> None:
    for rows, cut in (
        ("base;;0.5\nage;< 1.200;1.125\n", 1.2),
        ("base;;0,5\nage;< 1,200;1,125\n", 1.2),
        ("base;;12\nage;[0,30);1\n", 30.0),
        ("base;;0,5\nage;[0,30);1\n", 30.0),
    ):
        card = quia.load(written(tmp_path, EUROPEAN + rows + REST))
        assert card.variables[0].cuts[-1].threshold == cut
    assert quia.load(written(tmp_path, HEAD + "age,< 1.200,1.125\nage,else,0\ncutoff,,1\n")).unit == 1000
    for text, words in (
        (HEAD + 'age,"1,5",1\nage,else,0\ncutoff,,1\n', "'age' is '1,5'; write a number as in 1250.5"),
        (HEAD.replace(",", "\t") + "age\t< 3\t1,5\nage\telse\t0\ncutoff\t\t1\n", "'1,5', which is no number"),
    ):
        with pytest.raises(FormatError, match=words):
            quia.load(written(tmp_path, text))


@pytest.mark.parametrize("seed", range(2))
def test_broken_at_random_it_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    said = []
    for _ in range(250):
        text = list(CARD)
        for _ in range(rng.randint(1, 4)):
            text[rng.randrange(len(text))] = rng.choice(
                ["", "0", "-", ",", "[", "{", '"', "e", "<", "\n", "\0", "é", "_"]
            )
        try:
            quia.load(written(tmp_path, "".join(text)))
        except QuiaError as fault:
            said.append(str(fault))
    assert len(said) > 100 and not any("\n" in fault for fault in said)


def test_the_example(examples: Path) -> None:
    card = quia.load(examples / "credit_scorecard.csv")
    assert (len(card.variables), card.classes, card.unit) == (12, ("deny", "grant"), 10.0)
    names, values = ((examples / "applicant.csv").read_text().splitlines()[at].split(",") for at in (0, 1))
    why = quia.explain(card, dict(zip(names, values, strict=True)))
    assert why.decision == "deny"
    assert [str(reason) for reason in why.sufficient_reasons(general=True, shortest=True)] == [
        "checking=overdrawn and duration >= 24 and savings in {none, small} and guarantor=no"
    ]
