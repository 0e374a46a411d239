"""The quadratic program of MLQPFS on synthetic data, compared with solvers that need the whole matrix.

``python -m benchmarks.quadratic`` prints the parts of ``QuadraticSieve.fit`` (the streamed mean, then the solution from columns
counted as they are needed) and how long Clarabel, an interior-point solver, and accelerated projected gradient take for the
same program: with the dense matrix at hand (seconds), and counting it too (ratios to ours, which counts what it needs).
"""

import argparse
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import NEVER, Stopwatch, timed
from benchmarks.extrapolate import Estimate
from benchmarks.measure import single_threaded_blas
from benchmarks.table import number, print_table
from benchmarks.workloads import Workload, generate
from labelsieve import QuadraticSieve
from labelsieve.information import Codes, mutual_information
from labelsieve.search import QuadraticProgram
from labelsieve.search.redundancy_matrix import Redundancy

WORKLOADS = {
    1_000: Workload("q1", "1,000 features", 1700, 1_000, 53, 2, 50, 0.08, (0.005, 0.3)),
    4_000: Workload("q2", "4,000 features", 4000, 4_000, 53, 2, 50, 0.04, (0.005, 0.3)),
    30_000: Workload("q3", "30,000 features", 8000, 30_000, 30, 2, 50, 0.01, (0.005, 0.3)),
}
LARGEST_CLARABEL = 1_000  # features; larger programs are timed on the first ones and scaled: its factorization is cubic
LARGEST_GRADIENT = 4_000  # and its products square
CLOSE = 1e-6  # of the objective: when projected gradient may stop


@dataclass(frozen=True)
class Program:
    """The published program with the matrix at hand, shifted so far that it is convex."""

    matrix: np.ndarray
    relevance: np.ndarray
    alpha: float
    shift: float
    counting: float  # seconds that the matrix took

    @classmethod
    def of(cls, x, y):
        counting, matrix = timed(lambda: mutual_information(x, base="bit"), 2)
        relevance = mutual_information(x, y, base="bit").mean(axis=1)
        lowest = np.linalg.eigvalsh(matrix)[0]
        alpha = matrix.mean() / (matrix.mean() + relevance.mean())
        return cls(matrix, relevance, alpha, max(0.0, -1.001 * lowest), counting)

    @property
    def quadratic(self):
        return (1 - self.alpha) * (self.matrix + self.shift * np.eye(len(self.matrix)))

    def objective(self, weights):
        return 0.5 * weights @ self.quadratic @ weights - self.alpha * self.relevance @ weights


def ours(x, program):
    """Counted and solved; CPU time and what it attained."""

    def solve():
        found = QuadraticProgram(Redundancy(Codes.from_values(x)), program.relevance, program.alpha, program.shift)
        found.solve()
        return found.objective

    return timed(solve, 2)


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


def projected_gradient(program, goal, most=20_000):
    """Accelerated, with steps of one over the largest eigenvalue, until the objective is as low as ``goal``."""
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
        attained = 0.5 * weights @ (matrix @ weights) + linear @ weights
        if attained <= goal + CLOSE * abs(goal):
            break
    return watch.lap(), attained


def parts(x, y, rounds):
    """Whole fits and their first part, the mean: best of some rounds."""
    best = {"mean": NEVER, "fit": NEVER}
    sieve = None
    for _ in range(rounds):
        watch = Stopwatch()
        Redundancy(Codes.from_values(x)).mean()
        best["mean"] = best["mean"].best(watch.lap())
        sieve = QuadraticSieve(discretizer=None).fit(x, y)
        best["fit"] = best["fit"].best(watch.lap())
    return best, np.count_nonzero(sieve.weights_), sieve.n_iter_


def against(x, y, largest, power, solve):
    """Ours, and an estimate of another solver's seconds, on as many features as it can take."""
    d = min(x.shape[1], largest)
    program = Program.of(x[:, :d], y)
    own, attained = ours(x[:, :d], program)
    other, theirs = solve(program, attained)
    seconds = other.cpu * (x.shape[1] / d) ** power
    return Estimate(seconds, d < x.shape[1]), (attained - theirs) / abs(theirs), (program.counting + other.cpu) / own


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
        best, n_weights, steps = parts(x, y, options.repeat)
        fit, mean = best["fit"].cpu, best["mean"].cpu
        cells = [number(fit), number(mean), number(fit - mean), str(n_weights), str(steps)]
        with single_threaded_blas():
            others = [(LARGEST_GRADIENT, 2, projected_gradient)]
            others += [(LARGEST_CLARABEL, 3, lambda program, _: clarabel(program))] if with_clarabel else []
            for largest, power, solve in others:
                estimate, difference, ratio = against(x, y, largest, power, solve)
                cells += [
                    ("~" if estimate.extrapolated else "") + number(estimate.seconds),
                    number(ratio),
                    f"{difference:+.0e}",
                ]
        cells += ["-"] * (11 - len(cells))
        rows.append((workload.likeness, cells))
    columns = ["fit", "mean", "solution", "weights", "steps"]
    columns += ["gradient", "counted+gradient/ours", "objective"]
    columns += ["Clarabel", "counted+Clarabel/ours", "objective"]
    print_table("MLQPFS, seconds", columns, rows)


if __name__ == "__main__":
    main()
