"""The verdict of an automatic selection in words, and its comparison as a table."""

from collections.abc import Mapping
from typing import Any

from labelsieve.selectors.fold_evaluation import Curves
from labelsieve.selectors.nested_choice import ALL, CONFIDENCE, NONE, Choice, choose, options_of


def verdict_text(choice: Choice, measure: str, *, lower_is_better: bool, numeric: bool) -> str:
    """What to do, with the estimates that say so."""
    sign = -1.0 if lower_is_better else 1.0
    chosen, everything, constant = (sign * float(values.mean()) for values in (choice.chosen, choice.all, choice.none))
    n_kept, n_features = choice.option.n_features, choice.n_features
    rates, targets = ("means", "targets") if numeric else ("base rates", "labels")
    if choice.verdict == "nothing predicts":
        return (
            f"Nothing here predicts the {targets} better than their {rates}, by {measure}: it is {chosen:.3f} with the "
            f"selection, {everything:.3f} with all features and {constant:.3f} for the {rates}."
        )
    if choice.verdict == "keep all features":
        return (
            f"Keep all {n_features} features: {measure} is {everything:.3f} with all of them, {chosen:.3f} where the tolerance "
            f"allows fewer, and {constant:.3f} for the {rates}."
        )
    cost = 100 * (everything - chosen) * sign / abs(everything) if everything else 0.0
    low, high = sorted(sign * limit for limit in choice.interval(choice.chosen, choice.all))
    costs = cost > -0.05
    effect = f"{'costs' if costs else 'gains'} {abs(cost):.1f} % of {measure}"
    if lower_is_better:
        effect = f"{'raises' if costs else 'lowers'} {measure} by {abs(cost):.1f} %"
    saved = 100 * (1 - n_kept / n_features)
    return (
        f"Select {n_kept} of {n_features} features by {choice.option.method}: selection {effect} "
        f"and saves {saved:.0f} % of the columns. On rows that took no part in the choice, {measure} is {chosen:.3f} with the "
        f"selection, {everything:.3f} with all features ({100 * CONFIDENCE:.0f} % interval of the difference: {low:+.3f} to "
        f"{high:+.3f}) and {constant:.3f} for the {rates}."
    )


def comparison_table(
    curves: Mapping[str, Curves],
    choice: Choice,
    not_tried: Mapping[str, str],
    standard_errors: float,
    *,
    lower_is_better: bool,
    fixed: bool,
) -> dict[str, list[Any]]:
    """A row for every method, best first, then the controls, then the methods without a value.

    ``n_features`` and ``score`` are those that the method was or, being the only one, would have been chosen with,
    ``best_score`` is the best of its curve; both are means over the folds that choose, so they are optimistic.
    """
    sign = -1.0 if lower_is_better else 1.0
    rows = []
    for name, found in curves.items():
        options = options_of(name, found.sizes, found.outer)
        kept = options[-1] if fixed else choose(options, standard_errors)
        if name == choice.option.method:
            kept = choice.option  # within the tolerance of the best of all methods, which may need fewer features
        best = max(options, key=lambda option: option.mean)
        status = "selected" if name == choice.option.method else "control" if name in (ALL, NONE) else ""
        numbers = (kept.n_features, sign * kept.mean, kept.standard_error, best.n_features, sign * best.mean, found.seconds)
        rows.append((name in (ALL, NONE), -best.mean, [name, *numbers, status]))
    rows.sort(key=lambda row: row[:2])
    table = [row for *_, row in rows]
    table += [[name, None, None, None, None, None, None, reason] for name, reason in not_tried.items()]
    heads = ("method", "n_features", "score", "standard_error", "best_n_features", "best_score", "seconds", "status")
    return {head: [row[index] for row in table] for index, head in enumerate(heads)}
