from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

def kernel_name() -> str: ...
def scan_codes(numbers: NDArray[Any], levels: NDArray[np.uint32]) -> tuple[int, int] | None: ...
def copy_codes(numbers: NDArray[Any], out: NDArray[np.uint8] | NDArray[np.uint16]) -> None: ...
def equal_width(
    numbers: NDArray[Any], n_bins: int, closed_right: bool, out: NDArray[np.uint16], levels: NDArray[np.uint32]
) -> tuple[int, int] | None: ...
def equal_width_sparse(
    starts: NDArray[np.int64],
    values: NDArray[np.float64],
    n_rows: int,
    n_bins: int,
    closed_right: bool,
    out: NDArray[np.uint16],
    implicit: NDArray[np.uint16],
    levels: NDArray[np.uint32],
) -> tuple[int, int] | None: ...
def fold_panel(
    accumulator: NDArray[np.int64],
    fixed: NDArray[np.int64] | None,
    pair: NDArray[np.int64],
    pair_factor: int,
    triple: NDArray[np.int64],
    triple_factor: int,
    constant: int,
) -> None: ...
def cluster_labelsets(
    bits: NDArray[np.uint64],
    numbers: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    bit_starts: NDArray[np.int64],
    group_bits: NDArray[np.uint32],
    number_starts: NDArray[np.int64],
    group_numbers: NDArray[np.uint32],
    n_clusters: NDArray[np.uint32],
    max_labelsets: int,
    bit_distance: float,
    seeds: NDArray[np.uint64],
    n_threads: int,
    out: NDArray[np.uint16],
) -> None: ...

class NumberColumns: ...

def dense_numbers(numbers: NDArray[Any]) -> NumberColumns: ...
def sparse_numbers(
    starts: NDArray[np.int64], rows: NDArray[np.uint32], values: NDArray[np.float64], n_rows: int
) -> NumberColumns: ...
def scan_finite(numbers: NDArray[Any], allow_missing: bool) -> tuple[int, int] | None: ...
def cut_numbers(
    numbers: NumberColumns,
    rule: str,
    n_bins: int,
    factor: float,
    steps: float,
    keep_binary: bool,
    weights: NDArray[np.uint64] | None,
    unit: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.uint8]]: ...
def mdl_numbers(
    numbers: NumberColumns,
    starts: NDArray[np.int64] | None,
    classes: NDArray[np.uint16],
    n_classes: NDArray[np.uint32],
    weights: NDArray[np.uint64] | None,
    unit: float,
    table: NDArray[np.int64] | None,
    logs: NDArray[np.float64],
    scale: float,
    kononenko: bool,
    count_values: bool,
) -> list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.uint8]]]: ...
def apply_cuts(
    numbers: NumberColumns,
    cut_starts: NDArray[np.int64],
    cuts: NDArray[np.float64],
    closed_right: bool,
    out: NDArray[np.uint8] | NDArray[np.uint16],
    implicit: NDArray[np.uint16],
    missing: NDArray[np.uint8],
) -> None: ...
def pair_steps(
    matrix: NDArray[np.float64], weights: NDArray[np.float64], gradient: NDArray[np.float64], tolerance: float, max_steps: int
) -> tuple[int, float, float]: ...

class Threads:
    def __init__(self, n_threads: int) -> None: ...

def copy_block(
    matrix: NDArray[np.float64],
    rows: NDArray[np.int64],
    factor: float,
    shift: float,
    block: NDArray[np.float64],
    threads: Threads,
) -> None: ...
def add_weighted_rows(
    matrix: NDArray[np.float64],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    shift: float,
    sums: NDArray[np.float64],
    threads: Threads,
) -> None: ...
def information_of_pairs(
    sums: NDArray[np.int64],
    of_rows: NDArray[np.int64],
    of_columns: NDArray[np.int64],
    divisor: float,
    not_negative: bool,
    matrix: NDArray[np.float64],
    first: int,
    threads: Threads,
) -> NDArray[np.int64]: ...
def minimize_logistic(
    rows: NDArray[np.float64],
    n_free: int,
    costs: NDArray[np.float64],
    gram: NDArray[np.float64],
    classes: NDArray[np.uint32],
    curvatures: NDArray[np.float64],
    directions: NDArray[np.float64],
    tolerance: float,
    max_steps: int,
    weights: NDArray[np.float64],
) -> tuple[int, bool]: ...
def minimize_logistic_links(
    rows: NDArray[np.float64],
    n_free: int,
    costs: NDArray[np.float64],
    gram: NDArray[np.float64],
    n_shared: int,
    own_starts: NDArray[np.int64],
    own_columns: NDArray[np.int32],
    present: NDArray[np.uint8],
    tolerance: float,
    max_steps: int,
    n_threads: int,
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]: ...
def minimize_squared_hinge(
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    n_inputs: int,
    constant: float,
    costs: NDArray[np.float64],
    own_starts: NDArray[np.int64],
    own_rows: NDArray[np.int32],
    present: NDArray[np.uint8],
    tolerance: float,
    weights: NDArray[np.float64],
) -> int: ...
def pack_rows(
    codes: NDArray[np.uint8] | NDArray[np.uint16],
    levels: NDArray[np.uint32],
    first: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> None: ...
def fixed_terms(first: int, logs: NDArray[np.float64], scale: float, penalty: int, out: NDArray[np.int64]) -> None: ...
def refine(joint: NDArray[np.uint32], n_joint: int, column: NDArray[np.uint16], n_levels: int) -> int: ...
def nearest_dense(
    table: NDArray[np.float64],
    queries: NDArray[np.float64],
    sizes: NDArray[np.uint64],
    k: int,
    all_ties: bool,
    leave_out: bool,
    squares: bool,
    n_threads: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]: ...
def nearest_sparse(
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float64],
    n_rows: int,
    query_starts: NDArray[np.int64],
    query_columns: NDArray[np.int32],
    query_values: NDArray[np.float64],
    k: int,
    all_ties: bool,
    leave_out: bool,
    n_threads: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]: ...
def label_histograms(
    starts: NDArray[np.int64],
    rows: NDArray[np.uint32],
    label_starts: NDArray[np.int64],
    label_indices: NDArray[np.uint32],
    n_labels: int,
    most: int,
    n_threads: int,
) -> NDArray[np.int64]: ...
def label_answers(
    starts: NDArray[np.int64],
    rows: NDArray[np.uint32],
    label_starts: NDArray[np.int64],
    label_indices: NDArray[np.uint32],
    table: NDArray[np.float64],
    out: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def scan_quotes(text: bytes, delimiter: int) -> tuple[bool, bool]: ...
def distinct_words(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32] | NDArray[np.int64],
    known: NDArray[np.uint8] | None,
    most: int,
    codes: NDArray[np.int32],
) -> NDArray[np.int64]: ...

class Table: ...

def dense_table(codes: NDArray[np.uint8] | NDArray[np.uint16], levels: NDArray[np.uint32]) -> Table: ...
def sparse_table(
    starts: NDArray[np.int64],
    rows: NDArray[np.uint32],
    codes: NDArray[np.uint16],
    implicit: NDArray[np.uint16],
    n_rows: int,
    levels: NDArray[np.uint32],
) -> Table: ...

class Weights:
    def __init__(self, of_rows: NDArray[np.uint64], logs: NDArray[np.float64], scale: float, penalty: int) -> None: ...

class Session:
    def __init__(
        self,
        x: Table,
        y: Table,
        table: NDArray[np.int64] | None,
        weights: Weights | None,
        n_threads: int,
        strategy: str,
        rows: NDArray[np.uint32] | None = None,
        known_ratios: NDArray[np.float64] | None = None,
    ) -> None: ...
    def feature_sums(self, out: NDArray[np.int64]) -> None: ...
    def target_sums(self, out: NDArray[np.int64]) -> None: ...
    def run(
        self,
        given: NDArray[np.uint32],
        n_given: int,
        first: int,
        last: int,
        reduce: bool,
        with_given: NDArray[np.int64],
        out: NDArray[np.int64],
        joint: bool = False,
        known: NDArray[np.int64] | None = None,
        first_feature: int = 0,
    ) -> None: ...
    def shrink(
        self,
        given: NDArray[np.uint32],
        n_given: int,
        first: int,
        last: int,
        factors: NDArray[np.float64],
        n_rows: float,
        logs: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> bool: ...
    def run_feature(
        self,
        feature: int,
        first: int,
        last: int,
        reduce: bool,
        with_given: NDArray[np.int64],
        out: NDArray[np.int64],
        joint: bool = False,
    ) -> None: ...
    def run_features(
        self, requests: NDArray[np.int64], pairs: NDArray[np.int64], out: NDArray[np.int64], joint: bool = False
    ) -> None: ...
    def fold_feature(
        self,
        feature: int,
        first: int,
        last: int,
        accumulator: NDArray[np.int64],
        fixed: NDArray[np.int64] | None,
        pair_factor: int,
        triple_factor: int,
        constant: int,
    ) -> None: ...
    @property
    def bytes(self) -> int: ...

class PursuitColumns:
    @overload
    def __init__(self, values: NDArray[np.float64], n_threads: int) -> None: ...
    @overload
    def __init__(
        self,
        starts: NDArray[np.int64],
        rows: NDArray[np.uint32],
        values: NDArray[np.float64],
        n_rows: int,
        centers: NDArray[np.float64],
        factors: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...
    def times(self, vector: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
    def times_targets(
        self,
        starts: NDArray[np.int64],
        targets: NDArray[np.uint32],
        values: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...
    def column(self, column: int, out: NDArray[np.float64]) -> None: ...
    def fold(
        self,
        starts: NDArray[np.int64],
        products: NDArray[np.float64],
        squares: NDArray[np.float64],
        of_columns: NDArray[np.float64],
        of_targets: NDArray[np.float64],
    ) -> None: ...
    def gains(
        self,
        starts: NDArray[np.int64],
        products: NDArray[np.float64],
        squares: NDArray[np.float64],
        least: NDArray[np.float64],
        penalties: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...

def orthogonalize(basis: NDArray[np.float64], n_basis: int, vector: NDArray[np.float64]) -> float: ...

class CommonRows:
    def __init__(
        self,
        row_starts: NDArray[np.int64],
        columns: NDArray[np.int32],
        starts: NDArray[np.int64],
        rows: NDArray[np.int64],
        group_of: NDArray[np.int32],
        n_groups: int,
    ) -> None: ...
    def count(
        self,
        newest: NDArray[np.int64],
        target_starts: NDArray[np.int64],
        target_rows: NDArray[np.int64],
        pair_starts: NDArray[np.int64],
        pairs: NDArray[np.int32],
        with_newest: NDArray[np.int64],
        with_both: NDArray[np.int64],
        of_target: NDArray[np.int64],
        most: NDArray[np.int64],
    ) -> None: ...

class RawCounter:
    def __init__(self, n_threads: int) -> None: ...
    def add(
        self,
        words: NDArray[np.uint64],
        n_rows: int,
        starts: NDArray[np.int64],
        columns: NDArray[np.uint32],
        n_listed: int,
        rows: NDArray[np.uint32] | None,
        given: NDArray[np.uint32],
        given_cell: NDArray[np.uint32],
        targets: NDArray[np.uint8] | NDArray[np.uint16],
        levels: NDArray[np.uint32],
        class_cell: NDArray[np.uint32],
        weights: NDArray[np.uint64] | None,
        counts: NDArray[np.int64],
        sizes: NDArray[np.int64],
    ) -> None: ...

class ReliefRows:
    @overload
    def __init__(self, values: NDArray[np.float64], n_columns: int, n_threads: int) -> None: ...
    @overload
    def __init__(
        self,
        row_starts: NDArray[np.int64],
        columns: NDArray[np.uint32],
        row_values: NDArray[np.float64],
        column_starts: NDArray[np.int64],
        rows: NDArray[np.uint32],
        column_values: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...
    def nearest(
        self,
        references: NDArray[np.uint32],
        starts: NDArray[np.int64],
        rows: NDArray[np.uint32],
        k: int,
        out: NDArray[np.uint32],
    ) -> None: ...
    def add(
        self,
        references: NDArray[np.uint32],
        neighbors: NDArray[np.uint32],
        factors: NDArray[np.float64],
        sums: NDArray[np.float64],
    ) -> None: ...
