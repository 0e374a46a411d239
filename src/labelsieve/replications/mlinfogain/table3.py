"""Table III of Pereira et al. (2015): how often selection by information gain is no worse than none, with 16 classifiers."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from labelsieve.chains import ClassifierChain
from labelsieve.classifiers import HOMER, IBLR, BinaryRelevance, LabelPowerset, MLkNN, PrunedPowerset, RAkEL
from labelsieve.labelspace import NetworkRule
from labelsieve.replications.mlinfogain.losses import (
    MEASURES,
    METHODS,
    MULAN,
    PERCENTAGES,
    WORDS,
    Losses,
    common_settings,
)
from labelsieve.replications.mlinfogain.printed_values import PAPER, TABLE_1, TABLE_3
from labelsieve.replications.mulan import MixedNaiveBayes, MulanBRkNN, WekaKNN, WekaScaler
from labelsieve.replications.replication import Replication, Results, Section, selected_sets, sources
from labelsieve.statistics import compare
from labelsieve.statistics.ranks import ranks
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.results.study_results import StudyResults

TITLE = "Pereira et al. 2015, table III: selection against none with 16 classifiers, and the tests over all of them"
PART = "table3"
SETS = tuple(TABLE_1)
QUICK_SETS, QUICK_SHARES = ("flags",), [0.3]
FIVE_BEST = {"BRKNN", "ML-KNN", "HOMER + K-NN", "BR + DecisionTree", "IBLR"}

CHOICES = MULAN | {
    "learners": "Transformations are this library's, base learners are scikit-learn's, not Weka's: cells are not expected to "
    "agree to four decimals, counts may.",
    "decision tree": "J48 prunes afterwards. Here: entropy, at least five rows in a leaf, which comes closest to it on "
    "emotions. Nominal values are taken in the order of the file.",
    "k-NN as a base": "Weka's default is one neighbor, Mulan's own learners take ten; the paper names no number. Ten here, "
    "on Weka's scale and with all rows as near as the tenth.",
    "naive Bayes": "Normal densities for numeric features, frequencies for nominal ones and for 0/1.",
    "chain": "In the order of the labels, as Mulan's; predictions are greedy.",
    "RAkEL": "Three labels, 2q models; a tie of votes is present, as in Mulan (RK in the table is taken to be the same).",
    "HOMER": "Three children, binary relevance at the nodes.",
    "PPT": "Label rows seen fewer than three times are split into frequent ones, as in Mulan; the paper names no number. On "
    "CAL500 no two rows have the same labels: nothing is left to learn from, and those cells fail.",
    "IBLR and ML-kNN": "k = 10, all rows as near as the tenth.",
}


def classifiers() -> dict[str, Any]:
    """The sixteen by the names of the table, unfitted."""
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=5, random_state=0)
    bayes, knn = MixedNaiveBayes(), WekaKNN(10)
    natural = NetworkRule("preceding", order="given")

    def rakel(base: Any) -> Any:
        return RAkEL(base, threshold=0.49, random_state=0)

    def scaled(learner: Any) -> Any:
        return make_pipeline(WekaScaler(), learner)

    return {
        "BR + DecisionTree": BinaryRelevance(tree),
        "BR + NaiveBayes": BinaryRelevance(bayes),
        "BRKNN": MulanBRkNN(),
        "CC + DecisionTree": ClassifierChain(tree, network=natural),
        "CC + K-NN": scaled(ClassifierChain(knn, network=natural)),
        "CC + NaiveBayes": ClassifierChain(bayes, network=natural),
        "HOMER + K-NN": scaled(HOMER(knn, random_state=0)),
        "IBLR": scaled(IBLR(10, ties="all")),
        "LP + DecisionTree": LabelPowerset(tree),
        "LP + K-NN": scaled(LabelPowerset(knn)),
        "LP + NaiveBayes": LabelPowerset(bayes),
        "ML-KNN": scaled(MLkNN(10, ties="all")),
        "PPT + K-NN": scaled(PrunedPowerset(knn, split=True)),
        "RAKEL + K-NN": scaled(rakel(knn)),
        "RK + DecisionTree": rakel(tree),
        "RK + NaiveBayes": rakel(bayes),
    }


def protocols(
    *, full: bool = False, sets: Sequence[str] | None = None, data_home: str | os.PathLike[str] | None = None
) -> dict[str, Protocol]:
    """The experiment: ``full`` is eleven sets and nine percentages, otherwise flags with one; all ten folds in any case.

    >>> len(protocols(full=True)["table3"].classifiers)
    16
    """
    chosen = selected_sets(SETS, sets, SETS if full else QUICK_SETS)
    shares = [percent / 100 for percent in PERCENTAGES] if full else QUICK_SHARES
    learners = list(classifiers().items())
    return {
        PART: Protocol(sources(chosen, data_home), n_features=shares, classifiers=learners, **common_settings(METHODS.values()))
    }


def sections(results: Results) -> list[Section]:
    """Counts, published and ours, over what is finished; then tests and claims over all classifiers."""
    table = finished(results[PART])
    return [_counts(table), _tests(table), _best_classifiers(table)]


Finished = dict[tuple[str, str, str], tuple[float, ...]]


def finished(results: StudyResults) -> Finished:
    """By classifier, data set and measure: the best loss of each method, and the loss without selection, in four decimals."""
    found = {}
    for classifier in (name for name in TABLE_3 if name in results.classifiers):
        losses = Losses(results, classifier)
        for dataset in losses.complete(SETS, METHODS.values()):
            for measure in MEASURES:
                best = [float(losses.means(dataset, method, measure).min()) for method in METHODS.values()]
                values = (*best, losses.all_features(dataset, measure))
                found[classifier, dataset, measure] = tuple(round(value, 4) for value in values)
    return found


def _counts(table: Finished) -> Section:
    rows = []
    gaps = []
    for classifier, printed in TABLE_3.items():
        own = [values for (name, *_), values in table.items() if name == classifier]
        ours = [sum(values[place] <= values[-1] for values in own) for place in range(len(METHODS))]
        shown = [f"{one} of {len(own)}" if own else "-" for one in ours]
        rows.append((classifier, *(str(one) for one in printed), *shown))
        gaps += [abs(one / len(own) - wanted / 44) for one, wanted in zip(ours, printed, strict=True) if own]
    columns = ("classifier", *(f">{name}" for name in METHODS), *(f">ours: {name}" for name in METHODS))
    said = f"As shares they differ by {np.mean(gaps):.2f} on average." if gaps else "Nothing is finished yet."
    return Section("How often the best percentage is no worse than no selection; published of 44", columns, rows, said)


def _tests(table: Finished) -> Section:
    """Section 5.1 ranks the methods for each classifier and data set."""
    columns = ("measure", ">rows", *(f">{name}" for name in METHODS), ">Friedman p", ">distance", "real differences")
    rows = []
    for measure in MEASURES:
        own = np.array([values[:4] for (*_, name), values in table.items() if name == measure])
        if len(own) > 1:
            found = compare(own, lower_is_better=True, methods=list(METHODS), test="nemenyi")
            real = [f"{found.methods[a]} < {found.methods[b]}" for a, b in found.pairs() if found.different[a, b]]
            numbers = [f"{found.friedman.p_value:.2g}", f"{found.critical_difference:.2f}"]
            ranked = [f"{one:.2f}" for one in found.average_ranks]
            rows.append((WORDS[measure], str(len(own)), *ranked, *numbers, ", ".join(real) or "none"))
    said = "Rows of one data set, or of one classifier, are not independent, so the test finds differences too easily."
    return Section("Average ranks over classifiers and data sets, with Nemenyi's test at 0.05", columns, rows, said)


def _best_classifiers(table: Finished) -> Section:
    """The paper names five classifiers as best overall."""
    shared = [{key[1:] for key in table if key[0] == name} for name in TABLE_3]
    common = sorted(set.intersection(*shared)) if all(shared) else []
    columns, title = ("classifier", ">average rank", "among the paper's five best"), "Classifiers by their best loss"
    if len(common) < 2:
        return Section(title, columns, [], "Not every classifier has finished the same data sets yet.")
    losses = np.array([[min(table[name, *key]) for name in TABLE_3] for key in common])
    average = ranks(losses, lower_is_better=True).mean(axis=0)
    order = [list(TABLE_3)[place] for place in np.argsort(average, kind="stable")]
    rows = [(name, f"{np.sort(average)[place]:.2f}", "yes" if name in FIVE_BEST else "") for place, name in enumerate(order)]
    return Section(title, columns, rows, f"{len(FIVE_BEST & set(order[:5]))} of the paper's five are among our five best.")


STUDY = Replication("infogain-table3", TITLE, PAPER, CHOICES, protocols, sections)
