"""Results as text that fits the width of the terminal; only the command line prints it."""

import re
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from labelsieve.formula import Formula

HEADING = 10  # headings of numbers that are longer are broken after a word, a hyphen or an underscore
SHORT = 24  # texts up to here, names up to twice that stand on one line; a table with longer ones is not split: they are folded
WORD = 16  # characters: longer words may be folded in a column of text
GAP = 3  # blanks between columns
READABLE = 100  # longer lines of prose are hard to read, however wide the terminal is


def terminal() -> Console:
    """Standard output as it is now: styled on a terminal, plain text elsewhere, whatever the environment says."""
    styled = sys.stdout is not None and sys.stdout.isatty()  # None where a program closed it
    return Console(force_terminal=styled, markup=False, emoji=False, highlight=False)


def prose(sentence: str) -> str:
    """A sentence or more, in lines."""
    return textwrap.fill(sentence, min(terminal().width, READABLE))


def listed(*sentences: str) -> str:
    """Sentences as a list with dashes."""
    width = min(terminal().width, READABLE)
    return "\n".join(textwrap.fill(sentence, width, initial_indent="- ", subsequent_indent="  ") for sentence in sentences)


def plain_table(*columns: str) -> Table:
    """An empty table with these headings, or none; a heading that begins with ``>`` is for numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=bool(columns))
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.removeprefix(">"), justify="right" if right else "left", no_wrap=right, overflow="fold")
    return table


def text_of(table: Table) -> str:
    """A table in lines without blanks at their ends; in its long form where the width is not enough for numbers and words."""
    console = terminal()
    if not _fit(table, console.width):
        return long_form(table)
    with console.capture() as lines:
        console.print(table)
    return "\n".join(line.rstrip() for line in lines.get().splitlines())


def _fit(table: Table, width: int) -> bool:
    """Set the widths of columns of text, so that no number is cut and no word of up to :data:`WORD` characters is folded.

    False where the width is not enough for this.
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
    """Every row as a list of its cells with their headings, a line or more for each: nothing is cut at any width.

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
    """A table with these headings and rows; or several, one below the other, where the width is not enough for all columns.

    The first column names the rows and is in each of them. A heading that begins with ``>`` is for numbers.

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
    """A heading in lines about as wide as the numbers below."""
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
    r"""A formula in lines that fit after ``indent`` characters, broken before ``+`` and ``-`` only.

    >>> from labelsieve.formula import I, f, s, sum_s, sum_y, y
    >>> print(broken_formula(sum_y(I(f, y)) - sum_s(I(f, s)), indent=terminal().width - 20))
    sum_y(I(f, y))
    - sum_s(I(f, s))
    """
    glued = re.sub(r" (?![+-] )", "\0", str(formula))
    width = max(1, terminal().width - indent)
    return textwrap.fill(glued, width, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def number(value: float) -> str:
    """Four decimals, and no minus before a zero.

    >>> number(-0.00001)
    '0.0000'
    """
    return f"{round(value, 4) + 0.0:.4f}"


def printable(text: str) -> str:
    r"""Text without characters that would move the cursor or change colors.

    >>> print(printable("loud\x1b[31mness"))
    loud\x1b[31mness
    """
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
