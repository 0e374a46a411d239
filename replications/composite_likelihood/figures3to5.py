"""Figures 3 to 5 of Sechidis, Nikolaou and Brown (2014): effects of assumptions about features and labels.

The paper draws curves and prints no numbers. Its statements about the curves (sections 3.3, 4.3 and 5.2) are checked on ours.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from labelsieve.statistics import confidence_band
from labelsieve.studies import Protocol, StudyResults
from replications.curves import (
    ALL_BUT,
    ALMOST,
    INTERVALS,
    NAMES,
    RULES,
    CurveDifference,
    curve_difference,
    curve_table,
    mean_with_interval,
    results_panels,
    share_worse,
)
from replications.replication import (
    Claim,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    as_published,
    claims_table,
    not_run,
    selected_sets,
    sources,
)

PART = "figures"
# Doquire and Verleysen's estimator takes minutes for all features of one split, so it has few splits and features.
NEIGHBORS, BY_NEIGHBORS = "neighbors", "pptmi"
N_SPLITS, MAX_FEATURES = 5, 30
SETS = ("scene", "yeast")
MEASURES = ("hamming_loss", "ranking_loss")
PRUNED = "pruned-cmi"
# Figure 3 varies the labels, figure 4 the features (with single labels; the paper says that powersets look the same),
# and figure 5 compares the best of them with two published criteria.
FIGURES = {
    "figure3": {"joint-cmi": "CMI, label powerset (X:none, Y:none)", "single-cmi": "CMI, single labels (X:none, Y:full)"},
    "figure4": {"single-cmi": "CMI (X:none)", "single-jmi": "JMI (X:partial)", "single-mim": "MIM (X:full)"},
    "figure4-powerset": {"joint-cmi": "CMI (X:none)", "joint-jmi": "JMI (X:partial)", "joint-mim": "MIM (X:full)"},
    "figure5": {"single-jmi": "JMI, single labels", PRUNED: "Doquire and Verleysen", "pmu": "PMU, Lee and Kim"},
}
SIZES = [*range(1, 31), *range(40, 300, 10), 294]
SHOWN = (1, 5, 10, 20, 50, 100, 200)
FEW, MANY = 20, 50  # features: where differences should be large, and where they should be small


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, 30 splits of both sets, otherwise 3 of yeast.

    With ``full``, a second part has the nearest-neighbor estimator on the first of these splits.

    >>> protocols(full=True)["figures"]
    Protocol: 2 data sets, 8 methods (single-cmi, ...), 57 numbers of features, 1 classifier, 2 measures, 30x50%
    """
    five = {"name": "equal-width", "n_bins": 5}
    pruned = {"name": PRUNED, "criterion": "cmi", "targets": {"name": "pruned", "min_count": 5}, "discretizer": five}
    grid = [f"{labels}-{features}" for labels in ("single", "joint") for features in ("cmi", "jmi", "mim")]
    names = selected_sets(SETS, sets, SETS if full else SETS[1:])
    criteria = as_published([*grid, {"name": "pmu", "discretizer": five}, pruned])
    if not full:
        return {PART: _protocol(names, data_home, criteria, SIZES, "3x50%")}
    sizes = [size for size in SIZES if size <= MAX_FEATURES]
    return {
        PART: _protocol(names, data_home, criteria, SIZES, "30x50%"),
        NEIGHBORS: _protocol(names, data_home, [BY_NEIGHBORS], sizes, f"{N_SPLITS}x50%"),
    }


def _protocol(names: Sequence[str], data_home: DataHome, methods: Sequence[Any], sizes: Sequence[int], splits: str) -> Protocol:
    return Protocol(
        sources(names, data_home),
        methods,
        n_features=sizes,
        classifiers=[{"name": "mlknn", "k": 7}],
        measures=MEASURES,
        splits=splits,
        baselines=[],
        scale=None,
    )


def result_tables(results: Results) -> list[ResultTable]:
    """Return our means, a table for each figure, data set and measure, and the claims."""
    if PART not in results:
        return []
    tables = [
        curve_table(results[PART], figure, name, measure, methods, SHOWN)
        for figure, methods in FIGURES.items()
        for name in SETS
        for measure in MEASURES
    ]
    listed = [table for table in tables if table is not None]
    if NEIGHBORS in results:
        listed.append(_by_neighbors(results[PART], results[NEIGHBORS]))
    return [*listed, claims_table(claims(results[PART]), parts=[PART]), _by_rules(results[PART])]


def _by_neighbors(results: StudyResults, estimated: StudyResults) -> ResultTable:
    """Return figure 5 with the nearest-neighbor estimator: means over the shared splits and numbers of features."""
    others = {"single-jmi": "JMI", PRUNED: "CMI on bins", "pmu": "PMU"}
    rows, better = [], []
    for name, measure in product(SETS, MEASURES):
        sizes, table = estimated.curve(name, BY_NEIGHBORS, measure) if name in estimated.datasets else ([], np.empty(0))
        if not len(table):
            continue
        curves = {}
        for method in others:
            all_sizes, whole = results.curve(name, method, measure)
            curves[method] = whole[: len(table), np.isin(all_sizes, sizes)]
        band = confidence_band((curves["single-jmi"] - table).mean(axis=1))
        difference = mean_with_interval(float(band.mean), float(band.high - band.mean))
        better.append(float((curves["single-jmi"].mean(axis=0) < table.mean(axis=0)).mean()))
        means = [f"{curve.mean():.4f}" for curve in (table, *curves.values())]
        rows.append((f"{name}, {NAMES[measure]}", *means, difference, f"{better[-1]:.0%}"))
    columns = (
        *("data set, measure", ">nearest neighbors", *(f">{label}" for label in others.values())),
        *(">JMI - nearest neighbors", ">numbers at which JMI is better"),
    )
    title = f"Figure 5 with Doquire and Verleysen's own estimator, sampled: {N_SPLITS} splits, 1 to {MAX_FEATURES} features"
    summary = f"JMI has the lower mean at {np.mean(better):.0%} of the numbers of features." if better else ""
    return ResultTable(title, columns, rows, summary)


def _by_rules(results: StudyResults) -> ResultTable:
    """Return the claims that JMI is the best, by all rules for where a method is worse."""
    listed = {rule: best_claims(results, rule) for rule in RULES}
    rows = [(same[0].text, *(claim.outcome for claim in same)) for same in zip(*listed.values(), strict=True)]
    held = ", ".join(f"{sum(bool(claim.holds) for claim in claims)} by {rule}" for rule, claims in listed.items())
    return ResultTable(
        "The same claims by stricter rules for where a method is worse", ("claim", *RULES), rows, f"They hold: {held}."
    )


def claims(results: StudyResults) -> list[Claim]:
    """Return the claims in the order of the paper."""
    best = best_claims(results, INTERVALS)
    return [
        *_yeast_by_labels(results),
        _scene_by_labels(results),
        *best[:2],
        *_by_features(results),
        _powersets(results),
        *best[2:],
    ]


def _yeast_by_labels(results: StudyResults) -> list[Claim]:
    text = (
        "Figure 3: BR very marginally outperforms LP on yeast.",
        "Slightly more so in ranking loss.",
        "The difference decreases with more features.",
    )
    both = _both_measures(results, "yeast", "single-cmi", "joint-cmi")
    if both is None:
        return [not_run(sentence) for sentence in text]
    shares = ", ".join(f"{gap.share(gap.is_worse()):.0%}" for gap in both)
    means = ", ".join(f"{gap.mean:+.5f}" for gap in both)
    sure = "both" if all(gap.is_significant for gap in both) else "not both"
    relative = [gap.mean / gap.loss for gap in both]
    few, many = [gap.where(gap.sizes <= FEW).size for gap in both], [gap.where(gap.sizes > MANY).size for gap in both]
    observed = (
        f"Hamming, ranking loss: worse on {shares} of the axis; mean difference {means}, {sure} beyond the interval",
        f"{relative[0]:+.2%} in Hamming, {relative[1]:+.2%} in ranking loss",
        f"up to {FEW} features {few[0]:.5f}, {few[1]:.5f} (Hamming, ranking loss); above {MANY} {many[0]:.5f}, {many[1]:.5f}",
    )
    holds = (
        all(gap.mean < 0 for gap in both),
        relative[1] < min(0.0, relative[0]),
        all(late < early for early, late in zip(few, many, strict=True)),
    )
    return [Claim(*parts) for parts in zip(text, holds, observed, strict=True)]


def _scene_by_labels(results: StudyResults) -> Claim:
    text = "On scene there is no significant difference."
    both = _both_measures(results, "scene", "single-cmi", "joint-cmi")
    return not_run(text) if both is None else _no_difference(text, both)


def _by_features(results: StudyResults) -> list[Claim]:
    listed = []
    for name in SETS:
        text = f"JMI has an advantage over CMI on {name}."
        both = _both_measures(results, name, "single-jmi", "single-cmi")
        if both is None:
            listed.append(not_run(text))
            continue
        means = ", ".join(f"{gap.mean:+.5f} (worse on {gap.share(gap.is_worse()):.0%} of the axis)" for gap in both)
        listed.append(Claim(text, all(gap.mean < 0 for gap in both), f"Hamming, ranking loss: {means}"))
    text = "On yeast JMI and MIM perform similarly."
    both = _both_measures(results, "yeast", "single-jmi", "single-mim")
    return [*listed, not_run(text) if both is None else _no_difference(text, both)]


def _powersets(results: StudyResults) -> Claim:
    """Check that significant differences of JMI from CMI or MIM with single labels have the same sign with powersets."""
    text = "Results under LP are similar to those under BR."
    same = []
    for name in SETS:
        for other in ("cmi", "mim"):
            single, joint = (
                _both_measures(results, name, f"{labels}-jmi", f"{labels}-{other}") for labels in ("single", "joint")
            )
            if single is not None and joint is not None:
                same += [bool(br.mean * lp.mean > 0) for br, lp in zip(single, joint, strict=True) if br.is_significant]
    if not same:
        return not_run(text)
    return Claim(
        text,
        all(same),
        f"of {len(same)} significant differences of JMI from CMI or MIM under BR, {sum(same)} have the same sign under LP",
    )


def best_claims(results: StudyResults, rule: str) -> list[Claim]:
    """Return the claims that JMI is the best, by a rule for where it is worse: two about figure 4, five about figure 5."""
    others, literature = ("single-cmi", "single-mim"), (PRUNED, "pmu")
    listed = []
    for measure, wanted, words in zip(MEASURES, (ALMOST, ALL_BUT), ("almost any", "any"), strict=True):
        text = f"Figure 4: on scene JMI outperforms CMI and MIM for {words} number of features in {NAMES[measure]}."
        listed.append(_best(results, text, "scene", measure, others, rule, wanted))
    for measure in MEASURES:
        text = f"Figure 5: on yeast JMI is best at all numbers of features in {NAMES[measure]}."
        listed.append(_best(results, text, "yeast", measure, literature, rule))
    text = "Figure 5: on scene JMI is best at all numbers of features in ranking loss."
    return [
        *listed,
        _best(results, text, "scene", "ranking_loss", literature, rule),
        *_except_a_range(results, literature, rule),
    ]


def _best(
    results: StudyResults, text: str, dataset: str, measure: str, others: Sequence[str], rule: str, wanted: float = ALL_BUT
) -> Claim:
    """Check that JMI with single labels is better than the others on average, and worse on little of the axis."""
    differences = _from_jmi(results, dataset, measure, others)
    if differences is None:
        return not_run(text)
    share = share_worse(differences, rule)
    observed = []
    for gap, other in zip(differences, others, strict=True):
        worse = gap.sizes[gap.is_worse(rule)]
        where = f" (between {worse.min()} and {worse.max()} features)" if len(worse) else ""
        observed.append(f"{gap.share(gap.is_worse(rule)):.1%} than {other}{where}")
    holds = share <= 1 - wanted and all(gap.mean < 0 for gap in differences)
    return Claim(text, holds, f"worse on {share:.1%} of the axis: {', '.join(observed)}")


def _except_a_range(results: StudyResults, others: Sequence[str], rule: str) -> list[Claim]:
    text = (
        "Figure 5: on scene JMI is not best at 10 to 130 features in Hamming loss.",
        "Figure 5: on scene JMI is best at the other numbers in Hamming loss.",
    )
    differences = _from_jmi(results, "scene", "hamming_loss", others)
    if differences is None:
        return [not_run(sentence) for sentence in text]
    sizes = differences[0].sizes
    middle = (sizes >= 10) & (sizes <= 130)
    within, without = (share_worse([gap.where(in_range) for gap in differences], rule) for in_range in (middle, ~middle))
    worse = sizes[np.logical_or.reduce([gap.is_worse(rule) for gap in differences])]
    span = f"; between {worse.min()} and {worse.max()} features" if len(worse) else ""
    return [
        Claim(text[0], within > 0.5, f"worse on {within:.0%} of that range{span}"),
        Claim(text[1], without <= 1 - ALL_BUT, f"worse on {without:.0%} of the rest of the axis"),
    ]


def _no_difference(text: str, differences: list[CurveDifference]) -> Claim:
    overlap = [1 - gap.share(gap.apart) for gap in differences]
    shares, means = ", ".join(f"{share:.0%}" for share in overlap), ", ".join(f"{gap.mean:+.5f}" for gap in differences)
    return Claim(
        text,
        min(overlap) >= ALL_BUT,
        f"Hamming, ranking loss: intervals overlap on {shares} of the axis; mean differences {means}",
    )


def _both_measures(results: StudyResults, dataset: str, method: str, other: str) -> list[CurveDifference] | None:
    """Return the differences by both measures; None where results are missing."""
    return _all_known([curve_difference(results, dataset, measure, method, other) for measure in MEASURES])


def _from_jmi(results: StudyResults, dataset: str, measure: str, others: Sequence[str]) -> list[CurveDifference] | None:
    """Return the differences of JMI with single labels from other methods; None where results are missing."""
    return _all_known([curve_difference(results, dataset, measure, "single-jmi", other) for other in others])


def _all_known(differences: list[CurveDifference | None]) -> list[CurveDifference] | None:
    known = [gap for gap in differences if gap is not None]
    return known if len(known) == len(differences) else None


def figures(results: Results) -> Figures:
    """Draw the paper's figures; figure 3 also for scene, which the paper leaves out, and figure 4 also for powersets."""
    drawn: Figures = {}
    if PART not in results:
        return drawn
    panels = [[(name, measure) for measure in MEASURES] for name in SETS]
    for name, methods in FIGURES.items():
        figure = results_panels(results[PART], panels, methods)
        if figure is not None:
            drawn[name] = figure
    return drawn


REPLICATION = Replication.of("composite_likelihood", "composite-likelihood", protocols, result_tables, figures)
