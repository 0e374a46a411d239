"""Targets with unknown cells: tables of the known rows, for every backend, against counting those rows alone."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.counting.backends import Column, CountingOptions, Feature, JointFeatures, NativeBackend, make_backend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.workspace import Workspace
from labelsieve.information import Codes
from labelsieve.tables.weights import RowWeights, quantize
from tests.support.naive_backend import NaiveBackend
from tests.support.random_tables import many_levels_table

N_ROWS, N_TARGETS = 150, 5
STRATEGIES = ("positional", "grouped", "tiled", "sparse", "histogram")
BACKENDS = {
    "naive": NaiveBackend,
    "native": NativeBackend,
    "native, wrapped": partial(NativeBackend, strategy="auto"),
    "native, two threads": ("native", {"n_jobs": 2}),
    **{f"native, {name}": ("native", {"strategy": name}) for name in STRATEGIES},
}
CASES = ("plugin", "miller-madow", "sparse", "sparse targets", "row_index", "whole weights", "real weights")
CONDITIONS = [Feature(3), Feature(2), JointFeatures(()), JointFeatures((3, 0)), JointFeatures((1, 4)), "column"]


def make_targets(seed, n_rows):
    """Targets of several kinds: few unknown cells, none (but a level for them), most, one known row, no level for them."""
    levels = [2, 3, 2, 16, 2]
    table = many_levels_table(seed, n_rows, levels)
    rng = np.random.default_rng(seed)
    unknown = rng.random(table.shape) < [0.1, 0.0, 0.7, 1.0, 0.0]
    unknown[n_rows // 2, 3] = False
    missing = np.array([True, True, True, True, False])
    codes = np.where(unknown, table.max(axis=0) + 1, table).astype(np.uint8)
    return Codes(n_rows, (table.max(axis=0) + 1 + missing).astype(np.uint32), dense=codes, missing=missing), unknown


def make_case(name):
    X = Codes.from_values(many_levels_table(1, N_ROWS, [2, 3, 1, 9, 40, 2]))
    n_rows = 220 if name == "row_index" else N_ROWS
    Y, unknown = make_targets(2, n_rows)
    estimator, options, rng = "miller-madow" if name == "miller-madow" else "plugin", {}, np.random.default_rng(0)
    if name == "sparse":
        X = Codes.from_values(sp.csr_array(X.to_dense()))
    if name == "sparse targets":
        Y = replace(Codes.from_values(sp.csr_array(Y.to_dense())), levels=Y.levels, missing=Y.missing)
    if name == "row_index":
        options["row_index"] = np.sort(rng.integers(N_ROWS, size=n_rows)).astype(np.uint32)
    if "weights" in name:
        real = rng.random(N_ROWS) + 0.1
        options["weights"] = quantize(np.ceil(4 * real) if name == "whole weights" else real)
    fixed = FixedPoint.for_data(n_rows, options.get("weights"), n_targets=N_TARGETS, estimator=estimator)
    return X, Y, unknown, fixed, options


@pytest.fixture(params=CASES)
def case(request):
    return make_case(request.param)


def make(factory, case):
    X, Y, _, fixed, options = case
    if isinstance(factory, tuple):
        return NativeBackend(X, Y, fixed, **factory[1], **options)
    others = {name: value for name, value in options.items() if name == "row_index"}
    return make_backend(X, Y, fixed, CountingOptions(weights=options.get("weights"), backend=factory), **others)


class ByTarget:
    """The definition: T(A) + N/K (S_K(A, y) - S_K(A)), S_K from a naive backend that has the known rows of y alone."""

    def __init__(self, case):
        X, Y, unknown, fixed, options = case
        self.fixed, self.all = fixed, NaiveBackend(X, replace(Y, missing=None), fixed, **options)
        self.known, self.rows, self.ratios = [], [], []
        row_index, weights = options.get("row_index", np.arange(Y.n_rows)), options.get("weights")
        of_rows = np.ones(Y.n_rows, dtype=int) if weights is None else weights.values[row_index].astype(int)
        for target in range(Y.n_columns):
            rows = ~unknown[:, target]
            kept = Codes(int(rows.sum()), X.levels, dense=np.asfortranarray(X.to_dense()[row_index[rows]]))
            own = None if weights is None else RowWeights(weights.values[row_index[rows]], weights.unit, weights.total)
            column = Codes.from_values(Y.column(target)[rows][:, np.newaxis])
            self.known.append(NaiveBackend(kept, column, fixed, weights=own))
            self.rows.append(rows)
            self.ratios.append(of_rows.sum() / of_rows[rows].sum())

    def table(self, of_all, of_known):
        """``of_all`` without a target; ``of_known(backend, rows)``: sums of the known rows with and without the target."""
        columns = []
        for backend, rows, ratio in zip(self.known, self.rows, self.ratios, strict=True):
            joint, alone = of_known(backend, rows)
            columns.append(of_all + np.floor((joint - alone) * ratio + 0.5).astype(int))
        return np.column_stack(columns)


@pytest.mark.parametrize("factory", BACKENDS.values(), ids=BACKENDS)
def test_tables_of_every_backend_follow_the_definition(factory, case):
    ours, naive = make(factory, case), ByTarget(case)
    features, targets = ours.singles()
    assert np.array_equal(features, naive.all.singles()[0])
    top = naive.fixed.top
    single = naive.table(top, lambda backend, rows: (backend.singles()[1], naive.fixed(np.array([backend.weights.sum()]))))
    assert np.array_equal(targets, single[0])
    pairs = naive.table(features, lambda backend, rows: (backend.pairs()[:, 0], backend.singles()[0]))
    column = many_levels_table(9, case[1].n_rows, [5])[:, 0]
    for part in (slice(None), slice(1, 4), slice(0), slice(2, 3)):
        assert np.array_equal(ours.pairs(targets=part), pairs[:, part])
        assert np.array_equal(ours.pairs(targets=part, reduce="sum"), pairs[:, part].sum(axis=1))
    for condition in CONDITIONS:
        given = Column(column, 5) if condition == "column" else condition

        def in_rows(rows, given=given):
            return Column(column[rows], 5) if isinstance(given, Column) else given

        pair = naive.all.panel(given, targets=slice(0)).pair
        triple = naive.table(pair, lambda backend, rows: _triples(backend, in_rows(rows)))
        singles = naive.table(
            np.array([naive.all.given_single(given)]),
            lambda backend, rows: (backend.given_targets(in_rows(rows)), backend.given_single(in_rows(rows))),
        )
        assert np.array_equal(ours.given_targets(given), singles[0])
        assert ours.given_single(given) == naive.all.given_single(given)
        for part in (slice(None), slice(1, 4), slice(0), slice(2, 3)):
            panel = ours.panel(given, targets=part)
            assert np.array_equal(panel.pair, pair)
            assert np.array_equal(panel.triple, triple[:, part])
            assert np.array_equal(ours.panel(given, targets=part, reduce="sum").triple, triple[:, part].sum(axis=1))


@pytest.mark.parametrize("strategy", ["auto", "grouped", "histogram"])
def test_both_kinds_of_panels_are_counted_at_once(strategy, case):
    ours = make(("native", {"strategy": strategy}), case)
    view = ours.of_known_rows()
    for condition in CONDITIONS:
        given = Column(many_levels_table(9, case[1].n_rows, [5])[:, 0], 5) if condition == "column" else condition
        for part in (slice(None), slice(1, 4)):
            panel, known = ours.panel_with_known_rows(given, targets=part)
            alone = ours.panel(given, targets=part)
            assert np.array_equal(panel.pair, alone.pair)
            assert np.array_equal(panel.triple, alone.triple)
            assert np.array_equal(known, view.panel(given, targets=part).triple)


@pytest.mark.parametrize("factory", BACKENDS.values(), ids=BACKENDS)
def test_views_of_the_known_rows_are_their_sums(factory, case):
    """S_K(A, y) N/K, for terms that are conditioned on a target."""
    ours, naive = make(factory, case).of_known_rows(), ByTarget(case)
    column = many_levels_table(9, case[1].n_rows, [5])[:, 0]

    def in_known_rows(sums):
        columns = [
            np.floor(np.asarray(sums(backend, rows)) * ratio + 0.5)
            for backend, rows, ratio in zip(naive.known, naive.rows, naive.ratios, strict=True)
        ]
        return np.column_stack(columns)

    assert np.array_equal(ours.singles()[1], in_known_rows(lambda backend, rows: backend.singles()[1])[0])
    pairs = in_known_rows(lambda backend, rows: backend.pairs()[:, 0])
    for part in (slice(None), slice(1, 4), slice(2, 3)):
        assert np.array_equal(ours.pairs(targets=part), pairs[:, part])
        assert np.array_equal(ours.pairs(targets=part, reduce="sum"), pairs[:, part].sum(axis=1))
    for condition in CONDITIONS:
        given = Column(column, 5) if condition == "column" else condition

        def in_rows(rows, given=given):
            return Column(column[rows], 5) if isinstance(given, Column) else given

        triple = in_known_rows(lambda backend, rows: backend.panel(in_rows(rows)).triple[:, 0])
        singles = in_known_rows(lambda backend, rows: backend.given_targets(in_rows(rows)))
        assert np.array_equal(ours.given_targets(given), singles[0])
        assert ours.given_single(given) == naive.all.given_single(given)
        for part in (slice(None), slice(1, 4)):
            panel = ours.panel(given, targets=part)
            assert np.array_equal(panel.pair, naive.all.panel(given, targets=slice(0)).pair)
            assert np.array_equal(panel.triple, triple[:, part])
            assert np.array_equal(ours.panel(given, targets=part, reduce="sum").triple, triple[:, part].sum(axis=1))


def _triples(backend, given):
    panel = backend.panel(given)
    return panel.triple[:, 0], panel.pair


def test_whole_tables_have_the_unknown_cells_as_the_last_level():
    case = make_case("plugin")
    X, unknown = case[0], case[2]
    for block in make("native", case).joint_counts(targets=slice(0, 3)):
        table = block.counts.sum(axis=(1, 3))
        assert np.all(table.sum(axis=1) == X.n_rows)
        if unknown[:, block.target].any():
            assert np.all(table[:, -1] == unknown[:, block.target].sum())


def test_a_label_without_a_known_row_is_refused_by_name():
    X, Y, *_ = make_case("plugin")
    Y = replace(Y, names=("a", "b", "c", "d", "e"), dense=np.where(np.arange(5) == 3, Y.levels - 1, Y.dense).astype(np.uint8))
    with pytest.raises(InputError, match="label 'd' is unknown in every row"):
        Workspace(X, Y).backend.singles()
    with pytest.raises(InputError, match="label 3 is unknown in every row"):
        Workspace(X, replace(Y, names=None)).backend.singles()


def test_features_with_missing_cells_are_refused_where_only_sums_are_counted():
    X, Y, _, fixed, _ = make_case("plugin")
    flagged = replace(X, missing=np.arange(X.n_columns) == 1)
    with pytest.raises(InputError, match="drop-pairwise"):
        make_backend(flagged, Y, fixed)
