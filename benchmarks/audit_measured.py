"""One audit, measured step by step, and the check of all its claims."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.numbers import plain_table, ratio_text, seconds_text
from quia.classifier import Classifier

STEPS = {
    "what hangs on": "what hangs on protected features",
    "what each feature": "what each feature alone changes",
    "whether decisions depend": "whether any decision depends on them",
    "whether more": "whether more of a feature hurts or helps",
    "whether": "whether a feature matters",
    "rules for": "rules",
    "the shortest reasons": "the shortest reasons, and telling it",
}
"""What the steps of an audit that begin so are called together; the first that fits."""
READING = "reading and deciding the rows"


@dataclass(frozen=True)
class Limits:
    """Wall-clock seconds for an audit, and for its check; None for no limit."""

    audit: float | None
    check: float | None


@dataclass(eq=False)
class Stopwatch:
    """CPU seconds of each step, by the calls that tell what comes next."""

    seconds: dict[str, float] = field(default_factory=dict)
    _name: str = READING
    _since: float = field(default_factory=time.process_time)

    def next(self, name: str) -> None:
        """What was done until now is over."""
        now = time.process_time()
        self.seconds[self._name] = self.seconds.get(self._name, 0.0) + now - self._since
        self._name, self._since = next((told for start, told in STEPS.items() if name.startswith(start)), name), now


def measured(
    name: str, classifier: Classifier, file: str, protected: Sequence[str], label: str, limits: Limits
) -> dict[str, Any]:
    """What an audit took and found, and what became of its claims."""
    from quia.auditing.audit import Facts, run
    from quia.auditing.check_table import read_table
    from quia.auditing.checks import Files, check

    watch, started = Stopwatch(), time.monotonic()
    document = run(
        classifier,
        file,
        Facts(),
        label=label,
        protected=protected,
        favourable=(),
        orders=None,
        compare=None,
        within=None,
        given=None,
        share=0.9,
        timeout=limits.audit,
        progress=lambda _, step: watch.next(step),
    )
    wall = time.monotonic() - started
    watch.next("")
    since, begun = time.process_time(), time.monotonic()
    table = read_table(file, document, classifier, None)
    checked = check(document, classifier, table=table, files=Files(data=file), timeout=limits.check)
    check_cpu, check_wall = time.process_time() - since, time.monotonic() - begun
    return {
        "name": name,
        "sizes": dict(classifier.sizes),
        "rows": document.decisions.rows,
        "decided": document.decisions.decided,
        "steps": watch.seconds,
        "cpu": sum(watch.seconds.values()),
        "wall": wall,
        "limit": limits.audit,
        "unfinished": list(document.unfinished),
        "rules": [
            {"class": each.decision, "rules": len(each.rules), "covered": each.covered, "of": each.of}
            for each in document.rules
        ],
        "hanging": [
            {
                "features": list(each.features),
                "rows": 0 if each.hanging is None else each.hanging.rows,
                "of": document.decisions.decided if each.hanging is None else each.hanging.of,
            }
            for each in document.protected
        ],
        "check": {
            "cpu": check_cpu,
            "wall": check_wall,
            "limit": limits.check,
            "holds": checked.count("holds"),
            "not_checked": checked.count("not checked"),
            "refuted": [f"{claim.place}: {claim.why}" for claim in checked.having("refuted")],
        },
    }


def text(result: dict[str, Any]) -> str:
    """What was measured, as a table and a few sentences."""
    return "\n".join([steps_table(result), "", " ".join(sentences(result)), ""])


def steps_table(result: dict[str, Any]) -> str:
    """CPU seconds of each step, and of all."""
    rows = [[name, seconds_text(taken)] for name, taken in result["steps"].items()]
    rows.append(["all", seconds_text(result["cpu"])])
    return plain_table([f"{result['name']}, {result['rows']:,} rows", "CPU"], rows)


def sentences(result: dict[str, Any]) -> list[str]:
    """The time against its limit, what is covered, what is checked, and the loop over predict."""
    limit, check = result["limit"], result["check"]
    said = [
        f"It took {seconds_text(result['wall'])}, with {'no limit' if limit is None else f'a limit of {limit:g} s'}."
    ]
    said += [
        f"{each['rules']} rules cover {each['covered']:,} of {each['of']:,} rows that are decided {each['class']}."
        for each in result["rules"]
    ]
    said.append(
        f"quia verify: {check['holds']:,} claims hold, {len(check['refuted'])} are refuted, {check['not_checked']:,}"
        f" not checked, in {seconds_text(check['cpu'])} of CPU."
    )
    if "rival" in result:
        own, rival = result["steps"].get(STEPS["what hangs on"]), result["rival"]
        is_whole = all(each["of"] == result["decided"] for each in result["hanging"])  # else it did less than the loop
        ratio = "" if own is None or not is_whole else f", {ratio_text(rival['cpu'] / own)} the audit's step"
        counts = " and ".join(f"{rows:,}" for rows in rival["rows"])
        said.append(
            f"What hangs on protected features, by {rival['calls']} calls of the library's predict: {counts} decisions,"
            f" in {seconds_text(rival['cpu'])} of CPU{ratio}; it proves nothing of other inputs, and names no group"
            " that fares better."
        )
    return said
