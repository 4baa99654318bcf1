"""A folder with a small Bayesian network in it, called as one of those that the benchmark knows."""

import gzip
from itertools import product
from pathlib import Path
from random import Random

from network_oracle import Variable

NAME, TARGET = "win95pts", "PrtMem"
STATES = ("a", "b")


def random_network(seed: int, leaves: int = 7) -> dict[str, Variable]:
    """A class and two more causes, each leaf an effect of two of these; the last leaf is of a cause of its own."""
    rng = Random(seed)
    causes = [TARGET, "cause_1", "cause_2", "apart"]
    net = {name: Variable(STATES, (), (random_share(rng),)) for name in causes}
    for number in range(leaves):
        parents = tuple(rng.sample(causes[:3], 2)) if number < leaves - 1 else ("apart",)
        if number == 0:
            parents = (TARGET, "cause_1")
        net[f"leaf{number}"] = Variable(STATES, parents, tuple(random_share(rng) for _ in range(2 ** len(parents))))
    return net


def random_share(rng: Random) -> tuple[str, str]:
    """A probability that is neither 0 nor 1, and the rest."""
    share = rng.randrange(10, 990)
    return f"0.{share:03}", f"0.{1000 - share:03}"


def write_folder(folder: Path, net: dict[str, Variable]) -> Path:
    """The network as a BIF file, in the layout of the benchmarks."""
    lines = ["network tiny { }"]
    for name, variable in net.items():
        lines.append(f"variable {name} {{ type discrete [ 2 ] {{ {', '.join(variable.states)} }}; }}")
    for name, variable in net.items():
        given = f" | {', '.join(variable.parents)}" if variable.parents else ""
        lines.append(f"probability ( {name}{given} ) {{")
        for states, row in zip(product(*(net[x].states for x in variable.parents)), variable.rows, strict=True):
            where = f"({', '.join(states)})" if states else "table"
            lines.append(f"  {where} {', '.join(row)};")
        lines.append("}")
    (folder / "networks").mkdir(parents=True, exist_ok=True)
    file = folder / "networks" / f"{NAME}.bif.gz"
    file.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    return file
