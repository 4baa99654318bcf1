"""Learned trees do not learn rows by heart: how far they are cut back, against scikit-learn's own pruning."""

import random

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from quia import learn_pruning
from quia.learn import learn
from quia.learn_pruning import FOLDS, choose_pruning, weakest_links
from quia.tables import Table


def noisy(rows: int = 600, *, wrong: float = 0.2) -> Table:
    """One column tells the class, but for some rows in which it does not; the other columns tell nothing."""
    chance = random.Random(1)
    made = []
    for _ in range(rows):
        numbers = [chance.randint(0, 99) for _ in range(4)]
        label = (numbers[0] >= 50) != (chance.random() < wrong)
        made.append((*map(str, numbers), chance.choice("abc"), "yes" if label else "no"))
    return Table(("x", "n1", "n2", "n3", "letter", "y"), tuple(made))


def test_a_tree_does_not_learn_noise_by_heart() -> None:
    full, pruned = learn(noisy(), prune=False), learn(noisy())
    assert len(full.classifier) > 100, "there is something to cut back"
    assert [v.name for v in map(pruned.classifier.variables.__getitem__, pruned.classifier.tested)] == ["x"]
    assert len(pruned.classifier) == 3
    assert full.report.accuracy is not None and pruned.report.accuracy is not None
    assert pruned.report.accuracy > full.report.accuracy + 0.05
    assert full.report.accuracy_learned is not None and pruned.report.accuracy_learned is not None
    assert full.report.accuracy_learned > pruned.report.accuracy_learned
    chosen = pruned.report.pruning
    assert chosen is not None and full.report.pruning is None
    assert chosen.nodes == len(full.classifier) and chosen.rows == pruned.report.learned_from
    assert chosen.full < chosen.accuracy <= chosen.best
    told = str(pruned.report)
    assert (
        f"pruned from {chosen.nodes} nodes: the smallest tree within one standard error of the best in 5-fold" in told
    )
    assert f"right in cross-validation: {chosen.accuracy:.1%} (best" in told
    assert f"right on the rows learned from: {pruned.report.accuracy_learned:.1%}" in told
    assert "cross-validation" not in str(full.report)


def test_what_is_no_noise_is_kept() -> None:
    """A board of 16 squares, of which each column alone tells nothing, needs all its leaves."""
    chance = random.Random(2)
    spots = [(chance.randint(0, 39), chance.randint(0, 39)) for _ in range(1200)]
    rows = tuple((str(x), str(y), "ab"[(x // 10 + y // 10) % 2]) for x, y in spots)
    learned = learn(Table(("x", "y", "colour"), rows))
    assert learned.report.accuracy is not None and learned.report.accuracy > 0.97
    assert learned.report.leaves >= 16


def test_bounds_hold_before_anything_is_pruned() -> None:
    shallow = learn(noisy(), max_depth=4)
    chosen = shallow.report.pruning
    assert chosen is not None and chosen.nodes == len(learn(noisy(), max_depth=4, prune=False).classifier) <= 31


def test_few_rows_and_rare_classes() -> None:
    few = Table(("a", "b"), tuple((str(n), "xy"[n > 3]) for n in range(8)))
    assert learn(few, kept_apart=0, min_rows=1).report.pruning is None
    rare = Table(("a", "b"), tuple((str(n), "z" if n == 7 else "xy"[n > 20]) for n in range(60)))
    assert learn(rare, kept_apart=0, min_rows=1).report.accuracy_learned is not None
    one_leaf = Table(("a", "b"), tuple((str(n % 2), "x" if n % 7 else "y") for n in range(70)))
    assert len(learn(one_leaf, kept_apart=0).classifier) == 1


def test_of_a_large_table_some_rows_are_cross_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_pruning, "MOST_ROWS", 200)
    report = learn(noisy()).report
    assert report.pruning is not None and report.pruning.rows == 200
    assert "cross-validation of 200 rows drawn from these" in str(report)


def data(seed: int, rows: int = 240) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    values = chance.integers(0, 12, (rows, 4)).astype(np.float32)
    labels = (values[:, 0] > 5) * 1 + (values[:, 1] > 7) * (chance.random(rows) < 0.7)
    return values, labels


@pytest.mark.parametrize("seed", range(5))
def test_the_weakest_links_are_scikit_learns(seed: int) -> None:
    values, labels = data(seed)
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(values, labels)
    links = weakest_links(tree.tree_)
    path = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).cost_complexity_pruning_path(values, labels)
    assert set(np.round(path.ccp_alphas, 9)) == set(np.round(links, 9))
    for strength in learn_pruning._between(links)[1:]:
        pruned = DecisionTreeClassifier(min_samples_leaf=2, random_state=0, ccp_alpha=strength).fit(values, labels)
        inner = np.count_nonzero((tree.tree_.children_left >= 0) & (links > strength))
        assert pruned.tree_.node_count == 2 * inner + 1


@pytest.mark.parametrize("seed", range(3))
def test_accuracies_are_those_of_trees_that_are_fitted_anew(seed: int) -> None:
    values, labels = data(seed)

    def grown(strength: float = 0.0) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(min_samples_leaf=3, random_state=0, ccp_alpha=strength)

    full = grown().fit(values, labels)
    found = choose_pruning(grown, values, labels, seed=seed, full=full)
    assert found is not None
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]

    def share(strength: float) -> float:
        right = 0
        for fold in range(FOLDS):
            apart = order[fold::FOLDS]
            rest = np.sort(np.setdiff1d(order, apart))
            right += int(
                (grown(strength).fit(values[rest], labels[rest]).predict(values[apart]) == labels[apart]).sum()
            )
        return right / len(labels)

    tried = learn_pruning._between(weakest_links(full.tree_))
    shares = [share(strength) for strength in tried]
    assert found.accuracy == pytest.approx(share(found.strength))
    assert (found.full, found.best) == pytest.approx((shares[0], max(shares)))
    error = (max(shares) * (1 - max(shares)) / len(labels)) ** 0.5
    within = [strength for strength, each in zip(tried, shares, strict=True) if each >= max(shares) - error]
    assert found.strength == pytest.approx(max(within))
