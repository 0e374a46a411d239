"""Settings of Sieve for the default, compared with selectors that practitioners use.

Protocol, fixed before the first run. A random half of the rows (at most 3,000 in all) trains selector and learner, the other
half tests; two splits. Features are standardized on the training rows. Labels: at most the 40 most frequent, with at least five
training rows of either value. Learners: ML-kNN (k = 10), one-vs-rest logistic regression (liblinear, C = 1), extra trees (50).
Numbers of features: 5, 10, 20, 40. Measures: Hamming loss, micro-F1, macro-F1, label ranking average precision, averaged over
splits, learners and numbers of features. DECIDE are the data sets that decide; CONFIRM are used once, afterwards.

    python -m benchmarks.default_settings run RESULTS.csv decide    adds the cells that RESULTS.csv does not have
    python -m benchmarks.default_settings ranks RESULTS.csv         prints average ranks
    python -m benchmarks.default_settings                           prints those of default_settings.csv, the means of our run
"""

import csv
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, hamming_loss, label_ranking_average_precision_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from labelsieve import Sieve
from labelsieve.classifiers import MLkNN
from labelsieve.datasets import fetch
from labelsieve.discretize import EqualFrequency, EqualWidth

DECIDE = ("emotions", "scene", "birds", "medical", "genbase", "flags", "yeast", "image", "enron", "CAL500", "languagelog")
CONFIRM = (
    "foodtruck",
    "slashdot",
    "ohsumed",
    "reuters-k500",
    "stackex-chess",
    "mediamill-2500",
    "tmc2007-500",
    "20ng",
    "corel5k",
    "bibtex",
    "yahoo-cut-computers",
    "corel16k1",
)
SIZES = (5, 10, 20, 40)
N_SPLITS = 2
MOST_ROWS, MOST_LABELS, FEWEST = 3000, 40, 10


def sieve(criterion, discretizer, estimator="plugin"):
    def rank(X, Y, seed):
        return (
            Sieve(criterion, discretizer=discretizer, estimator=estimator, n_features_to_select=max(SIZES)).fit(X, Y).selected_
        )

    return rank


def l1(C):
    def rank(X, Y, seed):
        total = np.zeros(X.shape[1])
        for y in Y.T:
            model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=C, random_state=0, max_iter=200)
            total += np.abs(model.fit(X, y).coef_[0])
        return np.argsort(-total, kind="stable")

    return rank


def trees(X, Y, seed):
    return np.argsort(-ExtraTreesClassifier(100, random_state=seed).fit(X, Y).feature_importances_, kind="stable")


def mean_f(X, Y, seed):
    scores = np.mean([np.nan_to_num(f_classif(X, y)[0], posinf=1e9) for y in Y.T], axis=0)
    return np.argsort(-scores, kind="stable")


SELECTORS = {
    "jmi equal-width 5": sieve("jmi", EqualWidth(5)),
    "jmi equal-frequency 5": sieve("jmi", EqualFrequency(5)),
    "cmim equal-width 5": sieve("cmim", EqualWidth(5)),
    "cmim equal-frequency 3": sieve("cmim", EqualFrequency(3)),
    "cmim equal-frequency 5": sieve("cmim", EqualFrequency(5)),
    "cmim equal-frequency 3 miller-madow": sieve("cmim", EqualFrequency(3), "miller-madow"),
    "cmim equal-frequency 5 miller-madow": sieve("cmim", EqualFrequency(5), "miller-madow"),
    "mrmr equal-frequency 5": sieve("mrmr", EqualFrequency(5)),
    "mim equal-frequency 5": sieve("mim", EqualFrequency(5)),
    "L1 logistic C=0.1": l1(0.1),
    "L1 logistic C=0.03": l1(0.03),
    "extra trees": trees,
    "mean F": mean_f,
    "random": lambda X, Y, seed: np.random.default_rng(seed).permutation(X.shape[1]),
}
LEARNERS = {
    "ML-kNN": lambda: MLkNN(k=10),
    "logistic": lambda: OneVsRestClassifier(LogisticRegression(solver="liblinear", C=1.0)),
    "extra trees": lambda: ExtraTreesClassifier(50, random_state=0),
}
MEASURES = ("hamming_loss", "micro_f1", "macro_f1", "lrap")


def read(name, seed):
    data = fetch(name, data_home=os.environ["LABELSIEVE_DATA"], download=False)
    X, Y = data.X, data.Y.toarray() if sp.issparse(data.Y) else np.asarray(data.Y)
    rows = np.random.default_rng(seed).permutation(len(Y))[:MOST_ROWS]
    X = X.tocsr()[rows].toarray() if sp.issparse(X) else np.asarray(X)[rows]
    X, Y = X.astype(float), (Y[rows] != 0).astype(int)
    half = len(rows) // 2
    train, test = slice(0, half), slice(half, None)
    present = Y[train].sum(axis=0)
    usable = np.flatnonzero((present >= FEWEST // 2) & (present <= half - FEWEST // 2) & (Y[test].sum(axis=0) > 0))
    usable = usable[np.argsort(-present[usable], kind="stable")[:MOST_LABELS]]
    scaler = StandardScaler().fit(X[train])
    return X[train], scaler.transform(X[train]), scaler.transform(X[test]), Y[train][:, usable], Y[test][:, usable]


def on_raw_values(selector):
    return selector.startswith(("jmi", "cmim", "mrmr", "mim"))


def evaluate(learner, X, Y, X_test, Y_test):
    model = LEARNERS[learner]().fit(X, Y)
    scores = model.predict_proba(X_test)
    if isinstance(scores, list):
        scores = np.column_stack([one[:, 1] if one.shape[1] > 1 else np.zeros(len(X_test)) for one in scores])
    scores = np.asarray(scores.toarray() if sp.issparse(scores) else scores)
    predicted = model.predict(X_test)
    predicted = np.asarray(predicted.toarray() if sp.issparse(predicted) else predicted)
    return (
        hamming_loss(Y_test, predicted),
        f1_score(Y_test, predicted, average="micro", zero_division=0),
        f1_score(Y_test, predicted, average="macro", zero_division=0),
        label_ranking_average_precision_score(Y_test, scores),
    )


def finished(path):
    """The data sets, splits and selectors that a file of results has."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {(row["dataset"], int(row["split"]), row["selector"]) for row in csv.DictReader(lines)}


def run(study, path, names):
    known = finished(path)
    with path.open("a", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        if not known:
            out.writerow(["dataset", "split", "selector", "learner", "n_features", *study.MEASURES])
        for name in names:
            for split in range(N_SPLITS):
                todo = [one for one in study.SELECTORS if (name, split, one) not in known]
                if not todo:
                    continue
                raw, X, X_test, Y, Y_test = study.read(name, split)
                for selector in todo:
                    order = study.SELECTORS[selector](raw if study.on_raw_values(selector) else X, Y, split)
                    lines = []
                    for size in dict.fromkeys(min(size, X.shape[1]) for size in study.SIZES):
                        columns = order[:size]
                        for learner in study.LEARNERS:
                            values = study.evaluate(learner, X[:, columns], Y, X_test[:, columns], Y_test)
                            lines.append([name, split, selector, learner, size, *(f"{value:.5f}" for value in values)])
                    out.writerows(lines)
                    file.flush()
                print(name, split, flush=True)


def print_ranks(study, part, path, names):
    """Average ranks of the selectors over the data sets, and means, for each measure; the best average rank first."""
    values = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        if row["dataset"] in names:
            for measure in study.MEASURES:
                values.setdefault((row["dataset"], measure, row["selector"]), []).append(float(row[measure]))
    datasets = sorted({dataset for dataset, _, _ in values})
    print(f"{part}: {len(datasets)} data sets")
    if not datasets:
        return
    ranks, means = {}, {}
    for measure in study.MEASURES:
        sign = 1 if measure in ("hamming_loss", "rrmse") else -1
        table = np.array([[round(np.mean(values[name, measure, one]), 10) for one in study.SELECTORS] for name in datasets])
        ranks[measure], means[measure] = rankdata(sign * table, axis=1).mean(axis=0), table.mean(axis=0)
    width = 3 + max(map(len, study.SELECTORS))
    print(f"{'average rank (mean)':{width}}" + "".join(f"{measure:>16}" for measure in study.MEASURES))
    for i in np.argsort(np.mean([ranks[measure] for measure in study.MEASURES], axis=0)):
        cells = (f"{ranks[measure][i]:.2f} ({means[measure][i]:.4f})" for measure in study.MEASURES)
        print(f"{list(study.SELECTORS)[i]:{width}}" + "".join(f"{cell:>16}" for cell in cells))


def command(study, arguments):
    """Run the cells of a study, this module or another one, or print the ranks of a file of results or of the stored one."""
    warnings.simplefilter("ignore")
    parts = {"decide": study.DECIDE, "confirm": study.CONFIRM}
    if arguments[:1] == ["run"]:
        run(study, Path(arguments[1]), parts[arguments[2]])
        return
    results = Path(arguments[1]) if arguments[:1] == ["ranks"] else Path(study.__file__).with_suffix(".csv")
    for part, names in parts.items():
        print_ranks(study, part, results, names)


if __name__ == "__main__":
    command(sys.modules[__name__], sys.argv[1:])
