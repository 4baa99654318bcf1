"""A decision graph as a drawing: an instance's way lit, or the top of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from quia.classifier import Classifier, HasPath
from quia.errors import Unsupported, with_article
from quia.plot.canvas import (
    CLASSES,
    INCH,
    PLAIN,
    SIZE,
    SMALL,
    Inks,
    Margins,
    axes_of,
    bare,
    fitted,
    head,
    heading,
    inches_wide,
    inks_of,
)
from quia.question import given_values
from quia.show import layout
from quia.show.neighbourhood import Arrow, Box, Picture, below, condition_signs, picture, top
from quia.show.words import Facts, plural
from quia.values import readable_value
from quia.variables import decide_instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _HIGH, _ACROSS, _DOWN = 1.45, 0.44, 1.65, 1.0
"""A box, and from one to the next, in inches."""
_WIDEST = 9
"""A drawing of more columns than these is not read; then the way alone is drawn."""
_SIZES = (40, 31, 23, 15, 7, 3)
"""Of so many nodes at most the top of a graph is tried, until it is not too wide."""


class Drawable(Classifier, HasPath, Protocol):
    """A classifier that can be drawn."""


def plot_graph(graph: Any, instance: Any, ax: Axes | None, most: int) -> Axes:
    """The whole graph where it is small, else the way of the instance and what branches off it, or the top."""
    given: Mapping[str, Any] | None = None
    decision: int | None = None
    states: Sequence[int] = ()
    path: list[int] = []
    if instance is not None:
        states, given = graph.encode(instance), given_values(graph.variables, instance)
        decision, path = decide_instance(graph, states, instance), list(graph.path(states))
    drawn, placed = _placed(graph, states, path, most)
    title, about = _said(graph, drawn, decision, path)
    wide = max(x for x, _ in placed.places.values()) * _ACROSS + _WIDE
    high = max(y for _, y in placed.places.values()) * _DOWN + _HIGH
    said = heading(title, about, max(wide, 4.5))
    ax = axes_of(ax, max(wide, 4.5), high, Margins(0.3, 0.3, said.high + 0.1, 0.3))
    inks = inks_of(ax)
    bare(ax, inks)
    ax.set_xlim(0, max(wide, 4.5))
    ax.set_ylim(high, 0)
    head(ax, said, inks)
    drawing = _Drawing(ax, graph, drawn, placed, inks, given, decision)
    for arrow in sorted(drawn.arrows, key=lambda arrow: arrow.lit):
        drawing.line(arrow)
    for arrow in drawn.arrows:
        drawing.label(arrow)
    for place, box in enumerate(drawn.boxes):
        drawing.box(place, box)
    return ax


def _placed(graph: HasPath, states: Sequence[int], path: Sequence[int], most: int) -> tuple[Picture, layout.Layout]:
    """What is drawn, and where."""
    if path:
        drawn = picture(graph, states, path, steps=most + 1)
        if drawn.whole and (found := _layout(drawn)) is not None and _columns(found) <= _WIDEST:
            return drawn, found
        drawn = picture(graph, states, path, whole=0, steps=most + 1)
        return drawn, layout.spine(drawn)
    return _top(graph)


def _top(graph: HasPath) -> tuple[Picture, layout.Layout]:
    """The top of a graph, as much of it as is not too wide."""
    for count in _SIZES:
        drawn = top(graph, count)
        if (found := _layout(drawn)) is not None and (_columns(found) <= _WIDEST or count == _SIZES[-1]):
            return drawn, found
    raise Unsupported(
        "drawing a graph whose nodes have several parents needs fast-sugiyama",
        cure="pip install 'quia[draw]', or give an instance",
    )


def _layout(drawn: Picture) -> layout.Layout | None:
    if layout.is_tree(drawn):
        return layout.tidy(drawn)
    return layout.layered([(arrow.start, arrow.end) for arrow in drawn.arrows]) if layout.available() else None


def _columns(placed: layout.Layout) -> float:
    return max(x for x, _ in placed.places.values()) + 1


def _said(graph: Drawable, drawn: Picture, decision: int | None, path: Sequence[int]) -> tuple[str, str]:
    if decision is None:
        nodes = len(graph.nodes)
        kind = with_article(graph.kind)
        some = "" if drawn.whole else "Its top; dashed boxes stand for what is below."
        return f"{kind[:1].upper()}{kind[1:]} of {plural(nodes, 'node')}", some
    tests = sum(graph.nodes[node][0] >= 0 for node in path)
    steps = sum(box.lit and box.kind == "test" for box in drawn.boxes)
    way = f"The way through the {graph.kind} passes {plural(tests, 'test')}"
    last = f", of which the last {steps} are drawn" if steps < tests else ""
    if graph.nodes[path[-1]][0] >= 0:
        last += ", up to the first whose value is not known: all that is possible there leads to the same class"
    stubs = "; dashed boxes stand for branches not taken" if any(box.kind == "stub" for box in drawn.boxes) else ""
    return f"The model decided {graph.classes[decision]}", f"{way}{last}{stubs}."


class _Drawing:
    """Lines and boxes on an Axes, in inches, their texts smaller where the Axes are."""

    def __init__(
        self,
        ax: Axes,
        graph: Drawable,
        drawn: Picture,
        placed: layout.Layout,
        inks: Inks,
        given: Mapping[str, Any] | None,
        decision: int | None,
    ) -> None:
        self.ax, self.graph, self.drawn, self.placed, self.inks = ax, graph, drawn, placed, inks
        self.given, self.decision, self.facts = given, decision, Facts(graph.variables)
        self.scale = min(1.0, inches_wide(ax) / ax.get_xlim()[1], _inches_high(ax) / ax.get_ylim()[0])
        self.ends = [arrow.end for arrow in drawn.arrows]

    def line(self, arrow: Arrow) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        (x, y), *rest = (_spot(*point) for point in self.placed.routes[arrow.start, arrow.end])
        y += _HIGH / 2
        points, codes = [(x, y)], [Path.MOVETO]
        for place, (to_x, centre) in enumerate(rest, 1):
            to_y = centre - (_HIGH / 2 if place == len(rest) else 0)
            # To a box it comes straight down, behind its condition.
            bent = y + 0.6 * (to_y - y) if len(rest) == 1 else to_y
            middle = (y + bent) / 2
            points += [(x, middle), (to_x, middle), (to_x, bent), (to_x, to_y)]
            codes += [*[Path.CURVE4] * 3, Path.LINETO]
            x, y = to_x, to_y
        colour, thick = (self.inks.keep, 3.0) if arrow.lit else (self.inks.faint, 1.0)
        self.ax.add_patch(
            PathPatch(
                Path(points, codes),
                fill=False,
                edgecolor=colour,
                linewidth=thick * self.scale,
                capstyle="butt",
                gid="lit edge" if arrow.lit else "edge",
                clip_on=False,
                zorder=2 if arrow.lit else 1,
            )
        )

    def label(self, arrow: Arrow) -> None:
        """The condition of an edge, above its end where that has no other arrow, so that neighbours stay apart."""
        points = [_spot(*point) for point in self.placed.routes[arrow.start, arrow.end]]
        (x, y), (to_x, to_y) = points[0], points[1]
        text = condition_signs(self.graph, self.facts, self.drawn.boxes[arrow.start].nodes[0], arrow.states)
        is_alone = len(points) == 2 and self.ends.count(arrow.end) == 1
        share = 0.76 if is_alone else 0.5 if len(points) > 2 else 0.66
        self.ax.text(
            to_x if is_alone else x + (to_x - x) * share,
            y + _HIGH / 2 + (to_y - y - _HIGH) * share,
            fitted(text, 1.04 * _WIDE * INCH, SMALL),
            ha="center",
            va="center",
            fontsize=SMALL * self.scale,
            fontweight="bold" if arrow.lit else "normal",
            color=self.inks.keep if arrow.lit else self.inks.text,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": self.inks.ground, "edgecolor": "none"},
            gid="lit condition" if arrow.lit else "condition",
            zorder=3,
            **PLAIN,
        )

    def box(self, place: int, box: Box) -> None:
        from matplotlib.patches import FancyBboxPatch

        x, y = _spot(*self.placed.places[place])
        text, small, colour = self._texts(box)
        is_leaf, edge = box.kind == "leaf", self.inks.keep if box.lit else self.inks.faint
        rounding = _HIGH / 2 if is_leaf else 0.07
        self.ax.add_patch(
            FancyBboxPatch(
                (x - _WIDE / 2, y - _HIGH / 2),
                _WIDE,
                _HIGH,
                boxstyle=f"round,pad=0,rounding_size={rounding}",
                facecolor=colour,
                edgecolor=edge,
                linewidth=(2.2 if box.lit else 1.0) * self.scale,
                linestyle=(0, (4, 3)) if box.kind == "stub" else "solid",
                gid=f"{'lit ' if box.lit else ''}{box.kind}",
                clip_on=False,
                zorder=4,
            )
        )
        room = (_WIDE - (0.3 if is_leaf else 0.14)) * INCH
        lines = [(text, SIZE, 0.0 if small is None else -0.07, "bold" if is_leaf and box.lit else "normal")]
        if small is not None:
            lines.append((small, SMALL - 0.5, 0.11, "normal"))
        for said, size, down, weight in lines:
            self.ax.text(
                x,
                y + down,
                fitted(said, room / (1.08 if weight == "bold" else 1), size),
                ha="center",
                va="center",
                fontsize=size * self.scale,
                fontweight=weight,
                color=self.inks.text,
                zorder=5,
                **PLAIN,
            )

    def _texts(self, box: Box) -> tuple[str, str | None, Any]:
        """What a box says, in large and in small, and its colour."""
        test, label, _ = self.graph.nodes[box.nodes[0]]
        if box.kind == "leaf":
            if self.decision is None:
                from matplotlib.colors import to_rgba

                ground = to_rgba(self.inks.ground)
                own = to_rgba(CLASSES[label % len(CLASSES)])
                mixed = tuple(0.35 * a + 0.65 * b for a, b in zip(own, ground, strict=True))
                return self.graph.classes[label], None, mixed
            colour = self.inks.keep_pale if label == self.decision else self.inks.change_pale
            return self.graph.classes[label], None, colour
        if box.kind == "test":
            name = self.graph.variables[test].name
            if not box.lit or self.given is None:
                return name, None, self.inks.ground
            value = self.facts.given(name, readable_value(self.given.get(name)))
            return name, f"here {value}", self.inks.ground
        count, whole, labels = below(self.graph, box.nodes)
        classes = [self.graph.classes[each] for each in labels]
        text = f"{'' if whole else 'over '}{plural(count if whole else count - 1, 'node')} more"
        return (
            text,
            f"all {classes[0]}" if len(classes) == 1 and whole else plural(len(classes), "class"),
            (self.inks.ground),
        )


def _spot(across: float, down: float) -> tuple[float, float]:
    return across * _ACROSS + _WIDE / 2, down * _DOWN + _HIGH / 2


def _inches_high(ax: Axes) -> float:
    return float(ax.get_window_extent().height / ax.figure.dpi)
