"""`python -m benchmarks peers`: other tools on the same trees and instances, their answers checked with quia.verify."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.arguments import add_data, benchmarks_of, default_cache
from quia.command import Subparsers
from quia.command.numbers import positive_seconds, whole
from quia.command.streams import write

if TYPE_CHECKING:
    from benchmarks.peer_tree import Subject

PEERS = {
    "pyxai": ("PyXAI", ("pyxai==2.0.1",)),
    "xpgraph": ("XpGraph", ("XpGraph==0.0.1",)),
    "shap": ("SHAP", ("shap>=0.46,<0.52",)),
    "dice": ("DiCE", ("dice-ml>=0.11,<0.13",)),
    "anchors": ("Anchors", ("anchor-exp==0.0.2.0",)),
}
"""The tools: how they are called, and what pip installs for them."""
DEFAULT_TREES = ("spambase", "gisette_like", "isolet", "mnist_784")
KIND = {"all necessary": "necessary", "one counterfactual": "necessary"}
"""What an answer claims to be, checked as such; all other answers claim to be sufficient."""
_WHOLE = ("all sufficient", "count sufficient", "shortest sufficient", "all necessary")
"""Questions for all reasons of a kind."""
_MOST_QUESTIONS = 5
"""Of one tool."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "peers",
        help="other tools on the same trees and instances, their answers checked",
        description="Runs PyXAI, XpGraph, SHAP, DiCE and Anchors, each in its own environment that is made on the first"
        " run, and checks with quia.verify how many of their answers force the decision. Only trees whose tests are"
        " all of the form x <= t are taken, as not all of these tools have other tests.",
    )
    add_data(parser)
    parser.add_argument("--peer", choices=tuple(PEERS), action="append", help="only this one; repeat it")
    parser.add_argument("--rows", metavar="N", type=whole, default=20, help="instances of each tree (default 20)")
    parser.add_argument(
        "--limit", metavar="S", type=positive_seconds, default=10.0, help="seconds for an answer (default 10)"
    )
    parser.add_argument("--environments", metavar="DIR", help="where the tools are installed (default: quia's cache)")
    parser.add_argument("--out", metavar="DIR", default="quia-bench-peers", help="where results go")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Install what is missing, ask every tool, check, and print."""
    from benchmarks.environments import environment
    from benchmarks.peer_tree import subject
    from benchmarks.steps import Steps

    arguments.benchmark = arguments.benchmark or list(DEFAULT_TREES)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    where = Path(arguments.environments) if arguments.environments else default_cache() / "peers"
    chosen = arguments.peer or list(PEERS)
    benchmarks = [b for b in benchmarks_of(arguments, or_generated=False) if b.kind == "tree"]
    results: list[dict[str, Any]] = []
    notes: list[str] = []
    with Steps(len(benchmarks) * (len(chosen) + 1) + len(chosen)) as steps:
        pythons = {}
        for peer in chosen:
            name, packages = PEERS[peer]
            try:
                pythons[peer] = environment(where / peer, packages)
            except RuntimeError as fault:
                notes.append(f"{name} could not be installed: {fault}")
            steps.step(on=f"installing {name}")
        for benchmark in benchmarks:
            it = subject(benchmark, arguments.data, arguments.rows)
            if it is None:
                notes.append(f"{benchmark.name} has tests other than x <= t and is left out.")
                continue
            own = list(own_answers(it, arguments.limit))
            results += summaries(it, "quia", own, own)
            steps.step(on=f"{it.name}: quia")
            for peer, python in pythons.items():
                answers, trouble = ask(python, peer, it, arguments.limit, out)
                if trouble:
                    notes.append(f"{PEERS[peer][0]} on {it.name}: {trouble}")
                results += summaries(it, PEERS[peer][0], answers, own)
                steps.step(on=f"{it.name}: {PEERS[peer][0]}")
    text = markdown(results, notes, arguments.limit)
    (out / "peers.md").write_text(text, "utf-8")
    (out / "peers.json").write_text(json.dumps({"results": results, "notes": notes}, indent=1), "utf-8")
    write(text)
    return 0


def own_answers(it: Subject, limit: float) -> Iterator[dict[str, Any]]:
    """quia's answers by its public functions, as a user would ask."""
    import time
    from itertools import islice

    from benchmarks.algorithms import MOST_LISTED
    from quia.explanation import explain

    def one(e: Any) -> Any:
        return e.sufficient_reasons(limit=1, timeout=limit)

    questions: dict[str, Any] = {
        "one sufficient": one,
        "all sufficient": lambda e: e.sufficient_reasons(timeout=limit),
        "count sufficient": lambda e: e.sufficient_reasons(timeout=limit),
        "shortest sufficient": lambda e: e.sufficient_reasons(shortest=True, timeout=limit),
        "all necessary": lambda e: e.necessary_reasons(timeout=limit),
    }

    def asked(question: str, instance: dict[str, float]) -> tuple[int | None, list[Any]]:
        reasons = questions[question](explain(it.classifier, instance))
        return reasons.count, list(islice(reasons, 0 if question == "count sufficient" else MOST_LISTED))

    for question in questions:
        asked(question, it.instances[0])  # as the others: what is made on first use is not in the time
        for row, instance in enumerate(it.instances):
            started, wall = time.process_time(), time.perf_counter()
            count, listed = asked(question, instance)
            took, wall = time.process_time() - started, time.perf_counter() - wall
            yield {
                "row": row,
                "question": question,
                "count": 1 if question == "one sufficient" else count,
                "reasons": [[it.features.index(f) for f in reason.features] for reason in listed[:50]],
                "whole": count is not None and (count == len(listed) or question == "count sufficient"),
                "seconds": took,
                "wall": wall,
            }


class Asked(Protocol):
    """What a tool is asked about."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def instances(self) -> Sequence[Any]:
        """The rows."""
        ...

    def job(self, limit: float) -> dict[str, Any]:
        """What the tool's runner reads."""
        ...


def ask(python: Path, peer: str, it: Asked, limit: float, out: Path) -> tuple[list[dict[str, Any]], str | None]:
    """A tool's answers, and what went wrong if it did not get to the end."""
    import subprocess

    folder = Path(__file__).parent / "peer"
    job, answers = out / f"{it.name}.job.json", out / f"{it.name}.{peer}.jsonl"
    job.write_text(json.dumps(it.job(limit)), "utf-8")
    answers.unlink(missing_ok=True)
    command = [str(python), str(folder / "runner.py"), peer, str(job), str(answers)]
    # Some tools work on where no alarm reaches them; a tool that hangs costs its own column only.
    patience = 60 + _MOST_QUESTIONS * (len(it.instances) + 1) * (limit + 2)
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=patience)
        said = done.stderr.strip().splitlines()
        fault = (said[-1] if said else "it ended early") if done.returncode else None
    except subprocess.TimeoutExpired:
        fault = f"it did not end within {patience:.0f} s"
    lines = answers.read_text("utf-8").splitlines() if answers.exists() else []
    return [json.loads(line) for line in lines], fault


def summaries(
    it: Subject, tool: str, answers: Sequence[dict[str, Any]], own: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """One line a question: times, counts beside quia's own, and what quia.verify says of the answers."""
    from benchmarks.numbers import spread

    counted = {(a["row"], a["question"]): a["count"] for a in own}
    lines = []
    for question in dict.fromkeys(a["question"] for a in answers):
        mine = [a for a in answers if a["question"] == question]
        kind = KIND.get(question, "sufficient")
        told = [it.check(a["row"], reason, kind) for a in mine for reason in a["reasons"]]
        given = [a for a in mine if a["count"]]
        lines.append(
            {
                "tree": it.name,
                "tool": tool,
                "question": question,
                "asked": len(mine),
                "answered": len(given),
                "whole": sum(bool(a["whole"]) for a in mine),
                "same_count": sum(bool(a["whole"]) and a["count"] == counted.get((a["row"], question)) for a in mine),
                "seconds": spread([a["seconds"] for a in given])["mean"],
                "wall": spread([a["wall"] for a in given])["mean"],
                "count": spread([float(min(a["count"], 10**300)) for a in given])["median"],
                "length": spread([float(len(r)) for a in mine for r in a["reasons"]])["mean"],
                "kind": kind,
                "checked": len(told),
                "wrong": sum(t == "wrong" for t in told),
                "not_minimal": sum(t == "not minimal" for t in told),
                "faults": sorted({a["fault"] for a in mine if a.get("fault")}),
            }
        )
    return lines


def markdown(results: Sequence[dict[str, Any]], notes: Sequence[str], limit: float) -> str:
    """All lines, and how to read them."""
    from benchmarks.numbers import number_text, plain_table, seconds_text

    def share(part: int, checked: int) -> str:
        return f"{100 * part / checked:.0f} %" if checked else "–"

    header = [
        "tree",
        "tool",
        "question",
        "answered",
        "all found",
        "CPU mean",
        "wall mean",
        "reasons (median)",
        "length",
    ]
    header += ["as many as quia", "checked", "not forcing / not changing", "not minimal"]
    rows = [
        [
            r["tree"],
            r["tool"],
            r["question"],
            f"{r['answered']} of {r['asked']}",
            f"{r['whole']} of {r['asked']}" if r["question"] in _WHOLE else "",
            seconds_text(r["seconds"]),
            seconds_text(r["wall"]),
            number_text(r["count"]),
            number_text(r["length"]),
            f"{r['same_count']} of {r['whole']}" if r["question"] in _WHOLE and r["whole"] else "",
            str(r["checked"]),
            share(r["wrong"], r["checked"]),
            share(r["not_minimal"], r["checked"]),
        ]
        for r in results
    ]
    faults = [f"{r['tool']} on {r['tree']}, {r['question']}: {fault}" for r in results for fault in r["faults"]]
    return "\n".join(
        [
            "# Other tools on the same trees and instances",
            "",
            plain_table(header, rows),
            "",
            f"At most {limit:g} s an answer. A time is that of the tool's own calls, after a first one that is not"
            " counted: the tree, the instance in the form that the tool takes and the reading of its answer are not in"
            " it. Of quia it has the encoding of the instance too.",
            "",
            "Every answer, of long lists the first 50 reasons, is checked with quia.verify as a set of features: `not"
            " forcing` answers do not force the decision, so they are no sufficient reasons (of counterfactuals and"
            " contrastive reasons: changing these features alone never changes the decision); `not minimal` ones do,"
            " but so does a part of them.",
            "",
            "What is not comparable: PyXAI's reasons are sets of threshold literals (x <= t), of which one feature may"
            " have several, so its counts are not quia's and its sets of features need not be minimal; SHAP weighs"
            " features and claims no sufficiency: `top features` are as many as the shortest sufficient reason has;"
            " Anchors claim 95 % precision on samples, not certainty; DiCE gives one changed instance, not the least"
            " change.",
            *(f"\n- {note}" for note in [*notes, *dict.fromkeys(faults)]),
            "",
        ]
    )
