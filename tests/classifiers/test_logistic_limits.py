"""Logistic regressions in the core end at ``max_iter`` with a warning, and at an interrupt."""

import _thread
import signal
import threading
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from labelsieve import core
from labelsieve.chains import ClassifierChain
from labelsieve.classifiers import BinaryRelevance, RAkEL

SECONDS = 0.2  # until the interrupt; the fits take at least ten times as long


def make_data(n_rows=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    Y = (X[:, :4] + rng.normal(size=(n_rows, 4)) > 0).astype(int)
    Y[:, 2] = 1
    return X, Y


MODELS = {
    "binary relevance": (BinaryRelevance, "columns 0, 1, 3"),
    "chain": (lambda base: ClassifierChain(base, network="preceding"), "columns 0, 1, 3"),
    "RAkEL": (lambda base: RAkEL(base, k=2, disjoint=True, random_state=0), r"columns \[0, \d\], "),
}


@pytest.mark.parametrize("name", MODELS)
def test_labels_that_do_not_converge_are_named_in_one_warning(name):
    X, Y = make_data()
    make, names = MODELS[name]
    with pytest.warns(ConvergenceWarning, match=f"max_iter=1 .*{names}") as record:
        make(LogisticRegression(max_iter=1)).fit(X, Y)
    assert len(record) == 1


@pytest.mark.parametrize("name", MODELS)
def test_labels_that_converge_give_no_warning(name):
    X, Y = make_data()
    with warnings.catch_warnings(action="error"):
        MODELS[name][0](LogisticRegression()).fit(X, Y)


def test_a_fit_ends_after_max_iter_steps():
    X, Y = make_data()
    with pytest.warns(ConvergenceWarning):
        model = BinaryRelevance(LogisticRegression(max_iter=2)).fit(X, Y)
    assert [one.estimator.n_iter_.tolist() for one in model.models_ if one.estimator is not None] == [[2], [2], [2]]


def classes_of_many_rows(weights):
    n_rows, n_inputs, n_classes = 50_000, 8, 128
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_rows, n_inputs))
    classes = rng.integers(n_classes, size=n_rows).astype(np.uint32)
    ones, shares = np.ones(n_rows), np.full(n_classes, 1 / n_classes)
    core.minimize_logistic(
        rows, 0, ones, rows.T @ rows, classes, shares, np.eye(n_classes), 1e-14, 1000, weights[: n_inputs * n_classes]
    )


def labels_of_many_rows(weights, n_threads):
    n_rows, n_inputs, n_labels = 50_000, 64, 64
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_rows, n_inputs))
    present = rng.integers(2, size=n_labels * n_rows).astype(np.uint8)
    starts, columns = np.zeros(n_labels + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    gram, ones = rows.T @ rows, np.ones(n_rows)
    core.minimize_logistic_links(
        rows, 0, ones, gram, n_inputs, starts, columns, present, 1e-14, 1000, n_threads, weights[: n_inputs * n_labels]
    )


@pytest.mark.parametrize(
    "fit",
    [classes_of_many_rows, *(partial(labels_of_many_rows, n_threads=n) for n in (1, 2))],
    ids=["classes", "labels", "threads"],
)
def test_an_interrupt_ends_a_fit_before_its_last_step(fit):
    weights = np.full(4096, np.nan)
    timer = threading.Timer(SECONDS, _thread.interrupt_main)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            fit(weights)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert np.isnan(weights[-1])
