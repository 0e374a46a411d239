"""The hybrid criterion, its parts and its variants on the development sets; nothing here confirms anything.

Protocol: that of :mod:`benchmarks.default_settings` with ML-kNN and logistic regression, and that of
:mod:`benchmarks.default_settings_numeric` for numeric targets, with nearest neighbors and ridge regression. Two splits: seeds
100 and 101 for half A of the data sets, 200 and 201 for half B. The settings of the hybrid were found on both halves.

    python -m benchmarks.hybrid run RESULTS.csv     adds the cells that RESULTS.csv does not have, then writes hybrid.csv
    python -m benchmarks.hybrid                     prints the tables of hybrid.csv, the means of our run
    python -m benchmarks.hybrid time                prints times relative to CMIM
"""

import csv
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from benchmarks import default_settings as labels
from benchmarks import default_settings_numeric as numeric
from labelsieve import Criterion, Sieve
from labelsieve.discretize import EqualFrequency
from labelsieve.formula import I, f, min_s, minimum, pos, s, sum_y, y
from labelsieve.registry import make_selector
from labelsieve.selectors import L1Importance

HALF_A = ("emotions", "scene", "birds", "medical", "genbase", "flags")
HALF_B = ("yeast", "image", "enron", "CAL500", "languagelog")
NUMERIC_A = ("andro", "slump", "edm", "atp1d", "jura", "oes97", "wq")
NUMERIC_B = ("atp7d", "enb", "oes10", "scpf", "rf1", "scm20d")
SEEDS = {**dict.fromkeys(HALF_A + NUMERIC_A, (100, 101)), **dict.fromkeys(HALF_B + NUMERIC_B, (200, 201))}
REFERENCE, FLAGSHIP = "cmim 5", "hybrid 5"
SIGNS = {"hamming_loss": -1, "micro_f1": 1, "macro_f1": 1, "lrap": 1, "rrmse": -1}
STORED = Path(__file__).with_suffix(".csv")


class WithRelevance(Criterion):
    """Positive parts, with the relevance in the minimum."""

    listed = False
    first = sum_y(pos(I(f, y)))
    score = sum_y(pos(minimum(I(f, y), min_s(I(f, y | s)))))


def hybrid(n_bins=5, information="cmim-positive", **settings):
    return lambda X: make_selector(
        "hybrid", information=information, discretizer=EqualFrequency(n_bins), n_features_to_select=40, **settings
    )


def sieve(n_bins, criterion, estimator="plugin"):
    return lambda X: Sieve(
        criterion, discretizer=EqualFrequency(n_bins), targets="cumulative", estimator=estimator, n_features_to_select=40
    )


SELECTORS = {
    "cmim 5": sieve(5, "cmim"),
    "cmim 5, corrected, positive": sieve(5, "cmim-positive", "miller-madow"),
    "omp": lambda X: Sieve("omp", n_features_to_select=40),
    "hybrid 5": hybrid(),
    "hybrid 3": hybrid(3),
    "L1, C = 0.1": lambda X: L1Importance(n_features_to_select=40),
    "hybrid 5, relevance in the minimum": hybrid(information=WithRelevance()),
    "hybrid 5, not corrected": hybrid(estimator="plugin"),
    "hybrid 5, penalty 2 log d": lambda X: hybrid(penalty=2 * np.log(X.shape[1]))(X),
    "cmim 3, corrected, positive": sieve(3, "cmim-positive", "miller-madow"),
    "hybrid 5, product": hybrid(combine="product"),
    "hybrid 5, half weight of omp": hybrid(weights=(1.0, 0.5)),
}
FIRST = 6  # selectors that are run on all data sets before the variants


def cells(name, seed, selector):
    """Learner, number of features, measure and value."""
    study, learners = (labels, ("ML-kNN", "logistic")) if name in HALF_A + HALF_B else (numeric, ("neighbors", "ridge"))
    raw, X, X_test, Y, Y_test = study.read(name, seed)
    order = SELECTORS[selector](raw).fit(raw, Y).selected_
    for size in dict.fromkeys(min(size, X.shape[1]) for size in study.SIZES):
        train, test = X[:, order[:size]], X_test[:, order[:size]]
        for learner in learners:
            values = study.evaluate(learner, train, Y, test, Y_test)
            yield from ((learner, size, *pair) for pair in zip(study.MEASURES, values, strict=True))


def run(path):
    known = labels.finished(path)
    with path.open("a", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        if not known:
            out.writerow(["dataset", "split", "selector", "learner", "n_features", "measure", "value"])
        selectors = list(SELECTORS)
        for some in (selectors[:FIRST], *([one] for one in selectors[FIRST:])):
            for name, seed, selector in product(SEEDS, range(2), some):
                if (name, SEEDS[name][seed], selector) not in known:
                    found = cells(name, SEEDS[name][seed], selector)
                    out.writerows([name, SEEDS[name][seed], selector, *cell] for cell in found)
                    file.flush()
            print(*some, flush=True)


def compact(path):
    """Means over splits and numbers of features, of the selectors that were run on all data sets."""
    values, known = {}, labels.finished(path)
    complete = {one for one in SELECTORS if all((name, seed, one) in known for name in SEEDS for seed in SEEDS[name])}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        if row["selector"] not in complete:
            continue
        key = row["dataset"], row["selector"], row["learner"], row["measure"]
        values.setdefault(key, []).append(float(row["value"]))
    with STORED.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["dataset", "selector", "learner", "measure", "value"])
        out.writerows([*key, f"{np.mean(found):.5f}"] for key, found in values.items())


def by_dataset(path=STORED):
    """Means over the learners: values by measure, selector and data set."""
    values = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        values.setdefault((row["measure"], row["selector"], row["dataset"]), []).append(float(row["value"]))
    return {key: float(np.mean(found)) for key, found in values.items()}


def differences(values, measure, selector, other, datasets):
    """Improvements of a selector over another, data set by data set, in thousandths."""
    return np.array(
        [1000 * SIGNS[measure] * (values[measure, selector, name] - values[measure, other, name]) for name in datasets]
    )


def signed(differences):
    """The mean, in thousandths; -0.0 is 0.0."""
    return f"{round(float(np.mean(differences)), 1) + 0.0:+.1f}"


def tables(values):
    """Two tables in Markdown for labels and two for numeric targets: against CMIM by halves, and the hybrid against others."""
    lines = []
    complete = [one for one in SELECTORS if ("rrmse", one, NUMERIC_A[0]) in values]
    for title, halves, measures in (
        ("labels", (HALF_A, HALF_B), labels.MEASURES),
        ("numeric targets", (NUMERIC_A, NUMERIC_B), ("rrmse",)),
    ):
        n_sets, names = sum(map(len, halves)), ", ".join(measures)
        lines += [f"| {title} | A: {names} | A: won-lost | B: {names} | B: won-lost |", "|---|---|---|---|---|"]
        for selector in complete:
            cells_of = []
            for half in halves:
                found = [differences(values, measure, selector, REFERENCE, half) for measure in measures]
                counts = (int(np.sum([np.sum(sign * one > 0) for one in found])) for sign in (1, -1))
                cells_of += [" ".join(map(signed, found)), "-".join(map(str, counts))]
            lines.append(f"| {selector} | {' | '.join(cells_of)} |")
        lines += ["", f"| `{FLAGSHIP}` against, {n_sets} sets | {' | '.join(measures)} |", "|---" * (len(measures) + 1) + "|"]
        for selector in complete:
            if selector == FLAGSHIP:
                continue
            cells_of = []
            for measure in measures:
                found = differences(values, measure, FLAGSHIP, selector, sum(halves, ()))
                p = wilcoxon(found).pvalue if np.any(found) else 1.0
                cells_of.append(f"{(found > 0).sum()}-{(found < 0).sum()}, p = {p:.3f} ({signed(found)})")
            lines.append(f"| {selector} | {' | '.join(cells_of)} |")
        lines.append("")
    return lines


def print_times(names=("emotions", "scene", "medical", "enron", "CAL500", "languagelog"), repeats=5):
    """CPU seconds of 40 features, the best of some runs, and their ratios to CMIM."""
    timed = ("cmim 5", "cmim 5, corrected, positive", "omp", "hybrid 5", "L1, C = 0.1")
    print(f"{'CPU seconds (ratio to CMIM)':16}" + "".join(f"{selector:>32}" for selector in timed))
    ratios = []
    for name in names:
        raw, _, _, Y, _ = labels.read(name, 100)
        best = {}
        for selector in timed:
            for _ in range(1 if selector.startswith("L1") else repeats):
                start = time.process_time()
                SELECTORS[selector](raw).fit(raw, Y)
                best[selector] = min(best.get(selector, np.inf), time.process_time() - start)
        ratios.append([best[selector] / best["cmim 5"] for selector in timed])
        cells_of = (f"{best[selector]:.3f} ({ratio:.2f})" for selector, ratio in zip(timed, ratios[-1], strict=True))
        print(f"{name:16}" + "".join(f"{cell:>32}" for cell in cells_of))
    print(f"{'geometric mean':16}" + "".join(f"{np.exp(np.mean(np.log(column))):>32.2f}" for column in np.transpose(ratios)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["run"]:
        run(Path(sys.argv[2]))
        compact(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["time"]:
        print_times()
    if sys.argv[1:2] != ["time"]:
        print(*tables(by_dataset()), sep="\n")
