"""Label spaces that leave labels out or merge them state an error, and keep to it."""

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from labelsieve import InputError, Sieve
from labelsieve.cli import app
from labelsieve.information import entropy, mutual_information
from labelsieve.labelspace import Clusters, Frequent, Sampled


@pytest.fixture(scope="module")
def tags():
    """Labels with power-law frequencies that depend on the features, and on each other."""
    rng = np.random.default_rng(0)
    X = (rng.random((300, 12)) < 0.2).astype(np.uint8)
    Y = rng.random((300, 60)) < 0.6 / (1 + np.arange(60))
    Y[:, ::3] |= (X[:, np.arange(20) % 12] == 1) & (rng.random((300, 20)) < 0.2)
    Y[:, 40:50] &= Y[:, :10]
    return X, Y.astype(np.uint8)


def fit(space, X, Y, criterion="mim", **settings):
    return Sieve(criterion, targets=space, discretizer=None, n_features_to_select="all", **settings).fit(X, Y)


@pytest.mark.parametrize("min_count", [1, 8, 40])
def test_information_about_rare_labels_is_at_most_the_omitted_entropy(min_count, tags):
    X, Y = tags
    some, every = fit(Frequent(min_count=min_count), X, Y), fit("single", X, Y)
    rare = Y.sum(axis=0) < min_count
    assert some.omitted_entropy_ == pytest.approx(entropy(Y[:, rare]).sum() if rare.any() else 0.0)
    omitted = every.relevance_ - some.relevance_
    np.testing.assert_allclose(omitted, mutual_information(X, Y[:, rare]).sum(axis=1) if rare.any() else 0.0, atol=1e-9)
    assert (omitted >= -1e-9).all()
    assert (omitted <= some.omitted_entropy_ + 1e-9).all()


def test_information_within_clusters_is_at_most_the_omitted_entropy_larger(tags):
    X, Y = tags
    Y = Y[:, :20]
    merged = fit(Clusters(n_clusters=6), X, Y)
    centers = np.argsort(-Y.sum(axis=0), kind="stable")[:6]
    common = Y.T.astype(int) @ Y[:, centers]
    nearest = (common / np.sqrt(Y.sum(axis=0)[centers])).argmax(axis=1)
    nearest[centers] = np.arange(6)
    joint = np.column_stack(
        [np.unique(Y[:, nearest == cluster], axis=0, return_inverse=True)[1].ravel() for cluster in range(6)]
    )
    lost = mutual_information(X, joint).sum(axis=1) - merged.relevance_
    assert (lost >= -1e-9).all()
    assert (lost <= merged.omitted_entropy_ + 1e-9).all()
    assert merged.omitted_entropy_ < entropy(Y).sum()
    assert fit(Clusters(n_clusters=20), X, Y).omitted_entropy_ == pytest.approx(0.0, abs=1e-12)


def test_labels_far_from_all_centers_are_left_out_with_their_entropy():
    Y = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]])
    merged = fit(Clusters(n_clusters=1), Y, Y)
    given_center = 0.5 * entropy([0, 0, 1])[0]
    assert merged.omitted_entropy_ == pytest.approx(given_center + entropy(Y[:, 2])[0])


def test_the_stated_error_is_that_of_many_samples(tags):
    X, Y = tags
    every, n_samples = fit("single", X, Y).relevance_, 80
    samples = [fit(Sampled(n_labels=20, random_state=seed), X, Y) for seed in range(n_samples)]
    estimates, errors = (np.array([getattr(one, name) for one in samples]) for name in ("relevance_", "relevance_error_"))
    spread = np.std(3 * estimates, axis=0, ddof=1)
    np.testing.assert_array_less(np.abs((3 * estimates).mean(axis=0) - every), 3.5 * spread / np.sqrt(n_samples))
    ratio = (errors**2).mean(axis=0) / spread**2  # an unbiased estimate of the variance
    assert (np.abs(ratio - 1) < 0.35).all()
    assert abs(ratio.mean() - 1) < 0.1
    assert (fit(Sampled(n_labels=60), X, Y).relevance_error_ == 0).all()
    np.testing.assert_allclose(fit(Sampled(n_labels=60), X, Y).relevance_, every, atol=1e-12)
    assert np.isinf(fit(Sampled(n_labels=1), X, Y).relevance_error_).all()
    assert not hasattr(fit("single", X, Y), "relevance_error_")


@pytest.mark.parametrize("space", [Frequent(min_count=8), Sampled(n_labels=20), Clusters(n_clusters=6)])
def test_sparse_labels_have_the_same_selection_and_error(space, tags):
    dense, sparse = fit(space, *tags, "jmi"), fit(space, *map(sp.csr_array, tags), "jmi")
    np.testing.assert_array_equal(sparse.scores_, dense.scores_)
    for name in ("omitted_entropy_", "relevance_error_"):
        np.testing.assert_array_equal(getattr(sparse, name, None), getattr(dense, name, None))


def test_unusable_settings_are_refused(tags):
    with pytest.raises(InputError, match=r"no label has 1,000 rows; the most frequent one has \d+"):
        fit(Frequent(min_count=1000), *tags)
    for space in (Frequent(min_count=0), Sampled(n_labels=0), Clusters(n_clusters=0)):
        with pytest.raises(InputError, match="must be a whole number"):
            fit(space, *tags)
    with pytest.raises(InputError, match="target_weight is for single targets"):
        fit(Sampled(n_labels=20), *tags, target_weight=np.ones(60))


def test_spaces_have_parameters_on_the_command_line(tmp_path):
    rng = np.random.default_rng(0)
    table = (rng.random((40, 7)) < 0.4).astype(int)
    file = tmp_path / "tags.csv"
    np.savetxt(file, table, fmt="%d", delimiter=",", header="a,b,c,x,y,z,w", comments="")
    run = ["select", str(file), "--labels", "x,y,z,w", "-k", "2", "--codes", "--criterion", "jmi"]
    for text, space in (("sampled:n_labels=2", Sampled(n_labels=2)), ("clusters:n_clusters=3", Clusters(n_clusters=3))):
        result = CliRunner().invoke(app, [*run, "--targets", text, "--output", str(tmp_path / "saved.json")])
        assert result.exit_code == 0, result.output
        saved, expected = Sieve.from_json(tmp_path / "saved.json"), fit(space, table[:, :3], table[:, 3:], "jmi")
        assert str(saved.targets_) == str(space)
        np.testing.assert_array_equal(saved.scores_, expected.scores_[:2])
    for text, message in (("sampled:labels=2", "Invalid parameter"), ("sample:n_labels=2", "sampled")):
        result = CliRunner().invoke(app, [*run, "--targets", text])
        assert result.exit_code == 2
        assert message in result.output
