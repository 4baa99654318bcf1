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
reasons = quia.explain_batch(graph, rejected, ids=["id"], limit=1)
db.register("reasons", reasons)
print("Features in the shortest sufficient reason of rejected applicants:")
for feature, count in db.sql("""
    SELECT state.feature, count(*) AS n
    FROM (SELECT unnest(shortest_sufficient[1]) AS state FROM reasons WHERE decision = 'Reject')
    GROUP BY ALL ORDER BY n DESC, state.feature
""").fetchall():
    print(f"  {feature}: {count}")

# A table of any size: record batches stream from DuckDB through quia and back.
question = ask(graph, counts=True, threads=2)
stream = pa.RecordBatchReader.from_stream(db.sql("SELECT * FROM applicants"))
explained = pa.RecordBatchReader.from_batches(schema(question), explain_batches(stream, graph, question))
print("Sufficient reasons a decision:")
for decision, mean in duckdb.sql(
    "SELECT decision, avg(sufficient_count) FROM explained GROUP BY decision ORDER BY decision"
).fetchall():
    print(f"  {decision}: {mean:.2f}")
