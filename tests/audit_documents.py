"""Audits made by hand: one as of the adult data, with invented numbers, a small one, and a large and hostile one."""

from dataclasses import replace
from typing import Any

from quia.auditing.document import (
    SCHEMA,
    Comparison,
    Condition,
    Confusion,
    DataFacts,
    Decided,
    Decisions,
    Difference,
    Differing,
    Document,
    Example,
    Feature,
    FileFacts,
    Group,
    GroupDiffering,
    GroupHanging,
    Hanging,
    Identity,
    Labels,
    ModelFacts,
    Monotone,
    Monotonicity,
    OldNew,
    Pair,
    Proof,
    Protected,
    Rule,
    Rules,
    Settings,
    Share,
    Turn,
    Undecided,
    Values,
    WorstCase,
)

LOW, HIGH = "<=50K", ">50K"
HOSTILE = "<script>window.owned=true</script>"

PERSON: Values = {
    "age": 46,
    "workclass": "Private",
    "fnlwgt": 172_822,
    "education": "HS-grad",
    "education-num": 9,
    "marital-status": "Married-civ-spouse",
    "occupation": "Craft-repair",
    "relationship": "Wife",
    "race": "Black",
    "sex": "Female",
    "capital-gain": 0,
    "capital-loss": 1902,
    "hours-per-week": 40,
    "native-country": None,
}
"""Nobody: invented values of the adult data's features."""

ROWS, DECIDED = 48_842, 48_790


def number_in(feature: str, low: float | None, high: float | None) -> Condition:
    """More than `low` and at most `high`."""
    ends = {"low": low, "high": high, "low_closed": False, "high_closed": high is not None}
    text = f"> {low:g}" if high is None else f"<= {high:g}" if low is None else f"({low:g}, {high:g}]"
    return {"feature": feature, "intervals": [ends], "missing": False, "text": text}


def one_of(feature: str, *names: str) -> Condition:
    """One of some states."""
    text = names[0] if len(names) == 1 else f"in {{{', '.join(names)}}}"
    return {"feature": feature, "in": list(names), "text": text}


def pair(feature: str, one: Any, other: Any, decisions: tuple[str, str], person: Values = PERSON) -> Pair:
    """Two instances that differ in one feature."""
    return Pair({**person, feature: one}, {**person, feature: other}, (feature,), decisions)


def file(name: str, folder: str = "models/2026") -> FileFacts:
    """A file of some size."""
    return FileFacts(name, f"{folder}/{name}", f"{sum(map(ord, name)):064x}".replace("0", "a"), 53_217)


def rules(decision: str, of: int, conditions: list[tuple[Condition, ...]], *, complete: bool = True) -> Rules:
    """Rules each of which covers less than that before it."""
    found, covered = [], 0
    for place, each in enumerate(conditions):
        new = (of - covered) * 2 // (5 + place % 3)
        covered += new
        text = " and ".join(f"{one['feature']} {one['text']}" for one in each)
        found.append(Rule(each, text, min(new + 211 * place, covered), new, covered, Example(17 + 31 * place, PERSON)))
    return Rules(decision, of, of * 9 // 10, covered, 2_000, complete, tuple(found))


def confusion(low: tuple[int, int], high: tuple[int, int]) -> tuple[Confusion, ...]:
    """How those labelled low, and those labelled high, were decided."""
    return tuple(
        Confusion(label, sum(counts), dict(zip((LOW, HIGH), counts, strict=True)))
        for label, counts in ((LOW, low), (HIGH, high))
    )


def group(name: str, where: tuple[Condition, ...], low: tuple[int, int], high: tuple[int, int]) -> Group:
    """People with a label and a decision."""
    labelled = sum(low) + sum(high)
    decided = {LOW: low[0] + high[0], HIGH: low[1] + high[1]}
    return Group(name, where, labelled, decided, labelled, low[0] + high[1], confusion(low, high))


FEMALE = group("Female", (one_of("sex", "Female"),), (13_950, 457), (980, 789))
MALE = group("Male", (one_of("sex", "Male"),), (20_680, 2_034), (4_100, 5_800))
RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")


def protected() -> tuple[Protected, ...]:
    """Sex, race, and both together."""
    by_race = tuple(
        group(name, (one_of("race", name),), (8_000 // place, 700 // place), (1_200 // place, 1_900 // place))
        for place, name in enumerate(RACES, 1)
    )
    both = tuple(
        group(
            f"{sex}, {race}",
            (one_of("sex", sex), one_of("race", race)),
            (4_000 // place, 350 // place),
            (600 // place, 950 // place),
        )
        for sex in ("Female", "Male")
        for place, race in enumerate(RACES, 1)
    )
    man = {**PERSON, "sex": "Male", "relationship": "Wife"}
    worst = tuple(WorstCase(row, PERSON, LOW, {**man, "race": "White"}, HIGH) for row in (1_204, 8_812, 30_001))
    return (
        Protected(
            ("sex",),
            ("sex",),
            (FEMALE, MALE),
            Hanging(
                1_130,
                DECIDED,
                0,
                (Turn(LOW, HIGH, 702), Turn(HIGH, LOW, 428)),
                (
                    GroupHanging("Female", 640, FEMALE.rows, {"Male": 610}),
                    GroupHanging("Male", 490, MALE.rows, {"Female": 92}),
                ),
            ),
            tuple(replace(each, other=man) for each in worst[:1]),
            Proof(True, pair("sex", "Female", "Male", (LOW, HIGH))),
        ),
        Protected(
            ("race",),
            ("race",),
            by_race,
            Hanging(0, DECIDED, 52, (), tuple(GroupHanging(each.name, 0, each.rows, {}) for each in by_race)),
            (),
            Proof(False),
        ),
        Protected(
            ("sex", "race"),
            ("sex", "race"),
            both,
            Hanging(
                1_575,
                DECIDED,
                0,
                (Turn(LOW, HIGH, 1_002), Turn(HIGH, LOW, 573)),
                tuple(
                    GroupHanging(each.name, 7 * place, each.rows, {"Male, White": 3 * place, "Male, Black": place})
                    for place, each in enumerate(both)
                ),
            ),
            worst,
            Proof(True, Pair(PERSON, {**man, "race": "White"}, ("race", "sex"), (LOW, HIGH))),
        ),
    )


def adult() -> Document:
    """An audit as of a tree on the adult data: 14 features, two protected, two classes, and a second model."""
    low_rules = [
        (number_in("capital-gain", None, 6849), one_of("marital-status", "Never-married", "Divorced", "Separated")),
        (number_in("capital-gain", None, 5095.5), number_in("education-num", None, 8), one_of("relationship", "Wife")),
        *(
            (number_in("age", None, 20 + n), number_in("hours-per-week", 10 + n, 40), one_of("occupation", "Sales"))
            for n in range(10)
        ),
    ]
    high_rules = [
        (number_in("capital-gain", 7055.5, None),),
        (number_in("education-num", 12, None), number_in("age", 33, 61), one_of("marital-status", "Married-AF-spouse")),
        *((number_in("capital-loss", 1844 + n, 1978), number_in("age", 30 + n, None)) for n in range(16)),
    ]
    numbers = {
        "age": 7_400,
        "education-num": 6_900,
        "capital-gain": 9_107,
        "capital-loss": 1_811,
        "hours-per-week": 940,
    }
    features = tuple(
        Feature(
            name,
            name != "fnlwgt",
            name not in ("fnlwgt", "race", "native-country"),
            None if name in ("fnlwgt", "race", "native-country") else pair(name, 1, 2, (LOW, HIGH)),
            Share(numbers.get(name, 0 if name in ("fnlwgt", "race", "native-country") else 412 + len(name)), DECIDED),
            Share(numbers.get(name, 10) * 2, DECIDED),
        )
        for name in PERSON
    )
    never = Proof(False)
    monotone = (
        Monotone(
            "age", None, Proof(True, pair("age", 30, 31, (HIGH, LOW))), Proof(True, pair("age", 22, 40, (LOW, HIGH)))
        ),
        Monotone("education-num", None, never, Proof(True, pair("education-num", 9, 13, (LOW, HIGH)))),
        Monotone("capital-gain", None, never, Proof(True, pair("capital-gain", 0, 7056, (LOW, HIGH)))),
        Monotone(
            "capital-loss",
            None,
            Proof(True, pair("capital-loss", 1902, 1978, (HIGH, LOW))),
            Proof(True, pair("capital-loss", 0, 1902, (LOW, HIGH))),
        ),
        Monotone("hours-per-week", None, never, Proof(None, None, "time ran out")),
        Monotone("fnlwgt", None, never, never),
    )
    settings = Settings(label="income", protected=("sex", "race"), favourable=(HIGH,), timeout=600.0)
    tree = ModelFacts(
        file("tree.j48.txt"),
        "decision tree",
        {"nodes": 907, "leaves": 656},
        (LOW, HIGH),
        14,
        13,
        ("read as J48 prints it",),
    )
    low, high = (34_630, 2_491), (5_080, 6_589)
    return Document(
        SCHEMA,
        Identity(
            "0.1.0",
            "2026-11-18T12:47:42+01:00",
            "MR-2026-114",
            "quia audit models/2026/tree.j48.txt rows.csv.gz -o audit.html --json audit.json --label income --protected"
            " sex --protected race --favourable '>50K' --compare tree-2.j48.txt --case MR-2026-114 --timeout 600",
            tree,
            DataFacts(file("rows.csv.gz", "data"), ROWS),
            replace(tree, file=file("tree-2.j48.txt"), sizes={"nodes": 611, "leaves": 431}, notes=()),
            settings,
        ),
        11.9,
        ("whether raising hours-per-week can ever help",),
        Decisions(
            ROWS,
            DECIDED,
            (Decided(LOW, low[0] + high[0], DECIDED), Decided(HIGH, low[1] + high[1], DECIDED)),
            (
                Undecided(
                    "workclass is missing, and the decision depends on it", ROWS - DECIDED, (28, 62, 70, 129, 150)
                ),
            ),
            Labels("income", DECIDED, low[0] + high[1], 0, {}, confusion(low, high)),
        ),
        (rules(LOW, 39_710, low_rules), rules(HIGH, 9_080, high_rules, complete=False)),
        features,
        protected(),
        Monotonicity(((LOW,), (HIGH,)), False, monotone),
        Comparison(
            ("The new model does not test fnlwgt.",),
            DECIDED,
            312,
            52,
            (OldNew(LOW, LOW, 39_500), OldNew(LOW, HIGH, 210), OldNew(HIGH, LOW, 102), OldNew(HIGH, HIGH, 8_978)),
            (GroupDiffering("Female", 40, FEMALE.rows), GroupDiffering("Male", 272, MALE.rows)),
            True,
            Differing(PERSON, LOW, HIGH),
            None,
            tuple(
                Difference(
                    *(LOW, HIGH),
                    (number_in("age", 20 + n, 40), number_in("capital-gain", 3103, 5095.5)),
                    f"age in ({20 + n}, 40] and capital-gain in (3103, 5095.5]",
                    *(90 - n, 70 - n, 70 + 50 * n),
                    Example(44, PERSON),
                )
                for n in range(4)
            ),
            True,
        ),
    )


def small() -> Document:
    """An audit of little: nothing protected, no label, no second model, no file, nothing to order."""
    whole = adult()
    model = ModelFacts(None, "decision graph", {"nodes": 3}, ("no", "yes"), 1, 1)
    rule = Rule((one_of("GPA", "high"),), "GPA=high", 2, 2, 2, Example(1, {"GPA": "high"}))
    return Document(
        SCHEMA,
        Identity(whole.identity.quia, whole.identity.made, None, None, model, DataFacts(None, 3), None, Settings()),
        0.1,
        (),
        Decisions(3, 3, (Decided("no", 1, 3), Decided("yes", 2, 3)), (), None),
        (Rules("no", 1, 1, 0, 0, False, ()), Rules("yes", 2, 2, 2, 2, True, (rule,))),
        (
            Feature(
                "GPA", True, True, pair("GPA", "low", "high", ("no", "yes"), {"GPA": "low"}), Share(3, 3), Share(3, 3)
            ),
        ),
        (),
        None,
        None,
    )


def large() -> Document:
    """40 features, 30 rules, 9 classes, 25 groups, long and hostile names, and much that is not known."""
    whole = adult()
    names = [HOSTILE, "a" * 200, *(f"a rather long name of a feature, number {n}" for n in range(38))]
    classes = (HOSTILE, "b" * 120, *(f"class {n}" for n in range(7)))
    person: Values = dict.fromkeys(names, "a value that is long, too <b>") | {names[2]: 0.1 + 0.2}
    conditions = [tuple(one_of(name, HOSTILE, "x", "y" * 90) for name in names[n % 30 : n % 30 + 6]) for n in range(30)]
    unknown = Proof(None, None, "time ran out <i>")
    why = "time ran out <i>"
    two = Pair(person, {**person, HOSTILE: "other"}, (HOSTILE,), (classes[0], classes[1]))
    groups = tuple(
        Group(f"{HOSTILE}, group {n}", (one_of(HOSTILE, str(n)),), 1_000, dict.fromkeys(classes, 100))
        for n in range(25)
    )
    hanging = Hanging(
        9_000,
        22_500,
        0,
        tuple(Turn(a, b, 7) for a in classes for b in classes if a != b),
        tuple(GroupHanging(each.name, 360, 900, {other.name: 12 for other in groups}) for each in groups),
    )
    model = ModelFacts(
        FileFacts(f"{HOSTILE}.json", f"/models/{'long-' * 50}{HOSTILE}.json", "f" * 64, 1), HOSTILE, {}, classes, 40, 40
    )
    settings = Settings(
        protected=(HOSTILE, names[1]), given=(f"{HOSTILE} -> x",), orders={HOSTILE: ("lo", "hi")}, timeout=1.0
    )
    comparison = whole.comparison
    assert comparison is not None
    return replace(
        whole,
        identity=replace(whole.identity, model=model, compared=model, case=HOSTILE, command=HOSTILE, settings=settings),
        unfinished=tuple(f"part {n} of the audit {HOSTILE}" for n in range(25)),
        decisions=Decisions(
            25_000,
            22_500,
            tuple(Decided(name, 2_500, 22_500) for name in classes),
            tuple(Undecided(f"{HOSTILE} is missing {n}", 500, (1, 2)) for n in range(5)),
            Labels(
                HOSTILE,
                *(22_500, 2_500, 9),
                {HOSTILE: 3},
                tuple(Confusion(name, 2_500, dict.fromkeys(classes, 250)) for name in classes),
            ),
        ),
        rules=tuple(replace(rules(name, 2_500, conditions), complete=False) for name in classes),
        features=tuple(
            Feature(name, True, None if n % 2 else True, None, None, None, why) for n, name in enumerate(names)
        ),
        protected=(
            Protected(
                (HOSTILE,),
                (HOSTILE,),
                groups,
                hanging,
                (WorstCase(1, two.one, "a", two.other, HOSTILE),) * 9,
                Proof(True, two),
            ),
            Protected((HOSTILE, names[1]), (HOSTILE,), groups, None, (), unknown, why),
        ),
        monotonicity=Monotonicity(
            tuple((name,) for name in classes),
            True,
            tuple(Monotone(name, (HOSTILE, "z" * 90), unknown, Proof(True, two)) for name in names),
        ),
        comparison=replace(
            comparison,
            inputs=(f"{HOSTILE} is new.",),
            turns=tuple(OldNew(a, b, 7) for a in classes for b in classes),
            groups=tuple(GroupDiffering(each.name, 1, each.rows) for each in groups),
            can_differ=None,
            witness=None,
            why=why,
            complete=False,
        ),
    )
