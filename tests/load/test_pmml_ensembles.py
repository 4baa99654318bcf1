"""PMML's MiningModel: our class is that of a small evaluator of its own, on and next to every threshold.

What it computes was compared with JPMML's evaluator on the same models, and on what JPMML exports.
"""

import random
import re

import numpy as np
import pytest

import quia
from quia.errors import MissingValue
from quia.load import pmml as loader

FIELDS = {"a": "double", "b": "float", "c": "string"}
LABELS = ["u", "v", "w"]
STRATEGIES = [
    'missingValueStrategy="none" noTrueChildStrategy="returnLastPrediction"',
    'missingValueStrategy="lastPrediction"',
    'missingValueStrategy="defaultChild"',
    'missingValueStrategy="nullPrediction"',
]


def random_tree(rng, score, strategy):
    """A tree as nested dicts; the last child of a node takes what the others leave, or is not there."""
    last_is_open = "returnLast" in strategy and rng.random() < 0.5

    def node(predicate, depth, name):
        made = {"predicate": predicate, "score": score(), "children": [], "id": name}
        if depth and rng.random() < 0.8:
            field = rng.choice(list(FIELDS))
            if field == "c":
                chosen = rng.sample(LABELS, 2)
                splits = [("c", "equal", chosen[0]), ("c", "isIn", tuple(chosen))]
            else:
                cuts = sorted(rng.choice([0.1, 0.25, -1 / 3, rng.gauss(0, 1)]) for _ in range(rng.choice([1, 2])))
                splits = [(field, rng.choice(["lessThan", "lessOrEqual"]), cut) for cut in cuts]
            if not last_is_open:
                field, operator, value = splits[-1]
                opposite = {"lessThan": "greaterOrEqual", "lessOrEqual": "greaterThan", "isIn": "isNotIn"}[operator]
                splits.append((field, opposite, value))
            made["children"] = [node(split, depth - 1, f"{name}.{i}") for i, split in enumerate(splits)]
            made["default"] = rng.choice(made["children"])["id"]
        return made

    return {"root": node(None, 3, "n"), "strategy": strategy}


def holds(predicate, row):
    """True, False or None, which is unknown."""
    field, operator, value = predicate
    given = row[field]
    if given is None:
        return None
    if field == "c":
        return {"equal": given == value, "isIn": given in value, "isNotIn": given not in value}[operator]
    kind = np.float32 if field == "b" else np.float64
    given, value = kind(given), kind(value)
    return bool(
        {
            "lessThan": given < value,
            "lessOrEqual": given <= value,
            "greaterThan": given > value,
            "greaterOrEqual": given >= value,
        }[operator]
    )


def reached(tree, row):
    """The score of a tree; None is no prediction."""
    node, strategy = tree["root"], tree["strategy"]
    while node["children"]:
        following = None
        for child in node["children"]:
            answer = holds(child["predicate"], row)
            if answer is None and "lastPrediction" in strategy:
                return node["score"]
            if answer is None and "null" in strategy:
                return None
            if answer is None and "defaultChild" in strategy:
                following = next(c for c in node["children"] if c["id"] == node["default"])
                break
            if answer:
                following = child
                break
        if following is None:
            return node["score"] if "returnLast" in strategy else None
        node = following
    return node["score"]


def written(tree, function, context):
    def predicate(given):
        if given is None:
            return "<True/>"
        field, operator, value = given
        if operator in ("isIn", "isNotIn"):
            array = " ".join(value)
            return (
                f'<SimpleSetPredicate field="{field}" booleanOperator="{operator}"><Array n="{len(value)}"'
                f' type="string">{array}</Array></SimpleSetPredicate>'
            )
        return f'<SimplePredicate field="{field}" operator="{operator}" value="{value}"/>'

    def node(given):
        score = given["score"]
        if isinstance(score, dict):
            best = max(score, key=score.get)
            inside = "".join(f'<ScoreDistribution value="{k}" recordCount="{v}"/>' for k, v in score.items())
        else:
            best, inside = score, ""
        default = f' defaultChild="{given["default"]}"' if "default" in given else ""
        children = "".join(node(child) for child in given["children"])
        return (
            f'<Node id="{given["id"]}" score="{best}"{default}>{predicate(given["predicate"])}{inside}{children}</Node>'
        )

    schema = "".join(f'<MiningField name="{name}"/>' for name in FIELDS)
    return (
        f'<TreeModel functionName="{function}" {tree["strategy"]} {context}><MiningSchema>{schema}</MiningSchema>'
        f"{node(tree['root'])}</TreeModel>"
    )


def segmented(trees, method, function, context, weights=None, inside=""):
    segments = "".join(
        f'<Segment id="{i}"{"" if weights is None else f" weight={chr(34)}{weights[i]}{chr(34)}"}><True/>'
        f"{written(tree, function, context)}</Segment>"
        for i, tree in enumerate(trees)
    )
    schema = "".join(f'<MiningField name="{name}"/>' for name in FIELDS)
    target = '<MiningField name="y" usageType="target"/>' if not inside.startswith("<Output") else ""
    return (
        f'<MiningModel functionName="{function}" {context}><MiningSchema>{target}{schema}</MiningSchema>{inside}'
        f'<Segmentation multipleModelMethod="{method}">{segments}</Segmentation></MiningModel>'
    )


def whole(model, labels):
    values = "".join(f'<Value value="{label}"/>' for label in labels)
    target = (
        f'<DataField name="y" optype="categorical" dataType="string">{values}</DataField>'
        if labels
        else '<DataField name="y" optype="continuous" dataType="double"/>'
    )
    fields = "".join(
        f'<DataField name="{name}" optype="continuous" dataType="{kind}"/>'
        if kind != "string"
        else '<DataField name="c" optype="categorical" dataType="string">'
        + "".join(f'<Value value="{label}"/>' for label in LABELS)
        + "</DataField>"
        for name, kind in FIELDS.items()
    )
    return (
        f'<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><Header/><DataDictionary>{target}{fields}'
        f"</DataDictionary>{model}</PMML>"
    )


def chained(rng, context, classes, many):
    """Sums of trees and a RegressionModel; the file, and a function from a row to the class."""
    kind = np.float32 if context else np.float64
    of_type = "float" if context else "double"
    parts, inner, tables = [], [], []
    for index in range(len(classes) if many else 1):
        strategy = rng.choice(STRATEGIES)
        trees = [random_tree(rng, lambda: number(rng), strategy) for _ in range(rng.choice([1, 3, 8]))]
        constant, factor = number(rng), rng.choice([1.0, 0.1])
        method = rng.choice(["sum", "average"])
        parts.append((trees, constant, factor, method))
        inside = (
            f'<Output><OutputField name="s{index}" optype="continuous" dataType="{of_type}" isFinalResult="false"/>'
            f'</Output><Targets><Target rescaleConstant="{constant}" rescaleFactor="{factor}"/></Targets>'
        )
        inner.append(segmented(trees, method, "regression", context, inside=inside))
        label = classes[index if many else 1]
        tables.append(
            f'<RegressionTable intercept="0.0" targetCategory="{label}"><NumericPredictor name="s{index}"'
            ' coefficient="1.0"/></RegressionTable>'
        )
    if not many:
        tables.append(f'<RegressionTable intercept="0.0" targetCategory="{classes[0]}"/>')
    fields = "".join(f'<MiningField name="s{index}"/>' for index in range(len(parts)))
    regression = (
        f'<RegressionModel functionName="classification" normalizationMethod="{"softmax" if many else "logit"}"'
        f' {context}><MiningSchema><MiningField name="y" usageType="target"/>{fields}</MiningSchema>'
        f"{''.join(tables)}</RegressionModel>"
    )
    segments = "".join(f'<Segment id="{i}"><True/>{model}</Segment>' for i, model in enumerate([*inner, regression]))
    schema = '<MiningField name="y" usageType="target"/>' + "".join(f'<MiningField name="{name}"/>' for name in FIELDS)
    model = (
        f'<MiningModel functionName="classification" {context}><MiningSchema>{schema}</MiningSchema>'
        f'<Segmentation multipleModelMethod="modelChain">{segments}</Segmentation></MiningModel>'
    )

    def decide(row):
        scores = [summed(trees, row, kind, constant, factor, method) for trees, constant, factor, method in parts]
        if any(score is None for score in scores):
            return None
        if not many:
            half = kind(1) / (kind(1) + kind(np.exp(-float(scores[0]))))
            return classes[int(half >= kind(1) - half)]
        powers = [kind(np.exp(float(score - max(scores)))) for score in scores]
        total = kind(0)
        for power in powers:
            total = total + power
        shares = [power / total for power in powers]
        return classes[shares.index(max(shares))]

    return whole(model, classes), decide


def number(rng):
    return float(np.float32(rng.choice([0.5, -0.5, 0.25, rng.uniform(-1, 1), rng.uniform(-1e-3, 1e-3)])))


def summed(trees, row, kind, constant=0.0, factor=1.0, method="sum"):
    total = kind(0)
    for tree in trees:
        value = reached(tree, row)
        if value is None:
            return None
        total = total + kind(value)
    if method == "average":
        total = total / kind(len(trees))
    return total * kind(factor) + kind(constant)


def counted(rng, method, classes):
    """A forest of classes; the file, and a function from a row to the class."""
    votes = method.endswith("Vote")

    def shares():
        return {label: rng.choice([1, 2, 3, rng.random(), 0]) + (label == classes[0]) for label in classes}

    count = rng.choice([2, 4, 5, 9])
    strategy = rng.choice(STRATEGIES)
    make = (lambda: rng.choice(classes)) if votes else shares
    trees = [random_tree(rng, make, strategy) for _ in range(count)]
    weighted = method.startswith("weighted")
    weights = [rng.choice([1, 2, 3]) if votes else rng.choice([0.5, 0.3, 2]) for _ in trees] if weighted else None

    def decide(row):
        totals = {} if votes else dict.fromkeys(classes, 0.0)
        for tree, weight in zip(trees, weights or [1] * count, strict=True):
            given = reached(tree, row)
            if given is None:
                return None
            if votes:
                totals[given] = totals.get(given, 0) + weight
                continue
            whole_count = 0.0
            for label in given:
                whole_count += given[label]
            for label in given:
                totals[label] += given[label] / whole_count * weight
        divisor = 1 if votes else sum(weights) if weights else count
        return max(totals, key=lambda label: totals[label] / divisor)  # the first of equal ones

    return whole(segmented(trees, method, "classification", "", weights), classes), decide


def random_rows(rng, text, count):
    cuts = [float(value) for value in re.findall(r'operator="\w+" value="([-+.e0-9]+)"', text)] or [0.0]
    rows = []
    for _ in range(count):
        row = {"c": rng.choice([*LABELS, None])}
        for name in ("a", "b"):
            at = rng.choice(cuts)
            steps = [at, np.nextafter(at, 9), np.nextafter(at, -9), np.nextafter(np.float32(at), np.float32(9))]
            row[name] = rng.choice([*map(float, steps), rng.gauss(0, 1), None])
        rows.append(row)
    return rows


KINDS = ["logit", "logit float", "softmax", "softmax float", "average", "weightedAverage"]
KINDS += ["majorityVote", "weightedMajorityVote"]


def random_model(rng, kind):
    if kind.startswith(("logit", "softmax")):
        context = 'x-mathContext="float"' if "float" in kind else ""
        many = kind.startswith("softmax")
        return chained(rng, context, ["no", "yes", "maybe"][: 3 if many else 2], many)
    return counted(rng, kind, rng.choice([["no", "yes"], ["no", "yes", "maybe"]]))


@pytest.mark.parametrize("kind", KINDS)
def test_random_models(kind):
    decided, several = 0, 0
    for seed in range(25):
        rng = random.Random(f"{kind} {seed}")
        text, decide = random_model(rng, kind)
        ours = loader.read(text.encode())
        assert [variable.name for variable in ours.variables] == list(FIELDS)
        found = set()
        for row in random_rows(rng, text, 80):
            expected = decide(row)
            if expected is None:  # a missing value, and no prediction
                continue
            try:
                given = ours.classify(row)
            except MissingValue:  # missing is no state of a variable of which it may lead to no prediction
                assert None in row.values() and "nullPrediction" in text
                continue
            assert given == expected, (seed, row)
            found.add(expected)
            decided += 1
        several += len(found) > 1
    assert decided > 800 and several > 6


@pytest.mark.parametrize("context", ["", 'x-mathContext="float"'])
def test_regressors_decide_by_a_threshold(context):
    kind = np.float32 if context else np.float64
    for seed in range(12):
        rng = random.Random(f"{context} {seed}")
        trees = [random_tree(rng, lambda: number(rng), STRATEGIES[0]) for _ in range(rng.choice([1, 2, 7]))]
        method = rng.choice(["sum", "average"])
        inside = '<Targets><Target field="y" rescaleConstant="0.1" rescaleFactor="0.3"/></Targets>'
        text = whole(segmented(trees, method, "regression", context, inside=inside), [])
        rows = random_rows(rng, text, 60)
        predicted = [summed(trees, row, kind, 0.1, 0.3, method) for row in rows]
        for threshold in (float(np.median(predicted)), float(predicted[0]), 0.1):
            ours = loader.read(text.encode(), threshold=threshold, classes=["low", "high"])
            for row, value in zip(rows, predicted, strict=True):
                assert ours.classify(row) == ("high" if value >= kind(threshold) else "low")
    with pytest.raises(quia.Unsupported, match="threshold=0"):
        loader.read(text.encode())


def test_one_tree_is_a_tree_and_ties_go_to_the_first_vote():
    stump = {"root": {"predicate": None, "score": "x", "children": [], "id": "n"}, "strategy": STRATEGIES[1]}

    def votes(labels):
        trees = [{**stump, "root": {**stump["root"], "score": label}} for label in labels]
        return loader.read(whole(segmented(trees, "majorityVote", "classification", ""), ["p", "q", "r"]).encode())

    row = {"a": 0, "b": 0, "c": "u"}
    for labels, winner in {"pqrqp": "p", "rqp": "r", "rpqpq": "p", "rqpqp": "q"}.items():
        assert votes(labels).classify(row) == winner
    assert isinstance(votes("pq"), quia.DecisionGraph)


REFUSED = {
    "used for some instances only": ('<Segment id="0"><True/>', '<Segment id="0"><False/>'),
    "multipleModelMethod='median'": ('multipleModelMethod="sum"', 'multipleModelMethod="median"'),
    "another x-mathContext": ("<TreeModel ", '<TreeModel x-mathContext="float" '),
    "has castInteger": ("<Target ", '<Target castInteger="round" '),
    "rescaleFactor is -1": ('rescaleFactor="0.1"', 'rescaleFactor="-1"'),
    "is no finite number": ('rescaleFactor="0.1"', 'rescaleFactor="many"'),
    "rounded to another type": ('dataType="double" isFinal', 'dataType="float" isFinal'),
    "does more than to take a sum": ('intercept="0.0"', 'intercept="0.5"'),
    "normalizationMethod='cauchit'": ('normalizationMethod="logit"', 'normalizationMethod="cauchit"'),
    "has missingValueReplacement": (
        '<TreeModel functionName="regression" S><MiningSchema><MiningField name="a"/>',
        '<TreeModel functionName="regression" S><MiningSchema><MiningField name="a" missingValueReplacement="1"/>',
    ),
    "no finite number": ('score="', 'score="x'),
}


def test_what_is_not_exact_is_refused_by_name():
    for words, (old, new) in REFUSED.items():
        for seed in range(40):
            text, _ = chained(random.Random(seed), "", ["no", "yes"], False)
            strategy = re.search(r'<TreeModel functionName="regression" ([^>]*?) ?>', text)[1]
            was, now = old.replace(" S>", f" {strategy} >"), new.replace(" S>", f" {strategy} >")
            if was in text:
                break
        assert was in text, words
        with pytest.raises((quia.Unsupported, quia.FormatError), match=re.escape(words)):
            loader.read(text.replace(was, now, 1).encode())


def test_broken_files_are_refused_in_a_sentence():
    rng = random.Random(0)
    for kind in KINDS:
        text, _ = random_model(rng, kind)
        pieces = re.split(r"(?<=>)", text)
        for _ in range(25):
            some = list(pieces)
            for _ in range(rng.choice([1, 2])):
                some.pop(rng.randrange(len(some)))
            try:
                loader.read("".join(some).encode())
            except quia.QuiaError:
                continue
        for _ in range(25):
            words = re.sub(r'"[^"]*"', lambda m: rng.choice([m[0]] * 30 + ['""', '"-1"', '"x"', '"1e999"']), text)
            try:
                loader.read(words.encode())
            except quia.QuiaError:
                continue


def test_many_leaves_and_many_classes_are_refused_before_they_take_memory():
    """5,000 leaves, each with a class of its own, twice: no product of the two."""
    branches = [
        {"predicate": ("a", "lessThan", float(i)), "score": f"label {i}", "children": [], "id": f"c{i}"}
        for i in range(5000)
    ]
    root = {"predicate": None, "score": "none", "children": branches, "id": "n"}
    text = whole(segmented([{"root": root, "strategy": STRATEGIES[0]}] * 2, "majorityVote", "classification", ""), [])
    with pytest.raises(quia.TooLarge, match="5001 classes"):
        loader.read(text.encode())
