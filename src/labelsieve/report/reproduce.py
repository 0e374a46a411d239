"""Everything needed to reproduce a result: versions, settings, seeds, fingerprints, the command."""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from labelsieve.fingerprint import code_print
from labelsieve.report.html import Html, joined, paragraph, tag
from labelsieve.report.html_tables import facts
from labelsieve.selectors.base import BaseSieve

PACKAGES = ("labelsieve", "numpy", "scipy", "scikit-learn", "matplotlib")


def versions() -> list[tuple[str, str]]:
    """Versions of Python and of the packages that a result depends on, and the machine."""
    rows = [("Python", f"{platform.python_implementation()} {platform.python_version()}")]
    for name in PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return [*rows, ("machine", f"{platform.system()} on {platform.machine()}"), ("code of labelsieve", code_print())]


def selector_facts(selector: BaseSieve) -> list[tuple[str, str]]:
    """Every parameter of a selector, and the objects that names stand for, with settings and seeds."""
    rows = [(name, repr(value)) for name, value in sorted(selector.get_params(deep=False).items())]
    for name in ("criterion_", "targets_", "discretizer_", "target_discretizer_"):
        part = getattr(selector, name, None)
        if part is not None:
            settings = part.get_params() if hasattr(part, "get_params") else {}
            inside = ", ".join(f"{key}={value!r}" for key, value in sorted(settings.items()))
            rows.append((f"used: {name.rstrip('_')}", f"{type(part).__name__}({inside})" if settings else repr(part)))
    return rows


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings in one line, without the name.

    >>> settings_text({"name": "mlknn", "k": 7})
    'k=7'
    """
    inside = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "name")
    return inside or "with its defaults"


def reproduce_section(
    command: str | None, blocks: Mapping[str, list[tuple[str, str]]], text: str = "", text_name: str = ""
) -> Html:
    """Tables of facts by their captions, the command, and a text to copy."""
    pieces: list[Html] = []
    if command:
        pieces += [paragraph("Command:"), tag("pre", command, tabindex="0")]
    pieces += [facts(caption, rows) for caption, rows in blocks.items()]
    if text:
        pieces.append(tag("details", tag("summary", text_name), tag("pre", text, tabindex="0")))
    return joined(pieces)
