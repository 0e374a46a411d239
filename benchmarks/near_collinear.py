"""How much variance a column must have left to be selected: thresholds and guards on development sets and spectra.

    python -m benchmarks.near_collinear [--splits 4] [--jobs 2] [--out FILE]
    python -m benchmarks.near_collinear --confirm [--jobs 2]

The protocol, fixed before the run. Features are selected on a random half of the rows by ``omp`` and by the default, and a
ridge regression (penalty by leave-one-out) of the first 5, 10 and 20 of them predicts the other half. The error is the root of
the share of the variation that is not predicted. Of all settings whose error on the development sets is on average (geometric
mean over sets, splits, sizes and both methods) at most 1 % larger than with the old threshold of 0.01 without a guard, the one
with the smallest error on spectra (the same mean) is chosen. It replaces the present setting if it is better on other spectra,
too (``--confirm``: made with six other seeds, two splits each).
"""

import argparse
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import RidgeCV

from benchmarks.shared_folder import shared_folder
from labelsieve import Sieve
from labelsieve.classifiers.prefix_scores import LearnerFeatures, scaled_rows
from labelsieve.datasets import fetch
from labelsieve.report.text import tables
from labelsieve.search import least_squares
from labelsieve.selection import explained as parts
from labelsieve.tables.problem import read

LABELS = ["emotions", "flags", "scene", "yeast", "image", "birds", "genbase", "CAL500", "medical", "enron", "languagelog"]
NUMERIC = ["andro", "slump", "edm", "atp1d", "atp7d", "oes10", "oes97", "enb", "jura", "wq", "scpf", "rf1", "scm20d"]
SPECTRA = ("tecator", "bands, noise 1e-4", "bands, noise 1e-6")
SETTINGS = ((0.01, 0.0), (1e-4, 10.0), (1e-6, 10.0), (1e-8, 0.0), (1e-8, 10.0), (1e-8, 16.0))  # least left, guard
SIZES = (5, 10, 20)


def spectra(noise: float, seed: int) -> tuple[Any, Any]:
    """Return 2,000 sums of 12 smooth bands at 300 channels, and the amounts of 4 of them as targets."""
    rng = np.random.default_rng(seed)
    centers, widths = rng.uniform(0, 1, 12), rng.uniform(0.05, 0.3, 12)
    bands = np.exp(-(((np.linspace(0, 1, 300) - centers[:, np.newaxis]) / widths[:, np.newaxis]) ** 2))
    amounts = rng.lognormal(0, 0.5, (2000, 12))
    return amounts @ bands + noise * rng.normal(size=(2000, 300)), amounts[:, :4]


def load(name: str) -> Any:
    if name.startswith("bands"):
        _, noise, *seed = name.replace(",", "").replace("noise ", "").split()
        return read(*spectra(float(noise), int(seed[0]) if seed else 0))
    data = fetch(name)
    return read(data.X, data.Y)


def errors(name: str, split: int) -> list[dict[str, Any]]:
    """The error of every setting, method and size on one split of a data set."""
    warnings.simplefilter("ignore")
    problem = load(name)
    n_rows = problem.targets.n_rows
    order = np.random.default_rng(split).permutation(n_rows)
    train, test = np.sort(order[: n_rows // 2]), np.sort(order[n_rows // 2 :])
    mask = np.zeros(n_rows, dtype=bool)
    mask[train] = True
    half = problem.take_rows(mask)
    targets = parts._Targets.of(problem.targets, np.ones(n_rows), np.random.RandomState(0))
    truth = np.where(np.isnan(targets.values), np.nanmean(targets.values[train], axis=0), targets.values)
    varies = truth[train].std(axis=0) > 0
    scaled = truth[:, varies] / truth[train][:, varies].std(axis=0) if targets.numeric.any() else truth[:, varies]
    center = scaled[train].mean(axis=0)
    whole = ((scaled[test] - center) ** 2).sum()
    found = []
    for least, guard in SETTINGS:
        least_squares.LEAST_LEFT, least_squares.GUARD = least, guard
        for method in ("omp", "hybrid"):
            chosen = Sieve(method, n_features_to_select=SIZES[-1]).fit(half).selected_
            for size in SIZES:
                columns, _ = LearnerFeatures(problem.features).columns(chosen[:size].tolist())
                X, Q = scaled_rows("standard", columns[train], columns[test])
                model = RidgeCV(np.logspace(-6, 4, 21)).fit(X, scaled[train])
                error = float(np.sqrt(((scaled[test] - model.predict(Q)) ** 2).sum() / whole))
                found.append(
                    {
                        "set": name,
                        "split": split,
                        "least": least,
                        "guard": guard,
                        "method": method,
                        "size": size,
                        "error": error,
                    }
                )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--confirm", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("LABELSIEVE_DATA", str(shared_folder("data")))
    names = [*LABELS, *NUMERIC, *SPECTRA]
    if options.confirm:
        names = [f"bands, noise {noise} {seed}" for noise in ("1e-4", "1e-6") for seed in range(1, 7)]
    cells = [(name, split) for name in names for split in range(2 if options.confirm else options.splits)]
    results = [row for rows in Parallel(options.jobs)(delayed(errors)(*cell) for cell in cells) for row in rows]
    if options.out is not None:
        options.out.write_text(json.dumps(results))
    logs = {(r["set"], r["split"], r["method"], r["size"], r["least"], r["guard"]): np.log(r["error"]) for r in results}

    def change(setting: tuple[float, float], some: Any) -> str:
        """Mean change of the error in percent, relative to the first setting."""
        ratios = [logs[key] - logs[(*key[:4], *SETTINGS[0])] for key in logs if key[4:] == setting and key[0] in some]
        return f"{100 * np.expm1(np.mean(ratios)):+.2f}"

    groups = {"labels": LABELS, "numeric": NUMERIC, "all": [*LABELS, *NUMERIC], "spectra": SPECTRA}
    groups |= {name: [name] for name in SPECTRA}
    if options.confirm:
        groups = {"all": names, "noise 1e-4": names[:6], "noise 1e-6": names[6:]}
    heads = ["least left, guard", *(f">{group}" for group in groups)]
    rows = [[f"{least:g}, {guard:g}", *(change((least, guard), some) for some in groups.values())] for least, guard in SETTINGS]
    print("change of the error in %")
    print(tables(heads, rows))
    print("by data set, for the last setting but one")
    print(tables(["set", ">change in %"], [[name, change((1e-8, 10.0), [name])] for name in names]))


if __name__ == "__main__":
    main()
