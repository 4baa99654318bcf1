"""One classifier of a Bayesian network in a fresh process: compiled and checked, or decided for all inputs by a rival.

`python -m benchmarks.networks_once FOLDER` reads what `once` left in the folder and prints JSON. Its memory is capped,
and all that is timed is the work itself: reading the network and importing libraries come before, checks after.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.memory import peak, peak_of
from benchmarks.networks_asked import MEMORY, Asked, features_of, read

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from quia.graph import DecisionGraph

THRESHOLD = 0.5
SAMPLES = 3000
"""Inputs of each compiled graph that are compared with pyAgrum's posterior: half drawn evenly, half by the network."""
NEAR = 1e-9
"""A posterior so near to the threshold, in doubles, does not say which class is right."""
_PATIENCE = 10
"""So many times the limit may pass by the clock on the wall."""
_GRACE = 300.0
"""Seconds that reading and checks may take beside what is limited."""
SEED = 20
ROOT = Path(__file__).resolve().parents[1]


def once(
    what: str,
    asked: Asked,
    *,
    limit: float,
    memory: int = MEMORY,
    samples: int = SAMPLES,
    whole: int = 0,
    graph: Path | None = None,
) -> dict[str, Any]:
    """What a fresh process measures: `quia` compiles into the file `graph`, the rivals are compared with that.

    `limit` are CPU seconds, as what else the machine does would count in others.
    """
    plan = {"what": what, "limit": limit, "memory": memory, "samples": samples, "whole": whole}
    plan |= {"asked": replace(asked, file=asked.file.resolve()).to_dict()}
    plan |= {"graph": None if graph is None else str(graph.resolve())}
    with TemporaryDirectory() as scratch:
        (Path(scratch) / "plan.json").write_text(json.dumps(plan), "utf-8")
        return _of_process([*COMMAND, scratch], Path(scratch), limit)


COMMAND = [sys.executable, "-m", "benchmarks.networks_once"]


def _of_process(command: Sequence[str], scratch: Path, limit: float) -> dict[str, Any]:
    """What a process prints, or why it prints nothing; how much memory one had that is ended is watched from here."""
    latest = time.monotonic() + _PATIENCE * limit + _GRACE
    most = 0
    with (scratch / "out").open("wb") as out, (scratch / "err").open("wb") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=ROOT)
        while True:
            try:
                process.wait(0.1)
                break
            except subprocess.TimeoutExpired:
                most = max(most, peak_of(process.pid))
                if time.monotonic() > latest:
                    process.kill()
    if process.returncode:
        if process.returncode == -getattr(signal, "SIGXCPU", 0):
            fault = f"time ran out: {limit:g} seconds of CPU were not enough"
            return {"fault": fault, "seconds": limit, **({"peak": most} if most else {})}
        said = [line for line in (scratch / "err").read_text("utf-8").splitlines() if line.strip()]
        return {"fault": said[-1] if said else f"it ended with {process.returncode}"}
    found: dict[str, Any] = json.loads((scratch / "out").read_text("utf-8"))
    return found


def main(folder: str) -> None:
    """Measure what the plan in the folder says."""
    from benchmarks import networks_rivals
    from quia.command.streams import write

    plan = json.loads((Path(folder) / "plan.json").read_text("utf-8"))
    asked = Asked(**plan["asked"] | {"file": Path(plan["asked"]["file"])})
    with memory_capped(plan["memory"]):
        if plan["what"] == "quia":
            found, graph = compiled(asked, plan["limit"])
        else:
            # Only where all inputs are decided can they be put in the graph's order, and compared with it.
            few = asked.features <= networks_rivals.MOST_FEATURES
            graph = _read_graph(plan["graph"]) if few else None
            found, decisions = networks_rivals.RIVALS[plan["what"]](asked, plan["limit"], plan["whole"], graph)
    if plan["what"] == "quia" and graph is not None and plan["graph"]:
        from quia.load.json import write as write_json

        write_json(graph, plan["graph"])  # a million nodes take more memory as text than it takes to compile them
    if plan["what"] != "quia" and graph is not None and decisions is not None:
        found["check"] = networks_rivals.compared(graph, asked, decisions)
    if plan["what"] == "quia" and graph is not None and plan["samples"]:
        found["check"] = checked(graph, asked, plan["samples"])
    write(json.dumps(found))


@contextmanager
def memory_capped(most: int) -> Iterator[None]:
    """A cap on this process's memory, where there is one."""
    try:
        from resource import RLIMIT_AS, getrlimit, setrlimit
    except ImportError:
        yield
        return
    before = getrlimit(RLIMIT_AS)
    setrlimit(RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_AS, before)


@contextmanager
def cpu_capped(seconds: float) -> Iterator[None]:
    """An end to this process after so many more CPU seconds, and one at the most, where there are such limits."""
    try:
        from resource import RLIMIT_CPU, getrlimit, setrlimit
    except ImportError:
        yield
        return
    before = getrlimit(RLIMIT_CPU)
    setrlimit(RLIMIT_CPU, (math.ceil(time.process_time() + seconds), before[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_CPU, before)


def compiled(asked: Asked, limit: float) -> tuple[dict[str, Any], DecisionGraph | None]:
    """A classifier compiled: nodes, messages, CPU seconds and memory, or why there is none."""
    from quia import _kernel
    from quia.compile.classifier import network_as_graph
    from quia.errors import TooLarge

    network = read(asked.file)
    features = features_of(network, asked)
    node = network.nodes[network.place(asked.target)]
    looked: list[tuple[int, int]] = []

    chain_of = _kernel.Chain

    class Counting:
        def __init__(self, *arrays: Any) -> None:
            self.chain = chain_of(*arrays)

        def compile(self, *given: Any, **limits: Any) -> Any:
            found = self.chain.compile(*given, **limits)
            *_, messages, _, exact = found
            looked.append((messages, exact))
            return found

    graph, fault = None, None
    before, started, at = peak(), time.thread_time(), time.perf_counter()
    with patch.object(_kernel, "Chain", Counting), cpu_capped(limit):
        try:
            graph = network_as_graph(
                network,
                asked.target,
                features=features,
                threshold=THRESHOLD,
                positive=node.states[-1],
                timeout=_PATIENCE * limit,
            )
        except TooLarge as too_large:
            fault = str(too_large).split(";")[0]
        except MemoryError as no_memory:
            fault = f"memory ran out: {str(no_memory) or 'no more was to be had'}"
    seconds, wall = time.thread_time() - started, time.perf_counter() - at
    found = {"seconds": seconds, "wall": wall, "before": before, "peak": peak(), "fault": fault}
    if graph is not None:
        found |= {"nodes": len(graph), "tested": len(graph.tested)}
        found |= {"messages": sum(each[0] for each in looked), "exact": sum(each[1] for each in looked)}
    return found, graph


def checked(graph: DecisionGraph, asked: Asked, samples: int) -> dict[str, Any]:
    """Decisions of a graph on sampled inputs beside pyAgrum's posterior, which reads the file by itself."""
    from benchmarks.networks_rivals import Library

    network = read(asked.file)
    library = Library(asked, features_of(network, asked))
    rows = drawn(network, library.features, samples)
    places = [library.features.index(variable.name) for variable in graph.variables]
    import numpy as np

    decisions = np.asarray(graph.kernel.classify(np.ascontiguousarray(rows[:, places])))
    posteriors = np.array([library.posterior(row) for row in rows.tolist()])
    for number in np.flatnonzero(decisions != (posteriors >= THRESHOLD)):
        if library.is_impossible(rows[number].tolist()):
            posteriors[number] = np.nan
    return agreement(decisions, posteriors)


def agreement(decisions: npt.NDArray[Any], posteriors: npt.NDArray[np.float64]) -> dict[str, Any]:
    """How many decisions are those of posteriors; ties, and inputs that are impossible (NaN), are counted apart."""
    import numpy as np

    impossible = np.isnan(posteriors)
    ties = ~impossible & (np.abs(posteriors - THRESHOLD) < NEAR)
    told = ~impossible & ~ties
    differing = int((decisions[told] != (posteriors[told] >= THRESHOLD)).sum())
    return {
        "inputs": len(decisions),
        "compared": int(told.sum()),
        "ties": int(ties.sum()),
        "impossible": int(impossible.sum()),
        "positive": int((decisions[told] == 1).sum()),
        "differing": differing,
    }


def drawn(network: Any, features: list[str], count: int) -> npt.NDArray[np.int32]:
    """Inputs: the first half as the network makes them, the others with all states alike."""
    import numpy as np

    draw = np.random.default_rng(SEED)
    places = [network.place(name) for name in features]
    order = sorted(range(len(network.nodes)), key=lambda place: len(network.ancestors([place])))  # parents come first
    states = np.zeros((count // 2, len(network.nodes)), np.int32)
    for place in order:
        node = network.nodes[place]
        shares = node.table.astype(np.float64)[tuple(states[:, parent] for parent in node.parents)]
        below = np.cumsum(np.broadcast_to(shares, (len(states), len(node.states))), axis=1)
        states[:, place] = (draw.random((len(states), 1)) >= below[:, :-1]).sum(axis=1)
    even = draw.integers(0, [network.sizes[place] for place in places], (count - len(states), len(places)))
    return np.concatenate([states[:, places], even.astype(np.int32)])


def _read_graph(file: str | None) -> DecisionGraph | None:
    from quia.graph import DecisionGraph
    from quia.load import load

    if file is None or not Path(file).exists():
        return None
    graph = load(file, format="json")
    assert isinstance(graph, DecisionGraph)
    return graph


if __name__ == "__main__":
    main(sys.argv[1])
