"""How long the counting of a selection takes on this machine, for ``explain``: unit costs of sums are measured at first use."""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from labelsieve.counting.backends.factory import make_backend
from labelsieve.counting.backends.protocol import Feature
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.workspace import SHRUNK_CLASSES, SHRUNK_LEVELS
from labelsieve.formula.plan import Plan
from labelsieve.tables.codes import Codes

BLOCK_BITS = 512  # columns that are added together
ROUNDS = 5  # of every measurement; the fastest counts
FIT = 4e-4  # seconds of Python for a fit
STEP, STEP_BY_TARGET = 3e-5, 1.2e-4  # seconds of Python for a step, and for one whose sums are kept for every target
COLD = 1.25  # times the unit costs of tables that are counted again and again
ENTRY = 5e-9  # seconds for each feature and target whose sum is kept
SECONDS_PER_CELL, SECONDS_PER_ROW = 6.5e-8, 2e-8  # of a table in numpy, measured with tables of 50 to 30,000 cells
CORE_SECONDS_PER_CELL, CORE_SECONDS_PER_ROW = 4e-9, 5e-11  # of a table in the core
SLOW = 10.0  # seconds of a selection that are worth a warning
TARGET_LEVELS = 2


@dataclass(frozen=True)
class UnitCosts:
    """Seconds of one thread.

    ``row``: for a row of a table and a block of 512 bits of the features. ``cell``: for a cell of a table. ``value``: for a
    value of a feature that is read, checked and packed.
    """

    row: float
    cell: float
    value: float


@lru_cache(maxsize=1)
def unit_costs() -> UnitCosts:
    """Measured with two small tables, one in which rows and one in which cells take most of the time: about 0.1 s.

    >>> costs = unit_costs()
    >>> 1e-10 < costs.row < 1e-7, 1e-11 < costs.cell < 1e-8
    (True, True)
    """
    rng = np.random.default_rng(0)
    rows, levels, share = 20_000, 2, 0.4
    tall, packing = _seconds(rng, rows, BLOCK_BITS, 8, levels, share)
    short, _ = _seconds(rng, 400, 2 * BLOCK_BITS, 64, levels, 0.1)
    work_tall, work_short = (
        _work(rows, BLOCK_BITS, 8, levels, levels, share),
        _work(400, 2 * BLOCK_BITS, 64, levels, levels, 0.1),
    )
    row, cell = np.linalg.solve([work_tall, work_short], [tall, short])
    return UnitCosts(max(float(row), 1e-9), max(float(cell), 1e-10), packing / (rows * (BLOCK_BITS + 8)))


def _seconds(
    rng: np.random.Generator, n_rows: int, n_features: int, n_targets: int, levels: int, share: float
) -> tuple[float, float]:
    """Seconds of a panel of three-way tables, and of what happens once."""
    x, y = (
        rng.integers(0, levels, (n_rows, n_features)).astype(np.uint8),
        (rng.random((n_rows, n_targets)) < share).astype(np.uint8),
    )
    fixed = FixedPoint.for_data(n_rows, None, n_targets=n_targets)
    start = time.thread_time()
    backend = make_backend(Codes.from_values(x), Codes.from_values(y), fixed)
    backend.panel(Feature(0), reduce="sum")  # packs
    first, panel = time.thread_time() - start, np.inf
    for _ in range(ROUNDS):
        start = time.thread_time()
        backend.panel(Feature(0), reduce="sum")
        panel = min(panel, time.thread_time() - start)
    return panel, first - panel


def _work(n_rows: int, n_features: int, n_targets: int, levels: int, condition: int, share: float) -> tuple[float, float]:
    """Rows times blocks, and cells, of the tables of all features and targets under a condition of so many levels."""
    blocks = np.ceil(n_features * max(1, levels - 1) / BLOCK_BITS)
    touched = n_rows * min(share, 1 - share) * (1 - 1 / condition if condition > 1 else 1)
    return n_targets * touched * blocks, float(n_features * n_targets * levels * condition * 2)


def predicted_seconds(
    plan: Plan, n_rows: int, n_features: int, n_targets: int, levels: int, n_steps: int, label_share: float
) -> float | None:
    """Seconds to pack features and count what ``n_steps`` steps need, on one thread of this machine.

    Features are dense columns of ``levels`` levels, targets binary labels that ``label_share`` of the rows have. None for
    formulas that condition on all selected features jointly, whose tables depend on the data.
    """
    costs = unit_costs()
    rows = cells = entries = 0.0
    for given, need in plan.needs.items():
        if given == "S":
            return None
        condition = {None: 1, "s": levels, "t": levels**2, "z": 2, "pa": 2}[given]
        pairs_of_steps = n_steps * (n_steps - 1) / 2
        times = {None: 1, "s": n_steps - 1, "t": pairs_of_steps, "z": n_targets, "pa": n_targets}[given]
        if need.full or need.total:
            more_rows, more_cells = _work(n_rows, n_features, n_targets, levels, condition, label_share)
            entries += times * n_features * n_targets if need.full else 0
        else:
            more_rows, more_cells = _work(n_rows, n_features, 1, levels, condition, 0.5)
            more_rows *= 2  # no value of a target is left out
        rows, cells = rows + times * more_rows, cells + times * more_cells
    by_target = any(need.full for given, need in plan.needs.items() if given is not None)
    python = FIT + (1 if plan.is_ranking else n_steps) * (STEP_BY_TARGET if by_target else STEP)
    counting = COLD * (costs.row * rows + costs.cell * cells)
    return counting + costs.value * n_rows * (n_features + n_targets) + ENTRY * entries + python


def whole_table_cost(
    plan: Plan, n_rows: int, n_features: int, n_targets: int, levels: int, n_steps: int, *, pairwise: bool = False
) -> str:
    """A line with the cells of the largest tables, and about how long a selection of ``n_steps`` features takes.

    ``pairwise``: because of missing cells that are left out pairwise, not of shrinkage.

    >>> from labelsieve.formula import I, f, s, sum_s, sum_y, y
    >>> jmi = Plan(sum_s(sum_y(I((f, s), y))), sum_y(I(f, y)), name="jmi")
    >>> print(whole_table_cost(jmi, 500, 50, 10, levels=120, n_steps=10))
    shrinkage:  tables of up to 28,800 cells, 14.4 million cells each step, about 9 s
    """
    seconds, largest, each_step = 0.0, 0, 0
    for given, need in plan.needs.items():
        condition = {None: 1, "s": levels, "t": levels**2, "S": max(n_rows, levels), "z": TARGET_LEVELS, "pa": TARGET_LEVELS}[
            given
        ]
        with_targets = need.full or need.total
        times = n_targets if given in ("z", "pa") else 1
        tables = n_features * times * (n_targets if with_targets else 1)
        cells = levels * condition * (TARGET_LEVELS if with_targets else 1)
        repeated = n_steps if given in ("s", "S") else 1
        largest = max(largest, cells)
        each_step += tables * cells if given in ("s", "S") else 0
        in_core = not pairwise and levels <= SHRUNK_LEVELS and condition <= SHRUNK_CLASSES
        per_cell = CORE_SECONDS_PER_CELL if in_core else SECONDS_PER_CELL
        per_row = CORE_SECONDS_PER_ROW if in_core else SECONDS_PER_ROW
        seconds += repeated * tables * (per_cell * cells + per_row * n_rows)
    size = f"tables of up to {largest:,} cells, {each_step / 1e6:.1f} million cells each step"
    line = f"{'pairwise:' if pairwise else 'shrinkage:':<11} {size}, about {seconds:.0f} s"
    if seconds > SLOW:
        remedy = "missing='level'" if pairwise else "estimator='miller-madow'"
        line += f"\n{'':<11} slow: use fewer bins, fewer features, or {remedy}"
    return line
