"""Table III of Pereira et al. (2015): selections that are no worse than none, with 16 classifiers."""

from collections.abc import Sequence
from dataclasses import dataclass
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
    ALL,
    FOLDS,
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
from replications.sampling import FEWEST, intervals

PART = "table3"
SETS = tuple(TABLE_1)
QUICK_SETS, QUICK_SHARES = ("flags",), [0.3]
N_ROWS = len(SETS) * len(MEASURES)
CLOSE = 2 / N_ROWS  # a difference of two rows
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
    return [_counts(table, sampled(results[PART])), _tests(table), _best_classifiers(table)]


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


@dataclass(frozen=True)
class Sampled:
    """By method, whether selection is no worse than none: by the means of the first folds, for certain, and possibly."""

    estimated: tuple[bool, ...]
    certain: tuple[bool, ...]
    possible: tuple[bool, ...]


def sampled(results: StudyResults) -> dict[tuple[str, str, str], Sampled]:
    """Return the verdicts of cells with some of their folds: the interval of a difference to no selection decides.

    The loss with the best percentage minus that without selection is computed for each fold and percentage. Its interval for
    the best percentage is from the least lower end to the least upper end.
    """
    found = {}
    for classifier in (name for name in TABLE_3 if name in results.classifiers):
        losses = Losses(results, classifier)
        for dataset in SETS:
            n_folds = losses.n_folds(dataset, METHODS.values())
            if not FEWEST <= n_folds < FOLDS:
                continue
            for measure in MEASURES:
                none = losses.folds(dataset, ALL, measure)[:n_folds]
                differences = [losses.folds(dataset, method, measure)[:n_folds] - none for method in METHODS.values()]
                ends = [intervals(difference, FOLDS) for difference in differences]
                least = [difference.mean(axis=0).min() for difference in differences]
                found[classifier, dataset, measure] = Sampled(
                    tuple(bool(round(mean, 4) <= 0) for mean in least),
                    tuple(bool(high.min() <= 0) for _, high in ends),
                    tuple(bool(low.min() <= 0) for low, _ in ends),
                )
    return found


def _counts(table: Finished, samples: dict[tuple[str, str, str], Sampled]) -> ResultTable:
    rows = []
    gaps: list[float] = []
    sizes: list[int] = []  # finished rows of the table behind each gap
    n_sampled = 0
    for classifier, printed in TABLE_3.items():
        losses = [values for (name, *_), values in table.items() if name == classifier]
        estimates = [found for (name, *_), found in samples.items() if name == classifier]
        ours = [sum(values[column] <= values[-1] for values in losses) for column in range(len(METHODS))]
        shown = [_shown(count, len(losses), estimates, column) for column, count in enumerate(ours)]
        rows.append((classifier, *map(str, printed), *shown))
        if losses:
            gaps += [abs(count / len(losses) - wanted / N_ROWS) for count, wanted in zip(ours, printed, strict=True)]
            sizes += [len(losses) for _ in ours]
        if estimates and len(losses) + len(estimates) == N_ROWS:
            n_sampled += len(METHODS)
    columns = ("classifier", *(f">{name}" for name in METHODS), *(f">ours: {name}" for name in METHODS))
    summary = f"As shares they differ by {np.mean(gaps):.2f} on average." if gaps else "Nothing is finished yet."
    if samples:
        summary += (
            f" ~: with {len(samples)} rows of the first folds only; in brackets, how many are no worse for certain and "
            "possibly, by the intervals of their differences to no selection. The average is over complete rows."
        )
    title = f"Counts of best percentages that are no worse than no selection; published of {N_ROWS}"
    complete = [gap for gap, count in zip(gaps, sizes, strict=True) if count == N_ROWS]
    close = sum(gap <= CLOSE for gap in complete)
    return ResultTable(title, columns, rows, summary, compared=Compared(len(complete), close, sampled=n_sampled))


def _shown(count: int, n_rows: int, samples: Sequence[Sampled], column: int) -> str:
    """Return a count with its number of rows; one with samples is marked, and has its ends."""
    if not samples:
        return f"{count} of {n_rows}" if n_rows else "-"
    certain, estimated, possible = (
        count + sum(getattr(one, kind)[column] for one in samples) for kind in ("certain", "estimated", "possible")
    )
    return f"~{estimated} of {n_rows + len(samples)} ({certain} to {possible})"


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


REPLICATION = Replication.of("mlinfogain", "infogain-table3", protocols, result_tables, samples=True)
