"""Claims of sections 8.6 and 8.7 of Sun and Kudo (2017) about tables 3 to 7."""

from collections.abc import Mapping

import numpy as np

from labelsieve.replications.claims import Claim, values_text
from labelsieve.replications.optimized_chains.setup import MEASURES, WORDS
from labelsieve.replications.optimized_chains.tables_values import METHODS, complete_sets, grid
from labelsieve.replications.replication import Results
from labelsieve.statistics import Comparison, compare


def claims(results: Results, reading: str) -> list[Claim]:
    """Return the claims, by average ranks over the data sets with all seven methods."""
    names = complete_sets(results, reading)
    found = {
        measure: compare(grid(results, reading, measure, names), lower_is_better=False, methods=METHODS) for measure in MEASURES
    }
    ranks = {measure: dict(zip(METHODS, map(float, one.average_ranks), strict=True)) for measure, one in found.items()}
    listed = [_first(ranks, "oCC", measure) for measure in ("exact_match", "macro_f1", "micro_f1")]
    listed.append(_first(ranks, "EoCC", "hamming_score"))
    listed.append(_everywhere(ranks, "EoCC", ("ECC", "EBCC"), "EoCC is the best of the three ensembles by all four measures"))
    listed.append(_everywhere(ranks, "ECC", ("EBCC",), "ECC is better than EBCC by all four measures"))
    listed.append(_everywhere(ranks, "LLSF", ("MDDM",), "LLSF, local, is better than MDDM, global, by all four measures"))
    positions = {measure: sorted(METHODS, key=ranks[measure].__getitem__).index("BR") + 1 for measure in MEASURES}
    only_macro = [measure for measure, position in positions.items() if position <= 3] == ["macro_f1"]
    listed.append(Claim("BR is among the best three by macro-F1 alone", only_macro, _by_measure(positions, "{:d}.")))
    p_values = {measure: one.friedman.p_value for measure, one in found.items()}
    differ = all(value < 0.05 for value in p_values.values())
    listed.append(Claim("Friedman's test shows differences by all four measures", differ, _by_measure(p_values, "p = {:.2g}")))
    listed.append(_significant(found["exact_match"]))
    return listed


def _first(ranks: dict[str, dict[str, float]], method: str, measure: str) -> Claim:
    own = ranks[measure]
    order = sorted(own, key=own.__getitem__)
    shown = ", ".join(f"{one} {own[one]:.2f}" for one in dict.fromkeys([*order[:2], method]))
    return Claim(f"{method} has the best average rank by {WORDS[measure]}", own[method] == own[order[0]], shown)


def _everywhere(ranks: dict[str, dict[str, float]], method: str, others: tuple[str, ...], text: str) -> Claim:
    wins = {measure: all(own[method] < own[other] for other in others) for measure, own in ranks.items()}
    lost = [WORDS[measure] for measure, won in wins.items() if not won]
    return Claim(text, not lost, f"not by {', '.join(lost)}" if lost else "by all")


def _significant(found: Comparison) -> Claim:
    """Check that by exact match oCC and EoCC differ from BR, MDDM and LLSF, and not from ECC and EBCC."""
    index = {method: found.methods.index(method) for method in METHODS}
    pairs = {
        (method, other): bool(found.different[index[method], index[other]])
        for method in ("oCC", "EoCC")
        for other in ("BR", "MDDM", "LLSF", "ECC", "EBCC")
    }
    expected = {pair: pair[1] not in ("ECC", "EBCC") for pair in pairs}
    different = [f"{method} and {other}" for (method, other), is_different in pairs.items() if is_different]
    return Claim(
        "by exact match Nemenyi's test separates oCC and EoCC from all except ECC and EBCC",
        pairs == expected,
        f"CD {found.critical_difference:.2f}; different: {', '.join(different) or 'none of these pairs'}",
    )


def _by_measure(values: Mapping[str, float], form: str) -> str:
    return values_text({WORDS[measure]: value for measure, value in values.items() if np.isfinite(value)}, form)
