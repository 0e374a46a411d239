import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.metrics import (
    MEASURES,
    convention_options,
    coverage,
    evaluate,
    get_scorer,
    hamming_loss,
    macro_f1,
    ranking_loss,
    rrmse,
)
from labelsieve.metrics.arrays import FOR_UNKNOWN

Y = np.array([[1, 0], [0, 1]])


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("answer", [[[1, 0]], [[1], [0]], [[1, 0, 1], [0, 1, 0]], [1, 0]], ids=["row", "label", "more", "flat"])
def test_another_shape_is_refused(name, answer):
    with pytest.raises(InputError, match=r"has shape \(\d, \d\), but Y has shape \(2, 2\)"):
        MEASURES[name].function(Y, answer)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_is_refused_with_its_place(name, bad):
    answer = np.array([[1.0, 0.0], [bad, 1.0]])
    expected = "labels are 0 or 1" if MEASURES[name].needs == "labels" else "row 1, column 0 is"
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(InputError, match=expected):
            MEASURES[name].function(Y, form(answer))
    if np.isnan(bad) and name in FOR_UNKNOWN:  # a true label may be unknown: see test_unknown_labels.py
        return
    with pytest.raises(InputError):
        MEASURES[name].function(answer, Y)


def test_probabilities_are_no_labels():
    with pytest.raises(InputError, match=r"predicted holds 0\.3, and labels are 0 or 1. Compare scores .* with a threshold"):
        hamming_loss(Y, [[1, 0], [0.3, 1]])
    with pytest.raises(InputError, match="Y holds 2"):
        ranking_loss(Y + 1, Y)


@pytest.mark.parametrize("empty", [np.empty((0, 2)), np.empty((2, 0)), []])
def test_nothing_is_refused(empty):
    for measure in MEASURES.values():
        with pytest.raises(InputError, match="is empty"):
            measure.function(empty, empty)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [1, np.nan]])
def test_bad_weights_are_refused(name, weights):
    with pytest.raises(InputError, match="sample_weight"):
        MEASURES[name].function(Y, Y, sample_weight=weights)


def test_unknown_options_are_refused():
    for wrong in ({"ties": "random"}, {"rows": "some"}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
            ranking_loss(Y, Y, **wrong)
    with pytest.raises(InputError, match="ties must be 'worst' or 'earlier' or 'later', not 'half'"):
        coverage(Y, Y, ties="half")
    for wrong in ({"count_from": 2}, {"normalize": "n"}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
            coverage(Y, Y, **wrong)
    for wrong in (0.5, "warn", None):
        with pytest.raises(InputError, match="zero_division must be 0, 1 or NaN"):
            macro_f1(Y, Y, zero_division=wrong)
    with pytest.raises(InputError, match="baseline must be a finite number for each of the 2 targets"):
        rrmse(Y, Y, baseline=[1.0])
    for wrong in ("mean", ["a", "b"], [[1.0], [1.0, 2.0]], [np.nan, 1.0], np.ma.masked_greater([1.0, 2.0], 1.0)):
        with pytest.raises(InputError, match="baseline"):
            rrmse(Y, Y, baseline=wrong)
    with pytest.raises(InputError, match="multioutput must be"):
        rrmse(Y, Y, multioutput="variance_weighted")


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"'accuracy' is not a measure\. Did you mean 'example_accuracy'"):
        convention_options("accuracy")
    with pytest.raises(InputError, match=r"'meka' is not a convention\..* Known: labelsieve, scikit-learn, mulan, matlab"):
        evaluate(Y, Y, convention="meka")
    with pytest.raises(InputError, match="losses are negated: 'neg_coverage'"):
        get_scorer("coverage")
    with pytest.raises(InputError, match="evaluate needs"):
        evaluate(Y)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("kind", ["category", "str"])
def test_text_is_refused_though_a_frame_could_rank_it(name, kind):
    """A column that only holds "1" would be all zeros, and "10" comes before "9"."""
    table = pd.DataFrame({"calm": [1, 0], "happy": [1, 1]})
    as_text = table.assign(happy=table["happy"].astype(kind))
    for given in ((as_text, table), (table, as_text)):
        with pytest.raises(InputError, match=r"column 1 \('happy'\) holds text or categories, and the measures need numbers"):
            MEASURES[name].function(*given)


def test_the_place_is_found_in_a_sparse_table_of_any_size():
    size = (10**6, 10**5)
    scores = sp.csr_array(([np.nan, np.inf, 1.0], ([7, 3, 0], [2, 99, 5])), shape=size)
    with pytest.raises(InputError, match="scores, row 3, column 99 is inf"):
        ranking_loss(sp.csr_array(size, dtype=np.int8), scores)
