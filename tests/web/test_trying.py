"""Values to try: inside the region, near the present value, as people would write them, and decided as promised."""

import json
import math
import re
from html import unescape
from random import Random
from typing import Any

import pytest

import quia
from quia.literal import Literal
from quia.show.html import parts
from quia.show.trying import nearest_value, values_to_try
from quia.variables import Variable
from strategies import random_case

GAIN = Variable.numeric("gain", [1384, 5095.5, 7055.5], missing=True)
SAT = Variable.numeric("SAT", [(1450, "before")])
TOWN = Variable.nominal("town", ["none", "any other", "Ghent", "Bruges"], other="any other", no_value="none")


@pytest.mark.parametrize(
    ("variable", "ranges", "present", "expected"),
    [
        (GAIN, ((3, 3),), 2174, 7056),
        (GAIN, ((3, 3),), "2174", 7056),
        (GAIN, ((3, 3),), 2174.0, 7055.6),  # written with one decimal
        (GAIN, ((3, 4),), 2174.25, 7055.51),
        (GAIN, ((0, 0),), 2174, 1384),
        (GAIN, ((0, 2),), 9000, 7055),
        (GAIN, ((0, 0), (3, 3)), 5000, 7056),  # the nearer of two intervals
        (GAIN, ((1, 2),), None, 4000),
        (GAIN, ((3, 3),), "?", 7100),
        (GAIN, ((0, 3),), None, 0),
        (GAIN, ((4, 4),), 2174, None),  # that a value goes missing is nothing to try
        (SAT, ((1, 1),), 1400, 1450),
        (SAT, ((0, 0),), 1500, 1449),
        (Variable.numeric("x", [0.6, 0.9]), ((1, 1),), 0, 0.7),
        (Variable.numeric("x", [0.25, 0.26]), ((1, 1),), 1, 0.26),
        (Variable.numeric("x", [0.1], single=True), ((0, 0),), 3, 0),
        (Variable.numeric("x", [0.1], single=True), ((0, 0),), 3.25, 0.09),
        (Variable.numeric("x", [2.45], single=True), ((1, 1),), 1.11, 2.46),
        (Variable.numeric("x", [1, math.nextafter(1, 2)]), ((1, 1),), 5, math.nextafter(1, 2)),
        (Variable.numeric("x", [1e300]), ((1, 1),), 5, math.nextafter(1e300, math.inf)),
        (Variable.numeric("x", [1e-300, 1e-299]), ((1, 1),), 5, math.nextafter(1e-300, 1)),
        (Variable.numeric("x", [-math.inf]), ((0, 0),), 5, None),  # JSON has no infinity
        (TOWN, ((0, 0), (2, 3)), "Paris", "Ghent"),
        (TOWN, ((0, 1),), "Ghent", "none"),
    ],
)
def test_a_value_near_the_present_one(
    variable: Variable, ranges: tuple[tuple[int, int], ...], present: Any, expected: Any
) -> None:
    literal = Literal(variable, ranges)
    found = nearest_value(literal, present)
    assert (type(found), found) == (type(expected), expected)
    assert found is None or literal.holds(found)


def test_what_is_tried_is_decided_as_promised() -> None:
    rng = Random(9)
    tried = {"changes": 0, "necessary": 0, "numbers": 0}
    for _ in range(300):
        case = random_case(rng)
        graph = quia.DecisionGraph.from_dict(case.graph)
        decision = graph.classify(case.instance)
        against = None if case.against == decision else case.against
        why = quia.explain(graph, case.instance, against=against, frozen=case.frozen, costs=case.costs)
        answer = why.answer(limit=5)
        for change in answer.changes:
            values = values_to_try(change.changes, answer.plain_instance)
            assert values is not None
            assert graph.classify(case.instance | values) == change.decision
            tried["changes"] += 1
            tried["numbers"] += any(isinstance(value, (int, float)) for value in values.values())
        for reason in answer.necessary:
            values = values_to_try(reason.changes, answer.plain_instance)
            if values is None:  # some value would have to go missing
                continue
            now = graph.classify(case.instance | values)
            assert now != decision
            assert against in (None, now)
            tried["necessary"] += 1
    assert min(tried.values()) > 100, tried


def test_the_page_has_what_to_try_where_it_is_certain() -> None:
    x, y = Variable.numeric("x", [3]), Variable.nominal("y", ["no", "yes"])
    edges = [(), (), ((((0, 0),), 0), (((1, 1),), 1)), ((((0, 0),), 0), (((1, 1),), 2))]
    graph = quia.DecisionGraph.build([x, y], ["no", "yes"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)

    def offered(instance: dict[str, Any], *, editable: bool = True) -> list[Any]:
        why = quia.explain(graph, instance)
        made = parts(why, [why.answer()], editable=editable)
        return [json.loads(unescape(found)) for found in re.findall(r'data-set="(.*?)"', made["changes"])]

    assert offered({"x": 1, "y": "yes"}) == [{"x": 4}]
    assert offered({"x": 1, "y": "yes"}, editable=False) == []
    assert offered({"x": 1, "y": None}) == []  # 4 would be decided by what is not known
