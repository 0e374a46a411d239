"""Results as plain text: a selection, its discoveries or an automatic choice, in sentences and tables that fit the terminal."""

import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from labelsieve.formula import Formula
    from labelsieve.selection import Names, Selection, StabilitySummary, StoppingDecision
    from labelsieve.selectors.auto.sieve import AutoSieve
    from labelsieve.selectors.discoveries import BaseDiscoveries


# Headings of the columns of the selected features; one that begins with ">" is for numbers.
HEADINGS = {"explained": ">explained", "gain": ">gain", "stability": ">stability", "top_label": "top {target}"}
# Of the numbers behind a selection, which compare candidates within a step.
DETAILS = {
    "score": ">score",
    "relevance": ">relevance",
    "redundancy": ">redundancy",
    "complementarity": ">comple-mentarity",
    "added": ">added",
    "folds": ">folds",
}
EXPLAINED = (
    "explained: share of the {targets} that the features up to this row predict in rows that were not used to select or fit "
    "({folds} folds, ± {error})."
)
RELEVANCE = "relevance: information of the feature alone about {whose}, in nats."
WITH_DATA = "With the data, to_frame(X, Y) and plot(X, Y) show what every feature explains."
WITH_DATA_LABELWISE = "With the data, to_frame(X, Y) shows what every feature tells about its {target}."
GAIN = " gain: points more than the row above."
MARKS = " *: distinguishable from noise, at an error of 5 % per row ({n} of {all})."
TOP = " top {target}: the {target} that the feature alone has the most information about."
STABLE = 0.75  # selection frequency from which stability selection takes a feature
N_SHOWN = 20  # discovered pairs that are listed
CONFIDENCE = (
    "Confidence ({level:g} %): limits of the information about the {target} that a feature is most informative about, in nats, "
    "and its rank by information about all {target}s among these features."
)
REDUNDANT = "Redundant features (similarity at least {:g}; 1: the same information):"
NOTE = "* selected. Means ± standard errors over {folds} folds, which took part in the choice: they are optimistic. {rule}"
FEWEST = (
    "Features: the fewest whose difference to the method's best is within {tolerance}; for the selected method, to the best of "
    "all methods."
)
AT_SIZE = "Every method is shown, and the best one chosen, with the number of features that was asked for."
HEADING = 10  # headings of numbers that are longer are broken after a word, a hyphen or an underscore
SHORT = 24  # a table with longer texts, or names of twice that, is not split: they are folded
WORD = 16  # characters: longer words may be folded in a column of text
GAP = 3  # blanks between columns
_PIECE = re.compile(r"\S*?(?:[_.:/+-]+|\s+|$)")  # of a word that is broken into lines
READABLE = 100  # longer lines of prose are hard to read, however wide the terminal is


def selection_text(
    selection: "Selection",
    *,
    redundant: float | None = None,
    confidence: dict[str, Any] | None = None,
    details: bool = False,
    python: bool = False,
) -> str:
    """Return the verdict, the selected features as a table and, if asked for, the redundant ones and confidence limits.

    ``redundant`` is the smallest similarity of the redundant features; None does not list them. ``details`` adds the scores and
    their components. ``python`` says how to get the explained share in Python, where it is missing because there were no data.
    """
    explained = selection.explained
    below = notes(selection) if explained is None else [_explained_note(selection)]
    below = list(map(prose, below))
    below += [prose(_decided(decision)) for decision in selection.stopping if len(selection.stopping) == 1]
    below += [] if selection.stability is None else [prose(_stability(selection))]
    below += [] if redundant is None else _redundant(selection, redundant)
    below += [] if confidence is None else confidence_text(confidence, noun(selection))
    above = [prose(in_order(selection) if explained is None else explained.verdict)]
    shown = [_selected_table(selection, details=False)] if selection.selected else []
    below += [prose(headline(selection)), _selected_table(selection, details=True)] if details and selection.selected else []
    below += [prose(pointer(selection))] if python and pointer(selection) else []
    return "\n\n".join([*above, *shown, *below])


def in_order(selection: "Selection") -> str:
    """Return a sentence on the method and the numbers of features, labels and rows.

    >>> from labelsieve.selection import Selection
    >>> in_order(Selection(method="jmi", n_features=9, fingerprint={}, labels=("calm", "sad"), selected=()))
    'jmi: 0 of 9 features for 2 labels.'
    """
    order = ", in order of selection" if selection.selected else ""
    return f"{selection.method}: {_counts(selection)}{_rows(selection)}{order}."


def own_column(selection: "Selection") -> str | None:
    """Return the column of a table with what every feature is by itself: its score or its relevance; None if that is unknown.

    >>> from labelsieve.selection import Selection
    >>> own_column(Selection(method="chi-square", n_features=9, fingerprint={}, comparable=True, selected=()))
    'score'
    """
    if selection.comparable:
        return "score"
    return "relevance" if any("relevance" in feature.components for feature in selection.selected) else None


def notes(selection: "Selection") -> list[str]:
    """Say what the numbers of a table without the explained share are."""
    column = own_column(selection)
    if column is None or not selection.selected:
        return []
    whose = f"its {noun(selection)}" if selection.labelwise else f"the {noun(selection, 2)}"
    return [f"score: {unit_text(selection)}." if column == "score" else RELEVANCE.format(whose=whose)]


def unit_text(selection: "Selection") -> str:
    """Name the unit of scores that rate a feature alone."""
    return "information in nats" if selection.unit == "nats" else selection.unit


def pointer(selection: "Selection") -> str:
    """Say how to see more in Python of a selection that was made without the data; empty if there is no more."""
    if selection.n_rows is not None or selection.explained is not None or not selection.selected:
        return ""
    return WITH_DATA_LABELWISE.format(target=noun(selection)) if selection.labelwise else WITH_DATA


def _explained_note(selection: "Selection") -> str:
    """Say what the columns of the explained share mean."""
    explained = selection.explained
    assert explained is not None
    marked = [feature.signal for feature in selection.selected if feature.signal is not None]
    rows = GAIN if selection.selected else ""
    marks = MARKS.format(n=sum(marked), all=len(marked)) if marked else ""
    size = max((index for index, size in enumerate(explained.sizes) if size <= len(selection.selected)), default=0)
    error = f"{100 * explained.errors[size]:.1f}"
    has_top = any(feature.top_label is not None for feature in selection.selected)
    top = TOP.format(target=noun(selection)) if has_top else ""
    return EXPLAINED.format(targets=noun(selection, 2), folds=explained.n_folds, error=error) + rows + marks + top


def _decided(decision: "StoppingDecision") -> str:
    """Say how the number of features was found; the default rule is not named, because nobody asked for it by name."""
    return decision.reason if decision.rule == "CrossValidated" else f"{decision.rule}: {decision.reason}"


def headline(selection: "Selection") -> str:
    """Return a sentence on the method, the numbers of features and labels, and the unit of the scores.

    >>> from labelsieve.selection import Selection
    >>> headline(Selection(method="jmi", n_features=9, targets="single", unit="nats", fingerprint={}, selected=()))
    'jmi: 0 of 9 features (single); scores in nats.'
    """
    unit = f"scores in {selection.unit}" if selection.unit == "nats" else f"scores are {selection.unit}"
    return f"{selection.method}: {_counts(selection)} ({targets_text(selection)}){_rows(selection)}; {unit}."


def _counts(selection: "Selection") -> str:
    q = len(selection.labels)
    labels = f" for {q} {noun(selection, q)}" if q else ""
    return f"{len(selection.columns)} of {selection.n_features:,} features{labels}"


def _rows(selection: "Selection") -> str:
    return "" if selection.n_rows is None else f", from {selection.n_rows:,} rows"


def noun(selection: "Selection", count: int = 1) -> str:
    """Call the targets labels where all of them are classes.

    >>> from labelsieve.selection import Selection
    >>> noun(Selection(method="jmi", n_features=2, fingerprint={}, selected=(), target_types=("class", "numeric")), 2)
    'targets'
    """
    word = _one_target(selection.target_types)
    return word if count == 1 else f"{word}s"


def _one_target(types: Iterable[str]) -> str:
    return "target" if "numeric" in types else "label"


def targets_text(selection: "Selection") -> str:
    """Name the label space, and the targets that were taken as numeric; all others are classes.

    >>> from labelsieve.selection import Selection
    >>> known = {"method": "jmi", "n_features": 2, "fingerprint": {}, "selected": ()}
    >>> targets_text(Selection(**known, targets="single", labels=("genre", "price"), target_types=("class", "numeric")))
    'single; 1 as classes; 1 as numeric: price'
    """
    numeric = [name for name, kind in zip(selection.labels, selection.target_types, strict=False) if kind == "numeric"]
    n_classes = len(selection.target_types) - len(numeric)
    if not numeric:  # cut points are those of numeric targets, and without them each label is a target as it is
        return "single" if selection.targets == "cumulative" and n_classes else selection.targets
    if not n_classes:
        return f"{selection.targets}; numeric"
    names = ", ".join([*map(printable, numeric[:5]), *(["..."] if len(numeric) > 5 else [])])
    return f"{selection.targets}; {n_classes} as classes; {len(numeric)} as numeric: {names}"


def _selected_table(selection: "Selection", *, details: bool) -> str:
    """Return the table of selected features: what they explain or are by themselves or, as details, their scores."""
    table, target = selection.table(), noun(selection)
    headings = {name: heading.format(target=target) for name, heading in HEADINGS.items()}
    if not details and selection.explained is None and (column := own_column(selection)) is not None:
        headings = {column: f">{column}", **headings}
    if details:
        headings = DETAILS
        if "top_label" in table:
            pairs = zip(table["top_label"], table["top_label_information"], strict=True)
            table["top_label"] = [None if label is None else f"{label} ({number(nats)})" for label, nats in pairs]
    else:
        table["explained"] = [None if share is None else percent(share) for share in table.get("explained", [])]
        marks = table.get("signal", [None] * len(table["rank"]))
        table["gain"] = [
            None if gain is None else f"{'* ' if mark else ''}{points(gain)}"
            for gain, mark in zip(table.get("gain", []), marks, strict=False)
        ]
    # Ranks and names are one column, which is repeated where the width is not enough for all columns.
    ranks, names = ["rank", *table["rank"]], ["feature", *table["feature"]]
    columns = {}
    for name, heading in headings.items():
        if name in table and any(value is not None for value in table[name]):
            columns[heading] = [_cell(value) for value in table[name]]
    if not details and selection.explained is not None:
        ranks, names = [*ranks, ""], [*names, f"all {selection.n_features:,} features"]
        for heading, cells in columns.items():
            cells.append(percent(selection.explained.all_features) if heading == HEADINGS["explained"] else "")
    first = _beside([f"{rank:>4}" for rank in ranks], names)
    if selection.labelwise:
        first = _beside([target, *table["label"]], first)
    columns = {first[0]: first[1:], **columns}
    return tables(list(columns), list(zip(*columns.values(), strict=True)))


def percent(share: float) -> str:
    """Write a share in percent with one decimal.

    >>> percent(0.1234), percent(-0.0001)
    ('12.3 %', '0.0 %')
    """
    return f"{round(100 * share, 1) + 0.0:.1f} %"


def points(share: float) -> str:
    """Write a difference of shares in points with its sign.

    >>> points(0.1234), points(-0.0001), points(-0.02)
    ('+12.3', '0.0', '-2.0')
    """
    rounded = round(100 * share, 1) + 0.0
    return f"{rounded:+.1f}" if rounded else "0.0"


def _beside(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Join two columns of text into one."""
    shown = [printable(str(text)) for text in left]
    width = max(map(cell_len, shown))
    return [f"{set_cell_size(text, width)}   {printable(str(more))}" for text, more in zip(shown, right, strict=True)]


def _cell(value: str | float | None) -> str:
    return "-" if value is None else printable(value) if isinstance(value, str) else number(value)


def _stability(selection: "Selection") -> str:
    """Describe the stability of the selection over resamples in a sentence."""
    stability = selection.stability
    assert stability is not None
    resamples = f"over {stability.n_repeats} resamples ({stability.kind})"
    if stability.index is None or stability.interval is None:
        return f"Stability {resamples} is not defined: all features or none were selected every time."
    low, high = map(number, stability.interval)
    interval = f"(95 %: {low} to {high})"
    text = f"Stability {number(stability.index)} {interval} {resamples}; 1: the same features every time, 0: random selections."
    return text if stability.kind != "pairs" else f"{text} {_stable_features(selection.n_features, stability)}"


def _stable_features(n_features: int, stability: "StabilitySummary") -> str:
    """Say how many features stability selection takes, and how many of them are expected to be errors."""
    from labelsieve.statistics import stability_bound

    n_stable = sum(frequency >= STABLE for frequency in stability.frequency.values())
    errors = stability_bound(n_features, sum(stability.frequency.values()), STABLE)
    frequent = f"{n_stable} features are in {100 * STABLE:.0f} % of the selections or more"
    return f"{frequent}; the expected number of those selected by error is at most {number(errors)}."


def _redundant(selection: "Selection", at_least: float) -> list[str]:
    table = plain_table("selected", "not selected", ">similarity")
    for feature in selection.selected:
        for name, similarity in feature.redundant.items():
            table.add_row(printable(feature.feature), printable(name), number(similarity))
    if not table.row_count:
        return [f"No feature that was not selected is redundant (similarity at least {at_least:g})."]
    return [REDUNDANT.format(at_least), text_of(table)]


def confidence_text(table: dict[str, Any], target: str = "label") -> list[str]:
    """Return a sentence and the table of :meth:`labelsieve.Sieve.information_confidence`, which has its ``confidence``."""
    has_q = "q" in table
    shown = plain_table("feature", "about", ">information", ">lower", ">upper", ">rank", *([">q"] if has_q else []))
    for row, feature in enumerate(table["feature"]):
        numbers = [number(table[name][row]) for name in ("information", "lower", "upper")]
        q = [f"{table['q'][row]:.2g}"] if has_q else []
        shown.add_row(printable(feature), printable(table["label"][row]), *numbers, ranks_text(table, row), *q)
    return [prose(CONFIDENCE.format(level=100 * table["confidence"], target=target)), text_of(shown)]


def ranks_text(table: dict[str, Any], row: int) -> str:
    """Return the range of ranks that a feature may have.

    >>> ranks_text({"first_rank": [1, 3], "last_rank": [1, 5]}, 1)
    '3 to 5'
    """
    first, last = table["first_rank"][row], table["last_rank"][row]
    return f"{first}" if first == last else f"{first} to {last}"


def discovery_text(
    selector: "BaseDiscoveries",
    *,
    names: "Names" = None,
    label_names: "Names" = None,
    n_shown: int = N_SHOWN,
    confidence: dict[str, Any] | None = None,
) -> str:
    """Return the number of discoveries, a table of the first ``n_shown``, and what the selector says about its tests."""
    table = selector.discovery_table(names, label_names)
    n_pairs, n_features = len(table["feature"]), int(selector.support_.sum())
    d, q = selector.n_features_in_, selector.label_q_values_.shape[1]
    target = _one_target([] if selector.target_types_ is None else selector.target_types_)
    level = f"at a false discovery rate of {selector.alpha:g}"
    pairs = f", {n_pairs} of {d * q} pairs of a feature and a {target}" if selector.finds_pairs else ""
    head = f"{type(selector).__name__}: {n_features} of {d} features{pairs} {level}."
    paragraphs = [prose(head)]
    if n_pairs:
        label_heading = target if selector.finds_pairs else "most informative about"
        shown = plain_table("feature", label_heading, ">information", *(f">{name}" for name in list(table)[3:]))
        for row in list(zip(*table.values(), strict=True))[:n_shown]:
            feature, label, information, *levels = row
            cells = ("-" if level != level else f"{level:.2g}" for level in levels)  # NaN: no value
            shown.add_row(printable(feature), printable(label), number(information), *cells)
        paragraphs.append(text_of(shown))
    if n_pairs > n_shown:
        paragraphs.append(f"{n_pairs - n_shown} more.")
    if selector.reason_:
        paragraphs.append(prose(selector.reason_))
    paragraphs += [] if confidence is None else confidence_text(confidence, target)
    return "\n\n".join(paragraphs)


def auto_text(auto: "AutoSieve", selection: str) -> str:
    """Return the verdict and the comparison of a fitted ``AutoSieve``, followed by the text of its selection."""
    n_folds = len(auto.curves_["all features"]["values"])
    errors = auto.standard_errors
    tolerance = "one standard error" if errors == 1 else f"{errors:g} standard errors"
    rule = FEWEST.format(tolerance=tolerance) if auto.n_features_to_select == "auto" else AT_SIZE
    note = NOTE.format(folds=n_folds, rule=rule)
    left_out = [prose(f"Not evaluated: {name} ({printable(reason)}).") for name, reason in auto.not_tried_.items()]
    return "\n\n".join([prose(auto.verdict_text_), comparison_text(auto), prose(note), *left_out, selection])


def comparison_text(auto: "AutoSieve") -> str:
    """Return the comparison as a table; methods that were not evaluated are left out."""
    found = auto.comparison_
    rows = []
    for index, name in enumerate(found["method"]):
        if found["n_features"][index] is None:
            continue
        score = f"{number(found['score'][index])} ± {number(found['standard_error'][index])}"
        best = f"{number(found['best_score'][index])} ({found['best_n_features'][index]})"
        mark = "* " if found["status"][index] == "selected" else "  "
        cells = [str(found["n_features"][index]), score, best, f"{found['seconds'][index]:.1f}"]
        rows.append([f"{mark}{printable(name)}", *cells])
    return tables(["  method", ">features", f">{auto.measure_}", ">best (at)", ">seconds"], rows)


def auto_document(auto: "AutoSieve", selection: "Selection") -> dict[str, Any]:
    """Return the selection as a JSON document, with the verdict, its estimates and the comparison under ``"auto"``."""
    names = ("verdict", "verdict_text", "method", "measure", "score", "standard_error", "all_features_score")
    found = {name: getattr(auto, f"{name}_") for name in (*names, "no_features_score", "comparison")}
    return {**selection.to_dict(), "auto": found}


def terminal() -> Console:
    """Return a console for standard output: styled on a terminal, plain text elsewhere, whatever the environment says."""
    styled = sys.stdout is not None and sys.stdout.isatty()  # None where a program closed it
    return Console(force_terminal=styled, markup=False, emoji=False, highlight=False)


def prose(sentence: str) -> str:
    """Wrap sentences to the width of the terminal; a sign stays with its number."""
    glued = sentence.replace(" %", "\0%").replace("± ", "±\0")
    return textwrap.fill(glued, min(terminal().width, READABLE)).replace("\0", " ")


def listed(*sentences: str) -> str:
    """Wrap sentences as a list with dashes."""
    width = min(terminal().width, READABLE)
    return "\n".join(textwrap.fill(sentence, width, initial_indent="- ", subsequent_indent="  ") for sentence in sentences)


def plain_table(*columns: str) -> Table:
    """Make an empty table with these headings; one that begins with ``>`` is for numbers. No headings: no head."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=bool(columns))
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.removeprefix(">"), justify="right" if right else "left", no_wrap=right, overflow="fold")
    return table


def text_of(table: Table) -> str:
    """Render a table as text, in its long form where the width is not enough for numbers and words."""
    console = terminal()
    if not _fit(table, console.width):
        return long_form(table)
    for column in table.columns:
        if not column.no_wrap and column.width:
            column._cells = ["\n".join(_hanging(line, column.width) for line in str(cell).split("\n")) for cell in column.cells]
    with console.capture() as lines:
        console.print(table)
    return "\n".join(line.rstrip() for line in lines.get().splitlines())


def _hanging(text: str, width: int) -> str:
    r"""Break one line of text into lines after blanks, and words that are longer than a line after marks such as ``_``.

    Further lines begin under the last of several columns.

    >>> print(_hanging("   3   fly_ash_kg_per_m3", 18))
       3   fly_ash_kg_
           per_m3
    """
    indent = max((match.end() for match in re.finditer(f" {{{GAP}}}(?=[^ ])", text)), default=0)
    lines = [""]
    words = re.findall(r"\s*\S+\s*", text)
    pieces = [[word] if indent + cell_len(word.strip()) <= width else _PIECE.findall(word) for word in words]
    for piece in chain.from_iterable(pieces):
        if cell_len(lines[-1] + piece.rstrip()) > width >= indent + cell_len(piece.rstrip()):
            lines.append(" " * indent)
        for character in piece:
            if cell_len(lines[-1] + character) > width and character != " ":
                lines.append(" " * indent)
            lines[-1] += character
    return "\n".join(line.rstrip() for line in lines)


def _fit(table: Table, width: int) -> bool:
    """Set the widths of columns so that no number is cut and no word of up to :data:`WORD` characters is folded.

    Returns False where the width is not enough for this.
    """
    texts = [[str(text) for text in (column.header, *column.cells)] for column in table.columns]
    widest = [max(cell_len(line) for text in column for line in text.split("\n")) for column in texts]
    narrowest = [
        full if column.no_wrap else min(WORD, max((cell_len(word) for text in found for word in text.split()), default=0))
        for column, full, found in zip(table.columns, widest, texts, strict=True)
    ]
    free = width - sum(narrowest) - GAP * (len(texts) - 1)
    wanted = [full - least for full, least in zip(widest, narrowest, strict=True)]
    if free < 0:
        return False
    columns = sorted(range(len(wanted)), key=wanted.__getitem__)
    for left, index in zip(range(len(columns), 0, -1), columns, strict=True):  # the widest columns share what others leave
        more = min(wanted[index], free // left)
        table.columns[index].width = narrowest[index] + more
        free -= more
    return True


def long_form(table: Table) -> str:
    """Render every row as a list of cells with their headings, a line or more for each: nothing is cut at any width.

    >>> table = plain_table("data set", ">hamming_loss")
    >>> table.add_row("yeast", "0.21")
    >>> print(long_form(table))
    data set: yeast
      hamming_loss: 0.21
    """
    width, lines = terminal().width, []
    heads = [re.sub(r"(?<=[-_])\n", "", str(column.header)).replace("\n", " ") for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        for index, (head, cell) in enumerate(zip(heads, row, strict=True)):
            text = " ".join(str(cell).split())
            if text or index == 0:
                indent = "  " if index else ""
                filled = textwrap.wrap(
                    f"{head}: {text}" if head else text, width, initial_indent=indent, subsequent_indent="    "
                )
                lines += filled or [indent]
    return "\n".join(lines)


def tables(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Render a table, or several below each other where the width is not enough for all columns.

    The first column names the rows and is repeated in each table. A heading that begins with ``>`` is for numbers.

    >>> print(tables(["data set", ">group-jmi-rand", ">mim"], [["yeast", "0.21", "0.20"]]))
               group-jmi-
    data set         rand    mim
    ────────────────────────────
    yeast            0.21   0.20
    """
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    heads = [_broken(head, [cell_len(cell) for cell in column]) for head, column in zip(columns, cells, strict=True)]
    if any(cell_len(cell) > (SHORT if index else 2 * SHORT) for index, column in enumerate(cells) for cell in column):
        return _table(heads, range(len(heads)), rows)
    width, blocks = terminal().width, [[0]]
    widths = [_width(head, column) for head, column in zip(heads, cells, strict=True)]
    if widths[0] + GAP + max(widths[1:], default=0) > width:
        return _table(heads, range(len(heads)), rows)  # no block of two columns fits, so it gets its long form
    for column in range(1, len(heads)):
        wanted = [*blocks[-1], column]
        if len(blocks[-1]) > 1 and sum(widths[k] for k in wanted) + GAP * (len(wanted) - 1) > width:
            blocks.append([0])
        blocks[-1].append(column)
    return "\n\n".join(_table(heads, block, rows) for block in blocks)


def _table(heads: Sequence[str], columns: Sequence[int], rows: Sequence[Sequence[str]]) -> str:
    table = plain_table(*(heads[column] for column in columns))
    for row in rows:
        table.add_row(*(row[column] for column in columns))
    return text_of(table)


def _broken(head: str, widths: Sequence[int]) -> str:
    """Break a heading into lines about as wide as the numbers below."""
    if not head.startswith(">"):
        return head
    lines, limit = [">"], max([HEADING, *widths])
    for piece in re.split(r"(?<=[-_ ])", head[1:]):
        if cell_len(lines[-1] + piece.rstrip()) > limit + (len(lines) == 1) and lines != [">"]:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _width(head: str, cells: Sequence[str]) -> int:
    return max(cell_len(text) for text in [*head.removeprefix(">").split("\n"), *cells])


def broken_formula(formula: "Formula", indent: int) -> str:
    r"""Break a formula into lines that fit after ``indent`` characters, before ``+`` and ``-`` only.

    >>> from labelsieve.formula import I, f, s, sum_s, sum_y, y
    >>> print(broken_formula(sum_y(I(f, y)) - sum_s(I(f, s)), indent=terminal().width - 20))
    sum_y(I(f, y))
    - sum_s(I(f, s))
    """
    glued = re.sub(r" (?![+-] )", "\0", str(formula))
    width = max(1, terminal().width - indent)
    return textwrap.fill(glued, width, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def number(value: float) -> str:
    """Write a number with four decimals, and no minus before a zero.

    >>> number(-0.00001)
    '0.0000'
    """
    return f"{round(value, 4) + 0.0:.4f}"


def printable(text: str) -> str:
    r"""Escape characters that would move the cursor or change colors.

    >>> print(printable("loud\x1b[31mness"))
    loud\x1b[31mness
    """
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
