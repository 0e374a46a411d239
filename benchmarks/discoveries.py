"""Calibration and power of MarginalDiscoveries on synthetic data with known associations, and on real data.

    python -m benchmarks.discoveries --folder build/discoveries    # all cases, 1,000 data sets each; resumes
    python -m benchmarks.discoveries --real                        # emotions, yeast and genbase

Every case stores its sums as JSON; a case that is complete is not run again. Prints a table in Markdown.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from labelsieve.selectors import MarginalDiscoveries

ALPHA = 0.1
N_ROWS, N_BLOCKS, BLOCK = 300, 12, 5
N_RELEVANT = 6  # features that labels depend on, in blocks of their own
MEASURES = ("feature_fdr", "label_fdr", "feature_power", "pair_power")


def make_case(kind, q, rng, real=None):
    """Features, labels, the mask of associated pairs, and options of ``fit``."""
    n = 2 * N_ROWS if kind == "rare" else N_ROWS
    latent = rng.normal(size=(n, N_BLOCKS * BLOCK))
    block = np.arange(N_BLOCKS * BLOCK) // BLOCK
    relevant = np.arange(N_RELEVANT) * BLOCK
    linked = (
        block[:, np.newaxis] == block[relevant] if kind == "correlated" else np.arange(len(block))[:, np.newaxis] == relevant
    )
    if kind == "correlated":
        latent = np.sqrt(0.5) * latent + np.sqrt(0.5) * rng.normal(size=(n, N_BLOCKS))[:, block]
    if kind == "yeast":
        rows = rng.permutation(len(real))[:n]
        order = rng.permutation(real.shape[1])
        latent, relevant = real[rows][:, order], np.arange(3)
        for column in relevant:  # independent of each other, so that a label is associated with its own features only
            latent[:, column] = rng.permutation(latent[:, column])
    weights = np.zeros((len(relevant), q))
    for feature in range(len(relevant)):  # every relevant feature acts on a fifth of the labels, on one at least
        weights[feature, rng.permutation(q)[: max(1, q // 5)]] = rng.choice([-1, 1])
    if kind == "none":
        weights[:] = 0
    options, shift = {}, 0.0
    if kind == "batches":
        batch = rng.integers(0, 3, size=n)
        latent, shift = latent + 0.7 * batch[:, np.newaxis], 0.7 * batch[:, np.newaxis]
        options["strata"] = batch
    if kind == "patients":  # three rows of each, alike in features and in labels
        patient = np.arange(n) // 3
        latent = np.sqrt(0.6) * rng.normal(size=(n, latent.shape[1]))[patient] + np.sqrt(0.4) * latent
        shift = rng.normal(size=(n, q))[patient]
        options["groups"] = patient
    noise = np.sqrt(0.5) * rng.normal(size=(n, 1)) + np.sqrt(0.5) * rng.normal(size=(n, q))  # correlated labels
    signal = latent[:, relevant] @ weights * (1.2 if kind == "rare" else 0.6)
    rate = 0.03 if kind == "rare" else 0.3
    values = signal + noise + shift
    Y = (values > np.quantile(values, 1 - rate, axis=0)).astype(int)
    X = latent
    if kind == "yeast":  # associated: what the labels were made from; other columns are shuffled, which keeps their values
        others = np.setdiff1d(np.arange(X.shape[1]), relevant)
        X[:, others] = X[rng.permutation(n)][:, others]
        linked = np.arange(X.shape[1])[:, np.newaxis] == relevant
    if kind == "binary":
        X = (X > 0.5).astype(int)
    if kind == "duplicated":
        X, linked = np.hstack([X, X]), np.vstack([linked, linked])
    return X, Y, linked.astype(float) @ np.abs(weights) > 0, options


def evaluate(kind, q, seed, real=None, **settings):
    """The false discovery proportions and the power on one data set."""
    rng = np.random.default_rng([seed, q, sum(map(ord, kind))])
    X, Y, associated, options = make_case(kind, q, rng, real)
    if options:
        settings = {"n_permutations": 1999, **settings}
    found = MarginalDiscoveries(alpha=ALPHA, **settings).fit(X, Y, **options)
    support, pairs, true = found.support_, found.pair_support_, associated.any(axis=1)
    false_labels = (pairs & ~associated).sum(axis=1)[support] / np.maximum(1, pairs.sum(axis=1)[support])
    return (
        (support & ~true).sum() / max(1, support.sum()),
        false_labels.mean() if support.any() else 0.0,
        (support & true).sum() / true.sum() if true.any() else np.nan,
        (pairs & associated).sum() / associated.sum() if associated.any() else np.nan,
    )


CASES = [
    *((kind, q) for kind in ("none", "independent", "correlated", "duplicated", "binary", "rare") for q in (1, 14, 159)),
    ("yeast", 14),
    ("batches", 14),
    ("patients", 14),
]


def run(folder, n_datasets, slow_datasets):
    """All cases, with the sums of every measure and of its square."""
    from labelsieve.datasets import load_or_fetch

    yeast = np.asarray(load_or_fetch("yeast").X)
    yeast = (yeast - yeast.mean(axis=0)) / yeast.std(axis=0)
    folder.mkdir(parents=True, exist_ok=True)
    for kind, q in CASES:
        wanted = slow_datasets if kind in ("batches", "patients") else n_datasets
        path = folder / f"{kind.replace(' ', '-')}-{q}.json"
        state = json.loads(path.read_text()) if path.exists() else {"done": 0, "values": [], "seconds": 0.0}
        while state["done"] < wanted:
            start = time.process_time()
            for _ in range(min(50, wanted - state["done"])):
                state["values"].append([float(value) for value in evaluate(kind, q, state["done"], yeast)])
                state["done"] += 1
            state["seconds"] += time.process_time() - start
            path.write_text(json.dumps(state))
        print(row_of(kind, q, state), flush=True)


def row_of(kind, q, state):
    """A row of the table: means, and standard errors of the error rates."""
    values = np.array(state["values"], dtype=float)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    mean = values.mean(axis=0)
    rates = " | ".join(f"{mean[k]:.3f} ± {error[k]:.3f}" for k in (0, 1))
    power = " | ".join("-" if np.isnan(mean[k]) else f"{mean[k]:.2f}" for k in (2, 3))
    return f"| {kind} | {q} | {len(values):,} | {rates} | {power} | {1000 * state['seconds'] / len(values):.0f} |"


def jaccard(first, second):
    """Of two masks; 1 for two empty ones."""
    union = (first | second).sum()
    return (first & second).sum() / union if union else 1.0


def run_real(n_seeds=20, n_shuffles=100):
    """Discoveries of real data with several seeds of permutations, on halves of the rows, and with shuffled labels."""
    from labelsieve.datasets import load_or_fetch

    print("| data set | features | pairs | Jaccard, seeds: features | pairs | Jaccard, halves | shuffled with a discovery |")
    for name in ("emotions", "yeast", "genbase"):
        data = load_or_fetch(name)
        X, Y = data.named_features(codes=True), np.asarray(data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y)
        X = X.to_numpy() if hasattr(X, "to_numpy") else X
        groups = np.arange(len(Y))  # groups of one row: every p-value is from permutations
        fits = [MarginalDiscoveries(random_state=seed, n_permutations=4999).fit(X, Y, groups=groups) for seed in range(5)]
        same = [
            (jaccard(a.support_, b.support_), jaccard(a.pair_support_, b.pair_support_))
            for a in fits
            for b in fits
            if a is not b
        ]
        whole, rng, halves, shuffled = MarginalDiscoveries().fit(X, Y), np.random.default_rng(0), [], 0
        for _ in range(n_seeds):
            rows = rng.permutation(len(Y))
            a, b = (MarginalDiscoveries().fit(X[part], Y[part]) for part in np.array_split(rows, 2))
            halves.append(jaccard(a.support_, b.support_))
        for _ in range(n_shuffles):
            shuffled += MarginalDiscoveries().fit(X, Y[rng.permutation(len(Y))]).support_.any()
        counts = f"{whole.support_.sum()} of {X.shape[1]} | {whole.pair_support_.sum()}"
        seeds = " | ".join(f"{value:.3f}" for value in np.mean(same, axis=0))
        print(f"| {name} | {counts} | {seeds} | {np.mean(halves):.2f} | {shuffled} of {n_shuffles} |", flush=True)


def main():
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("build/discoveries"))
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--slow-datasets", type=int, default=1000, help="with strata and groups, which need permutations")
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    if options.real:
        run_real()
    else:
        run(options.folder, options.datasets, options.slow_datasets)


if __name__ == "__main__":
    main()
