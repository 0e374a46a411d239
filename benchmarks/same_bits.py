"""The same selections and scores, bit for bit, wherever a table is: in memory, chunks, Dask, Spark and on a GPU.

    python -m benchmarks.same_bits [--places chunks,dask,spark,gpu] [--sets emotions,enb]

Ten data sets, 20 features by the default and by CMIM. Expected are those of one thread in memory. Dask has two workers, Spark
two threads in local mode.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks.shared_folder import shared_folder
from labelsieve import Sieve
from labelsieve.datasets import ChunkedTable, fetch
from labelsieve.report.text import tables

SETS = ("emotions", "yeast", "scene", "birds", "flags", "genbase", "medical", "enron", "CAL500", "enb")
CRITERIA = ("hybrid", "cmim")
Fit = Callable[[Sieve, pd.DataFrame, pd.DataFrame], Sieve]


def threads(sieve: Sieve, X: pd.DataFrame, Y: pd.DataFrame) -> Sieve:
    return sieve.set_params(n_jobs=2).fit(X, Y)


def chunks(sieve: Sieve, X: pd.DataFrame, Y: pd.DataFrame) -> Sieve:
    cut = len(X) // 3
    parts = [(X[:cut], Y[:cut]), (X[cut:], Y[cut:])]
    return sieve.fit(ChunkedTable.from_chunks(parts, memory_limit="20 MB"))


def gpu(sieve: Sieve, X: pd.DataFrame, Y: pd.DataFrame) -> Sieve:
    return sieve.set_params(backend="gpu").fit(X, Y)


@contextmanager
def dask() -> Iterator[Fit]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    def fit(sieve: Sieve, X: pd.DataFrame, Y: pd.DataFrame) -> Sieve:
        both = dd.from_pandas(pd.concat([X, Y], axis=1), npartitions=5, sort=False)
        return sieve.fit(both[[*X]], both[[*Y]])

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster, Client(cluster):
        yield fit


@contextmanager
def spark() -> Iterator[Fit]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def fit(sieve: Sieve, X: pd.DataFrame, Y: pd.DataFrame) -> Sieve:
        return sieve.fit(session.createDataFrame(pd.concat([X, Y], axis=1)).repartition(1), [*Y])

    yield fit
    session.stop()


PLACES: dict[str, Any] = {"threads": threads, "chunks": chunks, "dask": dask, "spark": spark, "gpu": gpu}


def frames(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features f0, f1, ... and targets y0, y1, ... of a data set; a frame is what every place takes."""
    data = fetch(name)
    X, Y = (table.toarray() if sp.issparse(table) else table for table in (data.X, data.Y))
    X, Y = pd.DataFrame(X), pd.DataFrame(np.asarray(Y))
    return X.set_axis([f"f{i}" for i in range(X.shape[1])], axis=1), Y.set_axis([f"y{i}" for i in range(Y.shape[1])], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", default="threads,chunks,dask,spark")
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    os.environ.setdefault("LABELSIEVE_DATA", str(shared_folder("data")))
    warnings.simplefilter("ignore")
    names, rows = options.places.split(","), []
    with ExitStack() as stack:
        places = {name: stack.enter_context(PLACES[name]()) if name in ("dask", "spark") else PLACES[name] for name in names}
        for name in options.sets.split(","):
            X, Y = frames(name)
            for criterion in CRITERIA:
                expected = Sieve(criterion, n_features_to_select=20, n_jobs=1, backend="native").fit(X, Y)
                equal = []
                for fit in places.values():
                    found = fit(Sieve(criterion, n_features_to_select=20), X, Y)
                    same = np.array_equal(found.selected_, expected.selected_) and np.array_equal(
                        found.scores_, expected.scores_
                    )
                    equal.append("equal" if same else "DIFFERENT")
                rows.append([name, criterion, *equal])
                print(*rows[-1], flush=True)
    print(tables(["set", "criterion", *names], rows))
    if any("DIFFERENT" in row for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
