"""Table III of Pereira et al. (2015): selections that are no worse than none, with 16 classifiers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline

from labelsieve.chains import ClassifierChain
from labelsieve.classifiers import HOMER, IBLR, BinaryRelevance, MLkNN, PrunedPowerset, RAkEL
from labelsieve.labelspace import NetworkRule
from labelsieve.statistics import ranks
from labelsieve.studies import Protocol, StudyResults
from replications.mlinfogain.losses import (
    MEASURES,
    METHODS,
    PERCENTAGES,
    TABLE_1,
    TABLE_3,
    WORDS,
    Losses,
    cells_of_test,
    compared_methods,
    mulan_protocol,
)
from replications.mulan import MixedNaiveBayes, MulanBRkNN, MulanJ48, MulanPowerset, WekaKNN, WekaScaler
from replications.replication import Compared, DataHome, Replication, Results, ResultTable, selected_sets, sources

PART = "table3"
SETS = tuple(TABLE_1)
QUICK_SETS, QUICK_SHARES = ("flags",), [0.3]
CLOSE = 2 / 44  # a difference of two rows
FIVE_BEST = {"BRKNN", "ML-KNN", "HOMER + K-NN", "BR + DecisionTree", "IBLR"}


def classifiers() -> dict[str, Any]:
    """Return the sixteen unfitted classifiers by their names in the table."""
    tree, bayes, knn = MulanJ48(), MixedNaiveBayes(), WekaKNN(10)
    natural = NetworkRule("preceding", order="given")

    def rakel(base: BaseEstimator) -> Any:
        return RAkEL(base, threshold=0.49, random_state=0)

    def present_if_tied(base: BaseEstimator) -> Any:
        return FixedThresholdClassifier(base, threshold=0.5, response_method="predict_proba")

    def scaled(learner: BaseEstimator) -> Any:
        return make_pipeline(WekaScaler(), learner)

    return {
        "BR + DecisionTree": BinaryRelevance(present_if_tied(tree)),
        "BR + NaiveBayes": BinaryRelevance(bayes),
        "BRKNN": MulanBRkNN(),
        "CC + DecisionTree": ClassifierChain(present_if_tied(tree), network=natural),
        "CC + K-NN": scaled(ClassifierChain(present_if_tied(knn), network=natural)),
        "CC + NaiveBayes": ClassifierChain(bayes, network=natural),
        "HOMER + K-NN": scaled(HOMER(present_if_tied(knn), random_state=0)),
        "IBLR": scaled(IBLR(10, ties="all")),
        "LP + DecisionTree": MulanPowerset(tree),
        "LP + K-NN": scaled(MulanPowerset(knn)),
        "LP + NaiveBayes": MulanPowerset(bayes),
        "ML-KNN": scaled(MLkNN(10, ties="all")),
        "PPT + K-NN": scaled(PrunedPowerset(knn, min_count=4, split="smallest", threshold=0.21)),
        "RAKEL + K-NN": scaled(rakel(knn)),
        "RK + DecisionTree": rakel(tree),
        "RK + NaiveBayes": rakel(bayes),
    }


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, eleven sets and nine percentages, otherwise flags with one; always ten folds.

    >>> len(protocols(full=True)["table3"].classifiers)
    16
    """
    names = selected_sets(SETS, sets, SETS if full else QUICK_SETS)
    shares = [percent / 100 for percent in PERCENTAGES] if full else QUICK_SHARES
    return {PART: mulan_protocol(sources(names, data_home), METHODS.values(), shares, list(classifiers().items()))}


def result_tables(results: Results) -> list[ResultTable]:
    """Return published counts and ours over finished cells; then tests and claims over all classifiers."""
    table = finished(results[PART])
    return [_counts(table), _tests(table), _best_classifiers(table)]


Finished = dict[tuple[str, str, str], tuple[float, ...]]


def finished(results: StudyResults) -> Finished:
    """Return the best loss of each method and the loss without selection, in four decimals, of each cell."""
    complete = {}
    for classifier in (name for name in TABLE_3 if name in results.classifiers):
        losses = Losses(results, classifier)
        for dataset in losses.complete(SETS, METHODS.values()):
            for measure in MEASURES:
                best = [float(losses.means(dataset, method, measure).min()) for method in METHODS.values()]
                values = (*best, losses.all_features(dataset, measure))
                complete[classifier, dataset, measure] = tuple(round(value, 4) for value in values)
    return complete


def _counts(table: Finished) -> ResultTable:
    rows = []
    gaps: list[float] = []
    sizes: list[tuple[str, int]] = []  # finished rows of the table behind each gap
    for classifier, printed in TABLE_3.items():
        losses = [values for (name, *_), values in table.items() if name == classifier]
        ours = [sum(values[column] <= values[-1] for values in losses) for column in range(len(METHODS))]
        shown = [f"{count} of {len(losses)}" if losses else "-" for count in ours]
        rows.append((classifier, *map(str, printed), *shown))
        gaps += [abs(count / len(losses) - wanted / 44) for count, wanted in zip(ours, printed, strict=True) if losses]
        sizes += [(classifier, len(losses)) for _ in ours if losses]
    columns = ("classifier", *(f">{name}" for name in METHODS), *(f">ours: {name}" for name in METHODS))
    summary = f"As shares they differ by {np.mean(gaps):.2f} on average." if gaps else "Nothing is finished yet."
    title = "Counts of best percentages that are no worse than no selection; published of 44"
    complete = [gap for gap, (*_, count) in zip(gaps, sizes, strict=True) if count == 44]
    return ResultTable(title, columns, rows, summary, compared=Compared(len(complete), sum(gap <= CLOSE for gap in complete)))


def _tests(table: Finished) -> ResultTable:
    """Return tests of the methods; section 5.1 ranks them for each classifier and data set."""
    columns = ("measure", ">rows", *(f">{name}" for name in METHODS), ">Friedman p", ">CD", "significant differences")
    rows = []
    for measure in MEASURES:
        losses = np.array([values[:4] for (*_, name), values in table.items() if name == measure])
        if len(losses) > 1:
            rows.append((WORDS[measure], str(len(losses)), *cells_of_test(compared_methods(losses))))
    summary = "Rows of one data set, or of one classifier, are not independent, so the test is too liberal."
    return ResultTable("Average ranks over classifiers and data sets, with Nemenyi's test at 0.05", columns, rows, summary)


def _best_classifiers(table: Finished) -> ResultTable:
    """Return the ranks of the classifiers, of which the paper names five as the best."""
    shared = [{key[1:] for key in table if key[0] == name} for name in TABLE_3]
    common = sorted(set.intersection(*shared)) if all(shared) else []
    columns, title = ("classifier", ">average rank", "among the paper's five best"), "Classifiers by their best loss"
    if len(common) < 2:
        return ResultTable(title, columns, [], "Not every classifier has finished the same data sets yet.")
    losses = np.array([[min(table[name, *key]) for name in TABLE_3] for key in common])
    average = ranks(losses, lower_is_better=True).mean(axis=0)
    order = [list(TABLE_3)[index] for index in np.argsort(average, kind="stable")]
    rows = [(name, f"{np.sort(average)[index]:.2f}", "yes" if name in FIVE_BEST else "") for index, name in enumerate(order)]
    return ResultTable(title, columns, rows, f"{len(FIVE_BEST & set(order[:5]))} of the paper's five are among our five best.")


REPLICATION = Replication.of("mlinfogain", "infogain-table3", protocols, result_tables)
