"""Explain a Dask DataFrame: every partition by the function that one machine, and Spark, run.

Ray Data takes it the same way: `dataset.map_batches(explain_partition, batch_format="pyarrow")`, with a function
that gives the Arrow table as it is.
"""

import dask.dataframe as dd
import pandas as pd

import quia

graph = quia.load("admissions.json")


def explain_partition(rows: pd.DataFrame) -> pd.DataFrame:
    """One partition explained; threads=1, as Dask keeps the cores busy itself."""
    return quia.explain_batch(graph, rows, ids=["id"], limit=1, threads=1).to_pandas()


applicants = pd.DataFrame(
    {
        "id": range(1000),
        "SAT": [1300 + 37 * i % 300 for i in range(1000)],
        "GPA": [("low", "medium", "high")[i % 3] for i in range(1000)],
        "Essay": [("fail", "pass")[i % 2] for i in range(1000)],
        "Interview": [("fail", "pass")[i // 2 % 2] for i in range(1000)],
    }
)
frame = dd.from_pandas(applicants, npartitions=4)
explained = frame.map_partitions(explain_partition, meta=explain_partition(applicants.head(0)))
result = explained.compute()

whole = explain_partition(applicants)
assert result["id"].tolist() == whole["id"].tolist(), "no row is lost or reordered"
assert result["decision"].tolist() == whole["decision"].tolist()
print(result["decision"].value_counts().to_string())
print("The rules behind most of them:")
print(result["shortest_sufficient_text"].str[0].value_counts().head(3).to_string())
