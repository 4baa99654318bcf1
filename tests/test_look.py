"""Every public object shows itself: in one line, at no cost, and in a notebook as a small view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import quia
from quia import formula
from quia.answer import Shares
from quia.compare import compare
from quia.counterfactual import Counterfactual
from quia.ensemble import Ensemble
from quia.given_check import check_given, check_rows
from quia.literal import Literal
from quia.region import Region
from quia.show.notebook import VIEWS
from quia.variables import Variable
from test_contract import KINDS, instance_of
from work import counted

MOST_LETTERS = 160
MOST_LINES = 2_000
"""Of Python, for a line of text: what one makes of small models before it is kept."""
HOSTILE = "<b>&\"'\n" + "x" * 300

KINDS_OF_FAULTS = (quia.GraphError, quia.InstanceError, quia.FormatError, quia.Unsupported, quia.Refuted, quia.TooLarge)
ANNA = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
"""An applicant."""


def is_line(thing: Any) -> bool:
    """Whether an object's repr is one short line that says something."""
    with counted(most=MOST_LINES):
        line = repr(thing)
    assert len(line) <= MOST_LETTERS and "\n" not in line, line
    assert "Cut(" not in line and " at 0x" not in line and "array(" not in line, line
    return True


def objects(classifier: Any, instance: dict[str, Any], **asked: Any) -> Iterator[Any]:
    """All that a user gets hold of, each as it is when nothing was asked of it yet."""
    why = quia.explain(classifier, instance, **asked)
    yield from (classifier, *classifier.variables, why, why.classifier, why.question, why.worlds, why.question.possible)
    for general in (False, True):
        for find in (why.sufficient_reasons, why.necessary_reasons):
            yield from (find(general=general), find(general=general, limit=2), find(general=general, shortest=True))
    name = classifier.variables[0].name
    yield from (why.bias([name]), why.even_if([name]), why.reason_codes(), *why.reason_codes().codes)
    changes = why.counterfactuals()
    yield from (changes, *changes, *(each.changes for each in changes[:1]))
    first = next(iter(why.sufficient_reasons(general=True)))
    yield from (first, *first, *(each.negated for each in first if each.negated))
    yield from (why.importance(), compare(why, why))
    with suppress(quia.Unsupported):
        yield why.complete_reason
        yield why.general_reason
    with suppress(quia.TooLarge):
        yield quia.bias_of_classifier(classifier, [name])
    answer = why.answer()
    yield from (answer, answer.sufficient, answer.necessary, answer.changes)
    yield check_given(classifier)


@pytest.mark.parametrize("kind", KINDS)
def test_every_object_of_every_kind_of_model(kind: str, tmp_path: Path) -> None:
    rng = Random(kind)
    for _ in range(4):
        subject = KINDS[kind](rng, tmp_path)
        instance = instance_of(rng, subject)
        others = [c for c in subject.classes if c != subject.classifier.classify(instance)]
        asked = rng.choice(
            [{}, *({"against": other} for other in others[:1]), {"costs": {subject.variables[0].name: 3}}]
        )
        for thing in objects(subject.classifier, instance, **asked):
            things = thing if isinstance(thing, tuple) and type(thing) is tuple else [thing]
            for each in things:
                assert is_line(each)
                if hasattr(each, "_repr_html_"):
                    check_view(each._repr_html_())


def test_what_is_not_of_a_kind(examples: Path) -> None:
    graph = quia.load(examples / "admissions.json")
    rows = [ANNA, {**ANNA, "SAT": 1500}, {**ANNA, "GPA": "high"}]
    audit = quia.audit(graph, rows, protected=["GPA"])
    given = quia.explain(graph, ANNA, given="Essay=fail -> Interview=fail", within={"SAT": "> 1000"})
    exam = Variable.nominal("E", ["no", "yes"])
    parts = [getattr(audit.document, name) for name in type(audit.document).__dataclass_fields__]
    for thing in (
        audit,
        audit.document,
        *(each for part in parts for each in (part if isinstance(part, tuple) else [part])),
        *(given, given.classifier, given.worlds, given.sufficient_reasons(), given.answer()),
        quia.Reference.of_table(graph, rows),
        check_rows(graph, rows, "Essay=fail -> Interview=fail"),
        formula.parse("E=yes", [exam]),
        formula.compiled(formula.parse("E=yes", [exam])),
        Variable.line("income", 0, 10),
        Region.parse(graph.variables, {"SAT": "> 1000"}),
    ):
        assert is_line(thing)
        if hasattr(thing, "_repr_html_"):
            check_view(thing._repr_html_())
    assert "impossible" not in repr(given.classifier) + given.classifier._repr_html_()


@pytest.mark.parametrize("kind", [quia.QuiaError, *KINDS_OF_FAULTS])
def test_faults(kind: type[quia.QuiaError]) -> None:
    details = {"cure": "c"} if kind is quia.Unsupported else {"witness": None} if kind is quia.Refuted else {}
    details |= {"limit": 1} if kind is quia.TooLarge else {}
    assert is_line(kind(HOSTILE * 9, **details))
    assert repr(kind("a fault", **details)).startswith(f"{kind.__name__}('a fault")


def test_what_is_large_is_still_a_line() -> None:
    """However many states, features, classes and conditions there are, and whatever they are called."""
    many = [Variable.numeric(f"{HOSTILE}{n}", np.arange(1000.0) + n, missing=True) for n in range(300)]
    names = Variable.nominal(HOSTILE, [f"{HOSTILE}{n}" for n in range(1000)])
    literals = [Literal(v, ((3, 3), (500, 700), (1001, 1001))) for v in many]
    leaves = [f"{HOSTILE}{n}" for n in range(1000)]
    graph = quia.DecisionGraph.build(
        [names, *many],
        leaves,
        [-1] * 1000 + [0],
        [*range(1000), -1],
        [()] * 1000 + [tuple((((n, n),), n) for n in range(1000))],
    )
    why = quia.explain(graph, {names.name: names.labels[0] if names.labels else ""})
    reason = quia.Reason(literals, kind="sufficient")
    region = Region(tuple(many), dict.fromkeys(range(300), ((0, 3),)))
    change = Counterfactual(tuple(literals), HOSTILE, True, ("1",) * 300, (1.0,) * 300)
    shares = Shares({v.name: Fraction(1, n + 2) for n, v in enumerate(many)})
    for thing in (
        names,
        *many[:2],
        *literals[:2],
        reason,
        region,
        change,
        shares,
        graph,
        why,
        why.question,
        why.answer(),
    ):
        line = repr(thing)
        assert len(line) <= MOST_LETTERS and "\n" not in line and "Cut(" not in line
    for thing in (reason, change, shares, graph, why, why.counterfactuals(limit=5), why.sufficient_reasons()):
        view = thing._repr_html_()
        check_view(view)
        assert len(view) < 150_000 and '<b>&"' not in view


def test_repr_of_an_ensemble_looks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = KINDS["ensemble"](Random(4), Path())
    why = quia.explain(subject.classifier, instance_of(Random(4), subject))
    reasons = [
        find(general=general, shortest=shortest)
        for find in (why.sufficient_reasons, why.necessary_reasons)
        for general in (False, True)
        for shortest in (False, True)
    ]

    def searched(*_: Any) -> None:
        raise AssertionError("repr searches")

    for name in ("escape", "escape_in_time", "reduce"):
        monkeypatch.setattr(Ensemble, name, searched)
    for each in (why, subject.classifier, *reasons):
        assert is_line(each)
    assert {re.sub("sufficient|necessary", "", repr(each).partition(": ")[2]) for each in reasons} == {
        " reasons, not counted>"
    }


def test_what_the_lines_say(examples: Path) -> None:
    graph = quia.load(examples / "admissions.json")
    why = quia.explain(graph, ANNA)
    assert repr(graph) == "<DecisionGraph: 6 nodes, 4 features, classes Accept and Reject>"
    assert repr(why) == "<Explanation: why Reject? SAT 1400, GPA medium, Essay fail, Interview fail>"
    assert repr(why.sufficient_reasons()) == "<Reasons: 2 sufficient reasons, the shortest of 2 features>"
    assert repr(why.sufficient_reasons().avoiding("GPA")) == "<Reasons: 1 sufficient reason, of 2 features>"
    assert repr(why.counterfactuals()) == "<Counterfactuals: 1 nearest change, of 1 feature>"
    assert repr(why.counterfactuals()[0]) == "<Counterfactual: Accept with Interview=pass (now fail)>"
    assert repr(why.sufficient_reasons()[0]) == "Reason(Essay=fail, Interview=fail)"
    assert repr(why.necessary_reasons(limit=1)) == "<Reasons: 3 necessary reasons, the shortest of 1 feature, limit 1>"
    assert repr(why.answer()).startswith("<Answer: Reject, 2 general sufficient reasons, 3 general necessary reasons")
    assert repr(why.bias(["GPA"])) == "<Bias: not biased: whatever GPA were, the decision would be Reject>"
    assert repr(compare(why, why)) == "<Comparison: both Reject, for a common reason, differing in 0 features>"
    assert [repr(v) for v in graph.variables[:2]] == [
        "<Variable SAT: numbers, cut at 1450>",
        "<Variable GPA: low, medium and high>",
    ]


def test_lists_are_read_as_text(examples: Path) -> None:
    why = quia.explain(quia.load(examples / "admissions.json"), ANNA)
    assert str(why.counterfactuals()) == "1 nearest change\n  Interview=pass (now fail): Accept"
    assert str(why.sufficient_reasons()) == (
        "2 sufficient reasons\n  Essay=fail and Interview=fail\n  SAT < 1450 and GPA=medium and Interview=fail"
    )
    assert str(why.importance()).splitlines()[1] == "  Interview   100 %"
    other = quia.explain(why.classifier, {**ANNA, "SAT": 1500, "Essay": "pass"})
    assert str(compare(why, other)) == (
        "decided differently: Reject and Accept\n  SAT: < 1450 and >= 1450\n  Essay: fail and pass"
    )


class _Checked(HTMLParser):
    """Markup in which every element is closed, nothing runs or is loaded, and nothing has an id."""

    VOID = ("br", "col", "input", "rect", "path", "line", "circle")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert tag not in ("script", "link", "img", "iframe", "h1", "h2", "h3", "h4", "h5", "h6"), tag
        assert not {name for name in given if name in ("id", "name", "src", "href") or name.startswith("on")}, attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_view(view: str) -> None:
    """Whether what a notebook is given can do no harm there."""
    parser = _Checked()
    parser.feed(view)
    parser.close()
    assert parser.open == [] and view.startswith('<div class="quia-note">') and "object at 0x" not in view


def test_what_is_listed_has_a_view() -> None:
    for kind in VIEWS:
        assert kind._repr_html_, kind
    style = (Path(quia.__file__).parent / "show" / "assets" / "notebook.css").read_text()
    assert len(style) < 8_000, "it travels with every view"
    assert "@media" not in style and "url(" not in style and "@import" not in style


def test_the_view_has_what_the_answer_has(examples: Path) -> None:
    why = quia.explain(quia.load(examples / "admissions.json"), ANNA)
    text = " ".join(re.sub(r"<style>.*?</style>|<[^>]+>", " ", why._repr_html_(), flags=re.DOTALL).split())
    for part in (
        "The model decided Reject .",
        "It is so because Essay is fail and Interview is fail , whatever the rest.",
        "It would be Accept if Interview were pass .",
        "2 sufficient reasons each alone forces it Essay fail and Interview fail SAT &lt; 1450 and GPA low or medium",
        "1 nearest change would change it Interview pass now fail → Accept",
        "3 necessary reasons",
        "Feature Value Counts as SAT 1400 &lt; 1450",
    ):
        assert part in text, (part, text)


def test_a_hundred_reasons_are_ten_in_a_view() -> None:
    names = [f"v{n}" for n in range(14)]
    variables = [Variable.nominal(name, ["no", "yes"]) for name in names]
    pairs = " & ".join(f"({a} | {b})" for a, b in zip(names[::2], names[1::2], strict=True))
    graph = formula.compiled(formula.parse(pairs, variables), variables=variables)
    why = quia.explain(graph, dict.fromkeys(names, "yes"))
    found = why.sufficient_reasons()
    assert repr(found) == "<Reasons: 128 sufficient reasons, the shortest of 7 features>"
    view = found._repr_html_()
    assert view.count("<tr>") == 11 and "128 sufficient reasons" in view
    assert str(found).splitlines()[0] == "128 sufficient reasons" and str(found).endswith("… 108 more")
    assert why._repr_html_().count("<details>") >= 3
