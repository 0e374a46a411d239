"""Whole fits on a GPU: the cases of the measured prototype through the public interface.

    python -m benchmarks.gpu                       # A, B, C, D: seconds of a fit, milliseconds of a step
    python -m benchmarks.gpu --cases A --steps 50 --json times.json
    python -m benchmarks.gpu --cases "C, whole;many rows" --no-core   # 65 and 40 GB of memory
    python -m benchmarks.gpu --sizes               # whole fits of 50 features on the GPU and on the core, from which size on
    python -m benchmarks.gpu --default             # the default relative to JMI, on the GPU and on all threads

"first" is a fit of one feature: reading, copying to the GPU, packing, pairs. "step" is the mean over the steps that continue
it (`warm_start`), with everything that happens in between. "kernels" is the time of a panel on the GPU, by events. The step
of the prototype (`kernel/gpu_jmi.py` in the shared folder) runs in the same process on data of the same shape. The core is
timed on the same data with all threads, and the selections are compared.
"""

import argparse
import importlib.util
import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from benchmarks.shared_folder import real_dataset, shared_folder
from benchmarks.table import number, print_table
from benchmarks.threads import make_data as make_numbers
from labelsieve import Sieve
from labelsieve.counting.backends import GpuBackend, PanelFold
from labelsieve.counting.backends.gpu.kernels import CudaKernels
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.tables.codes import Codes

# rows, features, targets, levels, criterion; C and D have a tenth of the 4,000,000 features of the prototype's unless "whole".
CASES = {
    "A": (100_000, 10_000, 104, 5, "jmi"),
    "B": (1_000_000, 1_000, 104, 5, "jmi"),
    "C": (16_384, 400_000, 1, 2, "jmi"),
    "C, q=100": (16_384, 400_000, 100, 2, "jmi"),
    "D": (16_384, 400_000, 1, 2, "mrmr"),
    "C, whole": (16_384, 4_000_000, 1, 2, "jmi"),
    "C, q=100, whole": (16_384, 4_000_000, 100, 2, "jmi"),
    "D, whole": (16_384, 4_000_000, 1, 2, "mrmr"),
    "many rows": (64_000_000, 631, 1, 2, "jmi"),
}
SIZES = [
    *((n_rows, 1_000, 20) for n_rows in (1_000, 3_000, 10_000, 30_000, 100_000)),
    *((10_000, n_features, 20) for n_features in (100, 300, 3_000, 10_000)),
    *((10_000, 1_000, n_targets) for n_targets in (1, 5, 100, 400)),
]
REAL = "bibtex", "delicious", "imdb"
COLUMNS = (
    "first s",
    "step ms",
    "kernels ms",
    "prototype ms",
    "core first s",
    "core step ms",
    "1 thread first s",
    "1 thread step ms",
)


def make_data(n_rows, n_features, n_targets, n_levels, seed=0):
    X, edges = np.empty((n_rows, n_features), dtype=np.uint8), np.linspace(0, n_rows, 65, dtype=int)

    def fill(part):
        rng, rows = np.random.default_rng((seed, part)), X[edges[part] : edges[part + 1]]
        for row in range(0, len(rows), step := max(1, 2**24 // n_features)):
            some = rows[row : row + step]
            some[...] = np.frombuffer(rng.bytes(some.size), dtype=np.uint8).reshape(some.shape)
            np.right_shift(some, 7, out=some) if n_levels == 2 else np.remainder(some, n_levels, out=some)

    with ThreadPoolExecutor() as pool:
        list(pool.map(fill, range(64)))
    return X, make_targets(n_rows, n_targets, seed)


def make_targets(n_rows, n_targets, seed=0):
    return (np.random.default_rng(seed).random((n_rows, n_targets), dtype=np.float32) < 0.07).astype(np.uint8)


def timed_fit(X, Y, criterion, picks, **options):
    """Seconds of the first feature, milliseconds of a step, and the selector."""
    sieve = Sieve(criterion, discretizer=None, n_features_to_select=1, warm_start=True, **options)
    start = time.perf_counter()
    sieve.fit(X, Y)
    first = time.perf_counter() - start
    sieve.set_params(n_features_to_select=3).fit(X, Y)  # the first step counts margins, too
    start = time.perf_counter()
    sieve.set_params(n_features_to_select=3 + picks).fit(X, Y)
    return first, (time.perf_counter() - start) / picks * 1e3, sieve


def kernel_time(backend, n_features, criterion, repeat=15):
    """Milliseconds of a panel on the GPU, conditioned on a feature and added over the targets."""
    import cupy

    fold, sums = PanelFold(0, None, 1, 1), cupy.zeros(n_features, dtype=np.int64)
    targets, times = slice(0) if criterion == "mrmr" else slice(None), []
    for i in range(repeat + 3):
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        backend.on_device.fold_given_feature(sums, 0, fold, targets=targets)  # keeps the GPU busy until the next one is queued
        start.record()
        backend.on_device.fold_given_feature(sums, i * 7919 % n_features, fold, targets=targets)
        stop.record()
        stop.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, stop))
    return float(np.median(times[3:]))


def prototype_time(n_rows, n_features, n_targets, n_levels, criterion):
    """Milliseconds of a step of the prototype; None where it is not there."""
    import cupy

    folder = shared_folder("kernel")
    if folder is None or 112 * n_rows >= 2**31:  # the most that it can pack
        return None
    spec = importlib.util.spec_from_file_location("gpu_jmi", folder / "gpu_jmi.py")
    prototype = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(prototype)
    targets = cupy.random.random((0 if criterion == "mrmr" else n_targets, n_rows), dtype=np.float32) < 0.07
    panel = prototype.Panel(n_features, n_levels, targets)
    chunk = max(64, 2**29 // n_rows // 64 * 64)
    for first in range(0, n_features, chunk):
        codes = cupy.random.randint(0, n_levels, (min(chunk, n_features - first), n_rows), dtype=np.uint32).astype(np.uint8)
        panel.pack(first, codes)
    panel.margins()
    return prototype.milliseconds(lambda i: panel.step(i * 7919 % n_features))


def first_steps(X, Y):
    """Seconds of what the first feature needs of an array of the host: finding its levels, copying it, and packing it."""
    import cupy

    start = time.perf_counter()
    codes = Codes.from_values(X), Codes.from_values(Y)
    scanned = time.perf_counter()
    kernels = CudaKernels()
    for row in range(0, len(X), step := max(1, 2**31 // X.shape[1])):
        kernels.to_device(X[row : row + step])
    copied = time.perf_counter()
    backend = GpuBackend(*codes, FixedPoint.for_rows(len(X), n_targets=Y.shape[1]), kernels=kernels)
    n_bytes = backend.bytes
    cupy.cuda.get_current_stream().synchronize()
    packed = time.perf_counter()
    print(
        f"{X.nbytes / 1e9:.1f} GB: levels {scanned - start:.2f} s, copying alone {copied - scanned:.2f} s, "
        f"copying and packing to {n_bytes / 1e9:.2f} GB {packed - copied:.2f} s",
        flush=True,
    )


def first_call():
    """Seconds of the first fit of a process: start of the GPU, and kernels from the cache or the compiler."""
    start = time.perf_counter()
    Sieve("jmi", discretizer=None, n_features_to_select=3, backend="gpu").fit(*make_data(3000, 40, 5, 5))
    return time.perf_counter() - start


def whole_fits(X, Y, **options):
    """Seconds of a fit of 50 features on the GPU, on one thread and on all, the best of three; and whether they agree."""
    times, found = [], []
    for setting in ({"backend": "gpu"}, {"backend": "native", "n_jobs": 1}, {"backend": "native", "n_jobs": -1}):
        sieve, laps = Sieve("jmi", n_features_to_select=50, **options, **setting), []
        for _ in range(3):
            start = time.perf_counter()
            sieve.fit(X, Y)
            laps.append(time.perf_counter() - start)
        times.append(min(laps))
        found.append((sieve.selected_.tolist(), sieve.scores_.tolist()))
    return times, found[0] == found[1] == found[2]


def compare_sizes():
    tables = {f"{n} x {d} x {q}": (*make_data(n, d, q, 5), {"discretizer": None}) for n, d, q in SIZES}
    for name in REAL if shared_folder("data") is not None else ():
        dataset, _ = real_dataset(name)
        tables[name] = dataset.X, dataset.Y, {}
    rows = []
    for name, (X, Y, options) in tables.items():
        (on_device, one, all_), same = whole_fits(X, Y, **options)
        rows.append((name, [*map(number, (on_device, one, all_, one / on_device, all_ / on_device)), str(same)]))
    print_table("seconds, 50 features", ["GPU", "1 thread", "all threads", "1 thread/GPU", "all/GPU", "same"], rows)


DEFAULT_SHAPE = 100_000, 2_000, 50


def compare_default(repeat=5):
    """Seconds of whole fits of 20 features from an array of numbers, by the default and by JMI: the best of some rounds."""
    X, Y = make_numbers(*DEFAULT_SHAPE)
    places = {"GPU": {"backend": "gpu", "n_jobs": -1}, "all threads": {"backend": "native", "n_jobs": -1}}
    rows, found = [], {}
    for place, setting in places.items():
        sieves = {"JMI": Sieve("jmi", n_features_to_select=20, **setting), "default": Sieve(n_features_to_select=20, **setting)}
        best = dict.fromkeys(sieves, np.inf)
        for _ in range(repeat):  # alternating
            for name, sieve in sieves.items():
                start = time.perf_counter()
                sieve.fit(X, Y)
                best[name] = min(best[name], time.perf_counter() - start)
        found[place] = [(sieve.selected_.tolist(), sieve.scores_.tolist()) for sieve in sieves.values()]
        rows.append((place, [*map(number, (*best.values(), best["default"] / best["JMI"]))]))
    same = found["GPU"] == found["all threads"]
    print_table(" x ".join(map(str, DEFAULT_SHAPE)), ["JMI", "default", "default/JMI"], rows)
    print(f"equal selections and scores: {same}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="A;B;C;C, q=100;D", help="separated by semicolons")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--core-steps", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--no-core", action="store_true", help="without the core on all threads")
    parser.add_argument("--one-thread", action="store_true", help="the core also on one thread")
    parser.add_argument("--instruction", choices=["wgmma", "mma", "popcount"], help="that counts, instead of the best one")
    parser.add_argument("--stream", action="store_true", help="features stay in host memory and are copied at every step")
    parser.add_argument("--sizes", action="store_true", help="compare whole fits of many sizes instead")
    parser.add_argument("--default", action="store_true", help="compare the default with JMI instead")
    chosen = parser.parse_args()
    print(f"first call: {first_call():.2f} s; the second one: {first_call():.3f} s", flush=True)
    if chosen.sizes or chosen.default:
        compare_sizes() if chosen.sizes else compare_default()
        return
    rows, found, X = [], {}, np.empty((0, 0))
    for name in chosen.cases.split(";"):
        shape = CASES[name]
        *sizes, criterion = shape
        if X.shape != (*sizes[:2],):
            del X
            X, Y = make_data(*sizes)
            if chosen.no_core:
                first_steps(X, Y)
        Y = make_targets(sizes[0], sizes[2])
        prototype = prototype_time(*shape)
        backend = partial(GpuBackend, memory_limit=0 if chosen.stream else None)
        if chosen.instruction:
            backend = partial(backend, kernels=CudaKernels(instruction=chosen.instruction))
        first, pick, sieve = timed_fit(X, Y, criterion, chosen.steps, n_jobs=-1, backend=backend)
        kernels = kernel_time(sieve._search[1].workspace.backend, X.shape[1], criterion)
        selected, scores, same = sieve.selected_, sieve.scores_, "-"
        del sieve
        times = [first, pick, kernels, prototype]
        for n_jobs in () if chosen.no_core else (-1, 1) if chosen.one_thread else (-1,):
            *core_times, core = timed_fit(X, Y, criterion, chosen.core_steps, n_jobs=n_jobs, backend="native")
            n = len(core.selected_)
            equal = np.array_equal(core.selected_, selected[:n]) and np.array_equal(core.scores_, scores[:n])
            same = equal and same is not False
            del core
            times += core_times
        times += [None] * (len(COLUMNS) - len(times))
        found[name] = dict(zip(COLUMNS, times, strict=True)) | {"same": str(same)}
        rows.append((name, [*map(number, times), number(None if prototype is None else pick / prototype), str(same)]))
        print(name, found[name], flush=True)
    print_table("case", [*COLUMNS, "step/prototype", "same"], rows)
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
