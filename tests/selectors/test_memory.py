"""A plan that would not fit is refused before anything is packed."""

import numpy as np
import pytest

import labelsieve.resources as memory
from labelsieve import LabelwiseSieve, Sieve
from labelsieve.selectors import labelwise, sieve

X = np.zeros((4, 3000), dtype=np.uint8)
Y = np.tile(np.array([[0], [1], [0], [1]], dtype=np.uint8), (1, 2000))


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**7)
    monkeypatch.setattr(sieve, "Workspace", None)
    monkeypatch.setattr(labelwise, "Workspace", None)


@pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])
def test_an_account_for_every_feature_and_target_is_refused_when_it_does_not_fit(selector, little_memory):
    with pytest.raises(MemoryError, match=r"cmim: .* 3000 features and 2000 targets need .* GB .* are free"):
        selector("cmim", discretizer=None).fit(X, Y)


def test_a_plan_without_such_an_account_needs_little(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**7)
    assert len(Sieve("mrmr", discretizer=None, n_features_to_select=2).fit(X, Y).selected_) == 2
