"""The quadratic program of MLQPFS on synthetic data, compared with solvers that need the whole matrix.

``python -m benchmarks.quadratic`` prints the parts of ``QuadraticSieve.fit`` (the streamed mean, then the solution from columns
counted as they are needed) and how long Clarabel, an interior-point solver, and accelerated projected gradient take for the
same program: with the dense matrix at hand (seconds), and from the data to the weights (ratios to ``fit``).
"""

import argparse
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import NEVER, Stopwatch, in_turns
from benchmarks.extrapolate import Estimate
from benchmarks.measure import single_threaded_blas
from benchmarks.table import number, print_table
from benchmarks.workloads import Workload, generate
from labelsieve import QuadraticSieve
from labelsieve.information import Codes, mutual_information
from labelsieve.selectors.quadratic import Redundancy

WORKLOADS = {
    1_000: Workload("q1", "1,000 features", 1700, 1_000, 53, 2, 50, 0.08, (0.005, 0.3)),
    4_000: Workload("q2", "4,000 features", 4000, 4_000, 53, 2, 50, 0.04, (0.005, 0.3)),
    30_000: Workload("q3", "30,000 features", 8000, 30_000, 30, 2, 50, 0.01, (0.005, 0.3)),
}
LARGEST_CLARABEL = 1_000  # features; larger programs are timed on the first ones and scaled: its factorization is cubic
LARGEST_GRADIENT = 4_000  # and its products square
CLOSE = 1e-6  # of the objective: when projected gradient may stop
TIGHT = 1e-8  # the default tol
LOOSE = 1e-3  # tol of fits whose objective is nearer than that: for comparisons at equal objectives


@dataclass(frozen=True)
class Program:
    """The published program with the matrix at hand."""

    matrix: np.ndarray
    relevance: np.ndarray
    alpha: float

    @classmethod
    def of(cls, x, y):
        matrix = mutual_information(x, base="bit")
        relevance = mutual_information(x, y, base="bit").mean(axis=1)
        return cls(matrix, relevance, matrix.mean() / (matrix.mean() + relevance.mean()))

    @property
    def quadratic(self):
        return (1 - self.alpha) * self.matrix


def clarabel(program):
    import clarabel as library

    d = len(program.relevance)
    settings = library.DefaultSettings()
    settings.verbose = False
    watch = Stopwatch()
    constraints = sp.vstack([np.ones((1, d)), -sp.eye(d)]).tocsc()
    cones = [library.ZeroConeT(1), library.NonnegativeConeT(d)]
    upper = sp.csc_matrix(np.triu(program.quadratic))
    linear, bounds = -program.alpha * program.relevance, np.r_[1.0, np.zeros(d)]
    solution = library.DefaultSolver(upper, linear, constraints, bounds, cones, settings).solve()
    return watch.lap(), solution.obj_val


def onto_simplex(point):
    """Projection onto the probability simplex."""
    falling = np.sort(point)[::-1]
    surplus = np.cumsum(falling) - 1
    last = np.flatnonzero(falling * np.arange(1, len(point) + 1) > surplus)[-1]
    return np.maximum(point - surplus[last] / (last + 1), 0)


def projected_gradient(program, best, most=20_000, *, optimal=False):
    """Accelerated, with steps of one over the largest eigenvalue, until the objective is that of ``best`` but for a millionth.

    Or until it is ``optimal``: until the conditions of Karush, Kuhn and Tucker hold as exactly as with the default ``tol``.
    """
    watch = Stopwatch()
    matrix, linear = program.quadratic, -program.alpha * program.relevance
    vector = np.ones(len(linear))
    for _ in range(30):
        vector = matrix @ (vector / np.linalg.norm(vector))
    step = 1 / (1.05 * np.linalg.norm(vector))
    weights = ahead = np.full(len(linear), 1 / len(linear))
    momentum = 1.0
    for _ in range(most):
        new = onto_simplex(ahead - step * (matrix @ ahead + linear))
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, weights, momentum = new + (momentum - 1) / faster * (new - weights), new, faster
        product = matrix @ weights
        attained = 0.5 * weights @ product + linear @ weights
        if optimal:
            gradient = product + linear
            scale = 0.5 * weights @ product - linear @ weights
            done = gradient[weights > 0].max() - gradient.min() <= TIGHT * scale
        else:
            done = attained <= best.objective_ + CLOSE * abs(best.objective_)
        if done:
            break
    return watch.lap(), attained


def parts(x, y, rounds):
    """Whole fits and their first part, the mean: best of some rounds."""
    calls = {"mean": lambda: Redundancy(Codes.from_values(x)).mean(), "fit": lambda: QuadraticSieve(discretizer=None).fit(x, y)}
    best, answers = in_turns(calls, rounds)
    return best, answers["fit"]


def against(x, y, largest, power, solve, tol, rounds):
    """Estimate of another solver's seconds, and its ratio to ``fit`` on as many features as it can take, from the data on."""
    d = min(x.shape[1], largest)
    best = QuadraticSieve(discretizer=None).fit(x[:, :d], y)
    fit = counting = solving = NEVER
    for _ in range(rounds):  # in turn, so that other load on the machine affects all of them
        watch = Stopwatch()
        sieve = QuadraticSieve(discretizer=None, tol=tol).fit(x[:, :d], y)
        fit = fit.best(watch.lap())
        program = Program.of(x[:, :d], y)
        counting = counting.best(watch.lap())
        lap, theirs = solve(program, best)
        solving = solving.best(lap)
    difference = (sieve.objective_ - theirs) / abs(theirs)
    estimate = Estimate(solving.cpu * (x.shape[1] / d) ** power, d < x.shape[1])
    return estimate, difference, (counting.cpu + solving.cpu) / fit.cpu


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quadratic", description=__doc__.splitlines()[0])
    parser.add_argument("--features", default="1000,4000,30000", help="comma-separated sizes")
    parser.add_argument("--repeat", type=int, default=2, help="rounds; the best run counts (default: 2)")
    options = parser.parse_args(arguments)
    with_clarabel = find_spec("clarabel") is not None
    if not with_clarabel:
        print("No comparison with Clarabel: it is not installed.")
    rows = []
    for d in map(int, options.features.split(",")):
        workload = WORKLOADS[d]
        x, y = generate(workload)
        best, sieve = parts(x, y, options.repeat)
        fit, mean = best["fit"].cpu, best["mean"].cpu
        cells = [number(fit), number(mean), number(fit - mean), str(np.count_nonzero(sieve.weights_)), str(sieve.n_iter_)]
        with single_threaded_blas():
            others = [(LARGEST_GRADIENT, 2, projected_gradient, LOOSE)]
            others += [(LARGEST_GRADIENT, 2, partial(projected_gradient, optimal=True), TIGHT)]
            others += [(LARGEST_CLARABEL, 3, lambda program, _: clarabel(program), TIGHT)] if with_clarabel else []
            for largest, power, solve, tol in others:
                estimate, difference, ratio = against(x, y, largest, power, solve, tol, options.repeat)
                cells += [
                    ("~" if estimate.extrapolated else "") + number(estimate.seconds),
                    number(ratio),
                    f"{difference:+.0e}",
                ]
        cells += ["-"] * (14 - len(cells))
        rows.append((workload.likeness, cells))
    columns = ["fit", "mean", "solution", "weights", "steps"]
    columns += ["gradient", "counted+gradient/fit", "objective"]
    columns += ["to optimality", "counted+it/fit", "objective"]
    columns += ["Clarabel", "counted+Clarabel/fit", "objective"]
    print_table("MLQPFS, seconds", columns, rows)


if __name__ == "__main__":
    main()
