"""Selection from a Parquet file that need not fit into memory: time as a ratio to reading the file once, and peak memory.

    python -m benchmarks.chunks                                       # 1 million rows x 100 features x 10 labels
    python -m benchmarks.chunks --rows 20000000 --features 200 --labels 20 --memory-limit 2GB

Every phase runs in a fresh process. Times are CPU seconds of one thread, so that other work on the machine counts little.
The file is generated in row groups and removed at the end, unless ``--file`` names it.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.memory import STATUS, extra_memory, in_fresh_process, read_status
from benchmarks.table import megabytes, number, print_table
from labelsieve import Sieve
from labelsieve.datasets import ChunkedTable

GROUP = 250_000  # rows


def generate(path, n_rows, n_features, n_labels):
    """Normal features; every label depends on two of them, one label in five is rare."""
    rng = np.random.default_rng(0)
    names = [f"f{j}" for j in range(n_features)] + [f"label{l}" for l in range(n_labels)]
    schema = pa.schema([(name, pa.float32() if name[0] == "f" else pa.int8()) for name in names])
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        for start in range(0, n_rows, GROUP):
            X = rng.standard_normal((n_features, min(GROUP, n_rows - start)), dtype=np.float32)
            noise = rng.standard_normal((n_labels, X.shape[1]), dtype=np.float32)
            Y = [
                X[2 * l % n_features] + X[(2 * l + 1) % n_features] + noise[l] > (2.5 if l % 5 == 0 else 1)
                for l in range(n_labels)
            ]
            columns = [*X, *(y.astype(np.int8) for y in Y)]
            writer.write_table(pa.table(dict(zip(names, map(pa.array, columns), strict=True)), schema=schema))


def timed(call):
    """CPU seconds and extra bytes of a call."""
    started = time.process_time()
    memory = extra_memory(call)
    return time.process_time() - started, memory


def read_once(path):
    def read():  # without a buffer for the whole file, which pyarrow has by default
        for batch in pq.ParquetFile(path, pre_buffer=False).iter_batches(batch_size=65_536, use_threads=False):
            for column in batch.columns:
                column.to_numpy(zero_copy_only=False)

    pa.set_cpu_count(1)
    return timed(read)


def select(path, n_labels, limit, criterion):
    """CPU seconds and extra bytes of encoding, of everything else up to the first step, and of ten more steps."""
    pa.set_cpu_count(1)
    stages = []
    encode = ChunkedTable.encode

    def timed_encode(*arguments):
        codes = []
        stages.append(timed(lambda: codes.append(encode(*arguments))))
        return codes[0]

    ChunkedTable.encode = timed_encode
    table = ChunkedTable.from_parquet(path, n_labels, memory_limit=limit)
    sieve = Sieve(criterion, n_features_to_select=1, warm_start=True)
    first = timed(lambda: sieve.fit(table))  # its peak is that of packing: encoding resets it
    stages.append((first[0] - stages[0][0], first[1]))
    stages.append(timed(lambda: sieve.set_params(n_features_to_select=11).fit(table)))
    return stages, read_status("VmHWM") if STATUS.exists() else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--labels", type=int, default=10)
    parser.add_argument("--memory-limit", default="500MB")
    parser.add_argument("--criterion", default="jmi")
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder, "table.parquet")
        if not path.exists():
            generate(path, options.rows, options.features, options.labels)
        measure(path, options)


def measure(path, options):
    n_labels, limit = options.labels, options.memory_limit
    (encoding, first, ten), last_peak = in_fresh_process(select, path, n_labels, limit, options.criterion)
    print(f"encoding {encoding}, first step {first}, ten more {ten}: seconds and bytes", flush=True)
    reading = in_fresh_process(read_once, path)
    rows = [
        ("reading with pyarrow", *reading),
        ("encoding", *encoding),
        ("targets, packing, first step", *first),
        ("every further step", ten[0] / 10, ten[1]),
        ("ten steps from the file", encoding[0] + first[0] + 0.9 * ten[0], max(encoding[1], first[1], ten[1])),
    ]
    print(f"the process had {last_peak / 1e6:.0f} MB at most in the last stage, with all packages")
    size = path.stat().st_size / 1e9
    print(f"{options.rows:,} rows x {options.features} features x {n_labels} labels, {size:.2f} GB, limit {limit}")
    cells = [(name, [number(seconds), number(seconds / reading[0]), megabytes(memory)]) for name, seconds, memory in rows]
    print_table("", ["seconds", "by reading", "peak MB"], cells)


if __name__ == "__main__":
    main()
