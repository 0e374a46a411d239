"""What every counting backend must do. To check another one, add its factory to ``BACKENDS``."""

import inspect
import subprocess
import sys
from functools import cache, partial

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.counting.backends import (
    Backend,
    ChunkedBackend,
    Column,
    CountingOptions,
    Feature,
    GpuBackend,
    JointFeatures,
    NativeBackend,
    Panel,
    PanelFold,
    Target,
    make_backend,
)
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes
from labelsieve.tables.weights import quantize
from tests.support import reference_information as reference
from tests.support.gpu_backends import GPU_BACKENDS, STAND_INS
from tests.support.naive_backend import NaiveBackend, RememberedBackend
from tests.support.random_tables import binary_table, make_table, many_levels_table

STRATEGIES = ("positional", "grouped", "tiled", "sparse", "non-empty", "histogram")
BACKENDS = {
    "naive": NaiveBackend,
    "native": NativeBackend,
    "native, two threads": lambda *tables, **options: NativeBackend(*tables, **{**options, "n_jobs": 2}),
    "chunked": ChunkedBackend,
    "chunked, from a file": partial(ChunkedBackend, chunk_rows=37, memory_limit=0),
    **{f"native, {name}": partial(NativeBackend, strategy=name) for name in STRATEGIES},
    **GPU_BACKENDS,
}
N_ROWS, LEVELS = 150, [2, 3, 1, 9, 40, 2]
WHOLE, PART, EMPTY = slice(None), slice(1, 4), slice(0)
backends = pytest.mark.parametrize("factory", BACKENDS.values(), ids=BACKENDS)


def make_tables(seed=1, n_rows=N_ROWS):
    X, Y = many_levels_table(seed, n_rows, LEVELS), many_levels_table(seed + 1, n_rows, [2, 3, 2, 16, 2])
    return Codes.from_values(X), Codes.from_values(Y)


def make_conditions(X, Y):
    column = many_levels_table(9, Y.n_rows, [5])[:, 0]
    joints = [JointFeatures(()), JointFeatures((3,)), JointFeatures((3, 0)), JointFeatures((3, 0, 1)), JointFeatures((1, 4))]
    return [Feature(3), Feature(2), Target(1), Target(3), Column(column, 5), Column(column, 9), *joints]


@cache
def make_case(name):
    """Tables, arithmetic and the options of a factory."""
    X, Y = make_tables()
    rng = np.random.default_rng(0)
    if name in ("plugin", "miller-madow"):
        return X, Y, FixedPoint.for_rows(N_ROWS, n_targets=5, estimator=name), {}
    if name == "sparse":
        return Codes.from_values(sp.csr_matrix(X.to_dense())), Y, FixedPoint.for_rows(N_ROWS, n_targets=5), {}
    if name == "row_index":
        row_index = np.sort(rng.integers(N_ROWS, size=220)).astype(np.uint32)
        return X, make_tables(5, 220)[1], FixedPoint.for_rows(220, n_targets=5), {"row_index": row_index}
    weights = quantize(rng.integers(1, 5, size=N_ROWS).astype(float) if name == "whole weights" else rng.random(N_ROWS) + 0.1)
    return X, Y, FixedPoint.for_data(N_ROWS, weights, n_targets=5), {"weights": weights}


NAIVE = {}  # by case
CASES = ("plugin", "miller-madow", "sparse", "row_index", "whole weights", "real weights")


@pytest.fixture(params=CASES)
def case(request):
    return make_case(request.param)


def pair_of_backends(factory, case):
    """The naive one has its answers already where another backend was compared with it."""
    X, Y, fixed, options = case
    if id(case) not in NAIVE:
        NAIVE[id(case)] = RememberedBackend(NaiveBackend(X, Y, fixed, **options))
    return factory(X, Y, fixed, **options), NAIVE[id(case)]


def assert_same_sums(ours, expected):
    assert isinstance(ours, np.ndarray)
    assert ours.dtype == np.int64
    assert ours.shape == expected.shape
    assert np.array_equal(ours, expected)


@pytest.mark.parametrize("backend", [NaiveBackend, NativeBackend, ChunkedBackend, GpuBackend])
def test_a_backend_has_the_parameters_of_the_protocol(backend):
    for name, method in inspect.getmembers(Backend, inspect.isfunction):
        if not name.startswith("_"):
            expected = inspect.signature(method).parameters
            parameters = inspect.signature(getattr(backend, name)).parameters
            assert [(p.name, p.kind, p.default) for p in parameters.values()] == [
                (p.name, p.kind, p.default) for p in expected.values()
            ]
            assert inspect.getdoc(method)


def test_the_naive_backend_follows_the_definition():
    X, Y, fixed, _ = make_case("plugin")
    backend, values = NaiveBackend(X, Y, fixed), fixed.values
    x, y, z = (table.column(j).tolist() for table, j in ((X, 3), (Y, 1), (X, 0)))
    assert backend.pairs()[3, 1] == reference.sum_of_cells(values, x, y)
    assert backend.panel(Feature(0)).triple[3, 1] == reference.sum_of_cells(values, x, y, z)
    assert backend.given_targets(Feature(0))[1] == reference.sum_of_cells(values, y, z)


@backends
def test_singles_and_pairs(factory, case):
    ours, naive = pair_of_backends(factory, case)
    for mine, expected in zip(ours.singles(), naive.singles(), strict=True):
        assert_same_sums(mine, expected)
    for targets in (WHOLE, PART, EMPTY):
        for reduce in (None, "sum"):
            assert_same_sums(ours.pairs(targets=targets, reduce=reduce), naive.pairs(targets=targets, reduce=reduce))


@backends
def test_panels_of_every_condition(factory, case):
    ours, naive = pair_of_backends(factory, case)
    for given in make_conditions(*case[:2]):
        assert_same_sums(ours.given_targets(given), naive.given_targets(given))
        assert ours.given_single(given) == naive.given_single(given)
        expected = naive.panel(given)
        for targets in (WHOLE, PART, EMPTY):
            panel = ours.panel(given, targets=targets)
            assert isinstance(panel, Panel)
            assert_same_sums(panel.pair, expected.pair)
            assert_same_sums(panel.triple, expected.triple[:, targets])
            reduced = ours.panel(given, targets=targets, reduce="sum")
            assert_same_sums(reduced.pair, expected.pair)
            assert_same_sums(reduced.triple, expected.triple[:, targets].sum(axis=1))


@pytest.mark.parametrize("factory", [NaiveBackend, NativeBackend, ChunkedBackend, STAND_INS["gpu, numpy"]])
def test_whole_tables(factory, case):
    def tables(backend, given, targets, features):
        found = {}
        for block in backend.joint_counts(given, targets=targets, features=features):
            for feature, counts in zip(block.features.tolist(), block.counts, strict=True):
                assert counts.dtype == np.float64
                assert (feature, block.target) not in found
                found[feature, block.target] = counts
        return found

    ours, naive = pair_of_backends(factory, case)
    X, Y = case[:2]
    for given in (None, *make_conditions(X, Y)):
        for targets, n_targets in ((WHOLE, Y.n_columns), (PART, 3), (None, 1)):
            for features in (True, False):
                mine, expected = (tables(backend, given, targets, features) for backend in (ours, naive))
                assert len(mine) == n_targets * (X.n_columns if features else 1)
                assert mine.keys() == expected.keys()
                for key, counts in expected.items():
                    levels = np.prod(counts.shape)
                    assert mine[key].shape == counts.shape or isinstance(given, JointFeatures)
                    # The levels of a joint variable may be numbered in any order.
                    assert np.array_equal(np.sort(mine[key].reshape(levels)), np.sort(counts.reshape(levels)))
                    assert isinstance(given, JointFeatures) or np.array_equal(mine[key], counts)


@backends
@pytest.mark.parametrize("with_fixed", [False, True])
def test_folds_add_a_linear_function_of_the_panel(factory, case, with_fixed):
    ours, naive = pair_of_backends(factory, case)
    n_features = case[0].n_columns
    fixed = np.arange(n_features) * 1000 if with_fixed else None
    for feature in range(n_features):
        for targets in (WHOLE, PART, EMPTY):
            accumulator = np.full(n_features, 7)
            ours.fold_given_feature(accumulator, feature, PanelFold(11, fixed, -3, 2), targets=targets)
            panel = naive.panel(Feature(feature), targets=targets, reduce="sum")
            assert np.array_equal(accumulator, 7 + 11 + (0 if fixed is None else fixed) - 3 * panel.pair + 2 * panel.triple)


@pytest.mark.parametrize("factory", [BACKENDS[name] for name in ("naive", "native", "native, two threads")])
def test_several_panels_given_features(factory, case):
    ours, naive = pair_of_backends(factory, case)
    requests = [(feature, targets) for targets in (WHOLE, PART, EMPTY) for feature in range(case[0].n_columns)]
    panels = ours.panels_given_features(4 * requests)  # more than are counted together
    for (feature, targets), panel in zip(4 * requests, panels, strict=True):
        expected = naive.panel(Feature(feature), targets=targets)
        assert_same_sums(panel.pair, expected.pair)
        assert_same_sums(panel.triple, expected.triple)


@backends
@pytest.mark.parametrize("part", [slice(2, 5), slice(-3, None), slice(4, 2), slice(90, 99), slice(None, -1)])
def test_targets_of_a_panel_follow_the_rules_of_slices(factory, part):
    ours, naive = pair_of_backends(factory, make_case("plugin"))
    given = Column(many_levels_table(8, N_ROWS, [4])[:, 0], 4)
    assert_same_sums(ours.panel(given, targets=part).triple, naive.panel(given).triple[:, part])
    assert_same_sums(ours.panel(given, targets=part, reduce="sum").triple, naive.panel(given).triple[:, part].sum(axis=1))


@pytest.mark.parametrize("strategy", ["auto", "positional", "tiled", "sparse", "histogram"])
@pytest.mark.parametrize("kinds", [["fair", "rare"] * 5, ["16 levels", "3 levels", "34 levels"]], ids=["labels", "levels"])
def test_label_pairs_streamed_one_label_at_a_time_equal_naive_sums(kinds, strategy):
    X, Y = make_table(3, 120, kinds), binary_table(4, 120, 6)
    Y[:, 5] = make_table(5, 120, ["16 levels"])[:, 0]
    fixed = FixedPoint.for_rows(120, n_targets=6)
    backend = NativeBackend(Codes.from_values(X), Codes.from_values(Y), fixed, strategy=strategy)
    for z in range(6):
        panel = backend.panel(Target(z), targets=slice(z + 1, None), reduce="sum")
        for k, x in enumerate(X.T.tolist()):
            of_z = Y[:, z].tolist()
            assert panel.pair[k] == reference.sum_of_cells(fixed.values, x, of_z)
            naive = sum(reference.sum_of_cells(fixed.values, x, of_z, Y[:, y].tolist()) for y in range(z + 1, 6))
            assert panel.triple[k] == naive


def test_what_the_native_backend_cannot_do_raises():
    X, Y, fixed, _ = make_case("plugin")
    backend = NativeBackend(X, Y, fixed)
    given = np.zeros(N_ROWS, dtype=np.uint32)
    assert backend.bytes > 0
    with pytest.raises(InputError, match="X has 150 rows and Y has 149"):
        NativeBackend(X, make_tables(n_rows=149)[1], fixed)
    for wrong in (given[1:], np.append(given, 0)):
        with pytest.raises(ValueError, match="given"):
            backend.panel(Column(wrong, 1))
    with pytest.raises(ValueError, match="given"):
        backend.panel(Column(given + 1, 1))
    with pytest.raises(ValueError, match="no such feature"):
        backend.panel(Feature(X.n_columns))
    with pytest.raises(ValueError, match="table"):
        NativeBackend(X, Y, FixedPoint.for_rows(19)).singles()


@backends
def test_conditions_of_any_number_type_are_the_same(factory):
    ours, naive = pair_of_backends(factory, make_case("plugin"))
    given = many_levels_table(13, N_ROWS, [5])[:, 0]
    expected = naive.panel(Column(given, 5)).triple
    for codes in (*(given.astype(dtype) for dtype in (np.uint8, np.int64, np.uint32)), np.repeat(given, 2)[::2]):
        assert_same_sums(ours.panel(Column(codes, 5)).triple, expected)


def test_a_backend_is_made_by_name_or_by_a_factory():
    X, Y, fixed, _ = make_case("plugin")
    for setting in ("auto", "native", NativeBackend):
        assert isinstance(make_backend(X, Y, fixed, CountingOptions(backend=setting)), NativeBackend)
    assert isinstance(make_backend(X, Y, fixed, CountingOptions(backend=NaiveBackend)), NaiveBackend)
    with pytest.raises(InputError, match=r"'nativ' is not a backend\. Did you mean 'native'\?"):
        make_backend(X, Y, fixed, CountingOptions(backend="nativ"))


def test_who_counts_in_memory_never_meets_the_other_backends():
    code = """
import sys
import numpy as np
from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import JMI
from labelsieve.information import Codes

X = Codes.from_values(np.eye(6, dtype=int))
scorer = JMI().plan.bind(Workspace(X, X))
scorer.scores()
scorer.select(0)
optional = ("chunked", "dask", "gpu")
print([name for name in sys.modules if name.startswith(tuple(f"labelsieve.counting.backends.{kind}" for kind in optional))])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
