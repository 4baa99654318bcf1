"""Audits as plots: bars are the document's shares, what is not known is said, and so is what is left out."""

from dataclasses import replace

import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

from audit_documents import HIGH, LOW, adult, large, small
from drawn import artists, bars, said, texts
from quia.auditing.audit import Audit
from quia.auditing.document import Document
from quia.errors import InstanceError
from quia.show.audit_words import together
from quia.show.words import share_text


def audit(make: Document) -> Audit:
    return Audit(make)


def test_groups_are_stacked_shares_of_their_decisions() -> None:
    document = adult()
    found = together(document.protected)
    ax = audit(document).plot_groups()
    for name in (LOW, HIGH):
        shares = [group.decided.get(name, 0) / sum(group.decided.values()) for group in found.groups]
        assert bars(ax, f"decided {name}") == pytest.approx(shares)
    assert [bar.get_x() for bar in artists(ax, f"decided {HIGH}")] == [0] * len(found.groups), "what is hoped for first"
    begins = [bar.get_x() for bar in artists(ax, f"decided {LOW}")]
    assert begins == pytest.approx(bars(ax, f"decided {HIGH}")), "and the rest after it"
    for group in found.groups:
        rate = share_text(group.decided.get(HIGH, 0), sum(group.decided.values()))
        assert any(text.startswith(rate) for text in texts(ax))
    assert found.hanging is not None and share_text(found.hanging.rows, found.hanging.of) in said(ax)


def test_groups_by_one_feature() -> None:
    document = adult()
    one = next(each for each in document.protected if len(each.features) == 1)
    ax = audit(document).plot_groups(one.features[0])
    assert len(bars(ax, f"decided {HIGH}")) == len(one.groups)
    assert ax.get_title(loc="left") == f"Decisions by {one.features[0]}"
    with pytest.raises(InstanceError, match="features is 'sexx'; the audit has groups by "):
        audit(document).plot_groups("sexx")
    with pytest.raises(InstanceError, match="the audit has no protected feature, so no groups"):
        audit(small()).plot_groups()
    assert len(plt.get_fignums()) == 1


def test_rules_reach_as_far_as_they_say() -> None:
    document = adult()
    found = next(each for each in document.rules if each.decision == HIGH)
    ax = audit(document).plot_rules()
    assert bars(ax, "rows") == pytest.approx([rule.rows / found.of for rule in found.rules[:8]])
    assert bars(ax, "new") == pytest.approx([rule.new / found.of for rule in found.rules[:8]])
    assert ax.get_title(loc="left") == f"Rules for {HIGH}"
    shown = said(ax)
    for rule in found.rules[:8]:
        assert share_text(rule.rows, found.of) in shown and rule.text[:20] in shown
    other = audit(document).plot_rules(LOW, most=1)
    rules = next(each for each in document.rules if each.decision == LOW)
    assert len(bars(other, "rows")) == 1
    if len(rules.rules) > 1:
        assert f"{len(rules.rules) - 1} rule" in said(other)
    with pytest.raises(InstanceError, match="decision is 'maybe'; the audit has rules for"):
        audit(document).plot_rules("maybe")


def test_features_have_their_shares_or_are_not_known() -> None:
    document = adult()
    ax = audit(document).plot_features()
    by_name = {each.feature: each for each in document.features}
    names = [each.get_text() for each in ax.get_yticklabels()]
    for gid in ("alone", "shortest"):
        shares = [getattr(by_name[name], gid) for name in names]
        wanted = [share.rows / share.of if share is not None and share.of else 0.0 for share in shares]
        assert bars(ax, gid) == pytest.approx(wanted)
    idle = [each.feature for each in document.features if each.matters is False]
    assert not set(idle) & set(names)
    assert all(name in said(ax) for name in idle[:6])
    unknown = replace(document, features=tuple(replace(each, alone=None) for each in document.features))
    assert "not known" in texts(audit(unknown).plot_features())
    assert len(bars(audit(document).plot_features(most=1), "alone")) == 1


@pytest.mark.parametrize("make", [adult, small, large])
def test_nothing_runs_out_of_the_figure(make: object) -> None:
    document: Document = make()  # type: ignore[operator]
    found = audit(document)
    drawn = [found.plot_rules(), found.plot_features()]
    drawn += [found.plot_groups()] if document.protected else []
    for ax in drawn:
        ax.figure.canvas.draw()
        inside = ax.figure.get_window_extent()
        for each in ax.findobj(Text):
            if each.get_visible() and each.get_text():
                box = each.get_window_extent()
                assert inside.x0 <= box.x0 and box.x1 <= inside.x1, each.get_text()
                assert inside.y0 <= box.y0 and box.y1 <= inside.y1, each.get_text()
