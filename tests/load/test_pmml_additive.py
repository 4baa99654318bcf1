"""PMML's Scorecard and RegressionModel: our class is that of a small evaluator of its own, written from the standard.

What it computes was compared with JPMML's evaluator on the same models: the order of sums, ties, and missing values.
"""

import math
import random
import re
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import quia
from quia.errors import FormatError, InstanceError, TooLarge, Unsupported
from quia.load import pmml as loader
from quia.variables import UNKNOWN

sys.path.append(str(Path(__file__).parent))
from test_reasons_of_models import check

TOWNS = ["Ghent", "Bruges", "Ostend"]
Row = dict[str, Any]


def document(model: str, x: str = "", z: str = "", labels: str = "ab", schema: str = "") -> bytes:
    """A file with the numbers x and z, the towns t, u, v and w, and a target."""
    towns = "".join(f'<Value value="{town}"/>' for town in TOWNS)
    classes = "".join(f'<Value value="{label}"/>' for label in labels)
    fields = f"""
 <DataField name="y" optype="categorical" dataType="string">{classes}</DataField>
 <DataField name="r" optype="continuous" dataType="double"/>
 <DataField name="x" optype="continuous" dataType="double">{x}</DataField>
 <DataField name="z" optype="continuous" dataType="double">{z}</DataField>
 <DataField name="t" optype="categorical" dataType="string">{towns}</DataField>
 <DataField name="u" optype="categorical" dataType="string"/>
 <DataField name="v" optype="categorical" dataType="string">{towns}</DataField>
 <DataField name="w" optype="categorical" dataType="string">{towns}</DataField>"""
    target = "y" if 'functionName="classification"' in model else "r"
    used = schema or "".join(f'<MiningField name="{name}"/>' for name in "xztu")
    whole = model.replace(
        "<MiningSchema/>", f'<MiningSchema><MiningField name="{target}" usageType="target"/>{used}</MiningSchema>'
    )
    return f"""<?xml version="1.0"?>
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><Header/>
<DataDictionary>{fields}</DataDictionary>
{whole}
</PMML>""".encode()


# Scorecards: a list of characteristics, each a list of (predicate, partial score); the first that is true counts.


def written(predicate: Any) -> str:
    if predicate is True:
        return "<True/>"
    operator, *rest = predicate
    if operator in ("and", "or", "surrogate", "xor"):
        return f'<CompoundPredicate booleanOperator="{operator}">{"".join(map(written, rest))}</CompoundPredicate>'
    field, value = rest
    if operator in ("isIn", "isNotIn"):
        array = " ".join(f'"{item}"' for item in value)
        return (
            f'<SimpleSetPredicate field="{field}" booleanOperator="{operator}"><Array type="string" n="{len(value)}">'
            f"{array}</Array></SimpleSetPredicate>"
        )
    shown = "" if value is None else f' value="{value!r}"' if isinstance(value, float) else f' value="{value}"'
    return f'<SimplePredicate field="{field}" operator="{operator}"{shown}/>'


COMPARISONS: dict[str, Any] = {
    "lessThan": lambda a, b: a < b,
    "lessOrEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "greaterOrEqual": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
    "isIn": lambda a, b: a in b,
    "isNotIn": lambda a, b: a not in b,
}


def holds(predicate: Any, row: Row) -> bool | None:
    """PMML's three-valued truth: None is unknown."""
    if predicate is True:
        return True
    operator, *rest = predicate
    if operator in ("and", "or", "surrogate", "xor"):
        inner = [holds(each, row) for each in rest]
        if operator == "surrogate":
            return next((each for each in inner if each is not None), None)
        if operator == "xor":
            return None if None in inner else sum(map(bool, inner)) % 2 == 1
        decisive = operator == "or"
        return decisive if decisive in inner else None if None in inner else not decisive
    field, value = rest
    given = row[field]
    if operator in ("isMissing", "isNotMissing"):
        return (given is None) == (operator == "isMissing")
    return None if given is None else COMPARISONS[operator](given, value)


Card = list[list[tuple[Any, float]]]


def score_of(card: Card, initial: float, row: Row) -> float | None:
    total = initial
    for attributes in card:
        partial = next((score for predicate, score in attributes if holds(predicate, row) is True), None)
        if partial is None:
            return None
        total += partial
    return total


def card_text(card: Card, initial: float) -> str:
    inner = "".join(
        f'<Characteristic name="c{i}" reasonCode="RC{i}" baselineScore="1">'
        + "".join(
            f'<Attribute partialScore="{score!r}">{written(predicate)}</Attribute>' for predicate, score in attributes
        )
        + "</Characteristic>"
        for i, attributes in enumerate(card)
    )
    return (
        f'<Scorecard functionName="regression" initialScore="{initial!r}" useReasonCodes="true" '
        f'reasonCodeAlgorithm="pointsBelow"><MiningSchema/><Characteristics>{inner}</Characteristics></Scorecard>'
    )


def random_card(rng: random.Random) -> Card:
    def points() -> float:
        return rng.choice([float(rng.randrange(-20, 40)), rng.gauss(0, 10), 0.1])

    card = []
    for field in rng.sample("xztu", rng.choice([2, 3, 4])) + rng.sample("xz", 1):
        attributes: list[tuple[Any, float]] = []
        if rng.random() < 0.5:
            attributes.append((("isMissing", field, None), points()))
        if field in "xz":
            cuts = sorted(round(rng.gauss(0, 1), 2) for _ in range(rng.choice([1, 2, 3])))
            for low, high in zip([None, *cuts], [*cuts, None], strict=True):
                parts = [("greaterOrEqual", field, low)] * (low is not None) + [("lessThan", field, high)] * (
                    high is not None
                )
                attributes.append(
                    (parts[0] if len(parts) == 1 else (rng.choice(["and", "and", "surrogate"]), *parts), points())
                )
            if rng.random() < 0.3:
                attributes.insert(0, (("xor", ("lessOrEqual", field, 0.5), ("equal", field, 0.25)), points()))
        else:
            attributes.append((("equal", field, rng.choice(TOWNS)), points()))
            attributes.append((("isIn", field, rng.sample(TOWNS, 2)), points()))
            attributes.append((("or", ("isNotIn", field, TOWNS[:1]), ("equal", field, "Ghent")), points()))
        if rng.random() < 0.5:
            attributes.append((True, points()))
        card.append(attributes)
    return card


def rows_beside(classifier: Any, rng: random.Random, count: int) -> list[Row]:
    rows = []
    for _ in range(count):
        row: Row = {"t": rng.choice([*TOWNS, None]), "u": rng.choice([*TOWNS, "Paris", None])}
        for variable in classifier.variables:
            if variable.labels is None:
                at = rng.choice(
                    [cut.threshold for cut in variable.cuts] if not variable.is_line and variable.cuts else [0.5]
                )
                beside = [math.nextafter(at, -math.inf), at, math.nextafter(at, math.inf)]
                row[variable.name] = rng.choice([*beside, *beside, rng.gauss(0, 1), None])
        rows.append(row)
    return rows


def is_refused(classifier: Any, row: Row) -> bool:
    """Whether a value is none of a variable's, or counts as unknown: it is missing, and has no state."""
    try:
        return UNKNOWN in [classifier.encode(row)[v] for v in classifier.tested]
    except InstanceError:
        return True


@pytest.mark.parametrize("seed", range(25))
def test_scorecards(seed: int) -> None:
    rng = random.Random(seed)
    card, initial = random_card(rng), rng.choice([0.0, 100.0, 0.3])
    data = document(card_text(card, initial))
    loaded = loader.read(data, threshold=initial + 10, classes=["deny", "grant"])
    assert loaded.kind == "scorecard"
    refused = 0
    for row in rows_beside(loaded, rng, 150):
        score = score_of(card, initial, row)
        if score is None:
            assert is_refused(loaded, row)
            refused += 1
            continue
        assert loaded.scores(loaded.encode(row))[0] == score
        assert loaded.classify(row) == ("grant" if score >= initial + 10 else "deny")
    assert refused < 150


@pytest.mark.parametrize("seed", range(3))
def test_reasons_of_scorecards_by_brute_force(seed: int) -> None:
    card: Card = [
        [(("isMissing", "x", None), 3.0), (("lessThan", "x", 0.5), 5.0 + seed), (True, 12.0)],
        [(("lessOrEqual", "z", -1.0), 2.0), (("lessOrEqual", "z", 2.0), 4.0), (("greaterThan", "z", 2.0), 9.0)],
        [(("equal", "t", "Ghent"), 6.0), (("isIn", "t", TOWNS[1:]), 1.0)],
        [(("equal", "u", "Ghent"), 2.5), (True, 0.0)],
    ]
    loaded = loader.read(document(card_text(card, 10.0)), threshold=24)
    names = [variable.name for variable in loaded.variables]

    def predict(rows: Any) -> list[str]:
        scores = [
            score_of(card, 10.0, {n: None if v != v else v for n, v in zip(names, row, strict=True)}) for row in rows
        ]
        return ["24 or more" if score is not None and score >= 24 else "below 24" for score in scores]

    check(loaded, predict, random.Random(seed), instances=8)
    why = quia.explain(loaded, {"x": 1, "z": 0, "t": "Ghent", "u": "Ghent"})
    assert why.count_sufficient() == len(list(why.sufficient_reasons()))


# Regressions: tables of an intercept, numeric predictors (field, coefficient, exponent) and categorical ones.


def table_text(table: Any, label: str | None = None) -> str:
    intercept, numbers, categories = table
    of = "" if label is None else f' targetCategory="{label}"'
    predictors = [
        f'<NumericPredictor name="{field}" coefficient="{c!r}"' + (f' exponent="{power}"' if power != 1 else "") + "/>"
        for field, c, power in numbers
    ] + [
        f'<CategoricalPredictor name="{field}" value="{value}" coefficient="{c!r}"/>' for field, value, c in categories
    ]
    return f'<RegressionTable intercept="{intercept!r}"{of}>{"".join(predictors)}</RegressionTable>'


def value_of(table: Any, row: Row) -> float | None:
    """Numbers first, then of a field's categories in a row the first that matches, the intercept last."""
    intercept, numbers, categories = table
    total = 0.0
    for field, coefficient, power in numbers:
        if row[field] is None:
            return None
        total += coefficient * row[field] ** power
    for field, run in groupby(categories, lambda category: category[0]):
        total += next((coefficient for _, value, coefficient in run if row[field] == value), 0.0)
    return total + intercept


def model_text(tables: Any, method: str, labels: str) -> str:
    kind = "classification" if labels else "regression"
    inner = "".join(table_text(table, label) for table, label in zip(tables, labels or [None], strict=True))
    attributes = f'functionName="{kind}" normalizationMethod="{method}"'
    return f"<RegressionModel {attributes}><MiningSchema/>{inner}</RegressionModel>"


def winner(values: list[float], method: str, labels: str) -> str:
    """The class of the values of all tables, of which ties go to the first."""
    if method in ("logit", "none"):
        first = 1 / (1 + math.exp(-values[0])) if method == "logit" else values[0]
        shares = [first, 1 - first]
    else:
        powers = [math.exp(value - max(values)) for value in values]
        shares = [power / sum(powers) for power in powers]
    return labels[shares.index(max(shares))]


def random_table(rng: random.Random) -> Any:
    numbers = [(field, round(rng.gauss(0, 1), 2), rng.choice([1, 1, 2])) for field in "xz" if rng.random() < 0.8]
    categories = [
        (field, value, rng.gauss(0, 1)) for field in "tu" if rng.random() < 0.7 for value in rng.choices(TOWNS, k=3)
    ]
    if rng.random() < 0.4:
        rng.shuffle(categories)
    return round(rng.gauss(0, 1), 1), numbers, categories


METHODS = [("logit", "ba"), ("softmax", "ba"), ("none", "ab"), ("softmax", "cab"), ("both", "ab"), ("regression", "")]


@pytest.mark.parametrize("seed", range(24))
def test_regressions(seed: int) -> None:
    rng = random.Random(seed)
    kind, labels = METHODS[seed % len(METHODS)]
    method = {"both": "softmax", "regression": "none"}.get(kind, kind)
    tables = [random_table(rng) for _ in labels or "r"]
    if kind in ("logit", "none", "softmax") and len(tables) == 2:
        tables[1] = (0.0 if kind != "softmax" else round(rng.gauss(0, 1), 1), [], [])
    data = document(model_text(tables, method, labels), labels="".join(sorted(labels)))
    loaded = loader.read(data, **({} if labels else {"threshold": 0.5}))
    found = set()
    for row in rows_beside(loaded, rng, 150):
        values = [value_of(table, row) for table in tables]
        if None in values:
            assert is_refused(loaded, row)
            continue
        known = [value for value in values if value is not None]
        inside = loaded.reaching(row)
        counted = inside.scores(inside.encode(row)).tolist()
        assert counted == (known if len(counted) > 1 else known[:1])
        expected = winner(known, method, labels) if labels else ("0.5 or more" if known[0] >= 0.5 else "below 0.5")
        assert loaded.classify(row) == expected
        found.add(expected)
    assert found


@pytest.mark.parametrize("seed", range(12))
def test_reasons_of_regressions_by_brute_force(seed: int) -> None:
    """Categories alone, with coefficients that often tie."""
    rng = random.Random(seed)
    kind, labels = METHODS[seed % len(METHODS)]
    method = {"both": "softmax", "regression": "none"}.get(kind, kind)

    def table() -> Any:
        return 0.5, [], [(field, town, rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0])) for field in "tuvw" for town in TOWNS]

    tables = [table() for _ in labels or "r"]
    if kind in ("logit", "none"):
        tables[1] = (0.0, [], [])
    schema = "".join(f'<MiningField name="{name}"/>' for name in "tuvw")
    data = document(model_text(tables, method, labels), labels="".join(sorted(labels)), schema=schema)
    loaded = loader.read(data, **({} if labels else {"threshold": 0.5}))
    names = [variable.name for variable in loaded.variables]

    def predict(rows: Any) -> list[str]:
        found = []
        for row in rows:
            values = [value_of(table, dict(zip(names, row, strict=True))) or 0.0 for table in tables]
            above = "0.5 or more" if values[0] >= 0.5 else "below 0.5"
            found.append(winner(values, method, labels) if labels else above)
        return found

    check(loaded, predict, rng)


@pytest.mark.parametrize("method", ["logit", "softmax", "none"])
def test_ties_go_to_the_first_table(method: str) -> None:
    """As in JPMML: also where only rounding makes two probabilities equal."""
    constant = {"logit": 0.0, "softmax": 0.25, "none": 0.0}[method]
    even = {"logit": 0.0, "softmax": 0.25, "none": 0.5}[method]
    tables = [(0.0, [("x", 1.0, 1)], []), (constant, [], [])]
    loaded = loader.read(document(model_text(tables, method, "ba")))
    near = [
        even,
        even - 1e-17,
        even + 1e-17,
        math.nextafter(even, -1),
        math.nextafter(even, 1),
        even - 1e-15,
        even + 1e-15,
    ]
    for x in near:
        row = {"x": x, "z": 0, "t": "Ghent", "u": "Ghent"}
        assert loaded.classify(row) == winner([x, constant], method, "ba"), x
    assert loaded.classify({"x": even, "z": 0, "t": "Ghent", "u": "Ghent"}) == "b"
    assert loaded.classify({"x": even - 1e-15, "z": 0, "t": "Ghent", "u": "Ghent"}) == "a"


def test_ranges_replacements_and_invalid_values() -> None:
    """An interval of valid numbers is the range of a line; a replacement stands for a missing value."""
    tables = [(-1.0, [("x", 2.0, 1), ("z", 1.0, 2)], [("t", "Ghent", 1.5)]), (0.0, [], [])]
    schema = (
        '<MiningField name="x"/><MiningField name="z" missingValueReplacement="0.5"/>'
        '<MiningField name="t" missingValueReplacement="Ghent"/>'
    )
    data = document(
        model_text(tables, "logit", "ba"),
        x='<Interval closure="closedOpen" leftMargin="-2" rightMargin="3"/>',
        schema=schema,
    )
    loaded = loader.read(data)
    x, z = loaded.variables[:2]
    assert x.range == (-2.0, math.nextafter(3.0, 0)) and z.range is None and loaded.unbounded == ("z",)
    for row in ({"x": 0.4, "z": None, "t": None}, {"x": 0.1, "z": None, "t": "Bruges"}):
        full = {"x": row["x"], "z": 0.5, "t": row["t"] or "Ghent"}
        assert loaded.scores(loaded.encode(row)) == loaded.scores(loaded.encode(full)) == [value_of(tables[0], full)]
    bounded = loaded.with_ranges({"z": (-1, 1)})
    why = quia.explain(bounded, {"x": 2, "z": 0, "t": "Ghent"})
    assert [set(reason.features) for reason in why.sufficient_reasons()] == [{"x"}]


SCALED = """<LocalTransformations>
 <DerivedField name="standardScaler(x)" optype="continuous" dataType="double">
  <Apply function="/"><Apply function="-"><FieldRef field="x"/><Constant dataType="double">4.928366157108645</Constant>
  </Apply><Constant dataType="double">2.035639193102207</Constant></Apply></DerivedField>
 <DerivedField name="minMaxScaler(z)" optype="continuous" dataType="double">
  <Apply function="+"><Apply function="*"><FieldRef field="z"/>
  <Constant dataType="double">0.16616195634903233</Constant></Apply>
  <Constant dataType="double">0.6479355432957572</Constant></Apply></DerivedField>
 <DerivedField name="turned" optype="continuous" dataType="double">
  <Apply function="-"><Constant>0.1</Constant><FieldRef field="standardScaler(x)"/></Apply></DerivedField>
</LocalTransformations>"""


@pytest.mark.parametrize("labels", ["ba", "cab"])
def test_scaled_numbers_as_jpmml_writes_them(labels: str) -> None:
    """Files as its converter of scikit-learn writes them; the steps are done in its order."""
    rng = random.Random(len(labels))
    names = ["standardScaler(x)", "minMaxScaler(z)", "turned"]
    tables: list[Any] = [
        (
            rng.gauss(0, 1),
            [(name, rng.gauss(0, 2), 1) for name in names],
            [("t", town, rng.gauss(0, 1)) for town in TOWNS],
        )
        for _ in labels
    ]
    if labels == "ba":
        tables[1] = (0.0, [], [])
    method = "logit" if labels == "ba" else "softmax"
    text = model_text(tables, method, labels).replace("<MiningSchema/>", f"<MiningSchema/>{SCALED}")
    loaded = loader.read(document(text, labels="".join(sorted(labels))))
    assert loaded.sizes == {"terms": 4, "lines": 3}
    found = set()
    for _ in range(200):
        row: Row = {"x": rng.gauss(5, 2), "z": rng.gauss(0, 2), "t": rng.choice(TOWNS), "u": None}
        scaled = (row["x"] - 4.928366157108645) / 2.035639193102207
        made = {names[0]: scaled, names[1]: row["z"] * 0.16616195634903233 + 0.6479355432957572, names[2]: 0.1 - scaled}
        values = [value_of(table, {**row, **made}) for table in tables]
        known = [value for value in values if value is not None]
        inside = loaded.reaching(row)
        counted = inside.scores(inside.encode(row)).tolist()
        assert counted == known[: len(counted)]
        found.add(winner(known, method, labels))
        assert loaded.classify(row) == winner(known, method, labels)
    assert len(found) == len(labels)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('function="/"', 'function="pow"'),
        (">2.035639193102207<", ">0<"),
        ('<FieldRef field="x"/>', '<FieldRef field="x" mapMissingTo="1"/>'),
        (
            'name="standardScaler(x)" optype="continuous" dataType="double"',
            'name="standardScaler(x)" optype="continuous" dataType="float"',
        ),
        ('<FieldRef field="x"/>', '<FieldRef field="nobody"/>'),
    ],
)
def test_other_derived_fields_are_refused(old: str, new: str) -> None:
    tables = [(0.0, [("standardScaler(x)", 1.0, 1)], []), (0.0, [], [])]
    text = model_text(tables, "logit", "ba").replace("<MiningSchema/>", f"<MiningSchema/>{SCALED.replace(old, new)}")
    with pytest.raises(Unsupported, match=r"'standardScaler\(x\)'"):
        loader.read(document(text))


REFUSED = [
    ('<PredictorTerm coefficient="1"><FieldRef field="x"/><FieldRef field="z"/></PredictorTerm>', "PredictorTerm"),
    ('<NumericPredictor name="x" coefficient="1" exponent="3"/>', "exponent 3"),
    ('<NumericPredictor name="nobody" coefficient="1"/>', "'nobody'"),
    ('<NumericPredictor name="t" coefficient="1"/>', "'t' is a <NumericPredictor>"),
    ('<CategoricalPredictor name="x" value="1" coefficient="1"/>', "'x', a number"),
]


@pytest.mark.parametrize(("predictor", "match"), REFUSED)
def test_what_a_regression_may_not_do(predictor: str, match: str) -> None:
    text = model_text([(0.0, [], []), (0.0, [], [])], "logit", "ba").replace(
        ">" + "</RegressionTable>", f">{predictor}</RegressionTable>", 1
    )
    with pytest.raises(Unsupported, match=match):
        loader.read(document(text))


@pytest.mark.parametrize("method", ["probit", "cloglog", "simplemax", "exp"])
def test_other_normalizations_are_refused(method: str) -> None:
    with pytest.raises(Unsupported, match=f"normalizationMethod='{method}'"):
        loader.read(document(model_text([(0.0, [], []), (0.0, [], [])], method, "ba")))
    with pytest.raises(Unsupported, match=f"normalizationMethod='{method}'"):
        loader.read(document(model_text([(0.0, [], [])], method, "")), threshold=0)


def test_what_a_scorecard_may_not_do() -> None:
    two: Card = [[(("and", ("lessThan", "x", 1.0), ("lessThan", "z", 1.0)), 1.0), (True, 0.0)]]
    with pytest.raises(Unsupported, match="tests several fields, 'x', 'z'"):
        loader.read(document(card_text(two, 0.0)), threshold=1)
    gap: Card = [[(("lessThan", "x", 1.0), 1.0), (("greaterThan", "x", 1.0), 2.0)]]
    with pytest.raises(Unsupported, match=r"no attribute for x = 1, so"):
        loader.read(document(card_text(gap, 0.0)), threshold=1)
    with pytest.raises(Unsupported, match="a scorecard predicts numbers, and no class; give the cutoff"):
        loader.read(document(card_text([[(True, 1.0)]], 0.0)))
    text = card_text([[(True, 1.0)]], 0.0)
    for old, new, match in (
        (
            'partialScore="1.0">',
            "><ComplexPartialScore><Constant>1</Constant></ComplexPartialScore>",
            "ComplexPartialScore",
        ),
        ("<Scorecard ", '<Scorecard x-mathContext="float" ', "x-mathContext is 'float'"),
        (
            "<Characteristics>",
            '<Targets><Target field="r" rescaleFactor="2"/></Targets><Characteristics>',
            "rescaleFactor",
        ),
    ):
        with pytest.raises(Unsupported, match=match):
            loader.read(document(text.replace(old, new)), threshold=1)


def test_costly_tables_are_refused() -> None:
    """A file whose categories come in turns would make a table of all of them for each."""
    turns = [(field, f"{field}{i}", 1.0) for i in range(3000) for field in "uv"]
    text = model_text([(0.0, [], turns), (0.0, [], [])], "logit", "ba")
    schema = '<MiningField name="u"/><MiningField name="v"/>'
    more = b'<DataField name="v" optype="categorical" dataType="string"/></DataDictionary>'
    with pytest.raises(TooLarge, match="steps"):
        loader.read(document(text, schema=schema).replace(b"</DataDictionary>", more))


def test_damaged_files() -> None:
    card = card_text([[(("lessThan", "x", 1.0), 1.0), (True, 2.0)]], 0.0)
    model = model_text([(0.5, [("x", 1.0, 1)], [("t", "Ghent", 2.0)]), (0.0, [], [])], "logit", "ba")
    changes = [
        (card, r'partialScore="1.0"', 'partialScore="inf"'),
        (card, r'partialScore="1.0"', ""),
        (card, r'partialScore="1.0"', 'partialScore="1e308"'),
        (card, r'initialScore="0.0"', 'initialScore="nan"'),
        (card, r"<True/>", "<True/><True/>"),
        (card, r"<Characteristics>.*</Characteristics>", "<Characteristics/>"),
        (card, r"<Attribute .*</Attribute>", ""),
        (model, r'coefficient="1.0"', 'coefficient="1e999"'),
        (model, r'coefficient="1.0"', 'coefficient="1_0"'),
        (model, r'intercept="0.5"', 'intercept="x"'),
        (model, r'targetCategory="b"', 'targetCategory="a"'),
        (model, r'targetCategory="b"', ""),
        (model, r'value="Ghent" ', ""),
        (model, r'name="x"', ""),
    ]
    for text, pattern, new in changes:
        damaged = re.sub(pattern, new, text, count=1)
        assert damaged != text
        with pytest.raises((FormatError, Unsupported)):
            loader.read(document(damaged), **({"threshold": 1} if text is card else {}))
