"""Whatever an option changes, the default and its linear half take it, from memory and from chunks, or say why not.

The documentation prints the table of this page's first test: docs/scale/large_data.md, "Supported settings".
"""

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.datasets import ChunkedTable
from labelsieve.selection import read_selection
from labelsieve.selectors import selection_stability
from labelsieve.stopping import FDR, CrossValidated, GTest, Knee, PermutationTest, ScoreThreshold
from tests.selectors.test_same_selection_in_chunks import assert_same

PAGE = Path(__file__).parents[2] / "docs" / "scale" / "large_data.md"
RNG = np.random.default_rng(0)
N_ROWS = 240
X = pd.DataFrame(RNG.normal(size=(N_ROWS, 8)), columns=[*"abcdefgh"])
X["color"] = RNG.choice(["red", "green", "blue"], N_ROWS)
Y = pd.DataFrame({"y": X["a"] + X["b"] > 0.3, "z": (X["c"] > 0) ^ (X["color"] == "red"), "w": X["d"] > 1}).astype(float)
UNKNOWN = Y.mask(RNG.random(Y.shape) < 0.2)
WEIGHTS = RNG.random(N_ROWS) * (RNG.random(N_ROWS) < 0.9)


def chunks(targets=Y, **options):
    return ChunkedTable.from_chunks([(X[:100], targets[:100]), (X[100:], targets[100:])], **options)


def sieve(criterion, **parameters):
    return Sieve(criterion, **{"n_features_to_select": 4, **parameters})


def warm(selector, *data):
    return selector.set_params(n_features_to_select=2, warm_start=True).fit(*data).set_params(n_features_to_select=4).fit(*data)


# What a user asks for, as a fit of a selector to data; None where the option has no meaning for a kind of data.
OPTIONS = {
    "plain": lambda new, data: new().fit(*data),
    "`memory_limit`": lambda new, data: new().fit(*(data if len(data) == 2 else [chunks(memory_limit=60 * N_ROWS)])),
    "`sample_weight`": lambda new, data: new().fit(*data, sample_weight=WEIGHTS),
    "`target_weight`": lambda new, data: new(target_weight=[1, 0.5, 3]).fit(*data),
    "unknown labels": lambda new, data: new().fit(*([X, UNKNOWN] if len(data) == 2 else [chunks(UNKNOWN)])),
    "`forced`": lambda new, data: new(forced=["h"]).fit(*data),
    "`excluded`": lambda new, data: new(excluded=["a", "color"]).fit(*data),
    "`warm_start`": lambda new, data: warm(new(), *data),
    "storage": lambda new, data: pickle.loads(pickle.dumps(new().fit(*data))),
    "stopping by scores": lambda new, data: new(n_features_to_select=ScoreThreshold(0.05)).fit(*data),
    "stopping by added information": lambda new, data: new(n_features_to_select=Knee(of="added")).fit(*data),
    "cross-validation": lambda new, data: new(n_features_to_select=CrossValidated(max_features=4)).fit(*data),
    "G-test": lambda new, data: new(n_features_to_select=GTest()).fit(*data),
    "false discovery rate": lambda new, data: new(n_features_to_select=FDR()).fit(*data),
    "permutation test": lambda new, data: new(n_features_to_select=PermutationTest(n_permutations=9)).fit(*data),
    "label-wise lists": lambda new, data: LabelwiseSieve(new().criterion, n_features_to_select=2).fit(*data),
    "stability": lambda new, data: selection_stability(new(), data[0], data[1] if len(data) == 2 else None, n_repeats=3),
}


def answer(option, criterion, data):
    """Fit, and return the selector and "yes", or None and "no" where it is refused with a remedy."""
    try:
        return OPTIONS[option](lambda **parameters: sieve(criterion, **parameters), data), "yes"
    except InputError as error:
        if not re.search(r"\b(use|give|pass|takes?)\b", str(error)):
            raise
        return None, "no"


def documented():
    rows = re.findall(r"^\| ([^|]+?) \| (yes|no) \| (yes|no) \| (yes|no) \| (yes|no) \|$", PAGE.read_text(), re.MULTILINE)
    return {name: answers for name, *answers in rows}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_are_taken_or_refused_as_the_page_says(option):
    found = []
    for criterion in ("hybrid", "omp"):
        (here, in_memory), (there, in_chunks) = answer(option, criterion, [X, Y]), answer(option, criterion, [chunks()])
        found += [in_memory, in_chunks]
        if isinstance(here, Sieve) and there is not None:
            assert_same(there, here)
    assert documented()[option] == found


def test_the_page_lists_every_option():
    assert list(documented()) == list(OPTIONS)


@pytest.mark.parametrize("criterion", ["hybrid", "omp"])
def test_options_do_what_they_say(criterion, tmp_path):
    plain = sieve(criterion).fit(X, Y)
    assert sieve(criterion, forced=["h"]).fit(X, Y).get_feature_names_out()[-1] == "h"
    assert not {"a", "color"} & {*sieve(criterion, excluded=["a", "color"]).fit(X, Y).get_feature_names_out()}
    assert_same(warm(sieve(criterion), X, Y), plain)
    doubled = (
        sieve(criterion).fit(X, Y, sample_weight=np.full(N_ROWS, 2.0)),
        sieve(criterion).fit(pd.concat([X, X]), pd.concat([Y, Y])),
    )
    assert_same(*doubled)
    plain.to_json(tmp_path / "kept.json")
    kept = read_selection(tmp_path / "kept.json")
    assert [one.column for one in kept.selected] == plain.selected_.tolist()
