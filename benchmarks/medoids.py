"""Clustering of groups of labels by k-medoids, compared with the package ``kmedoids`` on a sample of the groups; real data.

Quick run: ``python -m benchmarks.medoids --datasets yeast,enron``.
"""

from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import timed
from benchmarks.labelspaces import DATASETS
from benchmarks.options import BenchmarkOptions, require_data, save
from benchmarks.shared_folder import real_dataset
from benchmarks.table import number, print_table
from labelsieve.labelspace import GroupRand, read_targets
from labelsieve.labelspace.group import MAX_ROWS, medoid_clusters


def deviation_of(labels, medoids):
    """Summed Hamming distance of the rows to the nearest medoid; the matrices are of zeros and ones."""
    return (labels @ (1 - medoids).T + (1 - labels) @ medoids.T).min(axis=1).sum(dtype=float)


def best_medoids(labels, clusters):
    """The rows with the smallest summed distance to the others of their cluster."""
    medoids = []
    for cluster in np.unique(clusters):
        rows = labels[clusters == cluster]
        medoids.append(rows[np.argmin(rows @ (len(rows) - 2 * rows.sum(axis=0)))])
    return np.array(medoids)


def package(labels, n_clusters, seed):
    """FasterPAM from a random start on a sample of the rows; the medoids."""
    import kmedoids

    rows = labels[np.random.default_rng(seed).permutation(len(labels))[:MAX_ROWS]]
    one_sided = rows @ (1 - rows).T
    distances = np.ascontiguousarray(one_sided + one_sided.T)
    return rows[kmedoids.fasterpam(distances, n_clusters, random_state=seed, n_cpu=1).medoids.astype(int)]


def measure(name, n_compared, rounds):
    Y = real_dataset(name)[0].Y
    Y = np.asarray(Y.toarray() if sp.issparse(Y) else Y)
    targets = read_targets(Y)
    groups = list(GroupRand().plan(targets, None, np.random.default_rng(0)))
    seconds, clusters = timed(lambda: medoid_clusters(targets, groups, None), rounds)
    ours = theirs = baseline = 0.0
    compared = range(0, len(groups), max(1, len(groups) // n_compared)) if find_spec("kmedoids") else ()
    for group in compared:
        columns, n_clusters = groups[group]
        labels = Y[:, columns].astype(np.float32)
        if len(np.unique(labels, axis=0)) <= n_clusters:
            continue
        time, medoids = timed(lambda labels=labels, k=n_clusters, seed=group: package(labels, k, seed), 1)
        baseline += time / len(compared) * len(groups)
        theirs += deviation_of(labels, medoids)
        ours += deviation_of(labels, best_medoids(labels, clusters[:, group]))
    return [len(groups), seconds, baseline or None, baseline / seconds if baseline else None, ours / theirs if theirs else None]


def main():
    parser = BenchmarkOptions("medoids", __doc__, DATASETS)
    parser.add_argument("--groups", type=int, default=10, help="number of groups that the package clusters")
    arguments = parser.read()
    require_data()
    if not find_spec("kmedoids"):
        print("No comparison with the package kmedoids: it is not installed.")
    rows = [(name, [*map(number, measure(name, arguments.groups, arguments.repeat))]) for name in arguments.names]
    save(arguments, rows)
    print_table("k-medoids, CPU seconds", ["groups", "ours", "~package", "package/ours", "deviation ours/package"], rows)


if __name__ == "__main__":
    main()
