"""The text of formulas: arrows, comparisons and names as people write them, against a small evaluator of its own."""

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quia import FormatError, TooLarge, Variable, formula
from quia.conditions import parse as condition
from quia.conditions import refined
from quia.formula import FALSE, TRUE, equivalence, implication, member, parse, parse_all, state
from quia.literal import Literal
from quia.ranges import union
from work import counted

AGE, PAY = Variable.numeric("age", [30]), Variable.numeric("pay", [0.1], missing=True)
SEX, GPA = Variable.nominal("sex", ["F", "M"]), Variable.nominal("GPA", ["low", "medium", "high"])
ADULT = [
    Variable.numeric("education-num"),
    Variable.nominal("education", ["Bachelors", "Masters", "HS-grad"]),
    Variable.nominal("marital-status", ["Married-civ-spouse", "Never-married"]),
    Variable.nominal("relationship", ["Husband", "Wife", "Own-child", "Other-relative", "Not-in-family", "Unmarried"]),
    Variable.numeric("hours per week"),
    Variable.nominal("capital.gain", ["some of it", "none"]),
]
EVERY = [AGE, PAY, SEX, GPA]


# ---- what is read, against what Python says -------------------------------------------------------------------------

NUMBERS = st.sampled_from([-1.5e3, -1, 0, 0.1, 18, 25, 29.5, 30, 64, 65, 1e16])
SIGNS = {
    "<": float.__lt__,
    "<=": float.__le__,
    ">": float.__gt__,
    ">=": float.__ge__,
    "=": float.__eq__,
    "!=": float.__ne__,
}
SIGNS |= {"≤": float.__le__, "≥": float.__ge__, "≠": float.__ne__, "==": float.__eq__}


def compared(name, sign, number):
    """A comparison as text, and as a function of a world; a value that is missing (None) only differs from all."""

    def told(world):
        value = world[name]
        return sign in ("!=", "≠") if value is None else SIGNS[sign](float(value), float(number))

    return f"{name}{sign}{number!r}", told


@st.composite
def comparisons(draw):
    name, number, sign = draw(st.sampled_from(["age", "pay"])), draw(NUMBERS), draw(st.sampled_from(sorted(SIGNS)))
    kind = draw(st.sampled_from(["sign", "turned", "chain", "interval", "set", "missing"]))
    if kind == "turned":
        mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "≤": ">=", "≥": "<="}
        text, told = compared(name, sign, number)
        return f"{number!r} {mirrored.get(sign, sign)} {name}", told
    if kind in ("chain", "interval"):
        low, high = sorted([number, draw(NUMBERS)])
        after, closed = (False, True) if low == high else (draw(st.booleans()), draw(st.booleans()))
        text = f"{low!r} {'<' if after else '<='} {name} {'<=' if closed else '<'} {high!r}"
        if kind == "interval":
            text = f"{name} in {'(' if after else '['}{low!r},{high!r}{']' if closed else ')'}"

        def inside(world):
            value = world[name]
            if value is None:
                return False
            return (low < value or (low == value and not after)) and (value < high or (value == high and closed))

        return text, inside
    if kind == "set":
        numbers, but = draw(st.lists(NUMBERS, max_size=3)), draw(st.booleans())
        text = f"{name} {'not ' * but}in {{{', '.join(map(repr, numbers))}}}"
        return text, lambda world: (world[name] in numbers) != but
    if kind == "missing":
        text, differs = draw(st.sampled_from([("= missing", False), ("!= missing", True), ("is not missing", True)]))
        return f"pay {text}", lambda world: (world["pay"] is None) != differs
    return compared(name, sign, number)


STATES = st.sampled_from(
    [
        ("sex=F", lambda world: world["sex"] == "F"),
        ("sex", lambda world: world["sex"] == "M"),
        ("GPA ≠ high", lambda world: world["GPA"] != "high"),
        ("GPA in {low, medium}", lambda world: world["GPA"] != "high"),
        ("GPA not in {low}", lambda world: world["GPA"] != "low"),
        ("true", lambda world: True),
    ]
)
# For each sign how much it binds, what Python says of it, and on which side a part that binds as much needs brackets.
JOINED = {
    "&": (4, lambda a, b: a and b, ""),
    "|": (3, lambda a, b: a or b, ""),
    "->": (2, lambda a, b: not a or b, "left"),
    "<->": (1, lambda a, b: a == b, "both"),
}
WAYS = {"&": ["&", "and", "∧", "&&"], "|": ["|", " or ", "∨"], "->": ["->", "=>", "→", " implies "]}
WAYS |= {"<->": ["<->", "<=>", "↔", " iff "], "!": ["!", "not ", "¬"]}


@st.composite
def sentences(draw, depth=3):
    """A text, how much its outermost sign binds, and what it says of a world."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        text, told = draw(st.one_of(comparisons(), STATES))
        return text, 5, told
    if draw(st.integers(0, 4)) == 0:
        text, binds, told = draw(sentences(depth - 1))
        return f"{draw(st.sampled_from(WAYS['!']))}{text if binds == 5 else f'({text})'}", 5, lambda w: not told(w)
    sign = draw(st.sampled_from(sorted(JOINED)))
    binds, joins, needs = JOINED[sign]
    parts = []
    for side in ("left", "right"):
        text, inner, told = draw(sentences(depth - 1))
        bare = inner > binds or (inner == binds and needs not in (side, "both"))
        parts.append((text if bare and draw(st.booleans()) else f"({text})", told))
    (left, a), (right, b) = parts
    blank = draw(st.sampled_from(["", " "])) if sign != "&" else " "
    return f"{left}{blank}{draw(st.sampled_from(WAYS[sign]))}{blank}{right}", binds, lambda w: joins(a(w), b(w))


WORLDS = st.fixed_dictionaries(
    {
        "age": NUMBERS.flatmap(
            lambda n: st.sampled_from([n, math.nextafter(n, -math.inf), math.nextafter(n, math.inf)])
        ),
        "pay": st.one_of(st.none(), NUMBERS),
        "sex": st.sampled_from(["F", "M"]),
        "GPA": st.sampled_from(["low", "medium", "high"]),
    }
)


@settings(max_examples=200, deadline=None)
@given(sentences(), st.lists(WORLDS, min_size=3, max_size=6))
def test_a_text_means_what_a_plain_evaluator_says(sentence, worlds):
    text, _, told = sentence
    delta = parse(text, EVERY)
    for world in worlds:
        assert delta.satisfied_by(world) == told(world), text
    if "nodes)" not in str(delta):
        assert parse(str(delta), delta.variables) is delta


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_printing_parses_back_to_the_same_object(data):
    cuts = st.lists(st.tuples(st.floats(allow_nan=False), st.booleans()), max_size=5)
    variables = [
        Variable.numeric("missing", data.draw(cuts), missing=data.draw(st.booleans())),
        Variable.numeric("5", data.draw(cuts), single=True, missing=data.draw(st.booleans())),
        Variable.nominal("is it", ["missing", "iff", "a-b", "-3"]),
    ]
    sets = st.sampled_from(variables).flatmap(
        lambda v: st.sets(st.integers(0, v.size - 1)).map(lambda states: member(v, states))
    )
    joined = st.recursive(
        sets,
        lambda parts: st.one_of(
            st.tuples(parts, parts).map(lambda pair: pair[0] & pair[1]),
            st.tuples(parts, parts).map(lambda pair: pair[0] | pair[1]),
            st.tuples(parts, parts).map(lambda pair: pair[0] >> pair[1]),
            parts.map(lambda part: ~part),
        ),
        max_leaves=6,
    )
    delta = data.draw(joined)
    assert parse(str(delta), delta.variables) is delta
    assert parse_all([delta], variables) == (delta,)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_what_literals_say_is_read(data):
    age = Variable.numeric("age", [20, (30, "before"), 30, 40], missing=data.draw(st.booleans()))
    variable = data.draw(st.sampled_from([age, GPA]))
    states = data.draw(st.sets(st.integers(0, variable.size - 1), min_size=1))
    said = str(Literal(variable, union((s, s) for s in states)))
    assert formula.equivalent(parse(said, [variable]), member(variable, states)), said


def test_every_comparison_at_and_beside_its_number():
    """Each sign, from both sides, and each chain of two, as Python itself compares."""
    signs, bare = ("<", "<=", ">", ">="), [Variable.numeric("age", missing=True)]
    values = [value for n in (18, 65) for value in (math.nextafter(n, -math.inf), n, math.nextafter(n, math.inf))]
    texts = [f"age {sign} 18" for sign in (*signs, "==", "!=")] + [f"18 {sign} age" for sign in (*signs, "==", "!=")]
    for first in signs:
        texts += [f"18 {first} age {second} 65" for second in signs if first[0] == second[0] == "<"]
        texts += [f"65 {first} age {second} 18" for second in signs if first[0] == second[0] == ">"]
    assert len(texts) == 20
    for text in texts:
        delta = parse(text, bare)
        assert [delta.satisfied_by({"age": age}) for age in values] == [eval(text, {"age": age}) for age in values], (
            text
        )
        assert delta.satisfied_by({"age": None}) == ("!=" in text)


def test_comparisons_are_printed_as_people_write_them():
    printed = {
        "25 > age": "age < 25",
        "!(age < 25) & sex=F": "!(age < 25) & sex=F",
        "20 <= age < 30": "age in [20, 30)",
        "age < 20 or >= 30 or = 25": "age < 20 | = 25 | >= 30",
        "(age < 20 | > 30) & sex=F": "(age < 20 | > 30) & sex=F",
        "age <= 3 or missing": "age <= 3 | = missing",
        "age in {20}": "age = 20",
    }
    for text, wanted in printed.items():
        assert str(parse(text, [Variable.numeric("age", missing=True), SEX])) == wanted


# ---- arrows ---------------------------------------------------------------------------------------------------------


def test_arrows_bind_as_logicians_write_them():
    a, b, c = (Variable.nominal(name, ["0", "1"]) for name in "abc")
    x, y, z = (state(v, "1") for v in (a, b, c))
    both = (a, b, c)
    assert parse("a -> b -> c", both) is x >> (y >> z) is parse("a=1->b=1->c=1", both)
    assert parse("a | b -> c & a", both) is (x | y) >> (z & x)
    assert parse("a -> b <-> c", both) is equivalence(x >> y, z) is parse("a=>b<=>c", both)
    assert parse("(a <-> b) <-> c", both) is equivalence(equivalence(x, y), z)
    assert implication(x, y) is x >> y is ~x | y
    with pytest.raises(TypeError):
        x >> 1
    with pytest.raises(FormatError, match=r"^column 9: a <-> b <-> c can be read in several ways; put two"):
        parse("a <-> b <-> c", both)


# ---- names ----------------------------------------------------------------------------------------------------------


def test_names_with_hyphens_dots_and_spaces_need_no_quotes():
    rule = parse("education-num >= 13 -> education in {Bachelors, Masters}", ADULT)
    assert not rule.satisfied_by({"education-num": 13, "education": "HS-grad"})
    assert rule.satisfied_by({"education-num": 12.9, "education": "HS-grad"})
    rule = parse(
        "marital-status=Married-civ-spouse->relationship in {Husband, Wife, Own-child, Other-relative, Not-in-family}",
        ADULT,
    )
    assert not rule.satisfied_by({"marital-status": "Married-civ-spouse", "relationship": "Unmarried"})
    assert rule.satisfied_by({"marital-status": "Never-married", "relationship": "Unmarried"})
    long = parse("hours per week<=40->capital.gain=some of it and not education=HS-grad", ADULT)
    assert long is parse('"hours per week" <= 40 -> "capital.gain"="some of it" & !(education="HS-grad")', ADULT)


def test_states_are_found_as_values_are_where_that_is_clear():
    flag, bits = Variable.nominal("flag", ["false", "true"]), Variable.nominal("bits", ["0", "1"])
    titled = Variable.nominal("titled", ["False", "True"])
    job = Variable.nominal("job", ["cook", "none", "other"], other="other", no_value="none")
    every = [flag, bits, titled, job]
    assert parse("flag=true", every) is parse("flag=1", every) is parse("flag in {TRUE}", every) is state(flag, "true")
    assert parse("bits=1", every) is parse("1=bits", every) is parse("bits=1.0", every) is state(bits, "1")
    assert parse("titled=true", every) is state(titled, "True")
    assert parse("job is missing", every) is state(job, "none")
    with pytest.raises(FormatError, match="'job' has no state 'baker'"):  # not what all others are
        parse("job=baker", every)


# ---- cuts -----------------------------------------------------------------------------------------------------------


def test_a_variable_gets_the_cuts_that_the_text_needs_and_no_other():
    bare = [Variable.numeric("age"), Variable.numeric("pay", missing=True), SEX]
    one, other = parse_all(["age < 25 -> sex=F", "18 <= age & pay = 5 & age in (-inf, inf)"], bare)
    ages = {v for f in (one, other) for v in f.variables if v.name == "age"}
    assert [[cut[:] for cut in v.cuts] for v in ages] == [[(18.0, False), (25.0, False)]]
    assert [v.cuts for v in other.variables if v.name == "pay"] == [((5.0, False), (5.0, True))]
    assert parse("age > 30", [AGE]).variables == (AGE,)
    assert parse("age", [AGE]) is state(AGE, 31)


def test_numbers_of_32_bits_are_compared_as_the_model_does():
    width = Variable.numeric("w", single=True)
    (tenth,) = struct.unpack("f", struct.pack("f", 0.1))
    at_most, less = parse_all(["w <= 0.1", "w < 0.1"], [width])
    assert at_most.satisfied_by({"w": tenth}) and at_most.satisfied_by({"w": 0.1})
    assert not less.satisfied_by({"w": 0.1}) and less.satisfied_by({"w": 0.0999})
    assert parse(str(at_most), at_most.variables) is at_most


def test_a_line_is_never_listed():
    with counted(20_000):
        rule = parse("income > 5 -> income <= 1e6", [Variable.line("income", 0, 2e6)])
    assert rule.satisfied_by({"income": 3}) and not rule.satisfied_by({"income": 1e6 + 1})
    assert rule.variables[0].size == 3


def test_formulas_are_carried_to_the_variables_of_the_same_name():
    many = Variable.numeric("age", range(1000), missing=True)
    young = parse("age < 25 & !(age in [3, 4]) & sex=F", [many, SEX])
    carried, other = parse_all([young, "age > 60"], [Variable.numeric("age", missing=True), SEX])
    (age,) = (v for v in carried.variables if v.name == "age")
    assert [cut.threshold for cut in age.cuts] == [3, 4, 25, 60] and age in other.variables
    for value in (2, 3, 3.5, 4, 4.5, 24.9, 25, None):
        world = {"age": value, "sex": "F"}
        assert carried.satisfied_by(world) == young.satisfied_by(world)
    assert parse_all(young, [*young.variables]) == (young,)
    assert parse_all([TRUE, FALSE, "true"], []) == (TRUE, FALSE, TRUE)


def test_class_formulas_share_their_cuts():
    graph = formula.classifier({"yes": "age < 25", "no": "!(age < 20) & age >= 25"}, [Variable.numeric("age"), SEX])
    assert [graph.classify({"age": age}) for age in (24.9, 25)] == ["yes", "no"]


# ---- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("GPA < high", 5, "'GPA' is nominal, so that '<' says nothing of it; name the states"),
        ("3 < GPA", 3, "'GPA' is nominal"),
        ("age < old", 7, "there is 'old' where a number that 'age' is compared with should be"),
        ("age < pay", 7, "does not compare two variables"),
        ("age < 1_000", 7, "a number"),
        ("age <", 6, "nothing where a number"),
        ("age < nan", 7, "a number"),
        ("age in (30, 20]", 9, "holds for no number"),
        ("30 < age < 20", 1, "holds for no number"),
        ("30 < age > 20", 10, "point the same way"),
        ("age in (20 30]", 12, "a ',' and the upper end"),
        ("age in (20, 30", 15, "closes the interval"),
        ("age in 20", 8, "interval: age in (20, 30]"),
        ("GPA in (low, high)", 8, "braces"),
        ("age", 1, "'age' stands alone"),
        ("5", 1, "the number 5 stands alone"),
        ("age => 5", 1, "'age' stands alone"),
        ("age = missing", 7, "never missing"),
        ("age > 3 and <= 5", 13, "write the variable in each comparison"),
        ("sex & age < 3 or > 5", 7, "put it in brackets"),
        ("!age < 3 or > 5", 2, "put it in brackets"),
        ("age < 3 or > 5 & sex", 1, "put it in brackets"),
        ("education-num > 3", 1, "no variable 'education-num'"),
        ("GPA=very high", 5, "no state 'very'"),
        ("GPA=low high", 9, "in quotes"),
        ("GPA not low", 9, "followed by 'in'"),
        ("GPA=mediun", 5, "did you mean 'medium'?"),
        ("age=5 -> ", 9, "the text ends"),
        ("age % 5", 5, "nothing that a formula has"),
        ('age="about 5"', 5, "cannot be read"),
    ],
)
def test_faults_are_told_with_their_column(text, column, says):
    variables = [Variable.numeric("age"), PAY, SEX, GPA]
    with pytest.raises(FormatError, match=f"^column {column}: ") as caught:
        parse(text, variables)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_which_of_several_is_at_fault_is_told():
    with pytest.raises(FormatError, match=r"^in 'GPA=lo', column 5: 'GPA' has no state 'lo'"):
        parse_all(["sex=F", "GPA=lo"], EVERY)
    with pytest.raises(FormatError, match=r"^column 5: "):
        parse_all(["GPA=lo"], EVERY)
    with pytest.raises(FormatError, match=r"mentions 'agee', which is no variable; .*did you mean 'age'"):
        parse_all(parse("agee < 5", [Variable.numeric("agee")]), EVERY)
    with pytest.raises(FormatError, match="'sex' as a numeric variable, but it is nominal"):
        parse_all(parse("sex < 5", [Variable.numeric("sex")]), EVERY)
    with pytest.raises(FormatError, match=r"state 'f' of 'sex', whose states are F, M .*did you mean 'F'"):
        parse_all(parse("sex=f", {"sex": ["f", "m"]}), EVERY)
    for wrong in (5, {"age": 5}, b"sex", [5], None):
        with pytest.raises(FormatError, match="give a text"):
            parse_all(wrong, EVERY)


# ---- size -----------------------------------------------------------------------------------------------------------


def test_work_grows_with_the_text_alone():
    lines = []
    for size in (60, 600):
        text = " -> ".join(["(" * 3 + "age < 25 <-> !sex=F | GPA in {low, high}" + ")" * 3] * size)
        with counted() as work:
            parse(text, EVERY)
        lines.append(work.lines)
    assert lines[1] < 11 * lines[0]
    for hostile in ("1" * 200_000 + "a", "a" + "-" * 200_000, '"' + "\\" * 200_001, "(" * 200_000, "!" * 200_000):
        with pytest.raises(FormatError):
            parse(hostile, EVERY)
    deep = parse("(" * 50_000 + "sex" + ")" * 50_000, EVERY)
    assert deep is state(SEX, "M")


def test_many_cuts_are_listed_once():
    many = Variable.numeric("age", range(5000))
    with counted(400_000):
        young = parse(" & ".join(["age < 4000.5"] * 50), [many])
    assert len(set(young.children)) == 1
    assert refined(many, [condition("< 4000.5")]) in young.variables
    with pytest.raises(TooLarge, match="compare with fewer numbers"):
        parse(" & ".join(f"age < {i}" for i in range(5000)), [many])
