"""Tables of numbers, a row for each data set and a column for each method, with the best of a row in bold."""

import math
import re


def rounded_mean(mean: float) -> float:
    """Round a mean to 12 digits, as the last ones depend on the order of summation, so that equal means tie.

    >>> first, second = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    >>> first == second, rounded_mean(first) == rounded_mean(second)
    (False, True)
    """
    return float(f"{mean:.12g}")


class Grid:
    """A table of results: data sets in rows, methods in columns, with half widths of confidence intervals.

    >>> grid = Grid(["yeast"], ["jmi", "mim"], lower_is_better=True)
    >>> grid.put("yeast", "jmi", 0.2, 0.01)
    >>> grid.put("yeast", "mim", 0.25)
    >>> print(grid.to_markdown())
    | data set | jmi | mim |
    |---|---:|---:|
    | yeast | **0.200 ± 0.010** | 0.250 |
    """

    def __init__(self, rows: list[str], columns: list[str], lower_is_better: bool) -> None:
        self.rows = rows
        self.columns = columns
        self.lower_is_better = lower_is_better
        self._cells: dict[tuple[str, str], tuple[float, float | None]] = {}
        self._notes: dict[tuple[str, str], str] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Data sets and methods."""
        return len(self.rows), len(self.columns)

    def put(self, row: str, column: str, value: float, half_width: float | None = None, note: str = "") -> None:
        """Set a value; one with a note is not comparable with the others and is never the best."""
        self._cells[row, column] = value, half_width
        self._notes[row, column] = note

    def note(self, row: str, column: str) -> str:
        """Return why a value is not comparable with the others; empty if it is."""
        return self._notes.get((row, column), "")

    def value(self, row: str, column: str) -> float:
        """Return the value of a cell; NaN where there is none."""
        return self._cells.get((row, column), (math.nan, None))[0]

    def half_width(self, row: str, column: str) -> float | None:
        """Return the half width of an interval, if there is one."""
        return self._cells.get((row, column), (math.nan, None))[1]

    def winners(self) -> dict[str, list[str]]:
        """Return the best columns of every row with values."""
        winners = {}
        for row in self.rows:
            values = {
                column: self.value(row, column)
                for column in self.columns
                if not math.isnan(self.value(row, column)) and not self.note(row, column)
            }
            if values:
                best = (min if self.lower_is_better else max)(values.values())
                winners[row] = [column for column, value in values.items() if value == best]
        return winners

    def wins(self) -> dict[str, int]:
        """Count the rows in which each column is best, alone or tied."""
        winners = self.winners().values()
        return {column: sum(column in best for best in winners) for column in self.columns}

    def to_markdown(self, digits: int = 3) -> str:
        """Return a Markdown table; an empty cell is not finished."""
        lines = [
            "| " + " | ".join(["data set", *map(markdown_cell, self.columns)]) + " |",
            "|---" + "|---:" * len(self.columns) + "|",
        ]
        for row, cells in self._texts(digits, " ± ", "**{}**"):
            lines.append("| " + " | ".join([markdown_cell(row), *cells]) + " |")
        return "\n".join(lines)

    def to_latex(self, digits: int = 3) -> str:
        r"""Return a LaTeX tabular with the rules of the package booktabs.

        >>> print(Grid(["a_b"], ["jmi"], True).to_latex())
        \begin{tabular}{lr}
        \toprule
        data set & jmi \\
        \midrule
        a\_b &  \\
        \bottomrule
        \end{tabular}
        """
        head = " & ".join(["data set", *map(_latex_cell, self.columns)])
        body = [" & ".join([_latex_cell(row), *cells]) for row, cells in self._texts(digits, r" $\pm$ ", r"\textbf{{{}}}")]
        lines = [rf"\begin{{tabular}}{{l{'r' * len(self.columns)}}}", r"\toprule", rf"{head} \\", r"\midrule"]
        return "\n".join([*lines, *(rf"{line} \\" for line in body), r"\bottomrule", r"\end{tabular}"])

    def _texts(self, digits: int, sign: str, bold: str) -> list[tuple[str, list[str]]]:
        winners = self.winners()
        texts = []
        for row in self.rows:
            cells = []
            for column in self.columns:
                value, half = self.value(row, column), self.half_width(row, column)
                text = "" if math.isnan(value) else f"{value:.{digits}f}" + ("" if half is None else f"{sign}{half:.{digits}f}")
                text += f" ({note})" if (note := self.note(row, column)) else ""
                cells.append(bold.format(text) if column in winners.get(row, ()) else text)
            texts.append((row, cells))
        return texts


def markdown_cell(text: str) -> str:
    r"""Escape text for a cell of a Markdown table, except underscores inside words.

    >>> print(markdown_cell("a|b"), markdown_cell("*best* <b>"), markdown_cell("n_rows"), markdown_cell("_x_"))
    a\|b \*best\* \<b> n_rows \_x\_
    """
    return re.sub(r"([\\|*<`\[]|\b_|_\b)", r"\\\1", " ".join(text.split()))


def _latex_cell(text: str) -> str:
    r"""Escape text for a cell of a tabular.

    >>> print(_latex_cell("a_b & 50% ~ x^2 \\"))
    a\_b \& 50\% \textasciitilde{} x\textasciicircum{}2 \textbackslash{}
    """
    words = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    words |= {sign: f"\\{sign}" for sign in "_%&#${}"}
    return "".join(words.get(sign, sign) for sign in " ".join(text.split()))
