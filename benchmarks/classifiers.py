"""Classifiers on real data: ML-kNN, nested evaluation, LIFT and RAkEL compared with other implementations, memory.

Quick run: ``python -m benchmarks.classifiers --parts mlknn,nested --datasets yeast --repeat 1``.
"""

import sys
import warnings
from functools import cache, partial

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import Stopwatch, in_turns, timed
from benchmarks.measure import single_threaded_blas
from benchmarks.memory import extra_memory, in_fresh_process
from benchmarks.options import BenchmarkOptions, require_data, save
from benchmarks.plain_loops import plain_lift, plain_rakel
from benchmarks.shared_folder import real_dataset
from benchmarks.table import megabytes, number, print_table

PARTS = ("mlknn", "nested", "loops", "memory")
DATASETS = ("yeast", "bibtex", "delicious")
LOOPS_ON = "yeast"
MEMORY_OF = "imdb"
K = 10
N_FEATURES = 50
KEPT = 100  # rows of predictions that are compared; those of all rows and sizes would take gigabytes
SLICE = (8, 16)  # labels on which scikit-multilearn-ng is timed, whose cost grows with every label


@cache
def halves(name):
    """Training rows (every other row of a data set), their labels, and test rows."""
    data, _ = real_dataset(name)
    X, Y = (sp.csr_matrix(table) if sp.issparse(table) else np.asarray(table) for table in (data.X, data.Y))
    return X[::2].astype(np.float64), Y[::2], X[1::2].astype(np.float64)


def dense(table):
    return table.toarray() if sp.issparse(table) else table


def fit_and_predict(make, X, Y, queries):
    return lambda: make().fit(X, Y).predict(queries)


def of_multilearn(X, Y, queries, rounds):
    """Seconds of scikit-multilearn-ng, and its predictions for the labels it was timed on; None without it."""
    try:
        from skmultilearn.adapt import MLkNN
    except ImportError as missing:
        print(f"scikit-multilearn-ng cannot be used: {missing}", file=sys.stderr)
        return None, None
    X, queries, Y = sp.csr_matrix(X), sp.csr_matrix(queries), sp.csr_matrix(Y)
    n_labels = Y.shape[1]
    slices = [n for n in SLICE if n < n_labels] if n_labels > 2 * SLICE[-1] else [n_labels]
    try:
        found = [timed(fit_and_predict(lambda: MLkNN(k=K), X, Y[:, :n], queries), rounds) for n in slices]
    except Exception as error:  # any failure of the other library
        print(f"scikit-multilearn-ng fails: {error!r}", file=sys.stderr)
        return None, None
    seconds = [one for one, _ in found]
    if len(slices) == 2:
        for_each = (seconds[1] - seconds[0]) / (slices[1] - slices[0])
        return seconds[1] + for_each * (n_labels - slices[1]), dense(found[-1][1])
    return seconds[0], dense(found[0][1])


def mlknn(name, rounds):
    from sklearn.neighbors import KNeighborsClassifier

    from labelsieve.classifiers import MLkNN

    X, Y, queries = halves(name)
    ours, predicted = timed(fit_and_predict(lambda: MLkNN(k=K), X, Y, queries), rounds)
    sklearn, _ = timed(fit_and_predict(lambda: KNeighborsClassifier(K, algorithm="brute"), X, dense(Y), queries), 1)
    multilearn, theirs = of_multilearn(X, Y, queries, 1)
    same = None if theirs is None else float((dense(predicted)[:, : theirs.shape[1]] == theirs).mean())
    sizes = {"rows": X.shape[0], "features": X.shape[1], "labels": Y.shape[1], "extrapolated": Y.shape[1] > 2 * SLICE[-1]}
    return {"dataset": name, **sizes, "ours": ours, "sklearn": sklearn, "multilearn": multilearn, "same": same}


def nested(name, rounds):
    """ML-kNN with the first 1 to 50 features, nested and as separate fits."""
    from labelsieve.classifiers import MLkNN, nested_neighbors, nested_predictions

    X, Y, queries = halves(name)
    features = np.random.default_rng(0).permutation(X.shape[1])[:N_FEATURES]

    def together():
        answers = nested_predictions(MLkNN(k=K), X, Y, queries, features=features)
        return [one[:KEPT].copy() for _, one in answers]

    def search():
        return nested_neighbors(X, features=features, k=K), nested_neighbors(X, queries, features=features, k=K)

    def apart(form):
        kept = []
        for size in range(1, N_FEATURES + 1):
            rows, asked = form(X[:, features[:size]]), form(queries[:, features[:size]])
            kept.append(MLkNN(k=K).fit(rows, Y).predict_proba(asked)[:KEPT].copy())
        return kept

    ours, answers = timed(together, rounds)
    searching, _ = timed(search, rounds)
    separate, expected = timed(lambda: apart(lambda table: table), rounds)
    separate_dense = timed(lambda: apart(dense), 1)[0] if sp.issparse(X) else None
    differs = max(float(np.abs(one - other).max()) for one, other in zip(answers, expected, strict=True))
    record = {"dataset": name, "nested": ours, "searching": searching, "separate": separate, "separate_dense": separate_dense}
    return {**record, "ratio": separate / ours, "differs": differs}


def loops(rounds):
    from sklearn.tree import DecisionTreeClassifier

    from labelsieve.classifiers import LIFT, RAkEL

    X, Y, queries = halves(LOOPS_ON)
    tree = DecisionTreeClassifier(random_state=0)
    records = []
    for method, make, plain in (
        ("LIFT", lambda n_jobs: LIFT(random_state=0, n_jobs=n_jobs), lambda: plain_lift(X, Y, queries)),
        ("RAkEL", lambda n_jobs: RAkEL(tree, random_state=0, n_jobs=n_jobs), lambda: plain_rakel(tree, X, Y, queries)),
    ):
        calls = {
            "ours": fit_and_predict(partial(make, 1), X, Y, queries),
            "two": fit_and_predict(partial(make, 2), X, Y, queries),
        }
        best, answers = in_turns({**calls, "plain": plain}, rounds)
        record = {"method": method, "ours": best["ours"].cpu, "plain": best["plain"].cpu}
        record["ratio"], record["two"] = record["ours"] / record["plain"], best["two"].wall / best["plain"].wall
        records.append({**record, "same": float((answers["ours"] == answers["plain"]).mean())})
    return records


def memory_of_mlknn():
    """Bytes that ML-kNN takes beyond its data: fit on all rows, then predict 1,000 of them."""
    from labelsieve.classifiers import MLkNN

    data, _ = real_dataset(MEMORY_OF)
    X, Y = sp.csr_matrix(data.X), sp.csr_matrix(data.Y)
    del data
    watch = Stopwatch()
    extra = extra_memory(lambda: MLkNN(k=K, n_jobs=-1).fit(X, Y).predict(X[:1000]))
    lap = watch.lap()
    from benchmarks.memory import STATUS, read_maximum, read_status

    peak = read_status("VmHWM") if STATUS.exists() else read_maximum()
    return {"rows": X.shape[0], "extra": extra, "process": peak, "cpu": lap.cpu, "wall": lap.wall}


def report_mlknn(records):
    rows = []
    for one in records:
        mark = "~" if one["extrapolated"] and one["multilearn"] is not None else ""
        ratio = None if one["multilearn"] is None else one["multilearn"] / one["ours"]
        cells = [f"{one[key]:,}" for key in ("rows", "features", "labels")]
        cells += [number(one["ours"]), number(one["sklearn"]), mark + number(one["multilearn"])]
        cells += [number(one["sklearn"] / one["ours"]), mark + number(ratio), number(one["same"])]
        rows.append((one["dataset"], cells))
    columns = ["N", "d", "q", "ours", "sklearn", "multilearn", "sklearn/ours", "multilearn/ours", "same labels"]
    print_table(f"ML-kNN, k = {K}", columns, rows)


def report_nested(records):
    keys = ("nested", "searching", "separate", "separate_dense", "ratio", "differs")
    columns = ["nested", "of which search", "separate", "separate, dense", "separate/nested", "largest difference"]
    print_table(f"K = 1..{N_FEATURES}", columns, [(one["dataset"], [number(one[key]) for key in keys]) for one in records])


def report_loops(records):
    rows = [(one["method"], [number(one[key]) for key in ("ours", "plain", "ratio", "two", "same")]) for one in records]
    print_table(LOOPS_ON, ["ours", "plain loop", "ours/plain", "n_jobs=2/plain, wall", "same labels"], rows)


def report_memory(record):
    cells = [f"{record['rows']:,}", megabytes(record["extra"]), megabytes(record["process"]), number(record["cpu"])]
    print_table(f"ML-kNN, {MEMORY_OF}", ["N", "extra MB", "process MB", "CPU s"], [("sparse", cells)])


def main():
    parser = BenchmarkOptions("classifiers", __doc__, DATASETS)
    parser.add_argument("--parts", default=",".join(PARTS), help="names with commas between them")
    arguments = parser.read()
    require_data()
    names, found = arguments.names, {}
    with single_threaded_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in arguments.parts.split(","):
            if part == "mlknn":
                found[part] = [mlknn(name, arguments.repeat) for name in names]
                report_mlknn(found[part])
            elif part == "nested":
                found[part] = [nested(name, arguments.repeat) for name in names]
                report_nested(found[part])
            elif part == "loops":
                found[part] = loops(arguments.repeat)
                report_loops(found[part])
            elif part == "memory":
                found[part] = in_fresh_process(memory_of_mlknn)
                report_memory(found[part])
            else:
                parser.error(f"{part!r} is none of {', '.join(PARTS)}")
            print(flush=True)
    save(arguments, found)


if __name__ == "__main__":
    main()
