"""Groups of targets: sizes, clusters and randomness."""

import builtins

import numpy as np
import pytest
from sklearn.base import clone

from labelsieve import InputError, Sieve
from labelsieve.criteria.relevance import JMI
from labelsieve.labelspace import Group, GroupAuto, GroupRand, read_targets
from labelsieve.labelspace.group_auto import linked_groups, normalized_information
from labelsieve.labelspace.labelset_clusters import distinct_labelsets, medoid_clusters
from tests.support.shared_files import shared_file


def make_labels(seed, n_rows=120, n_labels=6):
    rng = np.random.default_rng(seed)
    kinds = rng.random((5, n_labels)) < 0.5
    Y = kinds[rng.integers(5, size=n_rows)] ^ (rng.random((n_rows, n_labels)) < 0.05)
    return Y.astype(int)


def hamming(a, b):
    return int(np.sum(a != b))


def clusters_of(Y, n_clusters, *, seed=0, max_rows=2500, weights=None, target_type="auto"):
    targets = read_targets(Y, target_type)
    rows = distinct_labelsets(targets.classes.to_dense(), targets, np.arange(targets.n_columns), weights)
    return medoid_clusters(rows, n_clusters, np.random.default_rng(seed), max_rows)


def loss(distances, medoids):
    return distances[:, medoids].min(axis=1).sum()


def standardized(Y):
    return (Y - Y.mean(axis=0)) / Y.std(axis=0)


DATA = {
    "binary": (make_labels(1), "auto", lambda Y: (Y[:, np.newaxis] != Y[np.newaxis]).sum(axis=2)),
    "categories": (
        np.random.default_rng(2).integers(0, 3, size=(90, 4)),
        "auto",
        lambda Y: (Y[:, np.newaxis] != Y[np.newaxis]).sum(axis=2),
    ),
    "real": (
        np.random.default_rng(3).normal(size=(80, 3)),
        "auto",
        lambda Y: np.linalg.norm(standardized(Y)[:, np.newaxis] - standardized(Y)[np.newaxis], axis=2),
    ),
}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("n_clusters", [2, 5])
def test_rows_are_in_the_cluster_of_their_nearest_medoid_and_no_swap_is_better(kind, n_clusters):
    """The guarantee of k-medoids: no single exchange of a medoid improves the clusters."""
    Y, target_type, metric = DATA[kind]
    distances = metric(Y).astype(float)
    found = clusters_of(Y, n_clusters, target_type=target_type)
    assert len(set(found)) == n_clusters
    # The best medoid of each cluster, given its members; a local optimum of exchanges has these.
    medoids = [min(np.flatnonzero(found == c), key=lambda m: distances[found == c, m].sum()) for c in range(n_clusters)]
    ours = loss(distances, medoids)
    for position in range(n_clusters):
        for other in range(len(Y)):
            exchanged = [*medoids[:position], other, *medoids[position + 1 :]]
            assert loss(distances, exchanged) >= ours - 1e-6


def test_mixed_targets_are_the_root_of_hamming_plus_squared_euclid():
    rng = np.random.default_rng(0)
    Y = np.column_stack([rng.integers(0, 2, 40), rng.integers(0, 3, 40), rng.normal(size=40)])
    targets = read_targets(Y)
    rows = distinct_labelsets(targets.classes.to_dense(), targets, np.arange(3), None)
    every = np.arange(len(rows.counts))
    distances = rows.distances(every, every)
    z = standardized(Y[:, 2])
    for a in range(0, 40, 7):
        for b in range(40):
            expected = np.sqrt(hamming(Y[a, :2], Y[b, :2]) + (z[a] - z[b]) ** 2)
            assert distances[rows.number[a], rows.number[b]] == pytest.approx(expected, abs=1e-6)


def test_no_more_clusters_than_distinct_labelsets():
    Y = np.array([[0, 1], [1, 0], [0, 1], [1, 1]])
    assert clusters_of(Y, 8).tolist() == [0, 1, 0, 2]


def test_a_sample_finds_medoids_that_are_nearly_as_good():
    Y = make_labels(4, n_rows=3000)
    distances = (Y[:, np.newaxis] != Y[np.newaxis]).sum(axis=2)
    whole, sampled = clusters_of(Y, 5, max_rows=3000), clusters_of(Y, 5, max_rows=200)
    spread = [sum(distances[np.ix_(found == c, found == c)].mean() for c in range(5)) for found in (whole, sampled)]
    assert len(sampled) == 3000
    assert spread[1] < 1.2 * spread[0]


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


def test_a_missing_package_is_named_with_its_remedy(monkeypatch):
    load = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "kmedoids":
            raise ImportError(name)
        return load(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install labelsieve\[group\]"):
        Group(n_clusters=2).encode(read_targets(make_labels(0)))
