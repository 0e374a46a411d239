"""Scores and their maximum on a GPU: the same selections, scores and components as on the host."""

from unittest.mock import patch

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.counting.backends.gpu.kernels import CudaKernels
from labelsieve.formula import device, evaluation
from labelsieve.formula.device import DeviceScorer
from labelsieve.search import greedy
from labelsieve.stopping import Knee, PermutationTest
from tests.support.criterion_cases import VARIANTS
from tests.support.device_arrays import StandIn
from tests.support.gpu_backends import on_gpu
from tests.support.numpy_kernels import NumpyKernels

BACKENDS = {"stand-in": StandIn, "gpu": pytest.param(on_gpu, marks=pytest.mark.gpu)}
on_every_backend = pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
ON_CARD = "jmi", "mrmr", "mifs", "cife", "cmim", "disr", "jmim", "icap", "scls", "mdmr", "pmu", "cmi"


def make_data(n_rows=200, n_features=14, n_targets=4, n_levels=3, seed=0):
    """Codes with repeated columns, whose scores are equal, and a constant one."""
    rng = np.random.default_rng(seed)
    X = rng.integers(n_levels, size=(n_rows, n_features))
    X[:, 5], X[:, 6], X[:, 9] = X[:, 2], X[:, 2], 0
    Y = (X[:, [1] * n_targets] + rng.normal(size=(n_rows, n_targets)) > 1).astype(int)
    return X, Y


def fit_both(backend, criterion, X, Y, **options):
    options = {"discretizer": None, "n_features_to_select": 8} | options
    return [Sieve(criterion, backend=each, **options).fit(X, Y) for each in ("native", backend)]


def assert_same(host, on_device):
    assert on_device.selected_.tolist() == host.selected_.tolist()
    assert on_device.scores_.tolist() == host.scores_.tolist()
    assert np.array_equal(on_device.feature_scores_, host.feature_scores_)
    assert list(on_device.score_components_) == list(host.score_components_)
    for kind, values in host.score_components_.items():
        assert on_device.score_components_[kind].tolist() == values.tolist()


@on_every_backend
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_criterion_selects_the_same(backend, variant):
    make, name, _ = VARIANTS[variant]
    parents = [[], [0], [0, 1]] if name == "mlfs" else None
    host, on_device = fit_both(backend, make(), *make_data(90, n_targets=3), n_features_to_select=4, parents=parents)
    assert_same(host, on_device)


@pytest.mark.parametrize("criterion", ON_CARD)
def test_scores_are_computed_on_the_card(criterion):
    with patch.object(DeviceScorer, "select_best", autospec=True, side_effect=DeviceScorer.select_best) as picks:
        fit_both(StandIn, criterion, *make_data(60), n_features_to_select=3)
    assert picks.call_count == 1
    assert picks.call_args.args[1] == 2


@on_every_backend
@pytest.mark.parametrize("criterion", ["jmi", "mdmr", "cmim"])
@pytest.mark.parametrize("mixed", [False, True], ids=["one number of levels", "several"])
def test_all_features_in_any_number_of_fits(backend, criterion, mixed, monkeypatch):
    """Ties, forced, excluded and constant features; more features than are selected at once; accumulators that spill."""
    X, Y = make_data(150, 12)
    X[:, 3] %= 2 if mixed else 3
    monkeypatch.setattr(greedy, "AHEAD", 4)
    monkeypatch.setattr(evaluation, "SPILL_AFTER", 3)
    monkeypatch.setattr(device, "FEWEST_RECORDED", 1)
    options = {"forced": [7, 4], "excluded": [1], "n_features_to_select": "all"}
    host, on_device = fit_both(backend, criterion, X, Y, **options)
    assert_same(host, on_device)
    again = Sieve(criterion, backend=backend, discretizer=None, warm_start=True, forced=[7, 4], excluded=[1])
    for n_selected in (1, 2, 3, 6, "all"):
        again.set_params(n_features_to_select=n_selected).fit(X, Y)
    assert_same(host, again)


@pytest.mark.parametrize("criterion", ["jmi", "mrmr"])
def test_picks_are_recorded_once_and_repeated_by_later_fits(criterion, monkeypatch):
    recorded, folds, fold = [], [], DeviceScorer.fold_panel
    monkeypatch.setattr(NumpyKernels, "recorded", lambda self, step: recorded.append(step) or step)
    monkeypatch.setattr(DeviceScorer, "fold_panel", lambda self, feature: folds.append(feature) or fold(self, feature))
    X, Y = make_data(60)
    X[:, 9] = X[:, 1]
    sieve = Sieve(criterion, backend=StandIn, discretizer=None, warm_start=True)
    for n_selected, n_recorded in ((2, 0), (9, 1), (13, 1)):
        sieve.set_params(n_features_to_select=n_selected).fit(X, Y)
        assert len(recorded) == n_recorded
        assert len(folds) == n_selected - 1
    assert_same(Sieve(criterion, backend="native", discretizer=None, n_features_to_select=13).fit(X, Y), sieve)


@on_every_backend
@pytest.mark.parametrize("rule", [PermutationTest(n_permutations=9), Knee()], ids=["permutation", "knee"])
def test_stopping_rules_find_the_same_number(backend, rule):
    """A rule asks for one feature after the other, from none on; a test counts permuted targets of the packed features."""
    X, Y = make_data(100)
    for targets in (Y, np.random.default_rng(1).permutation(Y)):
        host, on_device = fit_both(backend, "jmi", X, targets, n_features_to_select=rule)
        assert_same(host, on_device)
        assert vars(on_device.stopping_).keys() == vars(host.stopping_).keys()


@pytest.mark.gpu
def test_the_first_of_the_largest_scores_is_found():
    kernels = CudaKernels()
    xp, rng = kernels.xp, np.random.default_rng(2)
    for size in (1, 31, 1000, 70_001, 3_000_000):
        scores = rng.integers(-3, 4, size=size).astype(float)
        scores[rng.integers(size)] = rng.choice([np.nan, np.inf, -0.0])
        is_taken = rng.random(size) < 0.3
        is_taken[rng.integers(size)] = False
        expected = int(np.where(is_taken, -np.inf, scores).argmax())
        chosen, value, taken = xp.empty(1, dtype=np.int64), xp.empty(1), xp.asarray(is_taken)
        kernels.best(xp.asarray(scores), taken, chosen, value)
        assert int(chosen[0]) == expected
        assert np.array_equal(kernels.to_host(value), scores[[expected]], equal_nan=True)
        is_taken[expected] = True
        assert np.array_equal(kernels.to_host(taken), is_taken)
