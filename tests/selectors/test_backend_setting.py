"""``backend=``: any backend gives the same selections and scores, to the last bit."""

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labelsieve import InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.counting.backends import CountingOptions, NativeBackend, factory
from labelsieve.discretize import EqualFrequency
from labelsieve.errors import DeviceError
from labelsieve.information import Codes
from labelsieve.labelspace import NetworkRule
from labelsieve.registry import CRITERIA
from labelsieve.stopping import Knee, PermutationTest
from tests.support.criterion_cases import make_case, make_parents
from tests.support.gpu_backends import GPU_BACKENDS, on_gpu
from tests.support.naive_backend import NaiveBackend

OTHERS = {"naive": NaiveBackend, "gpu": pytest.param(on_gpu, marks=pytest.mark.gpu)}
others = pytest.mark.parametrize("backend", OTHERS.values(), ids=OTHERS)

SELECTORS = {
    "label-wise": LabelwiseSieve("cmim", discretizer=None, n_features_to_select=3),
    "label-wise, term by term": LabelwiseSieve("jmi", discretizer=None, estimator="shrinkage", n_features_to_select=2),
    "quadratic": QuadraticSieve(discretizer=None),
    "quadratic, one column sampled": QuadraticSieve(discretizer=None, mean=2),
    "rows counted several times": Sieve("jmi", targets="copy", discretizer=None),
    "joint targets": Sieve("cmi", targets="joint", discretizer=None),
    "network": Sieve("mlfs", parents="kcc", discretizer=None),
    "network given features": Sieve(
        "mlfs", parents=NetworkRule("tree", edge_weight="given-features", n_components=None), discretizer=None
    ),
    "target weights": Sieve("mrmr", target_weight=[1, 2, 0.5, 1], discretizer=None),
    "stopping rule": Sieve("jmi", n_features_to_select=PermutationTest(n_permutations=9), discretizer=None),
    "curve": Sieve("jmi", n_features_to_select=Knee(), discretizer=None),
    "labels joined": Sieve("br-infogain", discretizer=None),
}


def assert_same_selection(selector, backend, X, Y, **fit):
    native = selector.set_params(backend="native").fit(X, Y, **fit)
    expected = native.selected_, native.scores_
    other = selector.set_params(backend=backend).fit(X, Y, **fit)
    assert np.array_equal(other.selected_, expected[0])
    assert np.array_equal(other.scores_, expected[1], equal_nan=True)


@others
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("estimator", ["plugin", "miller-madow", "shrinkage"])
@pytest.mark.parametrize("name", CRITERIA)
def test_every_criterion_is_the_same_on_every_backend(name, estimator, weighted, backend):
    for seed in (3, 5):
        X, Y = make_case(seed, n_targets=3)
        weights = np.random.default_rng(seed).uniform(0.1, 3.0, size=len(X)) if weighted else None
        parents = make_parents(seed, 3) if name == "mlfs" else None
        sieve = Sieve(CRITERIA[name](), parents=parents, discretizer=None, estimator=estimator, n_features_to_select=3)
        assert_same_selection(sieve, backend, X, Y, sample_weight=weights)


@others
@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_is_the_same_on_every_backend(name, backend):
    X, Y = make_case(8, n_targets=4)
    assert len(X) > 10
    assert_same_selection(SELECTORS[name], backend, X, (Y > 0).astype(int))


@pytest.mark.parametrize("backend", GPU_BACKENDS.values(), ids=GPU_BACKENDS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "nominal", "weighted", "unknown labels", "label-wise"])
def test_the_default_is_the_same_on_a_gpu(kind, backend):
    """Counts and sums of products: numbers with gaps, few or many zeros, categories, weights and unknown labels."""
    rng = np.random.default_rng(11)
    X, weights = rng.normal(size=(300, 12)), None
    Y = (X[:, :3] + rng.normal(size=(300, 3)) > 0.5).astype(float)
    X[:, 4] = rng.integers(0, 11, 300)
    X[:, 5] = X[:, 0] + 1e-3 * rng.normal(size=300)
    X[rng.random(300) < 0.1, 6] = np.nan
    sieve = Sieve(n_features_to_select=6)
    if kind == "sparse":
        X = sp.csr_array(np.where(rng.random(X.shape) < 0.9, 0.0, np.nan_to_num(X)))
    elif kind == "nominal":
        sieve.set_params(discretizer=EqualFrequency(5, nominal=[4]))
    elif kind == "weighted":
        weights = rng.random(300) + 0.01
    elif kind == "unknown labels":
        Y[rng.random(Y.shape) < 0.1] = np.nan
    elif kind == "label-wise":
        sieve = LabelwiseSieve(n_features_to_select=3)
    assert_same_selection(sieve, backend, X, Y, sample_weight=weights)


def test_redundant_features_are_the_same_on_every_backend():
    X, Y = make_case(8)
    X = np.hstack([X, X])
    sieves = [Sieve(discretizer=None, n_features_to_select=3, backend=backend) for backend in ("auto", NaiveBackend)]
    found = [sieve.fit(X, Y).redundant_features(X) for sieve in sieves]
    assert found[0] == found[1]
    assert any(found[0].values())


def test_nothing_but_the_backend_counts():
    """A selection asks the factory for every backend that it uses."""
    built = []

    def factory(*tables, **options):
        built.append(options)
        return NaiveBackend(*tables, **options)

    X, Y = make_case(8)
    sieve = Sieve("jmi", discretizer=None, n_features_to_select=1, warm_start=True, backend=factory, n_jobs=2).fit(X, Y)
    sieve.set_params(n_features_to_select=3).fit(X, Y)
    assert len(built) == 1
    assert built[0]["n_jobs"] == 2


@pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve, QuadraticSieve])
def test_an_unknown_backend_raises_with_a_suggestion(selector):
    X, Y = make_case(8)
    with pytest.raises(InputError, match=r"'nativ' is not a backend\. Did you mean 'native'\?"):
        selector(backend="nativ", discretizer=None).fit(X, Y)
    with pytest.raises(ValueError, match="'backend' parameter"):
        selector(backend=3, discretizer=None).fit(X, Y)


def test_large_tables_are_counted_on_a_card_if_there_is_one(monkeypatch):
    """``backend="auto"``: by the number of cells that the core would count, and of threads."""
    X, Y = (Codes.from_values(table) for table in make_case(8, n_targets=4))
    few = Codes.from_values((X.to_dense() > 0).astype(int))
    cells = factory.panel_cells(few, Y)
    assert cells == few.n_columns * (few.n_rows + np.count_nonzero(Y.to_dense()))
    monkeypatch.setattr(factory, "CELLS_PER_THREAD", cells // 2)
    for has_gpu, features, n_jobs, expected in [
        (True, few, 1, "gpu"),
        (True, few, 2, "gpu"),
        (True, few, 3, NativeBackend),
        (False, few, 1, NativeBackend),
        (True, X, 1, NativeBackend),  # of many levels
    ]:
        monkeypatch.setattr(factory, "has_gpu", lambda has_gpu=has_gpu: has_gpu)
        assert factory.fastest_backend(features, Y, CountingOptions(n_jobs=n_jobs)) == expected


def test_a_card_is_named_by_its_number():
    X, Y = make_case(8, n_targets=4)
    with pytest.raises(DeviceError, match=r"CuPy|device=77"):
        Sieve(backend="gpu:77", discretizer=None).fit(X, Y)
    with pytest.raises(InputError, match="'gpu:first' is not a backend"):
        Sieve(backend="gpu:first", discretizer=None).fit(X, Y)


class OnDevice:
    """An array of CuPy or a tensor of PyTorch, as far as it is asked."""

    def __init__(self, values):
        self._values = values

    def get(self):
        return self._values

    def detach(self):
        return self

    cpu, numpy = detach, get


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("selector", [Sieve("jmi"), LabelwiseSieve("jmi"), QuadraticSieve()], ids=["sieve", "label-wise", "qp"])
def test_arrays_of_a_device_are_read(library, selector):
    X, Y = make_case(8, n_targets=3)
    kind = type("array", (OnDevice,), {"__module__": f"{library}.core"})
    selector.set_params(discretizer=None)
    expected = selector.fit(X, Y).selected_
    assert np.array_equal(clone(selector).fit(kind(X), kind(Y)).selected_, expected)


@pytest.mark.gpu
def test_arrays_on_a_card_are_read():
    X, Y = make_case(8, n_targets=3)
    expected = Sieve("jmi", discretizer=None).fit(X, Y).selected_
    for library, place in (("cupy", lambda values: values), ("torch", lambda values: values.cuda())):
        tables = [place(import_module(library).asarray(table)) for table in (X, Y)]
        assert np.array_equal(Sieve("jmi", discretizer=None, backend="gpu:0").fit(*tables).selected_, expected)
