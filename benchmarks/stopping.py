"""Stopping rules on synthetic data with known relevant features: precision and recall of the selected features.

``python -m benchmarks.stopping`` prints precision and recall for several numbers of rows and noise levels;
``--figure stopping.png`` draws them.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.clock import Stopwatch
from benchmarks.table import number, print_table
from labelsieve import Sieve
from labelsieve.datasets import make_feature_roles
from labelsieve.stopping import CrossValidated, GTest, Knee, PermutationTest, ScoreThreshold

RULES = {
    "threshold 0.3 of first": ScoreThreshold(0.3, relative=True, of="added"),
    "knee": Knee(),
    "G-test, each": GTest(),
    "G-test, all": GTest(given="all"),
    "permutation": PermutationTest(n_permutations=99),
    "cross-validation": CrossValidated(max_features=20),
    "10 features": 10,
}
ROWS = (100, 200, 500, 1000, 2000)
NOISE = (0.3, 1.0, 2.0)
RELEVANT = 6


def outcome(rule, criterion, n_rows, noise, copies, seed):
    """Precision and recall of the relevant features, and the number kept."""
    data = make_feature_roles(
        n_rows,
        n_labels=5,
        n_relevant=RELEVANT,
        n_noisy_copies=copies,
        n_xor_pairs=0,
        n_irrelevant=50,
        noise=noise,
        random_state=seed,
    )
    watch = Stopwatch()
    kept = Sieve(criterion, n_features_to_select=rule).fit(data.X, data.Y).selected_
    seconds = watch.lap().cpu
    right = len(set(kept) & set(data.columns("relevant")))
    return right / len(kept) if len(kept) else 1.0, right / RELEVANT, len(kept), seconds


def measure(options):
    """``results[rule][noise]``: an array of rows by (precision, recall, kept, seconds), means over the seeds."""
    results = {}
    for name, rule in RULES.items():
        results[name] = {
            noise: np.array(
                [
                    np.mean(
                        [outcome(rule, options.criterion, n, noise, options.copies, seed) for seed in range(options.repeat)], 0
                    )
                    for n in options.rows
                ]
            )
            for noise in NOISE
        }
    return results


def print_results(results, rows):
    for noise in NOISE:
        lines = []
        for name, by_noise in results.items():
            cells = [f"{precision:.2f} {recall:.2f} {kept:4.1f}" for precision, recall, kept, _ in by_noise[noise]]
            lines.append((name, [*cells, number(by_noise[noise][-1][3])]))
        print_table(f"noise {noise}: precision, recall, kept", [*(f"N = {n}" for n in rows), "seconds"], lines)
        print()


def draw(results, rows, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from labelsieve.report.figures import curves

    figure, axes = plt.subplots(2, len(NOISE), figsize=(6.3, 4.2), sharex=True, sharey=True, layout="constrained")
    for column, noise in enumerate(NOISE):
        for row, what in enumerate(("precision", "recall")):
            ax = axes[row, column]
            values = {name: by_noise[noise][:, row] for name, by_noise in results.items()}
            curves(rows, values, ax=ax, legend=False, ylabel=what if not column else "", xlabel="rows" if row else "")
            ax.set_xscale("log")
            ax.set_xticks(rows, [str(n) for n in rows])
            ax.minorticks_off()
            ax.set_ylim(-0.03, 1.05)
            if not row:
                ax.set_title(f"noise {noise}", fontsize=8)
    lines = axes[0, 0].get_lines()
    figure.legend(lines, list(results), loc="outside lower center", ncols=4, fontsize=7, frameon=False, handlelength=3)
    figure.savefig(path, dpi=150)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stopping", description=__doc__.splitlines()[0])
    parser.add_argument("--criterion", default="cmim", help="what ranks the features (default: cmim)")
    parser.add_argument("--repeat", type=int, default=10, help="data sets for each cell (default: 10)")
    parser.add_argument("--copies", type=int, default=0, help="noisy copies of relevant features, which count as wrong")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)), help="numbers of rows, with commas")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the results there")
    options = parser.parse_args(arguments)
    options.rows = tuple(map(int, options.rows.split(",")))
    results = measure(options)
    print_results(results, options.rows)
    if options.figure is not None:
        draw(results, options.rows, options.figure)


if __name__ == "__main__":
    main()
