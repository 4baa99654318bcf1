"""Learning from a CSV file: columns are told apart, the tree decides as scikit-learn's, J48 comes from Weka."""

import gzip
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import quia
from quia.errors import FormatError, Unsupported
from quia.learn import learn
from quia.learn_j48 import arff_text
from quia.load.json import dumps
from quia.tables import Table, Task, read_csv


def table(rows: int = 300) -> Table:
    """Loans whose answer is known: refused if young and poor, or from Bari."""
    chance = random.Random(0)
    made = []
    for _ in range(rows):
        age, income = chance.randint(18, 80), round(chance.lognormvariate(10, 1), 2)
        town = chance.choice(["Ghent", "Bari", "it's"])
        answer = "no" if (age < 40 and income < 20000) or town == "Bari" else "yes"
        shown = "?" if chance.random() < 0.05 and town != "Bari" else town
        made.append((str(age), str(income), shown, answer))
    return Table(("age", "yearly income", "town", "loan"), tuple(made))


def test_csv_files(tmp_path: Path) -> None:
    for separator in ",;\t|":
        file = tmp_path / "rows.csv.gz"
        text = f'a{separator}"b{separator} c"\n1{separator}"x ""y"""\n\n?{separator}2\n'
        file.write_bytes(gzip.compress(text.encode("utf-8-sig")))
        read = read_csv(file)
        assert read.names == ("a", f"b{separator} c")
        assert read.rows == (("1", 'x "y"'), ("?", "2"))
        assert read.kinds() == ("numeric", "nominal")
        assert read.records()[1]["a"] == "?"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty; its first line must name the columns"),
        ("a,b\n", "no rows"),
        ("a,b\n1\n", "line 2: row 1 has 1 values and there are 2 columns"),
        ("a,a\n1,2\n", "two columns called 'a'"),
        ("a,\n1,2\n", "without a name"),
        ('a,b\n1,"2\n', "has a quote in the row that begins in line 2 that is not closed"),
    ],
)
def test_files_that_are_no_table(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(text)
    with pytest.raises(FormatError, match=words):
        read_csv(file)


def test_learning_by_sklearn() -> None:
    data = table()
    learned = learn(data)
    report = learned.report
    assert (report.numeric, report.nominal) == (("age", "yearly income"), ("town",))
    assert (report.learned_from, report.tested_on, report.dropped) == (255, 45, 0)
    assert report.accuracy is not None
    assert report.accuracy > 0.85
    assert f"right on 45 rows kept apart: {report.accuracy:.1%}" in str(report)
    graph = learned.classifier
    town = graph.variables[2]
    assert town.labels == ("Bari", "Ghent", "it's", "any other", "missing")
    assert graph.classify({"age": 70, "yearly income": "50000", "town": "Ghent"}) == "yes"
    assert quia.DecisionGraph.from_dict(graph.to_dict()) == graph
    assert learn(data).classifier == graph, "the same data and seed give the same tree"
    assert len(learn(data, max_depth=1).classifier) == 3
    assert dumps(graph).startswith('{"quia": 1')


def test_what_is_asked_for() -> None:
    data = table(60)
    by_town = learn(data, target="town", kept_apart=0)
    assert by_town.report.accuracy is None
    assert by_town.report.dropped == sum(row[2] == "?" for row in data.rows)
    assert [v.name for v in by_town.classifier.variables] == ["age", "yearly income", "loan"]
    with pytest.raises(FormatError, match="did you mean 'town'"):
        learn(data, target="twon")
    with pytest.raises(FormatError, match="fewer than two classes"):
        learn(Table(("a", "b"), (("1", "x"), ("2", "x"))))
    with pytest.raises(FormatError, match="classes among the rows that are not kept apart"):
        learn(Table(("a", "b"), (("1", "x"),) * 60 + (("2", "y"),)), seed=next(_seeds_that_keep_the_last_apart(61)))
    with pytest.raises(FormatError, match="no column with values beside 'b'"):
        learn(Table(("a", "b"), (("?", "x"), ("", "y"))), kept_apart=0)
    with pytest.raises(FormatError, match="column 'a' has '1e39', which no learner can hold"):
        learn(Table(("a", "b"), (("1e39", "x"), ("2", "y"))), kept_apart=0)
    for wrong in (
        {"learner": "c5"},
        {"kept_apart": 1.0},
        {"learner": "j48", "max_depth": 3},
        {"learner": "j48", "prune": False},
    ):
        with pytest.raises(Unsupported):
            learn(data, **wrong)


def test_j48_where_java_or_weka_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Told in a sentence, whether or not this machine has them."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unsupported, match="install a Java runtime"):
        learn(table(60), learner="j48")
    java = tmp_path / "java"
    java.touch(mode=0o755)
    with pytest.raises(Unsupported, match=r"no weka\.jar"):
        learn(table(60), learner="j48", weka_jar="/no/such/file")


def _seeds_that_keep_the_last_apart(rows: int) -> Iterator[int]:
    for seed in range(1000):
        order = list(range(rows))
        random.Random(seed).shuffle(order)
        if rows - 1 in order[: int(rows * 0.15)]:
            yield seed


def test_columns_without_a_value_are_left_out() -> None:
    rows = tuple((str(n), "", "?", "yes" if n > 20 else "no") for n in range(40))
    learned = learn(Table(("a", "b", "c", "d"), rows))
    assert [v.name for v in learned.classifier.variables] == ["a"]


def test_few_values_with_commas_are_names() -> None:
    rows = tuple((f"{n % 3},{n % 2}", "yes" if n % 3 else "no") for n in range(40))
    assert learn(Table(("a", "d"), rows)).report.nominal == ("a",)


def test_arff() -> None:
    data = Table(("a b", "it's", "c"), (("1", "x,y", "n"), ("?", "?", "y")))
    text = arff_text(Task(data, 2, data.rows))
    assert text.splitlines()[2:] == [
        "@attribute 'a b' numeric",
        "@attribute 'it\\'s' {'x,y'}",
        "@attribute 'c' {'n','y'}",
        "",
        "@data",
        "1,'x,y','n'",
        "?,?,'y'",
    ]


@pytest.mark.usefixtures("weka_jar")
def test_learning_by_j48() -> None:
    learned = learn(table(), learner="j48", min_rows=2)
    assert learned.report.learner == "J48"
    assert learned.report.accuracy is not None
    assert learned.report.accuracy > 0.85
    graph = learned.classifier
    assert graph.classify({"age": 70, "yearly income": 50000, "town": "Ghent"}) == "yes"
    assert graph.classify({"age": 70, "yearly income": 50000, "town": "Bari"}) == "no"


def people(rows: int = 300, *, towns: int = 3, missing: float = 0.0) -> Table:
    """Rows that an id tells apart, and a town that decides together with an age."""
    chance = random.Random(rows + towns)
    made = []
    for number in range(rows):
        age, town = chance.randint(18, 80), chance.randrange(towns)
        answer = "yes" if (age > 40) != (town % 3 == 0) else "no"
        shown = "?" if chance.random() < missing else str(age)
        made.append((f"person {number}", shown, f"town {town}", answer))
    return Table(("id", "age", "town", "answer"), tuple(made))


def test_texts_that_differ_in_nearly_every_row_are_left_out() -> None:
    learned = learn(people())
    report = learned.report
    assert report.left_out == ("id",)
    assert "left out, as their texts differ in nearly every row: id" in str(report)
    assert [v.name for v in learned.classifier.variables] == ["age", "town"]
    assert "id" not in arff_text(Task(people(), 3, people().rows))
    without = Table(("age", "town", "answer"), tuple(row[1:] for row in people().rows))
    assert learn(without).classifier == learned.classifier
    assert learn(without).report.left_out == ()
    only = Table(("id", "answer"), tuple((row[0], row[3]) for row in people().rows))
    with pytest.raises(
        FormatError, match=r"no column but texts that differ in nearly every row \(id\) beside 'answer'"
    ):
        learn(only)


@pytest.mark.parametrize(("different", "named"), [(20, False), (60, True), (268, False), (272, True)])
def test_what_counts_as_nearly_every_row(different: int, named: bool) -> None:
    """More than twenty different texts, and more than nine for ten rows that have one."""
    rows = different if different < 100 else 300
    texts = [f"t{number % different}" for number in range(rows)]
    task = Task(Table(("t", "y"), tuple((t, "ab"[i % 2]) for i, t in enumerate([*texts, "?", ""]))), 1, ())
    task = Task(task.table, 1, task.table.rows)
    assert task.identifiers == ({0} if named else set())


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_columns_of_many_values_are_not_encoded_in_full(missing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import sparse
    from sklearn.tree import DecisionTreeClassifier

    seen = []
    fit = DecisionTreeClassifier.fit
    monkeypatch.setattr(
        DecisionTreeClassifier,
        "fit",
        lambda self, values, *rest, **more: (seen.append(values), fit(self, values, *rest, **more))[1],
    )
    data = people(3000, towns=900, missing=missing)
    learned = learn(data, min_rows=3)
    values = seen[0]
    assert sparse.issparse(values) == (missing == 0)
    counts = Counter(row[2] for row in data.rows)
    assert values.shape[1] < 2 + len(counts)
    assert learned.report.grouped == ("town",)
    assert "are one state, 'any other': town" in str(learned.report)
    town = learned.classifier.variables[1]
    assert town.encode("nowhere") == town.encode(next(t for t, count in counts.items() if count == 1))
    assert learned.report.accuracy is not None
    assert learned.report.accuracy > 0.6


def test_rare_values_lose_nothing() -> None:
    """Values in fewer rows than a leaf has cannot be split off, so the tree is as good as with all of them."""
    from quia import learn_sklearn as module

    data = people(2500, towns=300)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_MANY", 10**6)
        full = learn(data, min_rows=8).report
    lean = learn(data, min_rows=8).report
    assert (full.grouped, lean.grouped) == ((), ("town",))
    assert abs(full.right - lean.right) <= 0.05 * full.tested_on
