"""All measurements of one workload, as a flat record."""

from contextlib import nullcontext
from functools import partial

from benchmarks import jmi_on_core
from benchmarks.extrapolate import DifferentSelection, selection_time
from benchmarks.histogram_loop import HistogramLoop
from benchmarks.memory import in_fresh_process
from benchmarks.onehot_products import OneHotProducts
from benchmarks.pairwise_scores import pairwise_scores_time
from benchmarks.prototype import PrototypeTimes, run_prototype
from benchmarks.workloads import generate

THREADS = (1, 2)

# Runs of each contender in a round; they alternate, so that other load on the machine affects all of them.
RUNS_PER_ROUND = 3

# One-hot matrices in single precision are large; above this size numpy is timed on a slice of the features.
LARGEST_ONE_HOT = 256 * 2**20


def single_threaded_blas():
    """A context in which numpy's products use one thread, where threadpoolctl can say so."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)


def measure(workload, tools, rounds):
    """Times in seconds: CPU time of one thread, except ``wall_*``. Missing tools are left out."""
    x, y = generate(workload)
    selected, ours, prototype = compete(workload, x, y, tools.prototype, rounds)
    record = {
        "workload": workload.name,
        "likeness": workload.likeness,
        "rows": workload.rows,
        "features": workload.features,
        "targets": workload.targets,
        "ours": ours[1].total.cpu,
        "ours_packing": ours[1].packing.cpu,
        "ours_pairs": ours[1].pairs.cpu,
        "ours_counting": ours[1].counting.cpu,
        "wall_1_thread": ours[1].total.wall,
        "wall_2_threads": ours[2].total.wall,
        "peak_memory": in_fresh_process(jmi_on_core.selection_memory, workload),
        "memory_bound": workload.memory_bound,
        "extrapolated": [],
    }
    if prototype is not None:
        record |= {"prototype_packing": prototype.packing, "prototype_counting": prototype.counting}
    for name, estimate in baselines(workload, x, y, selected, tools):
        record[name] = estimate.seconds
        if estimate.extrapolated:
            record["extrapolated"].append(name)
    return record


def compete(workload, x, y, program, rounds):
    """Best stages of labelsieve for each number of threads, and of the prototype, measured alternately."""
    ours = {jobs: jmi_on_core.Stages() for jobs in THREADS}
    with_prototype = program is not None and workload.prototype_number is not None
    prototype = PrototypeTimes() if with_prototype else None
    selections = set()
    for _ in range(rounds):
        for jobs in THREADS:
            for _ in range(RUNS_PER_ROUND):
                selected, stages = jmi_on_core.select(workload, x, y, jobs)
                ours[jobs] = ours[jobs].best(stages)
                selections.add(tuple(selected))
        if with_prototype:
            times = run_prototype(program, workload.prototype_number, RUNS_PER_ROUND)
            prototype = prototype.best(times)
    if len(selections) != 1:
        raise DifferentSelection(f"{workload.name}: ours is not the same on every run: {selections}")
    return list(selections.pop()), ours, prototype


def baselines(workload, x, y, selected, tools):
    """Names and estimates of the available baselines."""
    values = jmi_on_core.fixed_point_values(workload.rows, workload.targets)
    if tools.histogram is not None:
        make = partial(HistogramLoop, tools.histogram, workload, x, y, values)
        yield "c_loop", selection_time(make, workload, selected)
    if tools.numpy:
        widest = max(1, LARGEST_ONE_HOT // (4 * workload.rows * (workload.levels - 1)))
        make = partial(OneHotProducts, workload, x, y, values)
        with single_threaded_blas():
            yield "numpy", selection_time(make, workload, selected, narrowest=widest, widest=widest)
    if tools.sklearn:
        yield "sklearn", pairwise_scores_time(workload, x, y)
