"""Sections that reports share: the methods that were used with their papers, and how to cite and reproduce a result."""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from inspect import getdoc
from typing import Any

from labelsieve.criteria import Criterion, Hybrid
from labelsieve.errors import InputError
from labelsieve.fingerprint import code_print
from labelsieve.registry import METHODS, PRESETS, method_of, resolve_method
from labelsieve.report.html import Html, facts, joined, paragraph, table, tag
from labelsieve.selectors.base import BaseSieve

Row = tuple[object, object, object]  # of the table of methods: name, what it does, paper

EXPLAINED: Row = (
    "explained share",
    "1 - squared error of predictions / squared error of the means, in held-out rows: Brier skill for labels, R² for numbers. "
    "Features are selected anew in every fold; the predictor is a weighted mean of ridge regressions and nearest neighbors.",
    "-",
)
SIGNAL: Row = (
    "signal, unsure",
    "Signal: what a feature adds to those above it is larger than the best of all candidates reaches by chance, at an error of "
    "5 %. Unsure: not on its own; it may help together with others.",
    "-",
)
STABILITY: Row = (
    "stability index",
    "Agreement of selections on resampled rows, corrected for random agreement: 1 for the same features every time.",
    "Nogueira, Sechidis and Brown 2018",
)
REDUNDANT: Row = (
    "redundant features",
    "Similarity is I(f; s) / H(f, s): 1 when each feature determines the other, 0 when they are independent.",
    "Rajski 1961",
)
STEPS: Row = (
    "relevance, redundancy, complementarity",
    "Information of a feature alone; its interaction I(f; s | y) - I(f; s) with a feature selected before it and a label, if "
    "it is negative and if it is positive, added over labels and averaged over those features. The sum is what it adds.",
    "Brown, Pocock, Zhao and Lujan 2012, section 4",
)
TESTS: Row = ("tests over data sets", "Friedman's test, then Nemenyi's for all pairs of methods.", "Demšar 2006")
RANKS: Row = (
    "ranks",
    "Methods are ranked at every number of features by their mean over the splits; those ranks are averaged.",
    "Sechidis, Spyromitros-Xioufis and Vlahavas 2019",
)

BIBTEX = """@software{{labelsieve,
  author  = {{{{The labelsieve developers}}}},
  title   = {{labelsieve: feature selection for multi-label and multi-target data}},
  version = {{{version}}}
}}"""
PACKAGES = ("labelsieve", "numpy", "scipy", "scikit-learn", "matplotlib")


def first_line(thing: object) -> str:
    """Return the first line of the docstring of an object's class."""
    return (getdoc(type(thing)) or "").strip().split("\n")[0].replace("``", "")


def method_row(name: str, criterion: object = None) -> Row:
    """Describe a criterion or method in a row; ``criterion`` is the name or object that ``name`` stands for."""
    known = criterion if criterion is not None else name
    if isinstance(known, str) and known.lower() in METHODS:
        method = METHODS[known.lower()]
        return name, _with_formula(method.summary, method.formula), method.paper
    preset = PRESETS.get(known.lower()) if isinstance(known, str) else None
    try:
        used: Criterion = resolve_method(known).criterion
    except InputError:
        return name, "A custom selector.", "-"
    papers = [preset.paper] if preset is not None else []
    paper = "; ".join(dict.fromkeys([*papers, used.paper])) or "-"
    return name, _with_formula(first_line(used), str(used.score)), paper


def selector_rows(selector: BaseSieve) -> list[Row]:
    """Describe the parts of a fitted selector in rows: criterion, label space, discretizer and stopping rule."""
    given, name = getattr(selector, "criterion", None), method_of(selector)
    rows: list[Row] = [method_row(name)] if name in METHODS else []
    if given is not None and given != name and name not in METHODS:
        used = selector.criterion_ or given
        rows.append(
            method_row(given if isinstance(given, str) else getattr(used, "name", type(given).__name__), used_name(given))
        )
    elif not rows:
        rows.append(method_row(name, used_name(given)) if given is not None else (name, first_line(selector), "-"))
    if isinstance(selector.criterion_, Hybrid):
        information = selector.criterion_.information
        rows.append(method_row(information if isinstance(information, str) else information.name, information))
    for what, kind in (("targets_", "label space"), ("discretizer_", "discretizer"), ("stopping_", "stopping rule")):
        fitted = getattr(selector, what, None)
        part = fitted[0] if isinstance(fitted, list) and fitted else fitted  # a rule of every label: of one kind
        if part is not None:
            rows.append((f"{kind}: {type(part).__name__}", first_line(part), "-"))
    return rows


def used_name(given: object) -> Any:
    """Return what :func:`method_row` looks up: a name as it was given, or an instance of a criterion."""
    return given if isinstance(given, str) else given() if isinstance(given, type) else given


def methods_section(rows: list[Row]) -> Html:
    """Return a table of the methods that were used, and the symbols of their formulas."""
    words = paragraph(
        "In formulas, f is the candidate, s each feature selected before it and S all of them; y and z are labels, pa the "
        "parents of y in a label network; I is mutual information, H entropy, co co-information."
    )
    return Html(table("Methods and their papers", ["method", "what it does", "paper"], rows, sort=False) + words)


def citation_section(whom: str = "the papers of the methods that you used, listed above,") -> Html:
    """Return a request to cite ``whom`` and the library, with its BibTeX entry."""
    from labelsieve import __version__

    words = paragraph(f"Please cite {whom} and the program with its version:")
    return Html(words + tag("pre", BIBTEX.format(version=__version__), tabindex="0"))


def _with_formula(words: str, formula: str) -> Html:
    return Html(tag("span", words) + tag("br") + tag("code", formula))


def versions() -> list[tuple[str, str]]:
    """Return the versions of Python and of the packages that a result depends on, and the machine."""
    rows = [("Python", f"{platform.python_implementation()} {platform.python_version()}")]
    for name in PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return [*rows, ("machine", f"{platform.system()} on {platform.machine()}"), ("code of labelsieve", code_print())]


def selector_facts(selector: BaseSieve) -> list[tuple[str, str]]:
    """Return every parameter of a selector, and the objects that names stand for, with settings and seeds."""
    rows = [(name, repr(value)) for name, value in sorted(selector.get_params(deep=False).items())]
    for name in ("criterion_", "targets_", "discretizer_", "target_discretizer_"):
        part = getattr(selector, name, None)
        if part is not None:
            settings = part.get_params() if hasattr(part, "get_params") else {}
            inside = ", ".join(f"{key}={value!r}" for key, value in sorted(settings.items()))
            rows.append((f"used: {name.rstrip('_')}", f"{type(part).__name__}({inside})" if settings else repr(part)))
    return rows


def settings_text(settings: Mapping[str, Any]) -> str:
    """Write settings in one line, without the name.

    >>> settings_text({"name": "mlknn", "k": 7})
    'k=7'
    """
    inside = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "name")
    return inside or "with its defaults"


def reproduce_section(
    command: str | None, blocks: Mapping[str, list[tuple[str, str]]], text: str = "", text_name: str = ""
) -> Html:
    """Return the command, a table for each block of facts, and a text to copy."""
    pieces: list[Html] = []
    if command:
        pieces += [paragraph("Command:"), tag("pre", command, tabindex="0")]
    pieces += [facts(caption, rows) for caption, rows in blocks.items()]
    if text:
        pieces.append(tag("details", tag("summary", text_name), tag("pre", text, tabindex="0")))
    return joined(pieces)
