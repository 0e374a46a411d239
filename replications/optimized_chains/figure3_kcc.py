"""Figure 3 of Sun and Kudo (2017): k-dependence classifier chains over the number of parents."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from labelsieve.chains import ClassifierChain
from labelsieve.labelspace import NetworkRule
from labelsieve.studies import Protocol, StudyResults
from labelsieve.studies.protocol import ALL
from replications.curves import common_legend, curve_panel, panels
from replications.optimized_chains.common import FIGURE_SETS, MEASURES, N_LABELS, WORDS, protocol, svm
from replications.replication import (
    Claim,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    claims_table,
    selected_sets,
    values_text,
)

# "The indices of the maximum in Exact-Match over the four datasets", in the caption.
BEST_K = {"scene": 5, "yeast": 11, "medical": 12, "rcv1s1": 88}
RISING = 0.05
FLAT = 0.02  # of its maximum: a measure that changes less does not depend on k
STABLE = 0.02  # of the maximum: the largest distance below it that counts as stable


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return a part for each data set, with k from 0 to q - 1: with ``full``, all four sets, otherwise scene.

    >>> protocols()["scene"]
    Protocol: 1 data set, 1 method (all), 1 number of features, 6 classifiers, 4 measures, FoldsByData
    """
    names = selected_sets(FIGURE_SETS, sets, FIGURE_SETS if full else FIGURE_SETS[:1])
    return {name: protocol([name], data_home, [ALL], chains(N_LABELS[name])) for name in names}


def chains(n_labels: int) -> list[tuple[str, Any]]:
    """Return kCC with 0 parents, which is BR, up to all preceding labels, which is CC."""
    rules = {f"k={k}": NetworkRule("kcc", k=k, order="given") for k in range(n_labels)}
    return [(name, ClassifierChain(svm(), network=rule)) for name, rule in rules.items()]


def over_k(results: StudyResults, name: str, measure: str) -> tuple[list[int], Any]:
    """Return the values of k that were run, and means over the folds."""
    curves = {int(chain.removeprefix("k=")): results.curve(name, ALL, measure, chain)[1] for chain in results.classifiers}
    done = sorted(k for k, values in curves.items() if len(values))
    return done, np.array([curves[k].mean() for k in done])


def complete(results: Results) -> Results:
    """Return the data sets for which every k is finished."""
    return {name: part for name, part in results.items() if len(over_k(part, name, "exact_match")[0]) == N_LABELS[name]}


def result_tables(results: Results) -> list[ResultTable]:
    """Return the best k by exact match, the change of each measure with k, and the claims."""
    results = complete(results)
    rows, changes = [], []
    for name, part in results.items():
        ks, exact = over_k(part, name, "exact_match")
        suggested = math.ceil(0.8 * N_LABELS[name])
        at = exact[ks.index(min(suggested, ks[-1]))]
        rows.append(
            (name, str(BEST_K[name]), str(ks[int(exact.argmax())]), f"{exact.max():.3f}", f"{exact[0]:.3f}", f"{at:.3f}")
        )
        ranges = [_range(over_k(part, name, measure)[1]) for measure in MEASURES]
        changes.append((name, *(f"{value:.1%}" for value in ranges), f"{_trend(part, name):+.2f}"))
    return [
        ResultTable(
            "The best k by exact match, and exact match there, at k = 0 and at k = 0.8 q",
            ("data set", ">published k", ">our k", ">best", ">k = 0", ">k = 0.8 q"),
            rows,
        ),
        ResultTable(
            "Relative range of a measure over k, (max - min) / max; trend is Spearman's correlation of exact match with k",
            ("data set", *(f">{WORDS[measure]}" for measure in MEASURES), ">trend"),
            changes,
        ),
        claims_table(_claims(results)),
    ]


def _range(values: NDArray[np.float64]) -> float:
    return float((values.max() - values.min()) / values.max())


def _trend(results: StudyResults, name: str) -> float:
    return float(spearmanr(*over_k(results, name, "exact_match")).statistic)


def _claims(results: Results) -> list[Claim]:
    gains, near, flat, smaller = {}, {}, {}, {}
    for name, part in results.items():
        ks, exact = over_k(part, name, "exact_match")
        late = exact[[k >= math.ceil(0.8 * N_LABELS[name]) for k in ks]]
        gains[name] = float(late.mean() / exact[0]) - 1
        near[name] = 1 - float(late.min() / exact.max())
        ranges = {measure: _range(over_k(part, name, measure)[1]) for measure in MEASURES}
        flat[name] = ranges["hamming_score"]
        smaller[name] = (max(ranges["macro_f1"], ranges["micro_f1"]), ranges["exact_match"])
    return [
        Claim(
            f"exact match rises with k (by more than {RISING:.0%} from k = 0 to 0.8 q and more), except on medical",
            all((gain > RISING) == (name != "medical") for name, gain in gains.items()),
            values_text(gains, "{:+.1%}"),
        ),
        Claim(
            f"it is stable from k = 0.8 q on (at most {STABLE:.0%} below the best)",
            all(value <= STABLE for value in near.values()),
            values_text(near, "{:.1%}"),
        ),
        Claim(
            "macro- and micro-F1 change less than exact match",
            all(f1 < exact for f1, exact in smaller.values()),
            values_text(smaller, "{0[0]:.1%} against {0[1]:.1%}"),
        ),
        Claim(
            f"the Hamming score does not depend on k (changes by less than {FLAT:.0%})",
            all(value < FLAT for value in flat.values()),
            values_text(flat, "{:.1%}"),
        ),
    ]


def figures(results: Results) -> Figures:
    """Draw each measure divided by its maximum, over k."""
    results = complete(results)
    if not results:
        return {}
    figure, axes = panels(1, len(results), height=2.4)
    for ax, (name, part) in zip(axes[0], results.items(), strict=True):
        ks, _ = over_k(part, name, "exact_match")
        values = {WORDS[measure]: over_k(part, name, measure)[1] for measure in MEASURES}
        curve_panel(ax, ks, {measure: curve / curve.max() for measure, curve in values.items()}, name, xlabel="parents k")
    axes[0, 0].set_ylabel("value / maximum", fontsize=8)
    common_legend(figure, axes[0, 0], WORDS.values())
    return {"figure3": figure}


REPLICATION = Replication.of("optimized_chains", "kcc-figure3", protocols, result_tables, figures)
