"""Conditional discoveries: empirical false discovery rate and power on synthetic data, and stability on real data.

    python -m benchmarks.discoveries_conditional calibration [DATA SETS PER CASE]
    python -m benchmarks.discoveries_conditional stability
    python -m benchmarks.discoveries_conditional intervals [TABLES PER CASE]
    python -m benchmarks.discoveries_conditional peers [DATA SETS PER CASE]

Every synthetic data set has 300 rows and 80 features, 25 of them relevant; real X has 500 rows and 80 columns at most, a third
of them relevant. A label depends on each relevant feature with probability 1/2, or on all of them if it is the only label. A
false discovery is a selected feature that is independent of all labels given the other features. ``peers`` needs knockpy and
hidimstat; all three use copies of the same kind and the same data, and the time is processor time of one thread.
"""

import sys
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from labelsieve.datasets import fetch
from labelsieve.selectors import ConditionalDiscoveries
from labelsieve.statistics import e_q_values, information_intervals, knockoff_e_values

N_ROWS, N_FEATURES, N_RELEVANT, ALPHA = 300, 80, 25, 0.1


def independent(rng):
    return rng.normal(size=(N_ROWS, N_FEATURES))


def correlated(rng, rho=0.6):
    X = independent(rng)
    for j in range(1, N_FEATURES):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def skewed(rng):
    return np.exp(correlated(rng))


def binary_chain(rng, stay=0.5):
    X = (rng.random((N_ROWS, N_FEATURES)) < 0.3).astype(int)
    for j in range(1, N_FEATURES):
        X[:, j] = np.where(rng.random(N_ROWS) < stay, X[:, j - 1], X[:, j])
    return X


def binary_factors(rng):
    """Not a tree: every feature depends on three hidden variables."""
    hidden = rng.normal(size=(N_ROWS, 3)) @ rng.normal(size=(3, N_FEATURES))
    return (hidden / np.sqrt(3) + rng.normal(size=hidden.shape) > 0.7).astype(int)


def curved(rng):
    """Not a Gaussian copula: neighbors depend on each other by their squares, and rows have different scales."""
    X = independent(rng)
    X[:, 1::2] = 0.7 * (X[:, ::2] ** 2 - 1) + 0.7 * X[:, 1::2]
    return X / np.sqrt(rng.chisquare(5, size=(N_ROWS, 1)) / 5)


def real(name):
    def features(rng):
        X, _ = fetch(name, return_X_y=True)
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        X = X[rng.permutation(len(X))[:500]]
        kept = np.flatnonzero((X[0] != X).sum(axis=0) >= 10)
        _, first = np.unique(X[:, kept], axis=1, return_index=True)  # distinct columns
        return X[:, kept[np.sort(rng.permutation(first)[:N_FEATURES])]]

    return features


def labels(rng, X, q, *, share=0.5, size=None):
    """Labels that depend on the first features, and which features those are; columns in random order."""
    X = X[:, rng.permutation(X.shape[1])]
    size = {1: 0.5, 14: 0.2, 159: 0.1}[q] if size is None else size
    n_relevant = min(N_RELEVANT, X.shape[1] // 3)
    weights = size * rng.choice([-1.0, 1.0], (n_relevant, q)) * (rng.random((n_relevant, q)) < (0.5 if q > 1 else 1.0))
    scaled = (X[:, :n_relevant] - X[:, :n_relevant].mean(axis=0)) / X[:, :n_relevant].std(axis=0)
    margin = scaled @ weights + rng.logistic(scale=0.5, size=(len(X), q))
    relevant = np.zeros(X.shape[1], dtype=bool)
    relevant[:n_relevant] = weights.any(axis=1)
    return X, (margin > np.quantile(margin, 1 - share, axis=0)).astype(int), relevant


def with_duplicates(rng, X, Y, relevant):
    """Five relevant and five irrelevant features twice: none of the twenty has information given the others."""
    repeated = np.r_[0:5, N_RELEVANT : N_RELEVANT + 5]
    relevant = np.append(relevant, np.zeros(10, dtype=bool))
    relevant[repeated] = False
    return np.hstack([X, X[:, repeated]]), Y, relevant


CASES = {
    "Gaussian, independent": (independent, (1, 14, 159), {}),
    "Gaussian, correlated 0.6": (correlated, (1, 14, 159), {}),
    "log-normal, correlated 0.6": (skewed, (14,), {}),
    "binary chain": (binary_chain, (1, 14, 159), {}),
    "Gaussian, duplicated features": (correlated, (14,), {"duplicates": True}),
    "binary, duplicated features": (binary_chain, (14,), {"duplicates": True}),
    "Gaussian, labels of 5 % of the rows": (correlated, (14,), {"share": 0.05, "size": 0.5}),
    "binary, labels of 5 % of the rows": (binary_chain, (14,), {"share": 0.05, "size": 0.5}),
    "binary, hidden factors (wrong model)": (binary_factors, (14,), {}),
    "numeric, curved and heavy-tailed (wrong model)": (curved, (14,), {}),
    "emotions, planted labels": (real("emotions"), (14,), {}),
    "yeast, planted labels": (real("yeast"), (14,), {}),
    "genbase, planted labels": (real("genbase"), (14,), {}),
}


def calibration(n_sets):
    """Empirical rate with its standard error, and power, for every case."""
    print(f"| features | q | data sets | false discovery rate at {ALPHA} | power |\n|---|---|---|---|---|")
    for number, (name, (features, numbers, options)) in enumerate(CASES.items()):
        options = dict(options)
        duplicates = options.pop("duplicates", False)
        for q in numbers:
            outcomes = []
            for seed in range(n_sets):
                rng = np.random.default_rng([number, q, seed])
                data = labels(rng, features(rng), q, **options)
                X, Y, relevant = with_duplicates(rng, *data) if duplicates else data
                found = ConditionalDiscoveries(alpha=ALPHA, n_repeats=5, random_state=seed, n_jobs=1).fit(X, Y).support_
                outcomes.append(((found & ~relevant).sum() / max(1, found.sum()), (found & relevant).sum() / relevant.sum()))
            (rate, power), error = np.mean(outcomes, axis=0), np.std(outcomes, axis=0)[0] / np.sqrt(n_sets)
            print(f"| {name} | {q} | {n_sets} | {rate:.3f} ± {error:.3f} | {power:.2f} |", flush=True)


def stability():
    """Jaccard index of the discoveries of three seeds at two rates, and the number of discoveries for shuffled labels."""
    print("| data set | rows | features | labels | rate | discoveries, 3 seeds | Jaccard index | 5 times shuffled labels |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ("emotions", "yeast", "genbase"):
        X, Y = (np.asarray(part.toarray() if hasattr(part, "toarray") else part) for part in fetch(name, return_X_y=True))
        runs = [ConditionalDiscoveries(random_state=seed, n_jobs=1).fit(X, Y).statistics_ for seed in range(3)]
        rng, shuffled = np.random.default_rng(0), []
        for _ in range(5):
            shuffled.append(ConditionalDiscoveries(n_repeats=5, n_jobs=1).fit(X, Y[rng.permutation(len(Y))]).statistics_)
        for alpha in (0.1, 0.2):
            found = [e_q_values(knockoff_e_values(W, alpha)) <= alpha for W in runs]
            pairs = [(a & b).sum() / (a | b).sum() for i, a in enumerate(found) for b in found[:i] if (a | b).any()]
            index = f"{np.mean(pairs):.2f}" if pairs else "same (none)"
            counts = [int(f.sum()) for f in found]
            nothing = [int((e_q_values(knockoff_e_values(W, alpha)) <= alpha).sum()) for W in shuffled]
            sizes = f"{len(X)} | {X.shape[1]} | {Y.shape[1]}"
            print(f"| {name} | {sizes} | {alpha} | {counts} | {index} | {nothing} |", flush=True)


def intervals(n_sets):
    """How often 90 % intervals of mutual information contain it, for tables of several sizes."""
    print("| levels | rows | information (nats) | contained | median width |\n|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for shape in ((2, 2), (5, 3)):
        for n_rows in (100, 500):
            for strength in (0.0, 0.3, 0.6, 1.5):
                cells = np.outer(rng.dirichlet(np.full(shape[0], 5.0)), rng.dirichlet(np.full(shape[1], 5.0)))
                cells *= np.exp(strength * rng.normal(size=shape))
                cells /= cells.sum()
                true = (cells * np.log(cells / np.outer(cells.sum(axis=1), cells.sum(axis=0)))).sum()
                hits, widths = 0, []
                for _ in range(n_sets):
                    x, y = np.divmod(rng.choice(cells.size, size=n_rows, p=cells.ravel()), shape[1])
                    found = information_intervals(x[:, np.newaxis], y[:, np.newaxis], confidence=0.9)
                    hits += bool(found.lower[0, 0] <= true + 1e-9 and true - 1e-9 <= found.upper[0, 0])
                    widths.append(found.upper[0, 0] - found.lower[0, 0])
                size = f"{shape[0]} x {shape[1]} | {n_rows} | {max(true, 0):.4f}"
                print(f"| {size} | {hits / n_sets:.3f} | {np.median(widths):.3f} |", flush=True)


def peers(n_sets):
    """Power, rate and time of this library, knockpy and hidimstat with one set of copies, for one numeric target."""
    import hidimstat
    import knockpy

    def ours(X, y, seed):
        return ConditionalDiscoveries(alpha=ALPHA, n_repeats=1, random_state=seed, n_jobs=1).fit(X, y).support_

    def of_knockpy(X, y, seed):
        np.random.seed(seed)  # noqa: NPY002 - it has no other seed
        found = knockpy.KnockoffFilter(fstat="lasso", ksampler="gaussian").forward(X=X * 1.0, y=y, fdr=ALPHA)
        return found.astype(bool)

    def of_hidimstat(X, y, seed):
        model = hidimstat.ModelXKnockoff(random_state=seed)
        statistics = np.asarray(model.fit_importance(X * 1.0, y))[0]
        return statistics >= model.knockoff_threshold(statistics, fdr=ALPHA)

    print("| features | program | false discovery rate | power | seconds |\n|---|---|---|---|---|")
    for name, features in (("Gaussian, correlated 0.6", correlated), ("binary chain", binary_chain)):
        outcomes = {program: [] for program in (ours, of_knockpy, of_hidimstat)}
        for seed in range(n_sets):
            rng = np.random.default_rng([99, seed])
            X, _, relevant = labels(rng, features(rng), 1)
            scaled = (X[:, :N_RELEVANT] - X[:, :N_RELEVANT].mean(axis=0)) / X[:, :N_RELEVANT].std(axis=0)
            y = 0.4 * scaled @ rng.choice([-1.0, 1.0], N_RELEVANT) + rng.normal(size=len(X))
            for program, lines in outcomes.items():
                start = time.process_time()
                found = program(X, y, seed)
                elapsed = time.process_time() - start
                false = (found & ~relevant).sum() / max(1, found.sum())
                lines.append((false, (found & relevant).sum() / relevant.sum(), elapsed))
        for program, lines in outcomes.items():
            rate, power, elapsed = np.mean(lines, axis=0)
            print(f"| {name} | {program.__name__.removeprefix('of_')} | {rate:.3f} | {power:.2f} | {elapsed:.2f} |", flush=True)


if __name__ == "__main__":
    command, *count = sys.argv[1:]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        commands = {"calibration": calibration, "stability": lambda *_: stability(), "peers": peers, "intervals": intervals}
        commands[command](*map(int, count or ["100"]))
