"""Class docstrings that list inherited parameters and attributes: each is described once, in the class that introduces it."""

import inspect
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar, get_origin

SECTIONS = ("Parameters", "Attributes")


class InheritedDocs:
    """Completes the docstrings of its subclasses.

    A subclass describes only what is new in it, or has another default or meaning. What its base classes describe is appended
    to its sections Parameters, for the fields that it has, and Attributes.

    >>> class Base(InheritedDocs):
    ...     '''A base class.
    ...
    ...     Parameters
    ...     ----------
    ...     k, tol : float, default=1
    ...         Some number.
    ...     '''
    >>> class Nearest(Base):
    ...     '''A subclass.'''
    ...     tol: float
    >>> Nearest.__doc__.splitlines()[-2:]
    ['tol : float, default=1', '    Some number.']
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.__doc__:
            cls.__doc__ = _completed(cls)


def _completed(kind: type) -> str:
    text, sections = _split(kind.__doc__ or "")
    types = {name: found for base in reversed(kind.__mro__) for name, found in inspect.get_annotations(base).items()}
    fields = {name for name, found in types.items() if get_origin(found) is not ClassVar}
    for heading in SECTIONS:
        known = {name for entry in _entries(sections.get(heading, [])) for name in _names(entry)}
        for base in kind.__mro__[1:]:
            if not issubclass(base, InheritedDocs) or base is InheritedDocs:
                continue
            for entry in _entries(_split(base.__doc__ or "")[1].get(heading, [])):
                new = [name for name in _names(entry) if name not in known and (heading != SECTIONS[0] or name in fields)]
                if new:
                    known.update(new)
                    _, colon, rest = entry[0].partition(" : ")
                    sections.setdefault(heading, []).extend([", ".join(new) + colon + rest, *entry[1:]])
    order = [*SECTIONS, *(heading for heading in sections if heading not in SECTIONS)]
    written = [[heading, "-" * len(heading), *sections[heading]] for heading in order if heading in sections]
    return "\n\n".join("\n".join(lines) for lines in [text, *written])


def _split(doc: str) -> tuple[list[str], dict[str, list[str]]]:
    """The lines before the first section, and those of every section by its heading."""
    lines = inspect.cleandoc(doc).splitlines()
    starts = [row for row, line in enumerate(lines[1:]) if re.fullmatch("-{3,}", line)]
    sections = {lines[start]: _stripped(lines[start + 2 : end]) for start, end in pairwise([*starts, len(lines)])}
    return _stripped(lines[: starts[0]] if starts else lines), sections


def _stripped(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")


def _entries(lines: list[str]) -> Iterator[list[str]]:
    """The entries of a section: a line with names and type, and the indented lines of the description."""
    starts = [row for row, line in enumerate(lines) if line and not line.startswith(" ")]
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start:end]


def _names(entry: list[str]) -> list[str]:
    return entry[0].partition(" : ")[0].split(", ")
