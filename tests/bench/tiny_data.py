"""A folder in the layout of the benchmarks, with small random trees as Weka prints them and small random graphs."""

import csv
import gzip
import io
import json
import random
from pathlib import Path


def write_folder(folder: Path, seed: int, *, rows: int = 40, variables: int = 8, graphs: int = 1) -> Path:
    """Two trees (one with a nominal many-way split) and a graph."""
    draw = random.Random(seed)
    for number in range(2):
        write_tree(folder / "trees" / f"tree{number}", draw, rows)
    for number in range(graphs):
        (folder / "graphs").mkdir(parents=True, exist_ok=True)
        text = odd(draw, variables, width=9)
        (folder / "graphs" / f"graph{number}.odd.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def write_tree(folder: Path, draw: random.Random, rows: int) -> None:
    folder.mkdir(parents=True)
    numeric = [f"x{k}" for k in range(5)]
    nominal = {"colour": ["red", "green", "blue"]}
    classes = ["a", "b", "c"]
    body = "\n".join(branches(draw, 0, dict.fromkeys(numeric, (0, 9)), nominal, classes))
    (folder / "tree.j48.txt").write_text(f"J48 pruned tree\n------------------\n\n{body}\n\nNumber of Leaves  : 1\n")
    meta = {"rows": 10 * rows, "class_column": "class", "class_values": classes, "nominal_columns": nominal}
    (folder / "meta.json").write_text(json.dumps(meta))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*numeric, *nominal, "class"])
    for _ in range(rows):
        values = [draw.randrange(10) for _ in numeric]
        writer.writerow([*values, draw.choice(nominal["colour"]), draw.choice(classes)])
    writer.writerow(["?"] * 6 + ["a"])  # a row that lacks every value is left out
    (folder / "rows.csv.gz").write_bytes(gzip.compress(out.getvalue().encode()))


def branches(draw, depth, region, nominal, classes):
    """The lines of a subtree below a test; a leaf is told on the line of its branch."""
    pad = "|   " * depth
    if nominal and draw.random() < 0.3:
        name, tests = next(iter(nominal)), [("=", value) for value in nominal[next(iter(nominal))]]
        parts, rest = [region] * len(tests), {}
    else:
        name = draw.choice([n for n, (low, high) in region.items() if low < high])
        low, high = region[name]
        cut = draw.randrange(low, high)
        tests, rest = [("<=", cut), (">", cut)], nominal
        parts = [region | {name: (low, cut)}, region | {name: (cut + 1, high)}]
    for (operator, value), part in zip(tests, parts):
        stem = f"{pad}{name} {operator} {value}"
        if depth >= 4 or draw.random() < 0.15 or not any(low < high for low, high in part.values()):
            yield f"{stem}: {draw.choice(classes)} (1.0)"
        else:
            yield stem
            yield from branches(draw, depth + 1, part, rest, classes)


def odd(draw: random.Random, variables: int, width: int) -> str:
    """An ordered decision graph: every node of a level is reached from the level above."""
    widths = [min(2**level, width) for level in range(variables)]
    first, identity = [], 0
    for count in widths:
        first.append(identity)
        identity += count
    lines = []
    for level in reversed(range(variables)):
        for place in range(widths[level]):
            if level + 1 == variables:
                children = draw.sample(["S0", "S1"], 2)
            else:
                below = [str(first[level + 1] + k) for k in range(widths[level + 1])]
                children = [below[(2 * place) % len(below)], below[(2 * place + 1) % len(below)]]
                if draw.random() < 0.2:
                    children[draw.randrange(2)] = draw.choice(["S0", "S1"])
            lines.append(f"{first[level] + place} {level} {' '.join(children)}")
    return "[" + ", ".join(f"v{k}" for k in range(variables)) + "]\n" + "\n".join(lines) + "\n"
