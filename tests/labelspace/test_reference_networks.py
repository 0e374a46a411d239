"""The authors' program on emotions: the same orders and the same parents."""

import numpy as np
import pytest

from labelsieve.information import conditional_mutual_information
from labelsieve.labelspace import NetworkRule
from labelsieve.labelspace.network_rule import principal_components, three_levels
from tests.support.arff_files import read_dense_arff
from tests.support.shared_files import shared_file

FILES = ["occ_emotions", "occ_emotions_fold1train"]
BITS = np.log(2)
# What the program was called with. kmax bounds the second term; 0 leaves it out.
ORDERS = {
    "order_dim1_kmax0": (1, False),
    "order_dim5_kmax0": (5, False),
    "order_dim1_kmaxq": (1, True),
    "order_dim1_kmax2": (1, True),
}
files = pytest.mark.parametrize("name", FILES)


def occ(name):
    with np.load(shared_file("reference", f"{name}.npz"), allow_pickle=False) as file:
        return dict(file)


@files
@pytest.mark.parametrize("setting", ORDERS)
def test_orders_are_the_same(name, setting):
    file = occ(name)
    n_components, second_term = ORDERS[setting]
    components = file["pc_disc"][:, :n_components] + 1
    network = NetworkRule("none", order="information", second_term=second_term).learn(components, file["Y"])
    assert network.order == tuple(file[setting])


@files
def test_label_pairs_share_the_same_information_given_a_component(name):
    file = occ(name)
    given = file["pc1_disc"][:, np.newaxis] + 1
    ours = conditional_mutual_information(file["Y"], file["Y"], given, base="bit")
    apart = ~np.eye(len(ours), dtype=bool)
    np.testing.assert_allclose(ours[apart], file["label_cmi_given_pc1_bits"][apart], rtol=0, atol=1e-12)


@files
@pytest.mark.parametrize("which", ["parents", "parents_small"])
def test_parents_are_the_same(name, which):
    file = occ(name)
    k = int(file[f"{which}_k"])
    network = NetworkRule(k=k, order=file["order_dim1_kmax0"]).learn(None, file["Y"])
    assert network.to_lists() == [[p for p in row if p >= 0] for row in file[which].tolist()]
    fraction = {"parents": 0.8, "parents_small": 1 / 3}[which]
    assert NetworkRule(k=fraction, order=file["order_dim1_kmax0"]).learn(None, file["Y"]) == network


def test_the_preset_finds_the_same_order_from_the_features():
    _, values = read_dense_arff(shared_file("data", "emotions", "emotions.arff.gz"))
    file = occ("occ_emotions")
    X, Y = values[:, :-6], values[:, -6:].astype(int)
    assert np.array_equal(Y, file["Y"])
    for factor in (0.5, 1.0):  # the program's and the paper's
        assert NetworkRule("none", factor=factor).learn(X, Y).order == tuple(file["order_dim1_kmax0"])
    components = principal_components(X, 5)
    np.testing.assert_allclose((components**2).sum(axis=0), file["pc_eigenvalues"], rtol=1e-9)
    codes = three_levels(components, factor=0.5).to_dense().astype(int) - 1
    for ours, theirs in zip(codes.T, file["pc_disc"].T, strict=True):
        # The sign of a component is arbitrary; theirs has edges rounded to three decimals.
        assert max((ours == theirs).mean(), (ours == -theirs).mean()) == 1
