"""The explained share, the marks and the automatic size against the truth, on tables with planted answers.

    python -m benchmarks.explained --tables 200 [--kinds "xor;rare"] [--out FOLDER]

For every table the selector selects 12 features. The truth of a size is what the same predictor, fitted on all rows of the
table with the features shown, explains in 3,000 fresh rows. Printed are, for every kind: bias and spread of the estimate at the
planted size, the share of tables within two errors, the share of tables in which some noise row is marked as signal, the share
of planted rows that are marked, the size that "auto" chooses, and its regret: how much less it explains in the fresh rows than
the best size. Finished tables are kept in FOLDER, one line each, so that a run can be stopped and continued.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve import Sieve
from labelsieve.discoveries import row_tests_of
from labelsieve.report.text import tables as text_table
from labelsieve.selection import explained as parts
from labelsieve.tables.problem import read

Real = NDArray[np.float64]
FRESH, MOST = 3000, 12


def sigmoid(x: Real) -> Real:
    return 1 / (1 + np.exp(-x))


def labels(rng: np.random.Generator, logits: Real) -> Real:
    return (rng.random(logits.shape) < sigmoid(logits)).astype(float)


def noise(rows: int, columns: int, rate: float = 0.5) -> Callable[[np.random.Generator, int], Any]:
    def make(rng: np.random.Generator, n: int) -> Any:
        return rng.normal(size=(n, columns)), (rng.random((n, 3)) < rate).astype(float), []

    make.rows = rows  # type: ignore[attr-defined]
    return make


def planted(rows: int) -> Any:
    def keep(function: Any) -> Any:
        function.rows = rows
        return function

    return keep


@planted(300)
def linear(rng: np.random.Generator, n: int) -> Any:
    X = rng.normal(size=(n, 50))
    return X, labels(rng, 2 * X[:, :3] + X[:, [3, 3, 4]]), [0, 1, 2, 3, 4]


@planted(500)
def weak(rng: np.random.Generator, n: int) -> Any:
    X = rng.normal(size=(n, 100))
    effects = np.log([1.4, 1.5, 1.6, 1.8, 2.0, 2.2])
    return (
        X,
        labels(rng, np.column_stack([X[:, :6] @ effects, X[:, :3] @ effects[3:], X[:, 3:6] @ effects[:3]])),
        list(range(6)),
    )


@planted(400)
def xor(rng: np.random.Generator, n: int) -> Any:
    X = rng.normal(size=(n, 50))
    both = 3 * np.sign(X[:, 0] * X[:, 1]) + 0.8 * X[:, 0]
    return X, labels(rng, np.column_stack([both, both, 1.5 * X[:, 1]])), [0, 1]


@planted(300)
def copies(rng: np.random.Generator, n: int) -> Any:
    X = rng.normal(size=(n, 50))
    X[:, 3:18] = X[:, np.arange(15) % 3]
    return X, labels(rng, 2 * X[:, :3]), [0, 1, 2]


@planted(400)
def chain(rng: np.random.Generator, n: int) -> Any:
    X = rng.normal(size=(n, 50))
    for column in range(1, 9):
        X[:, column] = X[:, column - 1] + 0.5 * rng.normal(size=n)
    return X, labels(rng, 2 * X[:, [0, 0, 0]]), [0]


@planted(500)
def rare(rng: np.random.Generator, n: int) -> Any:
    X = rng.normal(size=(n, 60))
    return X, labels(rng, 2.2 * X[:, :8] - 5), list(range(8))


@planted(400)
def skewed(rng: np.random.Generator, n: int) -> Any:
    X = rng.normal(size=(n, 50))
    return X, np.exp(X[:, [0, 1]] + 0.5 * X[:, [2, 3]] + 0.5 * rng.normal(size=(n, 2))), [0, 1, 2, 3]


@planted(400)
def dominant(rng: np.random.Generator, n: int) -> Any:
    X = rng.normal(size=(n, 50))
    return X, 3 * X[:, [0]] + X[:, 1:3] * 0.5 + 0.8 * rng.normal(size=(n, 2)), [0, 1, 2]


KINDS: dict[str, Any] = {
    "noise 60 x 5,000": noise(60, 5000),
    "noise 500 x 50": noise(500, 50),
    "noise, rare labels": noise(500, 50, 0.03),
    "linear": linear,
    "weak": weak,
    "xor": xor,
    "copies": copies,
    "chain": chain,
    "rare": rare,
    "skewed": skewed,
    "dominant": dominant,
}


def truth(X: Real, Y: Real, fresh: tuple[Real, Real], chosen: NDArray[np.intp], lists: tuple[NDArray[np.intp], ...]) -> Real:
    """What the predictor explains in fresh rows, fitted on all rows of the table with these features, for every size.

    The weights of its parts come from the folds of the table with their own ``lists``, as they would for a user.
    """
    n, sizes = len(X), np.arange(1, len(chosen) + 1)
    problem = read(np.vstack([X, fresh[0]]), np.vstack([Y, fresh[1]]), target_type="numeric" if (Y % 1).any() else "class")
    weights = np.ones(n + FRESH)
    random = np.random.RandomState(0)
    targets = parts._Targets.of(problem.targets, weights, random)
    splits = [*parts._folds(read(X, Y), None, random), (np.arange(n), np.arange(n, n + FRESH))]
    curve = parts.prefix_curve(problem, targets, weights, [*lists, chosen], splits, sizes)
    return np.array([saved[-FRESH:].sum() for saved in curve.rows]) / curve.row_losses[-FRESH:].sum()


def one_table(kind: str, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    make = KINDS[kind]
    X, Y, wanted = make(rng, make.rows)
    fresh = make(rng, FRESH)[:2]
    problem = read(X, Y)
    sieve = Sieve(n_features_to_select=MOST).fit(problem)
    found = parts.explained_share(sieve, problem, n_features=MOST)
    marks = row_tests_of(problem, sieve.selected_, n_candidates=X.shape[1]).signal
    # Of copies, whichever was selected first stands for the planted feature.
    same = {j: next((p for p in wanted if np.array_equal(X[:, j], X[:, p])), None) for j in sieve.selected_.tolist()}
    first = [
        same[j] is not None and same[j] not in [same[i] for i in sieve.selected_.tolist()[:at]] for at, j in enumerate(same)
    ]
    return {
        "explained": found.explained.tolist(),
        "errors": found.errors.tolist(),
        "truth": truth(X, Y, fresh, sieve.selected_, found.lists).tolist(),
        "size": found.choose(),
        "planted": first,
        "marks": marks.tolist(),
        "n_planted": len(wanted),
        "all": found.all_features,
    }


def summary(kind: str, tables: list[dict[str, Any]]) -> list[str]:
    at = max(0, min(MOST, tables[0]["n_planted"] or 3) - 1)
    off = np.array([each["explained"][at] - each["truth"][at] for each in tables])
    within = np.mean([abs(value) <= 2 * each["errors"][at] for value, each in zip(off, tables, strict=True)])
    noise_kind = kind.startswith("chain")  # weaker copies carry a little signal, so a mark of them is no error
    false = np.mean([any(m and not p for m, p in zip(each["marks"], each["planted"], strict=True)) for each in tables])
    right = [m for each in tables for m, p in zip(each["marks"], each["planted"], strict=True) if p]
    sizes = [each["size"] for each in tables]
    regret = [max(0.0, *each["truth"]) - ([0.0, *each["truth"]][each["size"]]) for each in tables]
    return [
        kind,
        str(len(tables)),
        f"{np.mean([each['truth'][at] for each in tables]):.3f}",
        f"{off.mean():+.3f} ({off.std():.3f})",
        f"{within:.2f}",
        "-" if noise_kind else f"{false:.3f}",
        f"{np.mean(right):.2f}" if right else "-",
        f"{np.mean(sizes):.1f}" + ("" if tables[0]["n_planted"] else f" ({np.mean(np.array(sizes) == 0):.2f} are 0)"),
        f"{100 * np.mean(regret):.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for kind in [name for name in KINDS if not options.kinds or name in options.kinds.split(";")]:
        file = None if options.out is None else options.out / f"{kind.replace(' ', '_')}.jsonl"
        tables = [json.loads(line) for line in file.read_text().splitlines()] if file is not None and file.exists() else []
        for seed in range(len(tables), options.tables):
            tables.append(one_table(kind, seed))
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("a") as lines:
                    lines.write(json.dumps(tables[-1]) + "\n")
        rows.append(summary(kind, tables[: options.tables]))
    heads = [
        "kind",
        ">tables",
        ">truth",
        ">bias (sd)",
        ">within 2 errors",
        ">any false mark",
        ">planted marked",
        ">size",
        ">regret, points",
    ]
    print(text_table(heads, rows))


if __name__ == "__main__":
    main()
