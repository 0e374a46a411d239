"""Every criterion under every label space: it works, or it is refused with a reason."""

import re
from pathlib import Path

import numpy as np
import pytest

from labelsieve import InputError, Sieve
from labelsieve.labelspace import compatibility_table
from labelsieve.labelspace.base import NEEDS
from labelsieve.registry import CRITERIA, LABEL_SPACES, make_criterion
from tests.labelspace.test_laws import make_table

WITH_PAIRS = {"pmu", "fimf", "lrfs", "lsmfs", "mlsmfs", "tcrfs"}
WITH_PARENTS = {"mlfs"}


@pytest.mark.parametrize("space", LABEL_SPACES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_criterion_works_in_a_space_or_is_refused_with_a_reason(criterion, space):
    X, Y = make_table(1)
    sieve = Sieve(criterion, targets=space, discretizer=None, n_features_to_select=3)
    if criterion in WITH_PAIRS | WITH_PARENTS and space != "single":
        reason = "label pairs need separate targets" if criterion in WITH_PAIRS else "parents are of single targets"
        with pytest.raises(InputError, match=rf"Sieve\('{criterion}'\): {reason}.* use targets='single' \(got '{space}'"):
            sieve.fit(X, Y)
        return
    sieve.fit(X, Y)
    assert len(set(sieve.selected_.tolist())) == 3
    assert np.isfinite(sieve.scores_).all()


def test_needs_are_read_off_the_formulas():
    for name in CRITERIA:
        needs = make_criterion(name).plan.target_needs
        assert set(needs) <= set(NEEDS)
        assert ("pairs of targets" in needs) == (name in WITH_PAIRS)
        assert ("parents of targets" in needs) == (name in WITH_PARENTS)


def test_the_documentation_shows_the_table_of_the_code():
    page = (Path(__file__).parents[2] / "docs" / "choose" / "labelspaces.md").read_text(encoding="utf-8")
    assert compatibility_table(LABEL_SPACES.values()) in page
    for name in LABEL_SPACES:
        assert re.search(rf"`{name}`", page)
