"""The cost of taking every term from a whole table (shrinkage, missing cells left out pairwise): for ``explain``."""

from labelsieve.counting.whole_tables import SHRUNK_CLASSES, SHRUNK_LEVELS
from labelsieve.formula.plan import Plan

SECONDS_PER_CELL, SECONDS_PER_ROW = 6.5e-8, 2e-8  # of a table in numpy, measured with tables of 50 to 30,000 cells
CORE_SECONDS_PER_CELL, CORE_SECONDS_PER_ROW = 4e-9, 5e-11  # of a table in the core
SLOW = 10.0  # seconds of a selection that are worth a warning
TARGET_LEVELS = 2


def whole_table_cost(
    plan: Plan, n_rows: int, n_features: int, n_targets: int, levels: int, n_picks: int, *, pairwise: bool = False
) -> str:
    """A line with the cells of the largest tables, and about how long a selection of ``n_picks`` features takes.

    ``pairwise``: because of missing cells that are left out pairwise, not of shrinkage.

    >>> from labelsieve.formula import I, f, s, sum_s, sum_y, y
    >>> jmi = Plan(sum_s(sum_y(I((f, s), y))), sum_y(I(f, y)), name="jmi")
    >>> print(whole_table_cost(jmi, 500, 50, 10, levels=120, n_picks=10))
    shrinkage:  tables of up to 28,800 cells, 14.4 million cells each step, about 9 s
    """
    seconds, largest, each_pick = 0.0, 0, 0
    for given, need in plan.needs.items():
        condition = {None: 1, "s": levels, "t": levels**2, "S": max(n_rows, levels), "z": TARGET_LEVELS, "pa": TARGET_LEVELS}[
            given
        ]
        with_targets = need.full or need.total
        times = n_targets if given in ("z", "pa") else 1
        tables = n_features * times * (n_targets if with_targets else 1)
        cells = levels * condition * (TARGET_LEVELS if with_targets else 1)
        repeated = n_picks if given in ("s", "S") else 1
        largest = max(largest, cells)
        each_pick += tables * cells if given in ("s", "S") else 0
        in_core = not pairwise and levels <= SHRUNK_LEVELS and condition <= SHRUNK_CLASSES
        per_cell = CORE_SECONDS_PER_CELL if in_core else SECONDS_PER_CELL
        per_row = CORE_SECONDS_PER_ROW if in_core else SECONDS_PER_ROW
        seconds += repeated * tables * (per_cell * cells + per_row * n_rows)
    size = f"tables of up to {largest:,} cells, {each_pick / 1e6:.1f} million cells each step"
    line = f"{'pairwise:' if pairwise else 'shrinkage:':<11} {size}, about {seconds:.0f} s"
    if seconds > SLOW:
        remedy = "missing='level'" if pairwise else "estimator='miller-madow'"
        line += f"\n{'':<11} slow: use fewer bins, fewer features, or {remedy}"
    return line
