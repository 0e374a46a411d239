"""Groups of targets: sizes, clusters and randomness."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labelsieve import InputError, Sieve, core
from labelsieve.criteria.formulas import JMI
from labelsieve.datasets import load
from labelsieve.labelspace import Group, GroupAuto, GroupRand, read_targets
from labelsieve.labelspace.base import random_generator
from labelsieve.labelspace.group import linked_groups, normalized_information
from tests.support.shared_files import shared_file


def make_labels(seed, n_rows=120, n_labels=6):
    rng = np.random.default_rng(seed)
    kinds = rng.random((5, n_labels)) < 0.5
    Y = kinds[rng.integers(5, size=n_rows)] ^ (rng.random((n_rows, n_labels)) < 0.05)
    return Y.astype(int)


def clusters_of(Y, n_clusters, *, weights=None, target_type="auto", **settings):
    """The clusters of the group of all targets."""
    space = Group(pot=1.0, n_groups=1, n_clusters=n_clusters, **settings)
    return space.encode(read_targets(Y, target_type), weights).codes.column(0)


def loss(distances, medoids, weights=1.0):
    return (distances[:, medoids].min(axis=1) * weights).sum()


def best_medoids(distances, found, weights=1.0):
    """The best medoid of each cluster, given its members; a local optimum of exchanges has these."""
    sums = distances * np.broadcast_to(weights, len(distances))
    return [min(np.flatnonzero(found == c), key=lambda m: sums[m, found == c].sum()) for c in np.unique(found)]


def standardized(Y):
    return (Y - Y.mean(axis=0)) / Y.std(axis=0)


def differences(Y):
    return (Y[:, np.newaxis] != Y[np.newaxis]).sum(axis=2).astype(float)


def euclidean(Y):
    return np.linalg.norm(standardized(Y)[:, np.newaxis] - standardized(Y)[np.newaxis], axis=2)


def mixed_targets():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.integers(0, 2, 70), rng.integers(0, 3, 70), rng.normal(size=(70, 2))])


DATA = {
    "binary": (make_labels(1), "auto", differences),
    "categories": (np.random.default_rng(2).integers(0, 3, size=(90, 4)), "auto", differences),
    "real": (np.random.default_rng(3).normal(size=(80, 3)), "auto", euclidean),
    "mixed": (mixed_targets(), "auto", lambda Y: np.sqrt(differences(Y[:, :2]) + euclidean(Y[:, 2:]) ** 2)),
    "many labels": ((np.random.default_rng(4).random((60, 2300)) < 0.5).astype(int), "auto", differences),
}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("n_clusters", [1, 2, 5, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_in_the_cluster_of_their_nearest_medoid_and_no_exchange_is_better(kind, n_clusters, weighted):
    """The guarantee of k-medoids: no single exchange of a medoid improves the clusters."""
    Y, target_type, metric = DATA[kind]
    weights = np.random.default_rng(5).integers(1, 6, size=len(Y)) / 2 if weighted else np.ones(len(Y))
    if weighted and kind in ("real", "mixed"):
        metric = {"real": lambda Y: weighted_metric(Y, 0, weights), "mixed": lambda Y: weighted_metric(Y, 2, weights)}[kind]
    distances = metric(Y)
    found = clusters_of(Y, n_clusters, target_type=target_type, weights=weights if weighted else None)
    assert len(set(found)) == n_clusters
    medoids = best_medoids(distances, found, weights)
    ours = loss(distances, medoids, weights)
    assert (distances * weights[:, np.newaxis])[np.arange(len(Y)), np.array(medoids)[found]].sum() == pytest.approx(ours)
    for position in range(n_clusters):
        others = medoids[:position] + medoids[position + 1 :]
        nearest = distances[:, others].min(axis=1, initial=np.inf)
        exchanged = (np.minimum(nearest[:, np.newaxis], distances) * weights[:, np.newaxis]).sum(axis=0)
        # Real weights are rounded to 16 bits; both rows of a cluster of two are its best medoids, and other rows differ.
        rounded = weighted or kind == "many labels"
        assert exchanged.min() >= (ours * (1 - 1e-4) if rounded else ours - 1e-6)


def weighted_metric(Y, n_classes, weights):
    Z = Y[:, n_classes:]
    mean = np.average(Z, axis=0, weights=weights)
    Z = (Z - mean) / np.sqrt(np.average((Z - mean) ** 2, axis=0, weights=weights))
    squared = ((Z[:, np.newaxis] - Z[np.newaxis]) ** 2).sum(axis=2)
    return np.sqrt(squared + differences(Y[:, :n_classes]))


def test_no_more_clusters_than_distinct_labelsets():
    Y = np.array([[0, 1], [1, 0], [0, 1], [1, 1]])
    assert clusters_of(Y, 8).tolist() == [0, 1, 0, 2]


def test_rows_without_weight_do_not_matter():
    Y = make_labels(6)
    weights = np.ones(len(Y))
    weights[::3] = 0
    found = clusters_of(Y, 4, weights=weights)
    assert np.array_equal(found[weights > 0], clusters_of(Y[weights > 0], 4))
    distances = differences(Y)
    medoids = best_medoids(distances, found, weights)
    assert np.array_equal(distances[np.arange(len(Y)), np.array(medoids)[found]], distances[:, medoids].min(axis=1))


def many_labelsets(n_rows=4000, n_labels=80, seed=0):
    """Six planted clusters with few to many labels, so that some are far from the center, and noise in every row."""
    rng = np.random.default_rng(seed)
    centers = np.array([rng.permutation(n_labels) < size for size in (2, 4, 6, 25, 30, 35)])
    number = rng.integers(6, size=n_rows)
    return (centers[number] ^ (rng.random((n_rows, n_labels)) < 0.06)).astype(int), number


@pytest.mark.parametrize("max_rows", [300, 2500, 50_000])
def test_planted_clusters_are_found_among_many_labelsets(max_rows):
    """Of more than 1,280 labelsets not all are tried as medoids, and of more than ``max_rows`` not all are points."""
    Y, number = many_labelsets()
    found = clusters_of(Y, 6, max_rows=max_rows)
    agreement = max(np.mean(np.array(order)[found] == number) for order in permutations(range(6)))
    assert agreement > 0.99


@pytest.mark.parametrize(("n_rows", "max_rows"), [(800, 300), (800, 50_000), (1600, 50_000)])
def test_labelsets_without_clusters_have_a_deviation_as_low_as_that_of_the_package(n_rows, max_rows):
    """Of the package the mean over starts, each on a sample of as many rows. Of 1,600 rows, only some are tried as medoids."""
    kmedoids = pytest.importorskip("kmedoids", reason="the reference package kmedoids (GPL) is not installed")
    ours = theirs = 0.0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        Y = (rng.random((n_rows, 24)) < rng.random(24) * rng.random((n_rows, 1))).astype(int)
        distances = differences(Y)
        ours += loss(distances, best_medoids(distances, clusters_of(Y, 8, max_rows=max_rows)))
        for start in range(3):
            rows = rng.permutation(len(Y))[:max_rows]
            found = kmedoids.fasterpam(distances[np.ix_(rows, rows)], 8, random_state=start, n_cpu=1)
            theirs += loss(distances, rows[found.medoids.astype(int)]) / 3
    assert ours <= 1.005 * theirs


@pytest.mark.parametrize("data", ["emotions", "enron", "medical"])
def test_groups_have_a_deviation_as_low_as_that_of_the_package(data):
    """Summed over groups: a single group may end in another local optimum. Of the package, the mean over starts."""
    kmedoids = pytest.importorskip("kmedoids", reason="the reference package kmedoids (GPL) is not installed")
    Y = load(shared_file("data", data, f"{data}.arff.gz")).Y
    Y = np.asarray(Y.toarray() if sp.issparse(Y) else Y, dtype=int)[:900]
    targets, space = read_targets(Y), GroupRand(n_groups=8)
    groups = list(space.plan(targets, None, random_generator(0)))
    ours = theirs = 0.0
    for (columns, n_clusters), found in zip(groups, space.encode(targets).codes.to_dense().T, strict=True):
        distinct, first, number = np.unique(Y[:, columns], axis=0, return_index=True, return_inverse=True)
        if len(distinct) <= n_clusters:
            continue
        rows = np.sort(number.reshape(-1))
        distances = differences(distinct)[np.ix_(rows, rows)]
        ours += loss(distances, best_medoids(distances, found[first][rows]))
        starts = [kmedoids.fasterpam(distances, n_clusters, random_state=seed, n_cpu=1).loss for seed in range(3)]
        theirs += np.mean(starts)
    assert ours <= theirs


@pytest.mark.parametrize("space", [Group(n_clusters=4), GroupRand(max_rows=300)], ids=["group", "group-rand"])
def test_clusters_are_identical_for_any_number_of_threads(space):
    targets = read_targets(many_labelsets(n_labels=40)[0])
    one, three = (clone(space).set_params(n_jobs=n).encode(targets).codes.to_dense() for n in (1, 3))
    assert np.array_equal(one, three)


def test_a_selector_passes_its_number_of_threads(monkeypatch):
    seen = []
    cluster = core.cluster_labelsets
    monkeypatch.setattr(core, "cluster_labelsets", lambda *args: seen.append(args[-2]) or cluster(*args))
    X = np.random.default_rng(0).normal(size=(120, 4))
    for n_jobs in (None, 2):
        Sieve("group-jmi", n_features_to_select=2, n_jobs=n_jobs).fit(X, make_labels(5))
    assert seen == [1, 2]


def test_a_sample_finds_medoids_that_are_nearly_as_good():
    Y = many_labelsets(n_rows=1500, n_labels=24)[0]
    distances = differences(Y)
    whole, sampled = (loss(distances, best_medoids(distances, clusters_of(Y, 5, max_rows=n))) for n in (1500, 200))
    assert sampled < 1.1 * whole


def test_a_sample_of_weighted_rows_is_one_of_repeated_rows():
    Y = many_labelsets(n_rows=800)[0]
    times = np.random.default_rng(1).integers(1, 4, size=len(Y))
    weighted = clusters_of(Y, 5, weights=times.astype(float), max_rows=150)
    assert np.array_equal(np.repeat(weighted, times), clusters_of(np.repeat(Y, times, axis=0), 5, max_rows=150))


@pytest.mark.parametrize("space", [Group(n_clusters=4), GroupRand(), GroupAuto()], ids=lambda space: type(space).__name__)
class TestLaws:
    def test_one_seed_agrees_with_itself_and_a_clone(self, space):
        Y = read_targets(make_labels(5))
        one, two = space.encode(Y).codes.to_dense(), clone(space).encode(Y).codes.to_dense()
        assert np.array_equal(one, two)

    def test_another_seed_gives_other_groups_where_groups_are_random(self, space):
        Y = read_targets(make_labels(5))
        made = [clone(space).set_params(random_state=seed).encode(Y).codes for seed in (0, 1)]
        if isinstance(space, GroupAuto):  # its groups depend on the data, not on the seed
            assert made[0].n_columns == made[1].n_columns
        else:
            assert not np.array_equal(made[0].to_dense(), made[1].to_dense())

    def test_the_order_of_rows_does_not_matter(self, space):
        Y = make_labels(5)
        order = np.random.default_rng(0).permutation(len(Y))
        made, shuffled = (space.encode(read_targets(rows)).codes.to_dense() for rows in (Y, Y[order]))
        for one, other in zip(made.T, shuffled.T, strict=True):
            assert len(set(zip(one[order], other, strict=True))) == len(set(one)) == len(set(other))

    def test_whole_weights_are_repeated_rows(self, space):
        Y = make_labels(5)
        times = np.random.default_rng(1).integers(1, 4, size=len(Y))
        weighted = space.encode(read_targets(Y), times.astype(float)).codes.to_dense()
        repeated = space.encode(read_targets(np.repeat(Y, times, axis=0))).codes.to_dense()
        if not isinstance(space, GroupAuto):  # which depends on the number of rows
            assert np.array_equal(np.repeat(weighted, times, axis=0), repeated)

    def test_a_selection_is_repeatable(self, space):
        rng = np.random.default_rng(0)
        X, Y = rng.normal(size=(120, 6)), make_labels(5)
        X[:, 2] += Y[:, 0]
        one, two = (Sieve("jmi", targets=space, n_features_to_select=4).fit(X, Y) for _ in range(2))
        assert np.array_equal(one.selected_, two.selected_)
        assert np.array_equal(one.scores_, two.scores_)
        assert one.targets_ is space


@pytest.mark.parametrize(("pot", "size"), [(0.05, 1), (0.3, 6), (0.5, 10), (1.0, 20)])
def test_groups_are_of_the_papers_size(pot, size):
    """Section 3: 20 targets and PoT = 0.30 make 20 groups of 6."""
    targets = read_targets(make_labels(0, n_labels=20))
    groups = list(Group(pot=pot).plan(targets, None, np.random.default_rng(0)))
    assert len(groups) == 20
    assert all(len(set(columns.tolist())) == size and clusters == 8 for columns, clusters in groups)


def test_random_groups_are_within_the_papers_ranges():
    targets = read_targets(make_labels(0, n_labels=20))
    groups = list(GroupRand(n_groups=400).plan(targets, None, np.random.default_rng(0)))
    assert {len(columns) for columns, _ in groups} == set(range(5, 16))
    assert {clusters for _, clusters in groups} == set(range(4, 17))


def test_one_target_is_a_group():
    Y = np.array([[0], [1], [1]])
    for space in (Group(), GroupRand(), GroupAuto()):
        assert space.encode(read_targets(Y)).codes.column(0).tolist() == [0, 1, 1]


def test_targets_that_share_information_are_grouped():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, size=(3, 300))
    Y = np.column_stack([a, b, a ^ (rng.random(300) < 0.05), c, b, np.zeros(300, dtype=int)])
    assert linked_groups(normalized_information(read_targets(Y).classes, None), 0.3).tolist() == [0, 1, 0, 2, 1, 3]


def test_real_targets_are_grouped_without_bins():
    with np.load(shared_file("reference", "group_jmi_atp1d_seed0.npz"), allow_pickle=False) as file:
        X, Y = file["X_disc"], file["Y"]
    sieve = Sieve(JMI(), discretizer=None, targets=Group(n_clusters=8), target_type="numeric", n_features_to_select=5).fit(X, Y)
    made = Group(n_clusters=8).encode(read_targets(Y, "numeric"))
    assert set(made.codes.levels) == {8}
    same = Sieve(JMI(), discretizer=None, n_features_to_select=5).fit(X, made.codes.to_dense())
    assert np.array_equal(sieve.scores_, same.scores_)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (Group(pot=0), "pot must be a proportion"),
        (Group(pot="half"), "pot must be a proportion"),
        (Group(n_clusters=0), "n_clusters must be a whole number"),
        (Group(n_groups=0), "n_groups must be a whole number"),
        (Group(max_rows=1), "max_rows must be a whole number"),
        (GroupRand(pot=0.5), "pot must be a pair"),
        (GroupRand(n_clusters=(9, 4)), "n_clusters must be a pair of numbers, the smaller first"),
        (GroupAuto(shared=2), "shared must be between 0 and 1"),
    ],
)
def test_invalid_settings_are_refused(space, message):
    with pytest.raises(InputError, match=message):
        space.encode(read_targets(make_labels(0)))
