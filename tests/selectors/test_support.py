"""What goes with what: the table of the code is what fits do, and what the documentation shows."""

from pathlib import Path

import numpy as np
import pytest

from labelsieve import InputError, PairCounts, Sieve
from labelsieve.criteria import MRMR, JoinedMIM
from labelsieve.datasets import ChunkedTable
from labelsieve.selectors.sieve import KINDS, support_table
from labelsieve.stopping import FDR, GTest, Knee, PermutationTest, ScoreThreshold

ROOT = Path(__file__).parents[2]
CRITERION = {"formula": "mrmr", "joined": "gmm", "least squares": "omp", "hybrid": "hybrid"}

rng = np.random.default_rng(0)
X = rng.integers(0, 2, size=(60, 4))
Y = np.column_stack([X[:, 0], X[:, 1] ^ (rng.random(60) < 0.1)])


def rows():
    """Options of the table, each with its answers by the kind of the criterion."""
    for line in support_table().splitlines()[2:]:
        option, *answers = [cell.strip() for cell in line.strip("|").split("|")]
        yield option, dict(zip(KINDS, answers, strict=True))


def fits(option, criterion):
    """Fit in the ways that an option stands for."""
    sieve = Sieve(criterion, n_features_to_select=2, discretizer=None)
    rules = {
        "stopping rule by scores": [ScoreThreshold(0.1), Knee(of="score")],
        "stopping rule by added information": [ScoreThreshold(0.1, of="added"), Knee(of="added")],
        "permutation test": [PermutationTest(n_permutations=9)],
        "other tests (g-test, fdr)": [GTest(), FDR()],
    }
    if option == "ChunkedTable, Dask":
        sieve.fit(ChunkedTable.from_chunks([(X[:30], Y[:30]), (X[30:], Y[30:])]))
    elif option == "PairCounts":
        sieve.fit(PairCounts().partial_fit(X, Y))
    elif option == "target_weight":
        sieve.set_params(target_weight=[1, 2]).fit(X, Y)
    else:
        for rule in rules[option]:
            sieve.set_params(n_features_to_select=rule).fit(X, Y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("option", "answers"), list(rows()))
def test_a_fit_works_or_is_refused_as_the_table_says(option, answers, kind):
    if answers[kind] == "yes":
        fits(option, CRITERION[kind])
        return
    with pytest.raises(InputError, match=rf"Sieve\('{CRITERION[kind]}'\): .*use "):
        fits(option, CRITERION[kind])


@pytest.mark.parametrize(
    ("criterion", "shown"),
    [
        ("gmm", "'gmm'"),
        ("br-infogain", "'br-infogain'"),
        ("mlinfogain", "'mlinfogain'"),
        (MRMR(), "'mrmr'"),
        (JoinedMIM("mean"), "JoinedMIM('mean', scale='length')"),
    ],
)
def test_a_refusal_names_the_method_that_was_asked_for(criterion, shown):
    with pytest.raises(InputError) as refused:
        Sieve(criterion, targets="joint", target_weight=[1, 2]).fit(X, Y)
    assert str(refused.value).startswith(f"Sieve({shown}): ")


def test_a_refusal_comes_before_data_are_read():
    with pytest.raises(InputError, match="target_weight"):
        Sieve("gmm", target_weight=[1, 2]).fit("no table", "no targets")


def test_the_documentation_shows_the_table_of_the_code():
    assert support_table() in (ROOT / "docs" / "choose" / "selecting.md").read_text(encoding="utf-8")
