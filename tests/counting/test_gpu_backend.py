"""The GPU backend: packing and blocks with kernels in numpy, the same with those of a GPU (``make gpu``), and refusals."""

import gc
import sys
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError, Sieve
from labelsieve.counting.backends import Column, Feature, GpuBackend, JointFeatures, NativeBackend, PanelFold, Target
from labelsieve.counting.backends.gpu import counting as gpu_counting
from labelsieve.counting.backends.gpu import counting as gpu_features
from labelsieve.counting.backends.gpu import device as bits
from labelsieve.counting.backends.gpu import device as gpu_memory
from labelsieve.counting.backends.gpu import kernels as gpu_kernels
from labelsieve.counting.backends.gpu import transfer as gpu_transfer
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import DeviceError
from labelsieve.information import Codes
from labelsieve.tables.weights import quantize
from tests.support.gpu_backends import GPU_BACKENDS
from tests.support.numpy_kernels import NumpyKernels

on_every_kernel = pytest.mark.parametrize("factory", GPU_BACKENDS.values(), ids=GPU_BACKENDS)


def make_tables(n_rows, n_features, n_targets, seed=0, *, levels=(2, 5, 3, 1, 4), target_levels=(2, 2, 3, 16, 1)):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(levels[j % len(levels)], size=n_rows) for j in range(n_features)])
    Y = np.column_stack([rng.integers(target_levels[j % len(target_levels)], size=n_rows) for j in range(n_targets)])
    return Codes.from_values(X.astype(np.uint8)), Codes.from_values(Y.astype(np.uint8))


def assert_same_answers(ours, native, conditions, ranges=(slice(None),)):
    for mine, expected in zip(ours.singles(), native.singles(), strict=True):
        assert np.array_equal(mine, expected)
    for targets in ranges:
        assert np.array_equal(ours.pairs(targets=targets), native.pairs(targets=targets))
        for given in conditions:
            for reduce in (None, "sum"):
                mine, expected = (backend.panel(given, targets=targets, reduce=reduce) for backend in (ours, native))
                assert np.array_equal(mine.pair, expected.pair)
                assert np.array_equal(mine.triple, expected.triple)


@pytest.mark.parametrize("at_once", [1, 2**30])
def test_words_lie_where_the_kernels_look_for_them(at_once, monkeypatch):
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=(70, 2100)).astype(np.uint8)
    monkeypatch.setattr(bits, "AT_ONCE", at_once)
    plain = bits.pack_plain(np, codes, 3)
    assert plain.shape == (140, 3, 32)
    blocks = bits.to_fragments(np, plain)
    assert blocks.shape == (3, 3, 2048)
    for column, row in rng.integers((140, 2100), size=(200, 2)):
        feature, level, stage, word = column // 2, column % 2 + 1, row // 1024, row % 1024 // 32
        is_level = codes[feature, row] == level
        assert plain[column, stage, word] >> (row % 32) & 1 == is_level
        x, k, h, t = column % 64, word // 8, word // 4 % 2, word % 4
        place = (x // 16 * 4 + k) * 128 + x % 16 // 2 * 16 + t * 4 + h * 2 + x % 2
        assert blocks[column // 64, stage, place] >> (row % 32) & 1 == is_level
    assert np.array_equal(bits.from_fragments(np, blocks)[:140], plain)
    assert np.array_equal(bits.unpack_codes(np, plain, 3, 2100), codes)


@on_every_kernel
@pytest.mark.parametrize("n_rows", [1, 31, 1023, 1024, 1025, 2500])
def test_rows_that_fill_no_stage(factory, n_rows):
    X, Y = make_tables(n_rows, 12, 6)
    fixed = FixedPoint.for_rows(n_rows, n_targets=6)
    assert_same_answers(factory(X, Y, fixed), NativeBackend(X, Y, fixed), [Feature(1), Feature(3), Target(3)])


@on_every_kernel
def test_more_columns_than_a_block_has(factory):
    """224 features of five levels, and targets for two blocks of counts, some of many levels."""
    X, Y = make_tables(1100, 280, 150, levels=(5, 5, 5, 5, 2), target_levels=(*[2] * 47, 9, 40))
    fixed = FixedPoint.for_rows(1100, n_targets=150)
    column = np.random.default_rng(4).integers(7, size=1100)
    ours, native = factory(X, Y, fixed), NativeBackend(X, Y, fixed)
    ranges = slice(None), slice(17, 90), slice(47, 49), slice(48, 49), slice(0)
    assert_same_answers(ours, native, [Feature(271), Column(column, 7)], ranges)
    for targets in (slice(None), slice(100, 141)):
        folded, expected = np.arange(280), np.arange(280)
        ours.fold_given_feature(folded, 5, PanelFold(3, None, -2, 1), targets=targets)
        native.fold_given_feature(expected, 5, PanelFold(3, None, -2, 1), targets=targets)
        assert np.array_equal(folded, expected)


@on_every_kernel
def test_counts_of_a_panel_may_be_made_in_parts(factory, monkeypatch):
    X, Y = make_tables(300, 600, 4, levels=(2, 3))
    fixed = FixedPoint.for_rows(300, n_targets=4)
    monkeypatch.setattr(gpu_counting, "COUNT_BYTES", 1)
    monkeypatch.setattr(gpu_transfer, "PIECE", 1)
    monkeypatch.setattr(gpu_memory, "STAGED", 4096)
    assert_same_answers(factory(X, Y, fixed), NativeBackend(X, Y, fixed), [Feature(1), Feature(40)])


@on_every_kernel
@pytest.mark.parametrize("limit", [0, 100_000], ids=["no feature stays", "some stay"])
def test_features_and_rows_that_do_not_fit_are_counted_in_blocks(factory, limit, monkeypatch):
    """One stage of rows of 256 features at a time; targets of many levels and for two groups, conditions of two passes."""
    X, Y = make_tables(2100, 270, 114, levels=(*[2] * 60, 7), target_levels=(*[2] * 112, 30))
    fixed = FixedPoint.for_rows(2100, n_targets=114)
    monkeypatch.setattr(gpu_features, "PART_BYTES", 1)
    ours, native = factory(X, Y, fixed, memory_limit=limit), NativeBackend(X, Y, fixed)
    blocks = ours.on_device.counts.features.packed
    assert [len(block.parts) for block in blocks if not block.is_resident] == [3] * (3 if limit == 0 else 2)
    for given, targets in (
        (Feature(60), slice(None)),
        (Feature(3), slice(0, 50)),
        (Target(1), slice(0, 0)),
        (Target(112), slice(3)),
    ):
        for mine, expected in zip(*(each.panel(given, targets=targets) for each in (ours, native)), strict=True):
            assert np.array_equal(mine, expected)
    assert np.array_equal(ours.pairs(reduce="sum"), native.pairs(reduce="sum"))


@on_every_kernel
@pytest.mark.parametrize("n_levels", [2, 3, 5])
def test_counts_of_few_rows_have_two_bytes(factory, n_levels, monkeypatch):
    """As for many features; counts of one target, and of groups of targets, have the same type."""
    monkeypatch.setattr(gpu_kernels, "NARROW_COLUMNS", 0)
    X, Y = make_tables(1500, 300, 120, levels=(n_levels,), target_levels=(2, 2, 3))
    fixed = FixedPoint.for_rows(1500, n_targets=120)
    ours, native = factory(X, Y, fixed), NativeBackend(X, Y, fixed)
    assert_same_answers(ours, native, [Feature(7), Feature(299)], [slice(None), slice(4, 5), slice(0)])


@pytest.mark.parametrize("free", [0, 20_000, 10**9])
def test_margins_are_kept_where_there_is_room(free):
    X, Y = make_tables(200, 9, 7)
    fixed = FixedPoint.for_rows(200, n_targets=7)
    ours = GpuBackend(X, Y, fixed, kernels=NumpyKernels(free=free), memory_limit=10**9)
    conditions = [Feature(1), Target(0), Feature(2), Feature(1)]
    assert_same_answers(ours, NativeBackend(X, Y, fixed), conditions, [slice(2, 5), slice(None), slice(0)])


def test_memory_of_a_card_is_free_as_soon_as_its_backend_is_not_used():
    X, Y = make_tables(200, 9, 7)
    backend = GpuBackend(X, Y, FixedPoint.for_rows(200, n_targets=7), kernels=NumpyKernels())
    backend.singles()
    gc.collect()
    gc.disable()
    try:
        sums = weakref.ref(backend.on_device)
        del backend
        assert sums() is None
    finally:
        gc.enable()


@on_every_kernel
@pytest.mark.parametrize("form", ["by columns", "sparse", "two bytes", "every other"])
def test_every_form_of_codes(factory, form):
    X, Y = make_tables(1300, 70, 5, levels=(2, 5, 20, 1))
    values = X.to_dense()
    forms = {
        "by columns": lambda: Codes.from_values(np.asfortranarray(values)),
        "sparse": lambda: Codes.from_values(sp.csr_matrix(values)),
        "two bytes": lambda: Codes.from_values(values.astype(np.uint16)),
        "every other": lambda: Codes.from_values(np.repeat(values, 2, axis=1)[:, ::2]),
    }
    X, fixed = forms[form](), FixedPoint.for_rows(1300, n_targets=5)
    assert_same_answers(factory(X, Y, fixed), NativeBackend(X, Y, fixed), [Feature(2), JointFeatures((1, 2))])


@on_every_kernel
def test_conditions_with_more_cells_than_shared_memory(factory):
    X, Y = make_tables(3000, 6, 5, levels=(5, 2, 3), target_levels=(2, 40))
    fixed = FixedPoint.for_rows(3000, n_targets=5)
    given = Column(np.random.default_rng(3).permutation(3000), 3000)
    assert_same_answers(factory(X, Y, fixed), NativeBackend(X, Y, fixed), [given])


@on_every_kernel
@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
@pytest.mark.parametrize("kind", ["whole", "real", "equal"])
def test_weighted_rows(factory, estimator, kind):
    rng = np.random.default_rng(6)
    X, Y = make_tables(400, 8, 5)
    weights = quantize(
        {"whole": rng.integers(1, 9, 400) * 1.0, "real": rng.random(400) + 0.01, "equal": np.full(400, 0.3)}[kind]
    )
    fixed = FixedPoint.for_data(400, weights, n_targets=5, estimator=estimator)
    given = Column(rng.integers(350, size=400), 350)
    ours, native = (build(X, Y, fixed, weights=weights) for build in (factory, NativeBackend))
    assert_same_answers(ours, native, [Feature(1), given], [slice(None), slice(1, 3)])


@on_every_kernel
@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "cmi", "pmu", "mdmr"])
def test_selections_are_those_of_the_core(factory, criterion):
    X, Y = make_tables(700, 40, 6, seed=2)
    X, Y = X.to_dense(), (Y.to_dense() > 0).astype(int)
    sieves = [Sieve(criterion, discretizer=None, n_features_to_select=5, backend=backend) for backend in ("native", factory)]
    native, ours = (sieve.fit(X, Y) for sieve in sieves)
    assert np.array_equal(ours.selected_, native.selected_)
    assert np.array_equal(ours.scores_, native.scores_)


def test_unknown_labels_are_left_out_pair_by_pair():
    X, Y = make_tables(300, 10, 4, seed=3, target_levels=(2,))
    Y = Y.to_dense().astype(float)
    Y[np.random.default_rng(0).random(Y.shape) < 0.2] = np.nan
    factory = GPU_BACKENDS["gpu, numpy"]
    sieves = [Sieve("jmi", discretizer=None, n_features_to_select=4, backend=backend) for backend in ("native", factory)]
    native, ours = (sieve.fit(X.to_dense(), Y) for sieve in sieves)
    assert np.array_equal(ours.selected_, native.selected_)
    assert np.array_equal(ours.scores_, native.scores_)


@on_every_kernel
def test_what_cannot_be_counted_raises(factory):
    X, Y = make_tables(150, 5, 3)
    fixed = FixedPoint.for_rows(150, n_targets=3)
    backend, given = factory(X, Y, fixed), np.zeros(150, dtype=np.uint32)
    assert backend.bytes > 0
    with pytest.raises(InputError, match="X has 150 rows and Y has 149"):
        factory(X, make_tables(149, 5, 3)[1], fixed)
    for wrong in (given[1:], np.append(given, 0), given + 1):
        with pytest.raises(InputError, match="given has"):
            backend.panel(Column(wrong, 1))
    with pytest.raises(InputError, match="no such feature: 5 of 5"):
        backend.panel(Feature(5))
    with pytest.raises(InputError, match="table of n log n"):
        factory(X, Y, FixedPoint.for_rows(19)).singles()


def fake_cupy(n_devices, compiler=(12, 9)):
    def answer(value, message):
        if value is None:
            raise RuntimeError(message)
        return value

    runtime = SimpleNamespace(getDeviceCount=lambda: answer(n_devices, "cudaErrorNoDevice: no CUDA-capable device is detected"))
    nvrtc = SimpleNamespace(getVersion=lambda: answer(compiler, "No such file: libnvrtc.so.12"))
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, nvrtc=nvrtc))


def test_without_cupy_or_a_card_the_message_says_what_to_do(monkeypatch):
    X, Y = (table.to_dense() for table in make_tables(50, 4, 2))
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(DeviceError, match=r"needs CuPy: pip install 'labelsieve\[gpu\]'.*backend='native' selects the same"):
        Sieve(backend="gpu", discretizer=None).fit(X, Y)
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(None))
    with pytest.raises(DeviceError, match=r"finds no GPU .*no CUDA-capable device.*nvidia-smi, or use backend='native'"):
        Sieve(backend="gpu", discretizer=None).fit(X, Y)
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(1, None))
    with pytest.raises(DeviceError, match=r"no compiler, NVRTC .*libnvrtc.*pip install 'labelsieve\[gpu\]'"):
        Sieve(backend="gpu", discretizer=None).fit(X, Y)
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(2))
    tables = make_tables(50, 4, 2)
    with pytest.raises(DeviceError, match="device=2: CuPy finds 2 GPUs, numbered from 0"):
        GpuBackend(*tables, FixedPoint.for_rows(50, n_targets=2), device=2)
