"""Explain a table from a query: DuckDB selects the rows, quia explains them, DuckDB asks about the reasons."""

import duckdb
import pyarrow as pa

import quia
from quia.batch.arrow import explain_batches, schema
from quia.batch.question import ask

graph = quia.load("admissions.json")
db = duckdb.connect()
db.execute("""
    CREATE TABLE applicants AS
    SELECT i AS id, 1300 + 37 * i % 300 AS "SAT", ['low', 'medium', 'high'][1 + i % 3] AS "GPA",
           ['fail', 'pass'][1 + i % 2] AS "Essay", ['fail', 'pass'][1 + (i // 2) % 2] AS "Interview"
    FROM range(1000) AS r(i)
""")

# A result that fits in memory: give the query's answer to explain_batch, and ask DuckDB about what comes back.
rejected = db.sql('SELECT * FROM applicants WHERE "SAT" < 1400')
reasons = quia.explain_batch(graph, rejected, ids=["id"])
db.register("reasons", reasons)
print("The rules behind rejected applicants, and how many each explains:")
for rule, count in db.sql("""
    SELECT rule, count(*) AS n
    FROM (SELECT unnest(shortest_sufficient_text) AS rule FROM reasons WHERE decision = 'Reject')
    GROUP BY ALL ORDER BY n DESC, rule
""").fetchall():
    print(f"  {rule}: {count}")

# Conditions are data too: how far would each applicant's SAT have to go, if that alone were enough?
print("SAT scores that would change a decision:")
for low, high, count in db.sql("""
    SELECT change.low, change.high, count(*) AS n
    FROM (SELECT unnest(shortest_necessary) AS changes FROM reasons), (SELECT unnest(changes) AS change)
    WHERE len(changes) = 1 AND change.feature = 'SAT'
    GROUP BY ALL ORDER BY ALL
""").fetchall():
    print(f"  from {low} to {high}: {count}")

# A table of any size: record batches stream from DuckDB through quia and back.
question = ask(graph, counts=True, threads=2)
stream = pa.RecordBatchReader.from_stream(db.sql("SELECT * FROM applicants"))
explained = pa.RecordBatchReader.from_batches(schema(question), explain_batches(stream, graph, question))
print("Sufficient reasons a decision:")
for decision, mean in duckdb.sql(
    "SELECT decision, avg(sufficient_count) FROM explained GROUP BY decision ORDER BY decision"
).fetchall():
    print(f"  {decision}: {mean:.2f}")
