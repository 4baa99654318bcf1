"""Conditions on lines at and near ties: as wide as they can be, on both sides of a curve, whoever else competes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import quia
from quia import Additive, GraphError, Variable
from quia.sums import Rule
from quia.terms import Line, Table


@pytest.mark.parametrize(
    "model",
    [
        Additive((Variable.line("a", 0, 10),), ("x", "y"), (Line(0, (), (1.0, 0.5)),), (0.0, 1.0), Rule("argmax")),
        Additive((Variable.line("a", 0, 10),), ("x", "y"), (Line(0, (), (0.5,)),) * 2, (0.0,), Rule("cuts", (2.0,))),
    ],
    ids=["two scores", "two terms"],
)
def test_at_a_tie_a_condition_is_as_wide_as_elsewhere(model: Additive) -> None:
    (reason,) = quia.explain(model, {"a": 2}).sufficient_reasons(general=True)
    assert reason.to_dict() == {"a": ">= 2"}
    assert not reason.is_widest  # where scores round, that is not proved


def test_changes_to_a_class_between_two_others_are_all_that_lead_there() -> None:
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(60, 2)).round(2)
    labels = np.array(list("abc"))[np.digitize(columns.sum(axis=1), [-0.5, 0.5])]
    regression = LogisticRegression().fit(columns, labels)
    why = quia.explain(quia.load(regression, data=columns), [0.64, 0.1])
    (change,) = (c for c in why.counterfactuals() if c.decision == "b" and c.features == ("x0",))
    (literal,) = change.changes
    numbers = np.linspace(columns[:, 0].min(), columns[:, 0].max(), 2001)
    leads = regression.predict(np.column_stack([numbers, np.full(2001, 0.1)])) == "b"
    admitted = np.array([literal.holds(number) for number in numbers])
    assert not (admitted & ~leads).any() and (admitted == leads).mean() > 0.999 and admitted.sum() > 100


def test_a_curve_has_changes_on_both_sides() -> None:
    column = np.array([[-0.5], [0.0], [0.5], [0.2], [-4], [4], [-5], [5.0]])
    bayes = GaussianNB().fit(column, list("aaaabbbb"))
    why = quia.explain(quia.load(bayes, data=column), [0.1])
    changes = [reason.changes[0] for reason in why.necessary_reasons(general=True)]
    assert len(changes) == 2
    for number in np.linspace(-5, 5, 401):
        flips = bayes.predict([[number]])[0] == "b"
        assert any(change.holds(number) for change in changes) == flips


def test_scores_beyond_64_bits_are_refused() -> None:
    with pytest.raises(GraphError, match="too large for 64-bit numbers; give smaller points"):
        Additive(
            (Variable.nominal("a", ["x", "y"]),),
            ("deny", "grant"),
            (Table(0, np.array([[1e308], [1.0]])),),
            (1e308,),
            Rule("cuts", (0.0,)),
        )


def test_the_states_of_a_line_are_not_listed() -> None:
    model = Additive((Variable.line("a", 0, 10),), ("x", "y"), (Line(0, (), (1.0,)),), (0.0,), Rule("cuts", (2.0,)))
    (reason,) = quia.explain(model, {"a": 3}).sufficient_reasons(general=True)
    with pytest.raises(quia.TooLarge, match=r"take their ranges, with \.ranges"):
        _ = reason.literals[0].states
    with pytest.raises(quia.QuiaError, match="data is 5; give a DataFrame"):
        quia.load(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), data=5)
