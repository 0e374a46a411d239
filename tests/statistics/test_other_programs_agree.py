import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from labelsieve.statistics import (
    bonferroni_dunn,
    confidence_band,
    critical_difference,
    friedman,
    holm,
    nemenyi,
    ranks,
    wilcoxon_holm,
)

tables = st.tuples(st.integers(3, 12), st.integers(3, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 8).map(lambda value: value / 8))
)
fast = settings(max_examples=30, deadline=None)


@fast
@given(tables)
def test_ranks_and_friedmans_statistic_are_scipys(table):
    assert np.array_equal(ranks(table, lower_is_better=True), stats.rankdata(table, axis=1))
    if np.ptp(table, axis=1).any():
        theirs = stats.friedmanchisquare(*table.T)
        ours = friedman(table, correct_ties=True)
        assert (ours.chi2, ours.chi2_p_value) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-9)


@settings(max_examples=8, deadline=None)
@given(tables)
def test_nemenyis_p_values_are_those_of_scikit_posthocs(table):
    posthocs = pytest.importorskip("scikit_posthocs")
    theirs = posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    assert nemenyi(table) == pytest.approx(np.clip(theirs, 0, 1), abs=1e-6)


@pytest.mark.parametrize(
    ("k", "nemenyi_quantile", "dunn_quantile"), [(2, 1.960, 1.960), (5, 2.728, 2.498), (7, 2.949, 2.638), (10, 3.164, 2.773)]
)
def test_quantiles_are_those_of_demsars_table(k, nemenyi_quantile, dunn_quantile):
    unit = np.sqrt(k * (k + 1) / (6 * 20))
    assert critical_difference(k, 20) / unit == pytest.approx(nemenyi_quantile, abs=1.1e-3)
    assert critical_difference(k, 20, test="bonferroni-dunn") / unit == pytest.approx(dunn_quantile, abs=1.1e-3)


def test_difference_of_exactly_the_critical_one_has_p_equal_to_alpha():
    table = np.tile(np.arange(4.0), (9, 1))
    p = nemenyi(table, lower_is_better=True)[0, 2]
    assert critical_difference(4, 9, alpha=float(p)) == pytest.approx(2.0, abs=1e-6)
    p = bonferroni_dunn(table, 0, lower_is_better=True)[2]
    assert critical_difference(4, 9, alpha=float(p), test="bonferroni-dunn") == pytest.approx(2.0, abs=1e-9)


@fast
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holms_correction_is_statsmodels(p_values):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    assert holm(p_values) == pytest.approx(multitest.multipletests(p_values, method="holm")[1])


def pair_p_value(differences):
    return wilcoxon_holm(np.column_stack([differences, np.zeros(len(differences))]))[0, 1]


@fast
@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=30, unique=True), st.integers(0, 2**30))
def test_wilcoxons_p_value_is_scipys_exact_one(sizes, signs):
    differences = np.array([size if signs >> place & 1 else -size for place, size in enumerate(sizes)], float)
    assert pair_p_value(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


@fast
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=8).filter(any))
def test_wilcoxons_p_value_is_the_share_of_signs_at_least_as_extreme(differences):
    """With ties and zeros: all signs are tried."""
    from itertools import product

    found = np.array(differences, float)
    order = stats.rankdata(np.abs(found))

    def statistic(signs):
        return abs(sum(rank * sign for rank, sign in zip(order, signs, strict=True)))

    moving = [(-1, 1) if value else (0,) for value in found]
    all_signs = [statistic(signs) for signs in product(*moving)]
    expected = np.mean(np.array(all_signs) >= statistic(np.sign(found)) - 1e-9)
    assert pair_p_value(found) == pytest.approx(expected)


def test_many_data_sets_use_the_normal_approximation():
    differences = np.random.default_rng(0).normal(0.1, 1, 500)
    exact = stats.wilcoxon(differences, method="exact").pvalue
    assert pair_p_value(differences) == pytest.approx(exact, rel=0.05)


@fast
@given(arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(1, 4)), elements=st.floats(-10, 10)))
def test_band_is_scipys_t_interval(values):
    band = confidence_band(values, confidence=0.9)
    for point in range(values.shape[1]):
        scale = stats.sem(values[:, point])
        if scale > 0:
            low, high = stats.t.interval(0.9, len(values) - 1, loc=values[:, point].mean(), scale=scale)
            assert (band.low[point], band.high[point]) == pytest.approx((low, high))
