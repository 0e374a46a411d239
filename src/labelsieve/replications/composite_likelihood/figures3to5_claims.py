"""What Sechidis, Nikolaou and Brown (2014) say about figures 3 to 5, in sections 3.3, 4.3 and 5.2, checked on our results."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsieve.replications.claims import Claim, not_run
from labelsieve.replications.compare_curves import ALL_BUT, ALMOST, INTERVALS, Duel, duel, share_beaten
from labelsieve.replications.curve_panels import NAMES
from labelsieve.studies.results.study_results import StudyResults

SETS = ("scene", "yeast")
MEASURES = ("hamming_loss", "ranking_loss")
PRUNED = "pruned-cmi"
FEW, MANY = 20, 50  # features: where a difference is to be large, and where it is to be small


def claims(results: StudyResults) -> list[Claim]:
    """The claims in the order of the paper."""
    best = best_claims(results, INTERVALS)
    return [
        *_yeast_by_labels(results),
        _scene_by_labels(results),
        *best[:2],
        *_by_features(results),
        _powersets(results),
        *best[2:],
    ]


def best_claims(results: StudyResults, rule: str) -> list[Claim]:
    """Those that say where JMI is the best, by a rule for what worse is: two about figure 4, five about figure 5."""
    others, published = ("single-cmi", "single-mim"), (PRUNED, "pmu")
    listed = []
    for measure, wanted, words in zip(MEASURES, (ALMOST, ALL_BUT), ("almost any", "any"), strict=True):
        said = f"Figure 4: on scene JMI outperforms CMI and MIM for {words} number of features in {NAMES[measure]}."
        listed.append(_best(results, said, "scene", measure, others, rule, wanted))
    for measure in MEASURES:
        said = f"Figure 5: on yeast JMI is best at all numbers of features in {NAMES[measure]}."
        listed.append(_best(results, said, "yeast", measure, published, rule))
    said = "Figure 5: on scene JMI is best at all numbers of features in ranking loss."
    return [
        *listed,
        _best(results, said, "scene", "ranking_loss", published, rule),
        *_but_for_a_range(results, published, rule),
    ]


def _duels(results: StudyResults, dataset: str, one: str, other: str) -> list[Duel] | None:
    """Of both measures; None where there are not the results."""
    found = [duel(results, dataset, measure, one, other) for measure in MEASURES]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def _yeast_by_labels(results: StudyResults) -> list[Claim]:
    said = (
        "Figure 3: BR very marginally outperforms LP on yeast.",
        "Slightly more so in ranking loss.",
        "The difference decreases with more features.",
    )
    both = _duels(results, "yeast", "single-cmi", "joint-cmi")
    if both is None:
        return [not_run(one) for one in said]
    shares = ", ".join(f"{one.share(one.beaten()):.0%}" for one in both)
    means = ", ".join(f"{one.mean:+.5f}" for one in both)
    sure = "both" if all(one.is_sure for one in both) else "not both"
    relative = [one.mean / one.loss for one in both]
    few, many = ([one.where(chosen(one)).size for one in both] for chosen in (_has_few, _has_many))
    found = (
        f"Hamming, ranking loss: worse on {shares} of the axis; mean difference {means}, {sure} beyond the interval",
        f"{relative[0]:+.2%} in Hamming, {relative[1]:+.2%} in ranking loss",
        f"up to {FEW} features {few[0]:.5f}, {few[1]:.5f} (Hamming, ranking loss); above {MANY} {many[0]:.5f}, {many[1]:.5f}",
    )
    holds = (
        all(one.mean < 0 for one in both),
        relative[1] < min(0.0, relative[0]),
        all(late < early for early, late in zip(few, many, strict=True)),
    )
    return [Claim(*parts) for parts in zip(said, holds, found, strict=True)]


def _has_few(one: Duel) -> Any:
    return one.sizes <= FEW


def _has_many(one: Duel) -> Any:
    return one.sizes > MANY


def _scene_by_labels(results: StudyResults) -> Claim:
    said = "On scene there is no significant difference."
    both = _duels(results, "scene", "single-cmi", "joint-cmi")
    return not_run(said) if both is None else _alike(said, both)


def _alike(said: str, duels: list[Duel]) -> Claim:
    overlap = [1 - one.share(one.apart) for one in duels]
    shares, means = ", ".join(f"{one:.0%}" for one in overlap), ", ".join(f"{one.mean:+.5f}" for one in duels)
    return Claim(
        said,
        min(overlap) >= ALL_BUT,
        f"Hamming, ranking loss: intervals overlap on {shares} of the axis; mean differences {means}",
    )


def _by_features(results: StudyResults) -> list[Claim]:
    listed = []
    for name in SETS:
        said = f"JMI has an advantage over CMI on {name}."
        both = _duels(results, name, "single-jmi", "single-cmi")
        means = (
            ""
            if both is None
            else ", ".join(f"{one.mean:+.5f} (worse on {one.share(one.beaten()):.0%} of the axis)" for one in both)
        )
        listed.append(
            not_run(said) if both is None else Claim(said, all(one.mean < 0 for one in both), f"Hamming, ranking loss: {means}")
        )
    said = "On yeast JMI and MIM perform similarly."
    both = _duels(results, "yeast", "single-jmi", "single-mim")
    return [*listed, not_run(said) if both is None else _alike(said, both)]


def _powersets(results: StudyResults) -> Claim:
    """Where JMI surely differs from CMI or MIM with single labels, it must differ in the same way with powersets."""
    said = "Results under LP are similar to those under BR."
    same = []
    for name in SETS:
        for other in ("cmi", "mim"):
            single, joint = (_duels(results, name, f"{labels}-jmi", f"{labels}-{other}") for labels in ("single", "joint"))
            if single is not None and joint is not None:
                same += [bool(one.mean * two.mean > 0) for one, two in zip(single, joint, strict=True) if one.is_sure]
    if not same:
        return not_run(said)
    return Claim(
        said,
        all(same),
        f"of {len(same)} sure differences of JMI from CMI or MIM under BR, {sum(same)} have the same sign under LP",
    )


def _but_for_a_range(results: StudyResults, others: Sequence[str], rule: str) -> list[Claim]:
    said = (
        "Figure 5: on scene JMI is not best at 10 to 130 features in Hamming loss.",
        "Figure 5: on scene JMI is best at the other numbers in Hamming loss.",
    )
    duels = [one for other in others if (one := duel(results, "scene", "hamming_loss", "single-jmi", other)) is not None]
    if len(duels) < len(others):
        return [not_run(one) for one in said]
    sizes = duels[0].sizes
    middle = (sizes >= 10) & (sizes <= 130)
    within, without = (share_beaten([one.where(chosen) for one in duels], rule) for chosen in (middle, ~middle))
    beaten = sizes[np.logical_or.reduce([one.beaten(rule) for one in duels])]
    span = f"; between {beaten.min()} and {beaten.max()} features" if len(beaten) else ""
    return [
        Claim(said[0], within > 0.5, f"worse on {within:.0%} of that range{span}"),
        Claim(said[1], without <= 1 - ALL_BUT, f"worse on {without:.0%} of the rest of the axis"),
    ]


def _best(
    results: StudyResults,
    said: str,
    dataset: str,
    measure: str,
    others: Sequence[str],
    rule: str,
    wanted: float = ALL_BUT,
) -> Claim:
    """That JMI with single labels is better than the others on the whole, and hardly anywhere worse."""
    duels = [one for other in others if (one := duel(results, dataset, measure, "single-jmi", other)) is not None]
    if len(duels) < len(others):
        return not_run(said)
    share = share_beaten(duels, rule)
    told = []
    for one, other in zip(duels, others, strict=True):
        beaten = one.sizes[one.beaten(rule)]
        where = f" (between {beaten.min()} and {beaten.max()} features)" if len(beaten) else ""
        told.append(f"{one.share(one.beaten(rule)):.1%} than {other}{where}")
    holds = share <= 1 - wanted and all(one.mean < 0 for one in duels)
    return Claim(said, holds, f"worse on {share:.1%} of the axis: {', '.join(told)}")
