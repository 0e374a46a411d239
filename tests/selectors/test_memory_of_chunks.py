"""A selection from a file takes less memory than the table has."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PROGRAM = """
import sys
from pathlib import Path

import pyarrow
import sklearn.feature_selection
from labelsieve import Sieve
from labelsieve.datasets import ChunkedTable

def read(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))

def fit(path, limit):
    table = ChunkedTable.from_parquet(path, 3, memory_limit=limit)
    return Sieve("jmi", n_features_to_select=3).fit(table)

fit(sys.argv[2], 2**24)  # what is loaded once, such as threads of pyarrow
before = read("VmRSS")
fit(sys.argv[1], int(sys.argv[3]))
print(read("VmHWM") - before)
"""
LIMIT, OVERHEAD = 40_000_000, 50_000_000  # the second whatever the number of rows


def write(path, n_rows, n_features):
    rng = np.random.default_rng(0)
    columns = {f"f{j}": rng.normal(size=n_rows) for j in range(n_features)}
    labels = {f"l{j}": (columns[f"f{j}"] > 1).astype(np.int8) for j in range(3)}
    pq.write_table(pa.table({**columns, **labels}), path, row_group_size=50_000, compression="none")


@pytest.mark.slow
def test_memory_stays_near_the_limit(tmp_path):
    large, small = tmp_path / "large.parquet", tmp_path / "small.parquet"
    write(large, 300_000, 60)
    write(small, 1000, 60)
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, large, small, str(LIMIT)], check=True, capture_output=True, text=True
    )
    assert large.stat().st_size > 1.5 * (LIMIT + OVERHEAD)
    assert int(result.stdout) < LIMIT + OVERHEAD
