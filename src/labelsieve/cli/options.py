"""What the verbs share: parsing of options, formats of output, shell completion, and reading the data that they name."""

import csv
import io
import json
import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer
from typer.core import TyperCommand

from labelsieve.errors import InputError
from labelsieve.report.text import printable

if TYPE_CHECKING:
    from labelsieve.datasets import Dataset

# Purposes of options, which are the headings of a help text.
TABLE, COUNT, METHOD, COLUMNS, OUTPUT = "The table", "Number of features", "Method", "Columns and targets", "Output"
AUTOMATIC, MACHINE, OTHER = "Automatic choice of the method", "Large tables and machines", "Other options"
COMPARED, PART, RUN = "The comparison", "A part of the protocol", "The run"

Format = StrEnum("Format", ["table", "json", "csv"])
FormatOption = Annotated[
    Format, typer.Option(help="Output format: a table, or machine-readable json or csv.", rich_help_panel=OUTPUT)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Short for --format json.", rich_help_panel=OUTPUT)]


def examples(*lines: str) -> str:
    """Return commands to try, one per line, which a help text shows before its options.

    >>> examples("labelsieve demo").split()[1:]
    ['Examples:', 'labelsieve', 'demo']
    """
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def command_line() -> str:
    """Return the command as it was typed, for messages and reports; :func:`labelsieve.cli.start` sets the program's name."""
    return " ".join([sys.argv[0], *map(shlex.quote, sys.argv[1:])])


def parse_named(text: str, option: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of an option such as ``mlknn:k=7``.

    >>> parse_named("mlknn:k=7:s=0.5", "--classifier")
    ('mlknn', {'k': 7, 's': 0.5})
    """
    name, *parameters = text.strip().split(":")
    settings: dict[str, Any] = {}
    for parameter in parameters:
        key, sign, value = parameter.partition("=")
        if not sign or not key.isidentifier():
            raise InputError(f"{option} {text}: parameters look like {name}:name=value.")
        settings[key] = read_value(value)
    return name, settings


def read_value(text: str) -> Any:
    """Return the value of a parameter that was typed: a number, true, false, none, or text.

    >>> read_value("7"), read_value("0.5"), read_value("true"), read_value("none"), read_value("joint")
    (7, 0.5, True, None, 'joint')
    """
    constants: dict[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_count(text: str) -> int | float | None:
    """Return the number of features that was typed: a count, a fraction of all features, or None for all.

    >>> read_count("10"), read_count("25%"), read_count("all")
    (10, 0.25, None)
    """
    if text.strip().lower() == "all":
        return None
    try:
        if text.strip().endswith("%"):
            share = float(text.strip()[:-1]) / 100
            if 0 < share <= 1:
                return None if share == 1 else share
        elif int(text) >= 1:
            return int(text)
    except ValueError:
        pass
    raise InputError(f"-k {text}: the number of features is a whole number from 1, a fraction such as 10%, or all.")


def names_in(text: str | None) -> list[str]:
    """Return the names in a comma-separated list.

    >>> names_in("jmi, scls,")
    ['jmi', 'scls']
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def with_options(kind: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command: it gets an option for every field of a dataclass, and an object of that class as ``options``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        types = get_type_hints(command, include_extras=True)
        option_types = get_type_hints(kind, include_extras=True)
        parameters: list[Parameter] = []
        for parameter in signature(command).parameters.values():
            if parameter.name != "options":
                parameters.append(parameter.replace(annotation=types[parameter.name], kind=Parameter.KEYWORD_ONLY))
                continue
            for option in fields(kind):
                annotation = option_types[option.name]
                parameters.append(Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=annotation))

        @wraps(command)
        def run(**values: object) -> None:
            options = kind(**{option.name: values.pop(option.name) for option in fields(kind)})
            command(options=options, **values)

        run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def asked_format(format: Format, as_json: bool) -> Format:
    """Return the format that ``--format`` and ``--json`` ask for together.

    >>> asked_format(Format.table, True).value
    'json'
    """
    if as_json and format is Format.csv:
        raise InputError("--json and --format csv exclude each other.")
    return Format.json if as_json else format


def emit(
    format: Format,
    as_json: bool,
    *,
    table: Callable[[], str],
    document: Callable[[], Any],
    rows: Callable[[], Iterable[Sequence[Any]]] | None = None,
) -> None:
    """Print a result in the requested format; the others are not computed."""
    format = asked_format(format, as_json)
    if format is Format.json:
        typer.echo(as_json_text(document()))
    elif format is Format.csv:
        if rows is None:
            raise InputError("--format csv: this answer has several tables; use json.")
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows(map(spreadsheet_cell, row) for row in rows())
        text = lines.getvalue()
        # A name may hold control sequences: they must not reach a terminal, and a file gets the name as it is. The library
        # that prints would remove colors from the text in a pipe unless it is told that colors are wanted.
        if sys.stdout.isatty():
            text = "".join(printable(line) + "\n" for line in text.split("\n")[:-1])
        typer.echo(text, nl=False, color=True)
    else:
        typer.echo(table())


def require_writable(folder: Path) -> None:
    """Refuse a folder in which no file can be written, before anything is computed."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: this folder is read-only; use another one.")


def spreadsheet_cell(value: object) -> Any:
    """Return a cell of CSV that spreadsheets do not evaluate: text that begins with = + - or @ gets an apostrophe first.

    Numbers stay as they are, also as text.

    >>> spreadsheet_cell("=1+2"), spreadsheet_cell("-tempo"), spreadsheet_cell("-1.5"), spreadsheet_cell(-1.5)
    ("'=1+2", "'-tempo", '-1.5', -1.5)
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def as_json_text(document: object) -> str:
    """Return valid JSON: NaN and infinite numbers become null.

    >>> as_json_text({"p": float("nan")})
    '{"p": null}'
    """
    return json.dumps(_plain(document), indent=1 if isinstance(document, dict | list) and len(str(document)) > 60 else None)


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def complete(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a shell completion of the last name in a comma-separated list; ``names`` is called when it is needed."""

    def completions(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last.strip())]

    return completions


def method_names() -> list[str]:
    """Return the names for --criterion and --methods, for shell completion."""
    from labelsieve.registry import method_names

    return method_names()


class HelpByPurpose(TyperCommand):
    """A command whose help has examples first and then its options by purpose, and lists registered names.

    ``{LABEL_SPACES}`` in a help text stands for the names in that mapping of the registry. They are looked up when the help is
    shown, so that commands start without loading the registry.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text:
                parameter.help = re.sub(r"\{([A-Z_]+)\}", lambda match: _listed(match[1]), text)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        super().format_help_text(ctx, formatter)
        super().format_epilog(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write nothing: the examples, which are the epilog, come first."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            rest = "Arguments" if parameter.param_type_name == "argument" else OTHER
            record = parameter.get_help_record(ctx)
            if record is not None:
                panels.setdefault(getattr(parameter, "rich_help_panel", None) or rest, []).append(record)
        for title in sorted(panels, key=lambda title: title == OTHER):  # the others keep their order
            with formatter.section(title):
                formatter.write_dl(panels[title])


def _listed(registry: str) -> str:
    *names, last = registered(registry)()
    return f"{', '.join(names)} or {last}"


def registered(registry: str, *more: str) -> Callable[[], list[str]]:
    """Return a function that lists names for an option: ``more``, and those in a mapping of :mod:`labelsieve.registry`."""
    return lambda: [*more, *getattr(import_module("labelsieve.registry"), registry)]


FORMATS = "ARFF (Mulan, MEKA), Matlab, libsvm, CSV with a header row, JSON lines, Excel (.xlsx), Parquet; also compressed."
FILE = f"{FORMATS.removesuffix('.')}; or a name from datasets list."
LABELS = (
    "Label columns: N, the last N columns; -N, the first N; comma-separated names; a pattern such as 'label_*'; a regular "
    "expression after re: ('re:^y[0-9]+$'); or an XML header. Not needed if the file declares them."
)
SEPARATOR = "Separator of label sets in label columns, such as ';'; none: they are not sets. Default: detected."
MISSING_LABELS = "Missing labels: keep them as unknown (default), drop their rows, treat them as absent, or raise an error."
THREADS = "Number of threads; -1: all. The result does not depend on it."
MAX_BYTES = "Maximum memory for reading, such as 8G; default: 4G, or the available memory if less."


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file of data, as they were typed."""

    labels: Annotated[str | None, typer.Option(help=LABELS, rich_help_panel=TABLE)] = None
    label_separator: Annotated[str | None, typer.Option(help=SEPARATOR, rich_help_panel=TABLE)] = None
    strings: Annotated[
        Literal["error", "drop", "nominal"],
        typer.Option(
            help="String attributes and non-numeric dates of ARFF files: raise an error, drop them, or treat them as nominal.",
            rich_help_panel=TABLE,
        ),
    ] = "error"
    missing_labels: Annotated[
        Literal["keep", "drop", "absent", "error"] | None, typer.Option(help=MISSING_LABELS, rich_help_panel=TABLE)
    ] = None
    max_bytes: Annotated[str | None, typer.Option(help=MAX_BYTES, rich_help_panel=TABLE)] = None

    def settings(self) -> dict[str, Any]:
        """Return the parameters of :func:`labelsieve.datasets.load` that were typed; the others keep their defaults."""
        from labelsieve.datasets.readers.files import read_size

        separator = "" if self.label_separator == "none" else self.label_separator
        limit = None if self.max_bytes is None else read_size(self.max_bytes, "--max-bytes")
        given: dict[str, Any] = {"labels": self.labels, "label_separator": separator, "max_bytes": limit}
        given |= {"strings": None if self.strings == "error" else self.strings, "missing_labels": self.missing_labels}
        return {name: value for name, value in given.items() if value is not None}

    def load(self, path: str | os.PathLike[str], *, names: bool = True) -> "Dataset":
        """Read a file or, with ``names``, a data set of the catalog; errors name options instead of parameters."""
        from labelsieve.datasets import load, load_or_fetch

        with messages_as_options():
            # Only a plain word that is no file is the name of a data set to fetch.
            return (load_or_fetch if names and not os.path.exists(path) else load)(path, **self.settings())


def as_options(message: str) -> str:
    """Return a message of the library with options in place of parameters.

    >>> as_options('Pass strings="drop", max_bytes=9 or overwrite=True.')
    'Pass --strings drop, --max-bytes 9 or --overwrite.'
    """
    message = re.sub(r'\b(strings|missing_labels|label_separator)="([^"]*)"', _option, message)
    message = re.sub(r"\bmax_bytes=(\d+)", r"--max-bytes \1", message).replace("max_bytes=", "--max-bytes")
    return message.replace("overwrite=True", "--overwrite").replace("labels=:", "--labels:")


def _option(found: re.Match[str]) -> str:
    value = found[2] if found[2].isalpha() else f"'{found[2]}'"
    return f"--{found[1].replace('_', '-')} {value if found[2] else 'none'}"


@contextmanager
def messages_as_options() -> Iterator[None]:
    """Rewrite errors and warnings of the library so that they name options instead of parameters."""
    show = warnings.showwarning

    def show_options(message: Warning | str, *rest: Any, **more: Any) -> None:
        show(as_options(str(message)), *rest, **more)

    with warnings.catch_warnings():
        warnings.showwarning = show_options
        try:
            yield
        except InputError as error:
            raise InputError(as_options(str(error))) from error
