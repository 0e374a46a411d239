"""Random cells of the leaderboard, computed again without labelsieve.studies: data, rows, selection, scaling, learner, measure.

    python -m benchmarks.leaderboard_check board                    # the folder of labelsieve compare, 20 cells
    python -m benchmarks.leaderboard_check board --cells 50 --seed 1

A cell is a data set, a split, a selector and a learner; all its numbers of features and measures are compared. The seeds are
those that docs/evidence/leaderboard.md describes. Exit code 1 if a value differs.
"""

import argparse
import copy
import hashlib
import json
import random
import sqlite3
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from labelsieve import Sieve
from labelsieve.classifiers import KNNRegressor, MLkNN
from labelsieve.datasets import fetch
from labelsieve.metrics import MEASURES
from labelsieve.registry import DISCRETIZERS, make_classifier, make_discretizer, make_selector, resolve_method

PROTOCOL = Path(__file__).parents[1] / "leaderboard" / "leaderboard.toml"


def seed_of(*parts):
    """The seed of a thing: 32 bits of a hash of its names."""
    return int(hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:8], 16) % 2**31


def load(settings):
    """Features, targets, and the positions of nominal columns."""
    data = fetch(settings["name"])
    kept = [column for column, name in enumerate(data.feature_names) if name not in settings.get("drop", ())]
    X, Y = data.X[:, kept], data.Y
    most = settings.get("max_labels", Y.shape[1])
    if most < Y.shape[1]:
        counts = np.asarray(Y.sum(axis=0)).ravel()
        Y = Y[:, np.sort(np.argsort(-counts, kind="stable")[:most])]
    nominal = {place for place, column in enumerate(kept) if data.feature_kinds[column] == "nominal"}
    return (
        (sp.csr_array(X) if sp.issparse(X) else np.asarray(X)),
        (sp.csr_array(Y) if sp.issparse(Y) else np.asarray(Y)),
        nominal,
    )


def rows_of(name, n_rows, split, protocol):
    """Training and test rows: the split-th of random halves, then at most max_rows of them."""
    rng = np.random.default_rng(protocol["seed"])
    for _ in range(split + 1):
        order = rng.permutation(n_rows)
    train, test = np.sort(order[: n_rows // 2]), np.sort(order[n_rows // 2 :])
    most = protocol["max_rows"]
    if n_rows > most:
        draw = np.random.default_rng(seed_of(protocol["seed"], name, split, "rows"))
        n_train = round(most * len(train) / n_rows)
        train, test = np.sort(draw.permutation(train)[:n_train]), np.sort(draw.permutation(test)[: most - n_train])
    return train, test


def set_nominal(estimator, columns, nominal):
    names = [name for name in estimator.get_params(deep=True) if name.split("__")[-1] == "nominal"]
    places = [place for place, column in enumerate(columns) if column in nominal]
    return estimator.set_params(**dict.fromkeys(names, places)) if names else estimator


def select(method, X, Y, n_wanted, seed, nominal):
    """The ranking of a selector by the training rows."""
    settings = {"criterion": method["name"], **{key: value for key, value in method.items() if key != "name"}}
    if isinstance(settings.get("discretizer"), dict):
        settings["discretizer"] = DISCRETIZERS[settings["discretizer"].pop("name")](**settings["discretizer"])
    selector = make_selector(**settings)
    if isinstance(selector, Sieve):  # its names become objects, whose seeds and nominal columns can be set
        used = resolve_method(selector.criterion, selector.targets, selector.discretizer, missing=selector.missing)
        selector.set_params(targets=used.space, discretizer=used.discretizer)
    elif selector.get_params().get("discretizer") is not None:
        selector.set_params(discretizer=make_discretizer(selector.discretizer, missing=selector.get_params().get("missing")))
    parameters = selector.get_params(deep=True)
    given = {name: seed for name in parameters if name.split("__")[-1] == "random_state" and not name.startswith("discretizer")}
    given |= {"n_features_to_select": n_wanted} if "n_features_to_select" in parameters else {}
    given |= {"target_type": "numeric"} if Y.dtype.kind == "f" and "target_type" in parameters else {}
    return list(set_nominal(selector.set_params(**given), range(X.shape[1]), nominal).fit(X, Y).selected_)


def predict(learner, ranking, size, X, Y, test_X, nominal):
    """Predictions and scores with the first features of a ranking.

    The rounding of distances, and so the order of rows at equal distances, depends on the order in which columns are added, and
    on whether squares are added or products of sparse rows: neighbors get dense columns in the order of the ranking.
    """
    columns = sorted(ranking[:size])
    if isinstance(learner, MLkNN | KNNRegressor):
        X, test_X, columns = dense(X[:, ranking[:size]]), dense(test_X[:, ranking[:size]]), list(range(size))
    if type(learner).__module__.startswith("sklearn.") and sp.issparse(Y):
        Y = Y.toarray()
    fitted = set_nominal(clone(learner), columns, nominal).fit(X[:, columns], Y)
    queries = test_X[:, columns]
    if Y.dtype.kind == "f":
        return fitted.predict(queries), None
    scores = fitted.predict_proba(queries)
    if isinstance(scores, list):  # of scikit-learn: for each label a column for each of its classes
        columns = zip(scores, fitted.classes_, strict=True)
        scores = np.column_stack([table[:, -1] if len(values) == 2 else len(table) * [values[0]] for table, values in columns])
    return fitted.predict(queries), scores


def measured(name, truth, predicted, scores, baseline):
    """The value of a measure, with plain formulas where they are short."""
    if name == "rrmse":
        return np.sqrt(((truth - predicted) ** 2).sum(axis=0) / ((truth - baseline) ** 2).sum(axis=0)).mean()
    if name == "hamming_loss":
        return (truth != predicted).mean()
    if name == "exact_match":
        return (truth == predicted).all(axis=1).mean()
    if name == "micro_f1":
        return 2 * (truth * predicted).sum() / (truth.sum() + predicted.sum())
    return MEASURES[name].function(truth, scores if MEASURES[name].needs == "scores" else predicted)


def dense(table):
    return table.toarray() if sp.issparse(table) else np.asarray(table)


def check(cell, study, protocol):
    """Compute all values of a stored cell again; return the largest difference and the number of values."""
    settings = next(one for one in study["datasets"] if one["name"] == cell["dataset"])
    methods = [one if isinstance(one, dict) else {"name": one} for one in (*protocol["methods"], *study.get("methods", ()))]
    method = next((copy.deepcopy(one) for one in methods if one["name"] == cell["method"]), {"name": cell["method"]})
    options = dict(next(one for one in study["classifiers"] if one["name"] == cell["classifier"]))
    options.pop("n_features", None)
    name = options.pop("name")
    X, Y, nominal = load(settings)
    train, test = rows_of(cell["dataset"], X.shape[0], cell["split"], protocol)
    X, Y, test_X, test_Y = X[train], Y[train], X[test], dense(Y[test])
    if settings.get("missing_values") == "train-mean":
        means = np.nan_to_num(np.nansum(X, axis=0) / np.maximum((~np.isnan(X)).sum(axis=0), 1))
        X, test_X = np.where(np.isnan(X), means, X), np.where(np.isnan(test_X), means, test_X)
    seed = seed_of(protocol["seed"], cell["dataset"], cell["split"], cell["method"])
    ranking = select(method, X, Y, cell["n_wanted"], seed, nominal)
    same = ranking[: len(cell["selected"])] == cell["selected"][: len(ranking)]
    scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X.astype(float))
    X, test_X = scaler.transform(X.astype(float)), scaler.transform(test_X.astype(float))
    learner = make_classifier(options.pop("classifier", name), numeric=Y.dtype.kind == "f", **options)
    seeds = [key for key, value in learner.get_params().items() if key.split("__")[-1] == "random_state" and value is None]
    learner.set_params(**dict.fromkeys(seeds, seed_of(protocol["seed"], cell["dataset"], cell["split"], "classifier", name)))
    worst = 0.0
    for size in sorted({k for k, _ in cell["values"]}):
        predicted, scores = predict(learner, ranking, size, X, Y, test_X, nominal)
        for (k, measure), value in cell["values"].items():
            if k == size:
                found = measured(measure, test_Y, dense(predicted), scores, dense(Y).mean(axis=0))
                if value == float(np.float32(value)):  # of files, which have single precision
                    found = float(np.float32(found))
                worst = max(worst, abs(found - value))
    return same, worst


def stored_cells(folder):
    """All cells with results of a study's folder, as keys, and a function that reads one."""
    db = sqlite3.connect(f"file:{folder / 'results.sqlite'}?mode=ro", uri=True)
    keys = db.execute(
        "SELECT id, dataset, split, method, classifier FROM cells WHERE error IS NULL ORDER BY 2, 3, 4, 5"
    ).fetchall()

    def read(key):
        selected, n_wanted = db.execute(
            "SELECT selected, n_wanted FROM selections WHERE dataset = ? AND split = ? AND method = ?", key[1:4]
        ).fetchone()
        values = {
            (k, name): value for k, name, value in db.execute("SELECT k, measure, value FROM results WHERE cell = ?", key[:1])
        }
        cell = dict(zip(("dataset", "split", "method", "classifier"), key[1:], strict=True))
        return {**cell, "selected": json.loads(selected), "n_wanted": n_wanted, "values": values}

    return keys, read


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--protocol", type=Path, default=PROTOCOL)
    parser.add_argument("--dataset", help="draw cells of this data set only")
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    protocol = tomllib.loads(given.protocol.read_text(encoding="utf-8"))
    drawn = []
    for study in protocol["studies"]:
        if (given.folder / study["name"] / "results.sqlite").exists():
            keys, read = stored_cells(given.folder / study["name"])
            drawn += [(study, key, read) for key in keys if given.dataset in (None, key[1])]
    random.Random(given.seed).shuffle(drawn)
    n_different = 0
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for study, key, read in drawn[: given.cells]:
            cell = read(key)
            same, worst = check(cell, study, protocol)
            n_different += not same or worst > 1e-12
            words = f"{len(cell['values'])} values, largest difference {worst:.1e}"
            print(f"{', '.join(map(str, key[1:]))}: {'same' if same else 'OTHER'} ranking, {words}", flush=True)
    print(f"{min(given.cells, len(drawn)) - n_different} of {min(given.cells, len(drawn))} cells agree")
    sys.exit(bool(n_different))


if __name__ == "__main__":
    main()
