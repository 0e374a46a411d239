"""File readers, compared with scipy.io.arff, liac-arff and pandas on the same tables.

Quick run: ``python -m benchmarks.reading --datasets emotions,bibtex --repeat 1``.
"""

import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import NEVER, Stopwatch, in_turns
from benchmarks.memory import extra_memory, in_fresh_process
from benchmarks.options import BenchmarkOptions, measured, require_data, save
from benchmarks.shared_folder import shared_folder
from benchmarks.table import number, print_table
from labelsieve import datasets
from labelsieve.datasets.fetch import catalog_entry, find_file
from labelsieve.datasets.readers.files import memory_limit, read_bytes

DENSE = ("emotions", "yeast", "CAL500", "image", "mediamill-2500", "rf1", "scm20d")
SPARSE = ("enron", "bibtex", "delicious", "eukaryote-go", "yahoo-reference", "imdb")
LONG = 20.0  # seconds; slower readers run once


def uncompressed(name, folder):
    """An uncompressed copy of the first data file, and the declaration of its labels."""
    entry, home = catalog_entry(name), shared_folder("data")
    file = folder / entry.files[0].removesuffix(".bz2")
    file.write_bytes(read_bytes(next(find_file(entry, entry.files[0], home)), memory_limit()))
    if entry.given == "header":
        return file, next(find_file(entry, entry.header, home))
    return file, entry.labels if entry.given == "last" else None


def read_with_scipy(file):
    from scipy.io import arff

    return arff.loadarff(file)


def read_with_liac(file, is_sparse):
    import arff

    with file.open(encoding="latin-1") as lines:
        return arff.load(lines, return_type=arff.LOD if is_sparse else arff.DENSE)


def read_with_pandas(file):
    import pandas

    return pandas.read_csv(file)


def write_csv(table, file):
    """The same columns as CSV."""
    header = ",".join(f"c{index}" for index in range(table.shape[1]))
    np.savetxt(file, table, fmt="%.9g", delimiter=",", header=header, comments="")


def calls(name, data, file, labels, folder):
    """Calls to time, by reader; readers that do not support the file or are not installed are left out."""
    is_sparse = sp.issparse(data.X)
    found = {"ours": lambda: datasets.load(file, labels)}
    if find_spec("arff") is not None:
        found["liac"] = lambda: read_with_liac(file, is_sparse)
    if not is_sparse:
        comma = folder / f"{name}.csv"
        write_csv(np.hstack([data.X, data.Y]), comma)
        found["ours, CSV"] = lambda: datasets.load(comma, data.Y.shape[1])
        found["scipy"] = lambda: read_with_scipy(file)
        if find_spec("pandas") is not None:
            found["pandas"] = lambda: read_with_pandas(comma)
    return found


def load_memory(file, labels):
    """Peak bytes while a file is loaded; call it in a fresh process."""
    small = Path(file).with_name("warm.arff")
    small.write_text("@relation 'r: -C 1'\n@attribute a {0,1}\n@attribute b numeric\n@data\n{0 1}\n")
    datasets.load(small)
    return extra_memory(lambda: datasets.load(file, labels))


def stored_bytes(data):
    """Bytes of the values and indices of the result."""
    return sum(matrix.data.nbytes + matrix.indices.nbytes for matrix in (data.X, data.Y))


def measure(name, rounds):
    with tempfile.TemporaryDirectory() as made:
        file, labels = uncompressed(name, Path(made))
        data = datasets.load(file, labels)
        record = {"dataset": name, "rows": data.X.shape[0], "columns": data.X.shape[1] + data.Y.shape[1]}
        record |= {"bytes": file.stat().st_size, "sparse": sp.issparse(data.X)}
        contenders = calls(name, data, file, labels, Path(made))
        laps, failed = dict.fromkeys(contenders, NEVER), {}
        for turn in range(rounds):
            for contender, call in contenders.items():
                if contender in failed or (turn and laps[contender].wall > LONG):
                    continue
                watch = Stopwatch()
                try:
                    call()
                except Exception as error:  # some files cannot be read by the other readers
                    failed[contender] = type(error).__name__
                    continue
                laps[contender] = laps[contender].best(watch.lap())
        record |= {contender: lap.cpu for contender, lap in laps.items() if contender not in failed}
        record["failed"] = failed
        if record["sparse"]:
            record["peak"] = in_fresh_process(load_memory, file, labels)
            record["stored"] = stored_bytes(data)
    return record


def print_records(records):
    columns = ["N", "columns", "MB", "ours", "MB/s", "scipy/ours", "liac/ours", "ours, CSV", "pandas/ours, CSV"]
    columns += ["peak MB", "peak/non-zeros"]
    rows = []
    for record in records:
        ours, failed = record["ours"], record["failed"]
        cells = [str(record["rows"]), str(record["columns"]), number(record["bytes"] / 1e6), number(ours)]
        cells.append(number(record["bytes"] / 1e6 / ours))
        cells += ["fails" if name in failed else number(ratio(record.get(name), ours)) for name in ("scipy", "liac")]
        cells += [number(record.get("ours, CSV")), number(ratio(record.get("pandas"), record.get("ours, CSV")))]
        cells += [number(ratio(record.get("peak"), 1e6)), number(ratio(record.get("peak"), record.get("stored")))]
        rows.append((record["dataset"], cells))
    print_table("CPU seconds", columns, rows)


def ratio(value, base):
    return None if value is None or base is None else value / base


def synthetic_tables(rng):
    """Frames to write: wide and long tables of numbers, and one with text and quotes."""
    import pandas

    def normal(n_rows, n_columns):
        return pandas.DataFrame(rng.normal(size=(n_rows, n_columns)).round(4)).add_prefix("c")

    mixed = normal(100_000, 10)
    for column in range(5):
        mixed[f"text{column}"] = rng.choice(["red", "green", "blue, dark", "light green"], len(mixed))
    tables = {"wide": normal(2000, 1500), "long": normal(400_000, 8), "mixed": mixed}
    return {name: frame.assign(y=rng.integers(0, 2, len(frame))) for name, frame in tables.items()}


def measure_synthetic(rounds):
    """Seconds of load() and of plain reading, in turns, and their ratios: wall time and CPU time."""
    import pandas
    from pyarrow import csv, parquet

    with tempfile.TemporaryDirectory() as made:
        for name, frame in synthetic_tables(np.random.default_rng(0)).items():
            for ending in ("csv", "parquet"):
                file = Path(made, f"{name}.{ending}")
                if ending == "csv":
                    frame.to_csv(file, index=False)
                    plain = {"pyarrow": csv.read_csv, "pandas": pandas.read_csv}
                else:
                    frame.to_parquet(file, index=False)
                    plain = {"pyarrow": parquet.read_table, "pandas": pandas.read_parquet}
                plain["pyarrow to pandas"] = lambda path, read=plain["pyarrow"]: read(path).to_pandas()
                yield file, compared(file, plain, rounds)


def compared(file, plain, rounds):
    calls = {"ours": lambda path: datasets.load(path, 1), **plain}
    return in_turns({name: partial(call, file) for name, call in calls.items()}, rounds)[0]


def print_synthetic(rounds):
    columns, rows = [], []
    for file, laps in measure_synthetic(rounds):
        ours = laps["ours"]
        others = [name for name in laps if name != "ours"]
        columns = ["MB", "ours, s", "CPU s", *(f"ours/{name}{kind}" for name in others for kind in ("", ", CPU"))]
        cells = [file.stat().st_size / 1e6, ours.wall, ours.cpu]
        cells += [value for name in others for value in (ours.wall / laps[name].wall, ours.cpu / laps[name].cpu)]
        rows.append((file.name, list(map(number, cells))))
    print_table("Synthetic tables: wall and CPU seconds", columns, rows)


def main(arguments=None):
    parser = BenchmarkOptions("reading", __doc__, DENSE + SPARSE)
    parser.add_argument("--synthetic", action="store_true", help="read synthetic CSV and Parquet files instead")
    options = parser.read(arguments)
    if options.synthetic:
        print_synthetic(options.repeat)
        return
    require_data()
    for package, module in (("liac-arff", "arff"), ("pandas", "pandas")):
        if find_spec(module) is None:
            print(f"No {package} column: it is not installed.")
    records = measured(options, lambda name: measure(name, options.repeat))
    print_records(records)
    save(options, records)


if __name__ == "__main__":
    main()
