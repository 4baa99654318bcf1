"""Spark gives what one machine gives: a real session, with Python workers and a JVM."""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import quia
from quia.cli import main
from quia.load import json as quia_json
from strategies import random_case, random_instance
from test_batch_additive import credit_line
from test_one_rule_for_missing import Kind, graph_of

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own
MODEL = Path(__file__).parents[1] / "examples" / "admissions.json"


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch, java: str) -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # the workers' Python is this one
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # the work is short: no time to optimise
        "spark.sql.codegen.wholeStage": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
    }
    builder = sql.SparkSession.builder.master("local[2]").appName("quia tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_spark_gives_what_one_machine_gives(spark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One test, as one start of a JVM is enough."""
    faults_come_before_the_work(spark)
    random_questions_are_answered_alike(spark)
    the_command_writes_what_the_local_one_writes(spark, capsys, tmp_path)
    missing_values_are_what_they_are_on_one_machine(spark, tmp_path)
    numbers_that_are_added_are_answered_alike(spark)
    the_same_worlds_are_possible(spark, capsys, tmp_path)


def random_questions_are_answered_alike(spark: Any) -> None:
    from quia.batch.spark import explain

    rng = Random(8)
    for _ in range(2):
        case = random_case(rng)
        graph = quia.DecisionGraph.from_dict(case.graph)
        rows = [
            {"id": n} | {k: None if v is None else str(v) for k, v in random_instance(rng, case.graph).items()}
            for n in range(200)
        ]
        for n in (3, 50):
            rows[n] = rows[n] | dict.fromkeys(list(case.graph["variables"])[:1], "neither here nor there")
        options: dict[str, Any] = {
            "against": case.against,
            "frozen": sorted(case.frozen),
            "costs": case.costs,
            "counts": True,
            "all_reasons": 3,
            "counterfactuals": 2,
            "protected": list(case.graph["variables"])[:1],
        }
        table = pa.Table.from_pylist(rows)
        here = quia.explain_batch(graph, table, ids=["id"], **options)
        types = ", ".join(["id long", *(f"`{name}` string" for name in table.column_names[1:])])
        frame = spark.createDataFrame([tuple(row.values()) for row in rows], types).repartition(2)
        there = sorted(
            (row.asDict(recursive=True) for row in explain(frame, graph, ids=["id"], **options).collect()),
            key=lambda row: row["id"],
        )
        assert there == here.to_pylist()


def the_same_worlds_are_possible(spark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from quia.batch.spark import explain

    rng = Random(17)
    graph = quia.load(MODEL)
    types = "id long, SAT double, GPA string, Essay string, Interview string"
    rows = [
        (n, float(rng.randint(1300, 1600)), rng.choice(["low", "medium", "high"]), *rng.choices(["fail", "pass"], k=2))
        for n in range(200)
    ]
    table = pa.Table.from_pylist(
        [dict(zip(("id", "SAT", "GPA", "Essay", "Interview"), row, strict=True)) for row in rows]
    )
    rule = "SAT < 1400 -> GPA != high"
    for asked in (
        {"given": [rule], "only_up": ["SAT"], "superfluous": True},
        {"near": {"SAT": 40}, "within": {"GPA": ["medium", "high"]}},
    ):
        options: dict[str, Any] = {"ids": ["id"], "counterfactuals": 2, "protected": ["GPA"], **asked}
        here = quia.explain_batch(graph, table, **options).to_pylist()
        frame = spark.createDataFrame(rows, types).repartition(2)
        there = [row.asDict(recursive=True) for row in explain(frame, graph, **options).collect()]
        assert sorted(there, key=lambda row: row["id"]) == here
        assert 0 < sum("impossible" in (row["error"] or "") for row in here) < 200
    pq.write_table(table, tmp_path / "worlds.parquet")
    command = [
        "batch",
        str(MODEL),
        str(tmp_path / "worlds.parquet"),
        "--id",
        "id",
        "--given",
        rule,
        "--near",
        "SAT=40",
        "-o",
    ]
    assert main([*command, str(tmp_path / "there.parquet"), "--engine", "spark"]) == 0
    assert main([*command, str(tmp_path / "here.parquet")]) == 0
    found = [row.asDict(recursive=True) for row in spark.read.parquet(str(tmp_path / "there.parquet")).collect()]
    assert sorted(found, key=lambda row: row["id"]) == pq.read_table(tmp_path / "here.parquet").to_pylist()
    capsys.readouterr()


def the_command_writes_what_the_local_one_writes(
    spark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = Random(1)
    rows = pa.table(
        {
            "id": list(range(3000)),
            "SAT": [str(rng.choice([1200, 1449, 1450, 1451])) for _ in range(3000)],
            "GPA": rng.choices(["low", "medium", "high", "none", None], [9, 9, 9, 1, 1], k=3000),
            "Essay": rng.choices(["fail", "pass"], k=3000),
            "Interview": rng.choices(["fail", "pass"], k=3000),
        }
    )
    pq.write_table(rows, tmp_path / "t.parquet")
    pacsv.write_csv(rows, tmp_path / "t.csv")
    for data, out in (("t.parquet", "spark.parquet"), ("t.csv", "spark.jsonl")):
        asked = ["batch", str(MODEL), str(tmp_path / data), "--id", "id", "--counts", "--necessary", "-o"]
        assert main([*asked, str(tmp_path / out), "--engine", "spark"]) == 0
        assert "3,000 rows explained" in capsys.readouterr().err
        assert main([*asked, str(tmp_path / f"local-{out}.parquet")]) == 0
        here = pq.read_table(tmp_path / f"local-{out}.parquet")
        read = spark.read.parquet if out.endswith("parquet") else spark.read.json
        found = [row.asDict(recursive=True) for row in read(str(tmp_path / out)).collect()]
        if out.endswith("jsonl"):  # which has no nulls and no decimals
            found = [dict.fromkeys(here.column_names) | row for row in found]
        assert sorted(found, key=lambda row: int(row["id"])) == here.to_pylist()
        capsys.readouterr()
    code = main(
        ["batch", str(MODEL), str(tmp_path / "t.csv"), "-o", str(tmp_path / "spark.parquet"), "--engine", "spark"]
    )
    assert code == 2
    assert "already" in capsys.readouterr().err


def faults_come_before_the_work(spark: Any) -> None:
    from quia.batch.spark import explain

    graph = quia.load(MODEL)
    frame = spark.createDataFrame([(1, "low")], "id long, GPA string")
    with pytest.raises(quia.InstanceError, match="no column 'SAT'"):
        explain(frame, graph)
    with pytest.raises(quia.InstanceError, match="against is 'Acept'"):
        explain(frame, graph, against="Acept")


def missing_values_are_what_they_are_on_one_machine(spark: Any, tmp_path: Path) -> None:
    """An empty value is the state that is called so; where none is, it is missing."""
    for states in (["", "cook"], ["?", "cook"]):
        graph = graph_of(Kind(states, None, None, [], ""))
        model, table = tmp_path / "job.json", tmp_path / "jobs.csv"
        quia_json.write(graph, model)
        table.write_text('job,id\n,0\n"",1\n?,2\n" ",3\ncook,4\nbaker,5\n')
        found = {}
        for engine in ("spark", "local"):
            out = str(tmp_path / f"{engine}{states[0]}jobs.parquet")
            assert main(["batch", str(model), str(table), "-o", out, "--id", "id", "--engine", engine]) == 0
            rows = [row.asDict() for row in spark.read.parquet(out).collect()]
            found[engine] = {int(row["id"]): row["decision"] for row in rows}
        assert found["spark"] == found["local"]
        assert found["local"][0] == ("is ''" if "" in states else None)


def numbers_that_are_added_are_answered_alike(spark: Any) -> None:
    """A line has too many states for 32 bits; its model goes to the workers with its ranges."""
    from quia.batch.spark import explain

    rows = [
        (n, job, income, None)
        for n, (job, income) in enumerate(product(("old", "new"), (60.0, 20.000000000000004, 500.0)))
    ]
    frame = spark.createDataFrame(rows, "id long, job string, income double, age double").repartition(2)
    table = pa.Table.from_pylist([dict(zip(frame.columns, row, strict=True)) for row in rows])
    here = quia.explain_batch(credit_line(), table, ids=["id"], counterfactuals=1)
    there = (
        row.asDict(recursive=True) for row in explain(frame, credit_line(), ids=["id"], counterfactuals=1).collect()
    )
    assert sorted(there, key=lambda row: row["id"]) == here.to_pylist()
    assert {row["error"] is None for row in here.to_pylist()} == {True, False}, "500 is out of range"
