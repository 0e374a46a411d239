"""The verb ``methods``: list all methods, or describe one."""

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelsieve.cli.options import Format, FormatOption, JsonOption, complete, emit, method_names
from labelsieve.report.text import broken_formula, plain_table, prose, text_of

if TYPE_CHECKING:
    from rich.table import Table

    from labelsieve.criteria import Criterion

EXPLAINED = {"n_rows": 10_000, "n_features": 1_000, "n_targets": 50}
FACTS = 13  # width of the first column in the description of a criterion
ONE = "labelsieve methods NAME shows the formula, the paper and the parameters of a method."
SYMBOLS = "f: the candidate; s: each selected feature; S: all of them as one; y, z: labels; pa: parents of y."


def methods(
    name: Annotated[
        str | None, typer.Argument(help="Method to describe in detail.", autocompletion=complete(method_names))
    ] = None,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """List all methods, or describe one: formula, paper, cost."""
    if name is None:
        emit(format, json, table=list_of_all, document=documents, rows=rows_of_all)
        return
    from labelsieve.registry import method_name

    name = method_name(name)
    emit(format, json, table=lambda: description(name), document=lambda: facts(name), rows=lambda: facts(name).items())


def list_of_all() -> str:
    """Return one sentence on every method, then the published methods and the aliases."""
    from labelsieve.discretize import EqualWidth
    from labelsieve.registry import CRITERIA, DEFAULT_CRITERION, METHODS, PRESETS, make_criterion, make_discretizer

    criteria = plain_table("name", "information criterion")
    for name in CRITERIA:
        criteria.add_row(name, _summary(make_criterion(name)))
    others = plain_table("name", "other method")
    for name, method in METHODS.items():
        others.add_row(name, method.summary)
    presets = plain_table("name", "criterion", "targets", "discretizer", "paper")
    for name, preset in PRESETS.items():
        used = preset.discretizer
        bins = f", {used.n_bins} bins closed on the {used.closed}" if isinstance(used, EqualWidth) else ""
        presets.add_row(name, str(preset.criterion), preset.targets, f"{make_discretizer(used).name}{bins}", preset.paper)
    return "\n\n".join(
        [
            prose(f"The default is {DEFAULT_CRITERION}. {ONE}"),
            text_of(criteria),
            text_of(others),
            "Published methods: a criterion with label space and discretizer of its paper.",
            text_of(presets),
            "Aliases; _ may stand for -, and case does not matter:",
            text_of(_aliases()),
        ]
    )


def _aliases() -> "Table":
    from labelsieve.registry import ALIASES

    table = plain_table("kind", "aliases")
    for kind, names in ALIASES.items():
        by_name: dict[str, list[str]] = {}
        for alias, name in names.items():
            by_name.setdefault(name, []).append(alias)
        table.add_row(kind, "; ".join(f"{name}: {', '.join(aliases)}" for name, aliases in by_name.items()))
    return table


def documents() -> list[dict[str, Any]]:
    """Return the facts about every method as plain values, for JSON."""
    return [facts(name) for name in method_names()]


def rows_of_all() -> list[list[Any]]:
    """Return name, kind, formula, paper and Python call of every method as rows, for CSV."""
    keys = ["name", "kind", "formula", "paper", "python"]
    return [keys, *([document[key] for key in keys] for document in documents())]


def facts(name: str) -> dict[str, Any]:
    """Return the facts about a method as plain values; an unknown name is refused."""
    from labelsieve.registry import METHODS, PRESETS, resolve_method

    if name in METHODS:
        method = METHODS[name]
        document: dict[str, Any] = {"name": name, "kind": "selector", "summary": method.summary, "formula": method.formula}
        document |= {"paper": method.paper, "cost": method.cost, "reading": method.reading, "scores": method.scores}
        return {**document, "python": method.call, "ranking": not method.no_ranking, "remedy": method.no_ranking}
    preset = PRESETS.get(name)
    criterion = resolve_method(name if preset is None else preset.criterion).criterion
    document = {"name": name, "kind": "criterion" if preset is None else "published method"}
    document |= {"summary": _summary(criterion), "formula": str(criterion.score)}
    document |= {"first": None if criterion.first is None else str(criterion.first)}
    document |= {"paper": criterion.paper if preset is None else preset.paper, "parameters": _parameters(criterion)}
    document |= {"python": f"labelsieve.Sieve({name!r})", "scores": "nats", "ranking": True}
    if preset is not None:
        document |= {"criterion": str(preset.criterion), "targets": preset.targets, "discretizer": str(preset.discretizer)}
    return document


def description(name: str) -> str:
    """Return the facts about a method as text."""
    from labelsieve.registry import METHODS, PRESETS, resolve_method

    table = plain_table()
    if name in METHODS:
        method = METHODS[name]
        for what in ("formula", "paper", "cost", "reading", "scores"):
            if getattr(method, what):
                table.add_row({"reading": "interpretation"}.get(what, what), getattr(method, what))
        table.add_row("in Python", method.call)
        note = [prose(f"select and compare do not accept it: {method.no_ranking}")] if method.no_ranking else []
        return "\n\n".join([prose(f"{name}: {method.summary}"), text_of(table), *note])
    criterion = resolve_method(PRESETS[name].criterion if name in PRESETS else name).criterion
    plan = criterion.plan
    if name in PRESETS:
        preset = PRESETS[name]
        table.add_row("method", f"{name}, {preset.paper}")
        table.add_row("targets", preset.targets)
        table.add_row("discretizer", str(preset.discretizer))
    table.add_row("formula", broken_formula(plan.score, FACTS))
    first = "the same, with nothing selected yet" if plan.first is None else broken_formula(plan.first, FACTS)
    table.add_row("first step", first)
    table.add_row("symbols", SYMBOLS)
    parameters = _parameters(criterion)
    table.add_row("parameters", ", ".join(f"{key}={value!r}" for key, value in parameters.items()) or "none")
    table.add_row("paper", criterion.paper)
    counted = plan.explain(**EXPLAINED).splitlines()[1 if plan.first is None else 2 :]  # the formulas stand above
    size = "With {n_rows:,} rows, {n_features:,} features and {n_targets} labels:".format(**EXPLAINED)
    return "\n\n".join([prose(f"{criterion.name}: {_summary(criterion)}"), text_of(table), "\n".join([size, *counted])])


def _summary(criterion: "Criterion") -> str:
    return (inspect.getdoc(type(criterion)) or "").splitlines()[0]


def _parameters(criterion: "Criterion") -> dict[str, Any]:
    kind = type(criterion)
    parameters = inspect.signature(kind).parameters.values() if kind.__init__ is not object.__init__ else ()
    return {parameter.name: parameter.default for parameter in parameters}
