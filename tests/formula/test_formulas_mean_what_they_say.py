"""Any formula that the language takes is computed as it reads: hundreds of random ones, against the plain reading."""

import numpy as np
import pytest

import labelsieve.formula as language
from labelsieve import Criterion, InputError, Sieve
from labelsieve.counting import workspace
from labelsieve.formula import H, I, evaluation, f, sum_y, y
from tests.support.criterion_cases import columns, make_parents
from tests.support.random_formulas import Author, Written
from tests.support.random_tables import make_table
from tests.support.reference_criteria import H as naive_entropy

N_FEATURES = 6
KINDS = ["fair", "3 levels", "duplicate", "constant", "noisy copy", "rare"]


class Any(Criterion):
    first = sum_y(I(f, y))

    def __init__(self, formula):
        self.score = formula


def write(seed):
    """A formula that mentions the candidate, and its plain reading."""
    author = Author(seed)
    written = author.expression(author.random.choice([1, 2, 2, 3, 3, 4]))
    if not any("f" in node.free for node in written.formula.walk()):
        formula, value = written
        return Written(formula + 0.1 * H(f), lambda given: value(given) + 0.1 * naive_entropy(*given["f"]))
    return written


def make_data(seed):
    rng = np.random.default_rng(seed)
    X = make_table(seed, 30, KINDS)
    Y = make_table(seed + 1, 30, rng.choice(["fair", "constant", "always", "3 levels", "duplicate"], size=1 + seed % 3))
    follows = (X[:, rng.integers(N_FEATURES, size=Y.shape[1])] + 1) // 2
    Y = np.where(rng.random(Y.shape) < 0.6, follows, Y)
    return X, Y, make_parents(seed, Y.shape[1])


def fit(formula, seed):
    X, Y, parents = make_data(seed)
    return Sieve(
        Any(formula), discretizer=None, n_features_to_select=4, parents=parents, constant_features="score", target_type="class"
    ).fit(X, Y)


def assert_equals_plain_reading(written, seed):
    X, Y, parents = make_data(seed)
    features, targets = columns(X), columns(Y)
    sieve = fit(written.formula, seed)
    for step in range(1, 4):
        picked = sieve.selected_[:step].tolist()
        selected = [features[k] for k in picked]
        given = {"S": tuple(selected), "selected": selected, "targets": targets, "parents": parents}
        plain = {k: written.value({**given, "f": (features[k],)}) for k in range(N_FEATURES) if k not in picked}
        within = 1e-9 * (1 + max(map(abs, plain.values())))
        ours, best = sieve.selected_[step], max(plain.values())
        assert sieve.scores_[step] == pytest.approx(plain[ours], rel=0, abs=within), f"seed {seed}: {written.formula}"
        assert plain[ours] >= best - within, f"seed {seed}: {written.formula}"


@pytest.mark.parametrize("block", range(8))
def test_a_random_formula_is_computed_as_it_reads(block):
    for seed in range(100 * block, 100 * block + 100):
        assert_equals_plain_reading(write(seed), seed)


@pytest.mark.parametrize("block", range(2))
def test_a_random_formula_is_computed_as_it_reads_one_target_at_a_time(block, monkeypatch):
    monkeypatch.setattr(evaluation, "PANEL_BYTES", 1)
    monkeypatch.setattr(workspace, "PAIR_BYTES", 0)
    for seed in range(2000 + 100 * block, 2100 + 100 * block):
        if seed == 2131:  # a ratio to the entropy of two features that are almost constant
            with pytest.raises(InputError, match="too large for 64-bit fixed point"):
                fit(write(seed).formula, seed)
            continue
        assert_equals_plain_reading(write(seed), seed)


def test_a_formula_read_from_its_own_text_is_the_same():
    words = {name: getattr(language, name) for name in language.__all__}
    for seed in range(3000, 3150):
        formula = write(seed).formula
        again = eval(str(formula), dict(words))
        one, other = fit(formula, seed), fit(again, seed)
        same = one.selected_ == other.selected_  # brackets that need not be there may round, and break ties, differently
        n_same = len(same) if same.all() else int(np.argmin(same)) + 1
        np.testing.assert_allclose(one.scores_[:n_same], other.scores_[:n_same], rtol=1e-9, atol=1e-9, err_msg=str(formula))


def test_the_random_formulas_use_every_word():
    """Else the comparisons above would say less than they claim."""
    text = " ".join(str(write(seed).formula) for seed in range(800))
    for word in set(language.__all__) - {"Formula", "FormulaError", "Plan"}:
        assert word in text, word
