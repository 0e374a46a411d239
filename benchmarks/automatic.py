"""AutoSieve on development sets: its cost, and what its choice loses against the best method of its portfolio.

    python -m benchmarks.automatic [DATA SET ...]

A random half of the rows is given to AutoSieve (defaults), the other half tests. On the test half, the learners of AutoSieve
are evaluated with its selection, with that of every method of the portfolio in the number of features that the same folds
chose for it, and with all features. The regret is the loss against the best of these methods, which nobody knows beforehand, in
percent of its measure. The cost is processor time, relative to one evaluation of the learners: fits with all features on the
training half and predictions of the other.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.base import clone

from benchmarks.shared_folder import shared_folder
from labelsieve import AutoSieve
from labelsieve.classifiers.prefix_scores import prefix_scores
from labelsieve.datasets import fetch
from labelsieve.labelspace import read_targets
from labelsieve.metrics import MEASURES
from labelsieve.selectors.auto_search import learners_of
from labelsieve.selectors.learner_input import LearnerFeatures, for_table, learner_targets, scaled_rows
from labelsieve.selectors.nested_choice import ALL, NONE
from labelsieve.selectors.selector_list import for_all_rows, read_selectors

DATASETS = ("emotions", "flags", "andro", "slump", "enb", "jura")
SEEDS = (100, 101)


def evaluated(auto, features, targets, numeric, train, test, columns):
    """The mean measure of the learners on the test rows, with these features."""
    matrix = features.everything() if len(columns) == features.n_features else features.columns(columns)[0]
    X, X_test = scaled_rows("standard", matrix[train], matrix[test])
    values = [
        prefix_scores(
            learner, auto.measure_, X, targets[train], X_test, targets[test], features=range(X.shape[1]), sizes=[X.shape[1]]
        )
        for learner in learners_of(None, numeric, 0)
    ]
    return float(np.mean(values))


def cell(name, seed):
    data = fetch(name, data_home=shared_folder("data"), download=False)
    X, y = data.named_features(codes=True), np.asarray(data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.sort(order[: len(y) // 2]), np.sort(order[len(y) // 2 :])
    X_train = X.iloc[train] if hasattr(X, "iloc") else X[train]
    targets, numeric = learner_targets(read_targets(y))
    features = LearnerFeatures(X)
    start = time.process_time()
    auto = AutoSieve().fit(X_train, y[train])
    cost = time.process_time() - start
    start = time.process_time()
    everything = evaluated(auto, features, targets, numeric, train, test, range(features.n_features))
    one = time.process_time() - start
    values = {ALL: everything}
    for method, n_features in zip(auto.comparison_["method"], auto.comparison_["n_features"], strict=True):
        if method not in (ALL, NONE):
            selector = for_table(for_all_rows(read_selectors(auto.portfolio, "portfolio")[method], y), features)
            fitted = clone(selector).set_params(n_features_to_select=n_features).fit(X_train, y[train])
            values[method] = evaluated(auto, features, targets, numeric, train, test, fitted.selected_)
    sign = -1 if MEASURES[auto.measure_].lower_is_better else 1
    chosen = evaluated(auto, features, targets, numeric, train, test, auto.selected_)
    return auto, chosen, {method: sign * 100 * (value - chosen) / abs(value) for method, value in values.items()}, cost / one


def main(names):
    warnings.simplefilter("ignore")
    regrets, costs, against = [], [], {}
    for name in names or DATASETS:
        for seed in SEEDS:
            auto, chosen, gains, cost = cell(name, seed)
            regrets.append(max(0.0, *gains.values()))
            costs.append(cost)
            for method, gain in gains.items():
                against.setdefault(method, []).append(-gain)
            estimate = f"{auto.score_:.3f}, found {chosen:.3f}"
            made = f"{auto.method_} {auto.n_chosen_} of {auto.n_features_in_}"
            print(
                f"{name:<10} {made:<32} {auto.measure_} estimated {estimate}; regret {regrets[-1]:.1f} %, cost {cost:.0f}",
                flush=True,
            )
    half = 1.96 * np.std(regrets, ddof=1) / np.sqrt(len(regrets))
    print(f"mean regret {np.mean(regrets):.1f} % ± {half:.1f} (95 %); median cost {np.median(costs):.0f} evaluations")
    for method, gained in against.items():
        wins = f"{np.sum(np.array(gained) > 0)}-{np.sum(np.array(gained) < 0)}"
        print(f"AutoSieve against {method:<20} {np.mean(gained):+.1f} % on average, won-lost {wins}")


if __name__ == "__main__":
    main(sys.argv[1:])
