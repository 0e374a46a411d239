"""All methods must select the same features before their times may be compared."""

from benchmarks import jmi_on_core
from benchmarks.extrapolate import DifferentSelection
from benchmarks.greedy import greedy_jmi
from benchmarks.histogram_loop import HistogramLoop
from benchmarks.onehot_products import OneHotProducts
from benchmarks.workloads import Workload, generate

SMALL = (
    Workload("binary", "check", 701, 90, 7, 2, 12, 0.1, (0.02, 0.4)),
    Workload("levels", "check", 650, 40, 5, 4, 12, 0, (0.05, 0.4)),
    Workload("classes", "check", 600, 30, 1, 3, 12, classes=9),
)


def check_methods(histogram_function):
    """Raise :class:`DifferentSelection` unless core (1 and 2 threads), C loop and numpy agree."""
    for workload in SMALL:
        x, y = generate(workload)
        values = jmi_on_core.fixed_point_values(workload.rows, workload.targets)
        found = {f"ours, n_jobs={jobs}": jmi_on_core.select(workload, x, y, jobs)[0] for jobs in (1, 2)}
        baselines = {"numpy": OneHotProducts(workload, x, y, values, workload.features)}
        if histogram_function is not None:
            baselines["C loop"] = HistogramLoop(histogram_function, workload, x, y, values, workload.features)
        for name, method in baselines.items():
            found[name] = greedy_jmi(method.relevance(), method.gains, workload.steps)
        if len({tuple(selection) for selection in found.values()}) != 1:
            lines = "".join(f"\n  {name:16} {selection}" for name, selection in found.items())
            raise DifferentSelection(f"small workload '{workload.name}': selections differ{lines}")
