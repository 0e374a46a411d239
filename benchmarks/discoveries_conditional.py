"""Conditional discoveries: other programs, reproducibility on real data, and intervals of information.

    python -m benchmarks.discoveries_conditional peers [DATA SETS PER CASE] [PROGRAMS]
    python -m benchmarks.discoveries_conditional large PROGRAM
    python -m benchmarks.discoveries_conditional stability [DATA SETS] [MOST SETS OF KNOCKOFFS] [SEEDS]
    python -m benchmarks.discoveries_conditional intervals [TABLES PER CASE]

``peers`` draws one set of knockoffs for one numeric target, for the data of :mod:`benchmarks.discoveries_calibration` and
several sizes of the coefficients; ``large`` takes 500 rows and 500 features. Programs: ours, knockpy, hidimstat (the last two
must be installed). All use the same data, and the time is CPU time of one thread.
"""

import sys
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.discoveries_calibration import ALPHA, N_RELEVANT, binary_chain, correlated
from labelsieve.datasets import fetch
from labelsieve.discoveries import e_q_values, information_intervals, knockoff_e_values, knockoff_threshold
from labelsieve.selectors import ConditionalDiscoveries


def ours(X, y, seed):
    return ConditionalDiscoveries(alpha=ALPHA, n_repeats=1, random_state=seed, n_jobs=1).fit(X, y).statistics_[0]


def knockpy(X, y, seed):
    from knockpy import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002 - it has no other seed
    model = KnockoffFilter(fstat="lasso", ksampler="gaussian")
    model.forward(X=X * 1.0, y=y, fdr=ALPHA)
    return np.asarray(model.W)


def hidimstat(X, y, seed):
    from hidimstat import ModelXKnockoff

    return np.asarray(ModelXKnockoff(random_state=seed).fit_importance(X * 1.0, y))[0]


PROGRAMS = {"ours": ours, "knockpy": knockpy, "hidimstat": hidimstat}


def numeric_target(rng, X, size):
    """A target that depends on some columns, and which they are."""
    relevant = np.isin(np.arange(X.shape[1]), rng.permutation(X.shape[1])[:N_RELEVANT])
    scaled = (X[:, relevant] - X[:, relevant].mean(axis=0)) / X[:, relevant].std(axis=0)
    return size * scaled @ rng.choice([-1.0, 1.0], N_RELEVANT) + rng.normal(size=len(X)), relevant


def quality(W, relevant):
    """False and relevant share of the filter's selection; relevant share of the longest list with a false share of ALPHA."""
    found = knockoff_threshold(W, ALPHA) <= W
    order = np.argsort(-W)[: np.count_nonzero(W > 0)]
    false = np.cumsum(~relevant[order]) / np.arange(1, len(order) + 1)
    allowed = np.flatnonzero(false <= ALPHA)
    longest = order[: allowed.max() + 1] if len(allowed) else order[:0]
    return (found & ~relevant).sum() / max(1, found.sum()), found[relevant].mean(), relevant[longest].sum() / relevant.sum()


def peers(n_sets="60", programs="ours,knockpy"):
    """Rate, power, power at an equal realized rate, and time of one set of knockoffs, for one numeric target."""
    chosen = {name: PROGRAMS[name] for name in programs.split(",")}
    print("| features | coefficient | program | false discovery rate | power | minus the first | at an equal rate | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name, features in (("binary chain", binary_chain), ("Gaussian, correlated 0.6", correlated)):
        for size in (0.25, 0.3, 0.4):
            outcomes = {program: [] for program in chosen}
            for seed in range(int(n_sets)):
                rng = np.random.default_rng([99, seed])
                X = features(rng)
                y, relevant = numeric_target(rng, X, size)
                for program, statistics in chosen.items():
                    start = time.process_time()
                    W = statistics(X, y, seed)
                    outcomes[program].append((*quality(W, relevant), time.process_time() - start))
            first = np.array(next(iter(outcomes.values())))[:, 1]
            for program, lines in outcomes.items():
                table = np.array(lines)
                table = np.column_stack([table[:, :2], table[:, 1] - first, table[:, 2:]])
                mean, error = table.mean(axis=0), table.std(axis=0) / np.sqrt(len(table))
                cells = " | ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(mean[:4], error[:4], strict=True))
                print(f"| {name} | {size} | {program} | {cells} | {mean[4]:.2f} |", flush=True)


def large(program):
    """CPU time for 500 rows and 500 features; ours with 20 sets of knockoffs, too."""
    rng = np.random.default_rng(0)
    for name in ("Gaussian", "binary"):
        X = rng.normal(size=(500, 500)) if name == "Gaussian" else (rng.random((500, 500)) < 0.3).astype(int)
        y, _ = numeric_target(rng, X, 0.4)
        for n_repeats in (1, 20) if program == "ours" else (1,):
            start = time.process_time()
            if program == "ours":
                ConditionalDiscoveries(n_repeats=n_repeats, n_jobs=1).fit(X, y)
            else:
                PROGRAMS[program](X, y, 0)
            print(f"{name}, {program}, {n_repeats} sets of knockoffs: {time.process_time() - start:.2f} s", flush=True)


def selected(W, alpha):
    return e_q_values(knockoff_e_values(W, alpha)) <= alpha


def stability(names="emotions,yeast,genbase", most="30", n_seeds="8", n_shuffled="5"):
    """Discoveries by seed and their Jaccard index, by level and number of knockoffs; discoveries of shuffled labels."""
    print("| data set | rate | sets of knockoffs | discoveries by seed | Jaccard index | shuffled labels |")
    print("|---|---|---|---|---|---|")
    for name in names.split(","):
        X, Y = (np.asarray(part.toarray() if hasattr(part, "toarray") else part) for part in fetch(name, return_X_y=True))
        fit = {"n_repeats": int(most), "n_jobs": 1}
        runs = [ConditionalDiscoveries(random_state=seed, **fit).fit(X, Y).statistics_ for seed in range(int(n_seeds))]
        rng, shuffled = np.random.default_rng(0), []
        for _ in range(int(n_shuffled)):
            shuffled.append(ConditionalDiscoveries(n_repeats=5, n_jobs=1).fit(X, Y[rng.permutation(len(Y))]).statistics_)
        for alpha in (0.1, 0.2, 0.3):
            nothing = [int(selected(W, alpha).sum()) for W in shuffled]
            for count in (number for number in (1, 3, 5, 10, 20, 30, 40, 100, 300) if number <= int(most)):
                found = [selected(W[:count], alpha) for W in runs]
                pairs = [(a & b).sum() / (a | b).sum() if (a | b).any() else 1 for i, a in enumerate(found) for b in found[:i]]
                index = f"{np.mean(pairs):.2f}" if any(one.any() for one in found) else "same (none)"
                print(f"| {name} | {alpha} | {count} | {[int(f.sum()) for f in found]} | {index} | {nothing} |", flush=True)


def intervals(n_sets="300"):
    """How often 90 % intervals of mutual information contain it, for tables of several sizes, by both methods."""
    print("| levels | rows | information (nats) | contained, asymptotic | bootstrap | median width, asymptotic | bootstrap |")
    print("|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for shape in ((2, 2), (5, 3)):
        for n_rows in (100, 500):
            for strength in (0.0, 0.3, 0.6, 1.5):
                cells = np.outer(rng.dirichlet(np.full(shape[0], 5.0)), rng.dirichlet(np.full(shape[1], 5.0)))
                cells *= np.exp(strength * rng.normal(size=shape))
                cells /= cells.sum()
                true = (cells * np.log(cells / np.outer(cells.sum(axis=1), cells.sum(axis=0)))).sum()
                hits, widths = np.zeros(2), []
                for _ in range(int(n_sets)):
                    x, y = np.divmod(rng.choice(cells.size, size=n_rows, p=cells.ravel()), shape[1])
                    found = [
                        information_intervals(
                            x[:, np.newaxis], y[:, np.newaxis], confidence=0.9, method=method, n_resamples=100, n_jobs=1
                        )
                        for method in ("asymptotic", "bootstrap")
                    ]
                    hits += [bool(one.lower[0, 0] <= true + 1e-9 and true - 1e-9 <= one.upper[0, 0]) for one in found]
                    widths.append([one.upper[0, 0] - one.lower[0, 0] for one in found])
                size = f"{shape[0]} x {shape[1]} | {n_rows} | {max(true, 0):.4f}"
                shares, (plain, resampled) = hits / int(n_sets), np.median(widths, axis=0)
                print(f"| {size} | {shares[0]:.3f} | {shares[1]:.3f} | {plain:.3f} | {resampled:.3f} |", flush=True)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        {"stability": stability, "peers": peers, "large": large, "intervals": intervals}[command](*arguments)
