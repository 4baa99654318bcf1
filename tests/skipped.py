"""What was not tested, at the end of every run: each reason once, with its cure, how many tests and where they are."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    if reports:
        terminalreporter.write_sep("=", "not tested")
        for line in lines(reports):
            terminalreporter.write_line(line)


def lines(reports: Iterable[Any]) -> Iterator[str]:
    """Two lines a reason, the commonest first: how many tests and why, then their files."""
    # Each worker of xdist reports a file that is skipped as a whole, so a test is told from others by its name.
    tests = {report.nodeid: _reason(report) for report in reports}
    files: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, reason in tests.items():
        files[reason][name.partition("::")[0]] += 1
    for reason, places in sorted(files.items(), key=lambda item: (-item[1].total(), item[0])):
        yield f"{places.total():4} skipped: {reason}"
        yield "             " + ", ".join(f"{file} ({count})" for file, count in sorted(places.items()))


def _reason(report: Any) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = " ".join(reason.removeprefix("Skipped: ").split())
    missing = re.match(r"could not import '([\w.]+)'", reason)
    return f"{missing[1]} is not installed: pip install -e '.[test]'" if missing else reason
