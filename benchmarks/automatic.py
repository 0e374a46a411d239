"""AutoSieve, one data set left out: the regret and the cost of its choice, against every fixed selector of the leaderboard.

    python -m benchmarks.automatic [DATA SET ...]

For every development set, a portfolio of six is composed from the results of the leaderboard on the *other* sets of its kind
(labels or numeric targets): at each step the selector is added that raises the mean of the best member most. AutoSieve gets
this portfolio and the training rows of the first split, and chooses a method for up to 20 features. What this choice is worth
on the test rows is known from the leaderboard: the mean over learners (neighbors, linear) and 5, 10 and 20 features, in the
default measure of AutoSieve. The regret is the loss against the best of all selectors of the leaderboard on this set, which is
not known beforehand, in percent of the latter. The cost is the CPU time of the choice in evaluations of the learners
with all features.
"""

import os
import sys
import tempfile
import time
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks.leaderboard_check import PROTOCOL, load, rows_of
from benchmarks.shared_folder import shared_folder
from labelsieve import AutoSieve
from labelsieve.classifiers.prefix_scores import prefix_scores
from labelsieve.datasets import fetch
from labelsieve.labelspace import read_targets
from labelsieve.selectors.auto.sieve import learner_targets, learners_of, scaled_rows
from labelsieve.tables.nominal import LearnerFeatures
from leaderboard import exported_folders, import_results, read_board

N_MEMBERS = 6
SIZES = (5, 10, 20)
MEASURES = {"labels": ("average_precision", 1), "numeric": ("rrmse", -1)}


def board():
    """For each kind of targets, a table of data sets by selectors: means over learners and numbers of features."""
    with tempfile.TemporaryDirectory() as folder:
        for name, results in exported_folders(PROTOCOL.parent / "results").items():
            import_results(results, Path(folder) / name)
        found = read_board(folder, sizes=SIZES, repeats=1)
    learners = [found.learners.index(name) for name in ("neighbors", "linear")]
    tables = {}
    for kind, (measure, _) in MEASURES.items():
        rows = [place for place, data in enumerate(found.datasets) if data.study == kind and "development" in data.tags]
        values = found.values[rows][:, :, learners, found.measures.index(measure)]
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            means = np.nanmean(values, axis=(2, 3))  # small sets have no 10 or 20 features
        means[np.isnan(values).all(axis=3).any(axis=2)] = np.nan  # not run with both learners
        table = pd.DataFrame(means, index=[found.datasets[row].name for row in rows], columns=found.methods)
        tables[kind] = table.dropna(axis="columns")
    return tables


def portfolio_from(table, sign):
    """Six selectors whose best member is best on average, composed greedily; values are scaled between random and best."""
    table = sign * table.drop(columns="all")
    low = table["random"].to_numpy()[:, np.newaxis]
    scaled = (table.drop(columns="random") - low) / np.maximum(table.max(axis=1).to_numpy()[:, np.newaxis] - low, 1e-9)
    scaled = scaled.clip(-1, 1)
    members, best = [], np.full(len(scaled), -np.inf)
    for _ in range(N_MEMBERS):
        gains = pd.Series(np.maximum(best[:, np.newaxis], scaled).mean(axis=0), index=scaled.columns)
        members.append(gains.drop(members).idxmax())
        best = np.maximum(best, scaled[members[-1]].to_numpy())
    return members


def one_evaluation(X, Y, train, test, numeric, measure):
    """CPU seconds of the learners with all features."""
    features, (targets, _) = LearnerFeatures(X), learner_targets(read_targets(Y, "numeric" if numeric else "auto"))
    start = time.process_time()
    train_X, test_X = scaled_rows("standard", features.everything()[train], features.everything()[test])
    n = train_X.shape[1]
    for learner in learners_of(None, numeric, 0):
        prefix_scores(learner, measure, train_X, targets[train], test_X, targets[test], features=range(n), sizes=[n])
    return time.process_time() - start


def choose(settings, protocol, members, methods, measure):
    """The method that AutoSieve chooses by the training rows, and its cost in evaluations of the learners."""
    _, Y, _ = load(settings)
    Y = Y.toarray() if sp.issparse(Y) else Y
    X = fetch(settings["name"]).named_features(codes=True)
    if settings.get("drop"):
        X = X.drop(columns=settings["drop"])
    train, test = rows_of(settings["name"], len(Y), 0, protocol)
    numeric = measure == "rrmse"
    start = time.process_time()
    auto = AutoSieve(
        [methods[name] for name in members],
        n_features_to_select=min(20, X.shape[1]),
        max_features=20,
        target_type="numeric" if numeric else "auto",
    )
    auto.fit(X.iloc[train] if hasattr(X, "iloc") else X[train], Y[train])
    cost = time.process_time() - start
    return auto, cost / one_evaluation(X, Y, train, test, numeric, measure)


def main(names):
    warnings.simplefilter("ignore")
    os.environ.setdefault("LABELSIEVE_DATA", str(shared_folder("data")))
    protocol = tomllib.loads(Path(PROTOCOL).read_text(encoding="utf-8"))
    studies = {study["name"]: study for study in protocol["studies"]}
    regrets, costs, losses = [], [], []
    for kind, table in board().items():
        measure, sign = MEASURES[kind]
        study = studies[kind]
        given = [*protocol["methods"], *study.get("methods", ())]
        methods = {name if isinstance(name, str) else name["name"]: name for name in given}
        methods = {n: m if isinstance(m, str) or "criterion" in m else {"criterion": n, **m} for n, m in methods.items()}
        for settings in study["datasets"]:
            name = settings["name"]
            if name not in table.index or (names and name not in names):
                continue
            members = portfolio_from(table.drop(index=name), sign)
            auto, cost = choose(settings, protocol, members, methods, measure)
            values = table.loc[name]
            chosen = values["all" if auto.method_ == "all features" else auto.method_]
            best = values[(sign * values.drop("all")).idxmax()]
            lost = sign * 100 * (best - values) / abs(best)  # regrets of all selectors
            losses.append(lost.rename((kind, name)))
            regrets.append(sign * 100 * (best - chosen) / abs(best))
            costs.append(cost)
            print(
                f"{name:<12} {auto.method_:<28} regret {regrets[-1]:5.1f} %  cost {cost:6.0f}  of {', '.join(members)}",
                flush=True,
            )
            for left_out, reason in auto.not_tried_.items():
                print(f"{'':<12} {left_out}: {reason}")
    print(f"mean regret {mean_and_interval(regrets)} %; median cost {np.median(costs):.0f} evaluations")
    for kind in (*MEASURES, "all kinds"):
        chosen = [place for place, lost in enumerate(losses) if kind in (lost.name[0], "all kinds")]
        if len(chosen) > 1:
            print(f"\n{kind}, {len(chosen)} data sets: regrets of fixed selectors, and what AutoSieve gains, in percent")
            print(summary(pd.concat([losses[place] for place in chosen], axis=1).dropna(), np.array(regrets)[chosen]))


def mean_and_interval(values):
    return f"{np.mean(values):5.2f} ± {1.96 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}"


def summary(losses, regrets):
    gained = losses - regrets
    table = pd.DataFrame(
        {
            "regret": losses.apply(mean_and_interval, axis=1),
            "gained": gained.apply(mean_and_interval, axis=1),
            "won": (gained > 1e-9).sum(axis=1),
            "lost": (gained < -1e-9).sum(axis=1),
        }
    )
    return table.loc[losses.mean(axis=1).sort_values().index].to_string()


if __name__ == "__main__":
    main(sys.argv[1:])
