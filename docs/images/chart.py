"""Draw the decision chart of docs/choose/index.md: ``python docs/images/chart.py``. One column, readable on a phone."""

from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, MARGIN, INDENT = 430, 12, 44
LINE, PAD, GAP = 19, 9, 16
INK, EDGE, QUESTION, ANSWER, YES = "#1b1f24", "#8a939c", "#eef2f6", "#ffffff", "#0072b2"

# A question, the method to use if the answer is yes, and the reason.
STEPS = [
    ("Does each label need its own features?", 'LabelwiseSieve("mlfs")', "label-specific features; used by oCC"),
    ("May features be informative only jointly?", 'Sieve("cmi"), Sieve("cife")', "find the synergistic features of the demo"),
    ("Very many features and labels, little time?", 'Sieve("scls")', "counts no three-way tables"),
    ("Must scores be information in nats?", 'Sieve("cmim")', "best formula; five bins of equal frequency"),
]
OTHERWISE = ("Sieve()", "information and least squares; confirmed for labels")
LAST = ("How many features?", 'n_features_to_select="auto"', "the fewest that explain as much as the best")


def box(x, y, width, lines, fill, *, bold=False):
    """SVG elements of a box with lines of text, and the y coordinate of its lower edge."""
    height = LINE * len(lines) + 2 * PAD - 4
    drawn = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" stroke="{EDGE}"/>']
    for index, line in enumerate(lines):
        code = bold and index == 0
        face = "ui-monospace, Menlo, Consolas, monospace" if code else "system-ui, Segoe UI, Helvetica, Arial, sans-serif"
        weight, size = ("600", 14) if code else ("400", 14 if index == 0 else 13)
        baseline = y + PAD + LINE * index + 11
        style = f'font-family="{face}" font-size="{size}" font-weight="{weight}" fill="{INK}"'
        drawn.append(f'<text x="{x + 10}" y="{baseline}" {style}>{escape(line)}</text>')
    return drawn, y + height


def arrow(x, y, to):
    head = f'<path d="M{x - 4} {to - 6}L{x} {to}L{x + 4} {to - 6}" fill="{EDGE}"/>'
    return [f'<path d="M{x} {y}V{to - 5}" stroke="{EDGE}" fill="none"/>', head]


def word(x, y, text, color):
    return f'<text x="{x}" y="{y}" font-family="sans-serif" font-size="12" fill="{color}">{text}</text>'


def chart():
    """The decision chart as SVG."""
    drawn, y, full = [], MARGIN, WIDTH - 2 * MARGIN
    for question, method, reason in STEPS:
        asked, end = box(MARGIN, y, full, [question], QUESTION)
        answer, below = box(MARGIN + INDENT, end + GAP - 4, full - INDENT, [method, reason], ANSWER, bold=True)
        middle = (end + GAP - 4 + below) / 2
        turn = MARGIN + INDENT - 22
        drawn += [*asked, *answer]
        drawn.append(f'<path d="M{turn} {end}V{middle}H{MARGIN + INDENT}" stroke="{YES}" stroke-width="1.5" fill="none"/>')
        drawn.append(word(turn + 4, end + 13, "yes", YES))
        drawn += arrow(MARGIN + 8, end, below + GAP)
        drawn.append(word(MARGIN - 6, below + 6, "no", INK))
        y = below + GAP
    answer, end = box(MARGIN, y, full, list(OTHERWISE), ANSWER, bold=True)
    drawn += answer
    asked, end = box(MARGIN, end + GAP, full, [LAST[0]], QUESTION)
    answer, end = box(MARGIN + INDENT, end + GAP - 8, full - INDENT, list(LAST[1:]), ANSWER, bold=True)
    drawn += [*asked, *answer]
    height = end + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">'
    )
    back = f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>'
    return "\n".join([head, "<title>Choosing a method</title>", back, *drawn, "</svg>"]) + "\n"


if __name__ == "__main__":
    (Path(__file__).parent / "chart.svg").write_text(chart(), encoding="utf-8")
