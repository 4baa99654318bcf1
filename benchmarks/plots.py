"""The plots of the table: instances solved against time, paper.py against the kernel, how many reasons there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.algorithms import QUESTIONS
from benchmarks.kernel import NAMES
from benchmarks.panel import Panel, Plot, count_tick, legend, seconds_tick
from quia.show.markup import Markup
from quia.show.svg import Axis, shape

WIDTH = 960
_LEFT, _GAP = 74, 120
_FASTEST = 1e-6


def _grid(heights: float, columns: int = 2) -> list[tuple[float, float, float, float]]:
    """Places of four panels: left, right, bottom, top."""
    wide = (WIDTH - _LEFT - 52 - (columns - 1) * _GAP) / columns
    places = []
    for k in range(len(QUESTIONS)):
        column, row = k % columns, k // columns
        left = _LEFT + column * (wide + _GAP)
        top = 64 + row * (heights + 84)
        places.append((left, left + wide, top + heights, top))
    return places


def title_of(question: str) -> str:
    """A question in full."""
    return f"{question}: {NAMES[question].split(';')[0]}"


def cactus(records: Sequence[dict[str, Any]], limits: dict[str, float]) -> Plot:
    """How many of the instances asked of both engines each had answered after so much time."""
    compared = [r for r in records if "paper" in r]
    panels = []
    for question, (left, right, bottom, top) in zip(QUESTIONS, _grid(190), strict=True):
        x = Axis(_FASTEST, max(*limits.values(), 1e-3), left, right, log=True)
        panel = Panel(x, Axis(0, max(len(compared), 1), bottom, top), title_of(question))
        panel.frame(seconds_tick, lambda n: f"{n:,.0f}", "CPU time for an instance", "instances solved")
        solved_by = {}
        for engine in ("paper", "kernel"):
            times = sorted(_listed(r[engine][question]) for r in compared if r[engine][question][0] is not None)
            points = [(_FASTEST, 0.0)]
            for solved, seconds in enumerate(times, 1):
                points += [(seconds, solved - 1), (seconds, solved)]
            points.append((max(limits[engine], points[-1][0]), len(times)))
            panel.line(_thinned(points), class_=f"{engine} line")
            solved_by[engine] = len(times)
        near = limits["paper"] >= x.high and abs(panel.y.at(solved_by["paper"]) - panel.y.at(solved_by["kernel"])) < 13
        for engine, shift in (("paper", 8.0 if near else 4.0), ("kernel", -4.0 if near else 4.0)):
            at = panel.y.at(solved_by[engine]) + shift
            panel.text(
                x.at(limits[engine]) + 5,
                at + 12 * (engine == "paper" and not near),
                f"{solved_by[engine]:,}",
                class_=engine,
            )
        panels.append(panel)
    entries = [("the paper's algorithms (paper.py)", "paper"), ("the kernel", "kernel")]
    label = "Instances solved against time, for each question"
    return Plot(WIDTH, 574, panels, legend(entries, _LEFT, 20), label)


def _listed(answer: Sequence[Any]) -> float:
    """The seconds until all reasons were listed; of the kernel, where they are too many to list, counted."""
    _, seconds, *listed = answer
    return float(next((s for s in listed if s is not None), seconds))


def _thinned(points: Sequence[tuple[float, float]], most: int = 1200) -> list[tuple[float, float]]:
    step = max(1, len(points) // most)
    return [*points[::step], points[-1]]


def scatter(records: Sequence[dict[str, Any]], limit: float) -> Plot:
    """Each instance by its two times; what paper.py did not finish is on the right edge."""
    compared = [r for r in records if "paper" in r]
    panels = []
    for question, (left, right, bottom, top) in zip(QUESTIONS, _grid(250), strict=True):
        x, y = Axis(1e-5, limit * 1.6, left, right, log=True), Axis(_FASTEST, limit, bottom, top, log=True)
        panel = Panel(x, y, title_of(question))
        panel.frame(seconds_tick, seconds_tick, "paper.py", "kernel")
        for times in (1, 10, 100, 1000, 10_000):
            low, high = max(panel.x.low, panel.y.low * times), min(panel.x.high, panel.y.high * times)
            if low < high:
                panel.line([(low, low / times), (high, high / times)], class_="diagonal")
                if high == panel.x.high:
                    panel.text(right + 4, panel.y.at(high / times) + 4, f"{times:,}×", class_="faint")
        finished, beyond = [], []
        for r in compared:
            count, ours, listed = r["kernel"][question]
            if count is None:
                continue
            if r["paper"][question][0] is None:
                beyond.append((limit * 1.3, ours))
            elif listed is not None:
                finished.append((r["paper"][question][1], listed))
        panel.dots(finished, 2.2, class_="kernel dots")
        panel.dots(beyond, 2.2, class_="paper dots")
        panels.append(panel)
    entries = [("both finish (kernel: all reasons listed)", "kernel"), (f"paper.py not in {limit:g} s", "paper")]
    label = "CPU time of paper.py against the kernel, for each instance and question"
    return Plot(WIDTH, 694, panels, legend(entries, _LEFT, 20), label)


def distributions(summaries: Sequence[dict[str, Any]], records: Sequence[dict[str, Any]]) -> Plot:
    """How many reasons the instances of each benchmark have, by the kernel's exact counts."""
    counts: dict[tuple[str, str], list[int]] = {}
    for r in records:
        if r["what"] == "instance":
            for question in QUESTIONS:
                if r["kernel"][question][0] is not None:
                    counts.setdefault((r["benchmark"], question), []).append(r["kernel"][question][0])
    names = [s["name"] for s in summaries]
    stand_in = {s["name"] for s in summaries if s["kind"] in ("graph", "network")}
    row, left, top = 26.0, 236.0, 64.0
    bottom = top + row * len(names)
    wide = (WIDTH - left - 24 - 44) / 2
    panels = []
    for k, (pair, title) in enumerate(((("SR", "SSR"), "sufficient reasons"), (("NR", "SNR"), "necessary reasons"))):
        start = left + k * (wide + 44)
        most = max((c for (_, q), all_of in counts.items() if q in pair for c in all_of), default=1)
        power = max(1, math.ceil(math.log10(max(most, 1)) + 0.05))
        x = Axis(1, 10.0 ** min(power, 300), start, start + wide, log=True)
        panel = Panel(x, Axis(0, 1, bottom, top), title)
        panel.frame(count_tick, None, "reasons of one decision")
        for place, name in enumerate(names):
            middle = top + row * (place + 0.5)
            if k == 0:
                panel.text(left - 12, middle + 4, name.removesuffix("_T0.5") + "*" * (name in stand_in), "end")
            for question, shift in zip(pair, (-5.0, 5.0), strict=True):
                panel.parts += _box(panel.x, counts.get((name, question), []), middle + shift, question)
        panels.append(panel)
    entries = [
        ("all", "all"),
        ("the shortest", "shortest"),
        ("band: the middle half; line: 2.5 % to 97.5 %; mark: median; *: a stand-in", "none"),
    ]
    label = "Numbers of reasons of the instances of each benchmark"
    return Plot(WIDTH, int(bottom + 48), panels, legend(entries, left, 20), label)


def _box(x: Axis, counts: Sequence[int], middle: float, question: str) -> list[Markup]:
    ordered = sorted(max(c, 1) for c in counts)
    if not ordered:
        return []
    low, quarter, half, three_quarters, high = (
        x.at(float(min(ordered[min(int(share * len(ordered)), len(ordered) - 1)], 10**300)))
        for share in (0.025, 0.25, 0.5, 0.75, 0.975)
    )
    look = "all" if question in ("SR", "NR") else "shortest"
    return [
        shape("line", x1=low, x2=high, y1=middle, y2=middle, class_=f"{look} whisker"),
        shape("rect", x=quarter, y=middle - 3.5, width=max(three_quarters - quarter, 1.5), height=7, rx=2, class_=look),
        shape("line", x1=half, x2=half, y1=middle - 5, y2=middle + 5, class_="median"),
    ]
