"""Upper bounds of groups of features are no smaller than the score of any feature, and not much larger."""

import numpy as np
import pytest

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.formula.labelwise import LabelwiseScorer
from labelsieve.formula.lowering import lower
from labelsieve.search.many_labels.bounds import GroupBounds, merged
from labelsieve.search.many_labels.listed import Newest, PairTables, can_list
from tests.support.criterion_cases import VARIANTS

LISTED = [name for name, (make, _, _) in VARIANTS.items() if can_list(make().plan)]
N_ROWS = 40


def table(rng, ratio):
    """A feature and a target without a common row, and three selected features, as rows by columns."""
    target = rng.random(N_ROWS) < rng.choice([0.05, 0.2, 0.6])
    feature = (rng.random(N_ROWS) < rng.choice([0.05, 0.3, 0.8])) & ~target
    close = np.where(rng.random((3, N_ROWS)) < 0.8, [target, feature, ~feature], rng.random((3, N_ROWS)) < ratio)
    return feature, target, close


@pytest.mark.parametrize("name", LISTED)
def test_no_score_is_above_its_bound(name):
    plan, fixed = VARIANTS[name][0]().plan, FixedPoint.for_rows(N_ROWS, n_targets=3)
    rng = np.random.default_rng(0)
    n = 300
    tables = [table(rng, ratio) for ratio in rng.choice([0.1, 0.5], size=n)]
    (a, b), none = (np.array([[row[k].sum() for row in tables] for k in (0, 1)])), np.zeros(n, dtype=np.int64)
    slack = rng.integers(3, size=(2, n))
    least, most = np.maximum(a - slack[0], 0), np.minimum(a + slack[1], N_ROWS - b)
    bounds, scorer = GroupBounds(plan, fixed, least, most, b), LabelwiseScorer(plan, PairTables(fixed, a, b, none))
    point = GroupBounds(plan, fixed, a, a, b)
    for step in range(4):
        scores = scorer.scores()[:, 0]
        assert (bounds.bounds() >= scores).all()
        assert (point.bounds() >= scores).all()
        if step == 0:
            np.testing.assert_allclose(point.bounds(), scores, atol=1e-5)
        if step == 3:
            break
        selected = np.array([row[2][step] for row in tables])
        c, m = selected.sum(axis=1), (selected & [row[1] for row in tables]).sum(axis=1)
        x = (selected & [row[0] for row in tables]).sum(axis=1)
        scorer.select(Newest(c, x, m, none))
        point.select(c, m, x)
        bounds.select(c, m, x + slack[1])


def test_what_cancels_out_is_gone():
    assert str(merged(lower(VARIANTS["d2f"][0]().score))) == (
        "T(f, y) - T(f) - T(y) + T() + sum_s(-T(f, s) + T(f) + T(s) - T() + T(f, s, y) - T(f, y) - T(s, y) + T(y))"
    )
