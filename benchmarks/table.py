"""Aligned plain-text tables."""


def print_table(title, columns, rows):
    """``rows`` hold a label and one text per column; every column is as wide as it must be."""
    lines = [[title, *columns], *([label, *cells] for label, cells in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *cells in lines:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        print("   ".join([first.ljust(widths[0]), *padded]))


def number(value):
    """Three significant digits without exponents; '-' for what was not measured."""
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:.0f}"
    text = f"{value:.3g}"
    return f"{value:.6f}" if "e" in text else text


def megabytes(count):
    return "-" if count is None else f"{count / 1e6:.2f}"
