"""What sections 8.6 and 8.7 of Sun and Kudo (2017) say of tables 3 to 7."""

import numpy as np

from labelsieve.replications.claims import Claim
from labelsieve.replications.optimized_chains.setup import MEASURES, WORDS
from labelsieve.replications.optimized_chains.tables_printed import METHODS
from labelsieve.replications.optimized_chains.tables_values import complete_sets, grid
from labelsieve.replications.replication import Results
from labelsieve.statistics import Comparison, compare


def claims(results: Results, reading: str) -> list[Claim]:
    """Each claim by average ranks over the data sets that have all seven methods."""
    names = complete_sets(results, reading)
    found = {
        measure: compare(grid(results, reading, measure, names), lower_is_better=False, methods=METHODS) for measure in MEASURES
    }
    ranks = {measure: dict(zip(METHODS, map(float, one.average_ranks), strict=True)) for measure, one in found.items()}
    said = [_first(ranks, "oCC", measure) for measure in ("exact_match", "macro_f1", "micro_f1")]
    said.append(_first(ranks, "EoCC", "hamming_score"))
    said.append(_everywhere(ranks, "EoCC", ("ECC", "EBCC"), "EoCC is the best of the three ensembles by all four measures"))
    said.append(_everywhere(ranks, "ECC", ("EBCC",), "ECC is better than EBCC by all four measures"))
    said.append(_everywhere(ranks, "LLSF", ("MDDM",), "LLSF, local, is better than MDDM, global, by all four measures"))
    places = {measure: sorted(METHODS, key=ranks[measure].__getitem__).index("BR") + 1 for measure in MEASURES}
    only_macro = places["macro_f1"] <= 3 and all(place > 3 for measure, place in places.items() if measure != "macro_f1")
    said.append(Claim("BR is among the best three by macro-F1 alone", only_macro, _told(places, "{:d}.")))
    p_values = {measure: one.friedman.p_value for measure, one in found.items()}
    differ = all(value < 0.05 for value in p_values.values())
    said.append(Claim("Friedman's test sees differences by all four measures", differ, _told(p_values, "p = {:.2g}")))
    said.append(_significant(found["exact_match"]))
    return said


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
    """By exact match, oCC and EoCC differ from BR, MDDM and LLSF and not from ECC and EBCC."""
    place = {method: found.methods.index(method) for method in METHODS}
    pairs = {
        (own, other): bool(found.different[place[own], place[other]])
        for own in ("oCC", "EoCC")
        for other in ("BR", "MDDM", "LLSF", "ECC", "EBCC")
    }
    expected = {pair: pair[1] not in ("ECC", "EBCC") for pair in pairs}
    seen = [f"{own} and {other}" for (own, other), real in pairs.items() if real]
    return Claim(
        "by exact match Nemenyi's test tells oCC and EoCC from all but ECC and EBCC",
        pairs == expected,
        f"CD {found.critical_difference:.2f}; it tells {', '.join(seen) or 'none of these pairs'}",
    )


def _told(values: dict[str, float] | dict[str, int], form: str) -> str:
    return ", ".join(f"{WORDS[measure]} {form.format(value)}" for measure, value in values.items() if np.isfinite(value))
