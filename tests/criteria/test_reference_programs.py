"""What other people's programs answer on the same input: the same orders, the same scores, or a difference with its reason."""

import json

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.criteria import CMIM, JMI, LSMFS, MIFS, MLSMFS, PMU, BetaGamma
from tests.support.arff_files import read_dense_arff
from tests.support.shared_files import shared_file

BITS = np.log(2)


def fit(criterion, X, Y, n_features, **parameters):
    return Sieve(criterion, discretizer=None, target_type="class", n_features_to_select=n_features, **parameters).fit(X, Y)


# ------------------------------------------------------------- FEAST, in C: single-label criteria, each label and the powerset

FEAST = {
    "MIM": "mim",
    "JMI": "jmi",
    "CMIM": CMIM(with_relevance=True),  # its minimum includes I(f; y)
    "mRMR": "mrmr",
    "ICAP": "icap",
    "DISR": "disr",
    "MIFS_beta1": MIFS(1.0),
    "MIFS_beta0.5": MIFS(0.5),
    "CIFE": "cife",
    "CondRed": "condred",
    "BetaGamma_0.3_0.2": BetaGamma(0.3, 0.2),
}
N_LABELS = 6
problems = pytest.mark.parametrize("label", [*range(N_LABELS), "powerset"])


def feast(name, label):
    """Codes, target, order and scores in bits."""
    with np.load(shared_file("reference", "feast_emotions_eqw5.npz"), allow_pickle=False) as file:
        if label == "powerset":
            return file["X_disc"], file["Y_powerset"], file[f"LP_{name}_order"], file[f"LP_{name}_score"]
        return file["X_disc"], file["Y"][:, label], file[f"{name}_order"][label], file[f"{name}_score"][label]


@problems
@pytest.mark.parametrize("name", FEAST)
def test_feast_chooses_the_same_with_the_same_scores(name, label):
    X, target, order, scores = feast(name, label)
    sieve = fit(FEAST[name], X, target, len(order))
    ours = sieve.scores_ / BITS
    if name == "DISR":  # a ratio has no unit, but the first score is an information
        ours[1:] = sieve.scores_[1:]
    assert sieve.selected_.tolist() == order.tolist()
    np.testing.assert_allclose(ours, scores, rtol=0, atol=1e-10)


@problems
def test_feast_conditional_information_is_the_same_until_nothing_is_left_to_learn(label):
    """FEAST writes -1 for an order from there on. Where many features distinguish the last rows, it takes any."""
    X, target, order, scores = feast("CondMI", label)
    n_steps = int(np.argmax(order < 0))
    assert 5 < n_steps < len(order)
    sieve = fit("cmi", X, target, n_steps)
    np.testing.assert_allclose(sieve.scores_ / BITS, scores[:n_steps], rtol=0, atol=1e-10)
    assert sieve.selected_[:-1].tolist() == order[: n_steps - 1].tolist()
    theirs = fit("cmi", X, target, n_steps + 1, forced=order[:n_steps].tolist())
    assert theirs.scores_[n_steps - 1] == sieve.scores_[-1], "not a tie"
    assert sieve.selected_[-1] <= order[n_steps - 1], "ties go to the lowest column"
    assert theirs.scores_[-1] == pytest.approx(0, abs=1e-12), "there was more to learn"


# ------------------------------------------------------------- Group-JMI, in Matlab: JMI for single, joint and grouped targets


def group_jmi(data):
    with np.load(shared_file("reference", f"group_jmi_{data}_seed0.npz"), allow_pickle=False) as file:
        return dict(file)


@pytest.mark.parametrize("data", ["emotions", "atp1d"])
@pytest.mark.parametrize(
    ("space", "given", "targets"),
    [
        ("single", "Y_single", "single"),
        ("joint", "Y_joint", "single"),
        ("joint", "Y_single", "joint"),
        ("group", "Y_tilde", "single"),
    ],
)
def test_group_jmi_chooses_the_same_with_the_same_scores(data, space, given, targets):
    file = group_jmi(data)
    order, scores = file[f"selected_{space}_jmi"], file[f"scores_{space}_jmi_nats"]
    sieve = fit("jmi", file["X_disc"], file[given], len(order), targets=targets)
    assert sieve.selected_.tolist() == order.tolist()
    np.testing.assert_allclose(sieve.scores_, scores[np.arange(len(order)), order], rtol=0, atol=1e-9)


@pytest.mark.parametrize("data", ["emotions", "atp1d"])
def test_the_published_group_jmi_is_the_normalized_one(data):
    """It divides natural logarithms by entropies in bits, so its scores are ours times log 2; constants it scores nan."""
    file = group_jmi(data)
    order, scores = file["selected_normalised"], file["score_normalised_natlog_over_bits"]
    sieve = fit(JMI(normalized=True), file["X_disc"], file["Y_tilde"], len(order))
    np.testing.assert_allclose(sieve.scores_ * BITS, scores, rtol=0, atol=1e-9)
    assert sieve.selected_.tolist() == order.tolist()
    first = fit(JMI(normalized=True), file["X_disc"], file["Y_tilde"], 1)
    assert first.selected_.tolist() == [np.nanargmax(file["first_step_scores"])]


# ------------------------------------------------------------- PyIT-MLFS, in Python: criteria for many labels


PYIT = {
    "scls": "scls",
    "pmu": PMU(pairs="ordered-and-equal"),
    "d2f": "d2f",
    "lrfs": "lrfs",
    "lsmfs": LSMFS(reading="pyit-mlfs"),
    "mlsmfs": MLSMFS(reading="pyit-mlfs"),
}
OURS = {"lsmfs": LSMFS(), "mlsmfs": MLSMFS()}


def emotions_in_three_bins():
    """The train part, binned as PyIT-MLFS does: it cuts every column, also those of three distinct values, which ours keeps."""
    names, values = read_dense_arff(shared_file("data", "emotions", "emotions-train.arff.gz"))
    X, Y = values[:, :-N_LABELS], values[:, -N_LABELS:].astype(int)
    assert names[-N_LABELS:][0] == "amazed-suprised"
    cuts = [np.linspace(column.min(), column.max(), 4)[1:-1] for column in X.T]
    return np.column_stack([np.searchsorted(cut, column, side="right") for cut, column in zip(cuts, X.T, strict=True)]), Y


def pyit(method):
    runs = json.loads(shared_file("reference", "pyit_mlfs_selections_emotions.json").read_text(encoding="utf-8"))
    return runs[f"FAST_emotions_{method}_pre_eval_50"], runs[f"emotions_{method}_pre_eval_20"]


@pytest.mark.parametrize("method", PYIT)
def test_pyit_mlfs_chooses_the_same_with_the_same_scores(method):
    X, Y = emotions_in_three_bins()
    long, short = pyit(method)
    sieve = fit(PYIT[method], X, Y, 50)
    assert sieve.selected_.tolist() == long["order"]
    assert sieve.selected_[:20].tolist() == short["order"]
    for scores in (long["scores_J_at_step"], short["scores_J_at_step"]):
        np.testing.assert_allclose(sieve.scores_[:20] / BITS, scores, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", OURS)
def test_pyit_mlfs_departs_from_our_reading_of_the_paper(method):
    """The first selected feature agrees and the second does not, and it is not a tie: the two scores are far apart."""
    X, Y = emotions_in_three_bins()
    order = pyit(method)[0]["order"]
    ours = fit(OURS[method], X, Y, 2)
    theirs = fit(OURS[method], X, Y, 2, forced=order[:2])
    assert ours.selected_[0] == order[0]
    assert ours.selected_[1] != order[1]
    assert ours.scores_[1] - theirs.scores_[1] > 1e-3
