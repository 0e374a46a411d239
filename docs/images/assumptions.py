"""Draw the diagram of the theory chapter, light and dark: ``python docs/images/assumptions.py``."""

from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, PANEL, HEIGHT, GAP, HEAD = 592, 288, 222, 16, 46
SANS = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
LIGHT = {
    "ground": "#ffffff",
    "panel": "#f6f8fa",
    "ink": "#1b1f24",
    "quiet": "#57606a",
    "rule": "#d8dee4",
    "blue": "#0072b2",
    "orange": "#a34700",
}
DARK = {
    "ground": "#0d1117",
    "panel": "#161b22",
    "ink": "#e6edf3",
    "quiet": "#9da7b3",
    "rule": "#30363d",
    "blue": "#56b4e9",
    "orange": "#f0b74a",
}

# Title, nodes (name, x, y, kind), edges, formula, name in the library.
LABELS = [
    (
        "nothing: one joint variable",
        [("x", 40, 50, "feature"), ("y₁ y₂ y₃", 200, 50, "labels")],
        [(0, 1)],
        "I(f; y₁y₂y₃ | S)",
        'targets="joint"',
    ),
    (
        "labels depend on few parents",
        [("x", 40, 50, "feature"), ("y₁", 140, 50, "label"), ("y₂", 220, 16, "label"), ("y₃", 220, 86, "label")],
        [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)],
        "Σ I(f; y | pa(y), S)",
        'parents="kcc"',
    ),
    (
        "labels depend within groups",
        [("x", 40, 50, "feature"), ("y₁ y₂", 200, 24, "labels"), ("y₂ y₃", 200, 78, "labels")],
        [(0, 1), (0, 2)],
        "Σ I(f; group | S)",
        'targets="group"',
    ),
    (
        "independent given the features",
        [("x", 40, 50, "feature"), ("y₁", 200, 14, "label"), ("y₂", 200, 50, "label"), ("y₃", 200, 86, "label")],
        [(0, 1), (0, 2), (0, 3)],
        "Σ I(f; y | S)",
        'targets="single"',
    ),
]
FEATURES = [
    (
        "nothing: given all selected",
        [("f", 40, 50, "feature"), ("s₁ s₂ s₃", 144, 88, "features"), ("y", 248, 50, "label")],
        [(0, 1), (1, 2), (0, 2)],
        "I(f; y | s₁s₂s₃)",
        "cmi",
    ),
    (
        "given one selected at a time",
        [
            ("f", 40, 36, "feature"),
            ("s₁", 100, 88, "feature"),
            ("s₂", 144, 88, "feature"),
            ("s₃", 188, 88, "feature"),
            ("y", 248, 36, "label"),
        ],
        [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (0, 4)],
        "mean or min of I(f; y | s)",
        "jmi, cmim",
    ),
    (
        "independent within each class",
        [
            ("f", 40, 36, "feature"),
            ("s₁", 100, 88, "feature"),
            ("s₂", 144, 88, "feature"),
            ("s₃", 188, 88, "feature"),
            ("y", 248, 36, "label"),
        ],
        [(0, 1), (0, 2), (0, 3), (0, 4)],
        "I(f; y) − mean I(f; s)",
        "mrmr",
    ),
    (
        "features independent",
        [("f", 40, 50, "feature"), ("y", 248, 50, "label")],
        [(0, 1)],
        "I(f; y)",
        "mim",
    ),
]


def text(x, y, words, color, *, size=15, weight=400, face=SANS, anchor="start"):
    style = f'font-family="{face}" font-size="{size}" font-weight="{weight}" fill="{color}" text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'


def panel(left, top, title, nodes, edges, formula, name, colors):
    """One assumption: the variables that stay connected, the score, and the name in the library."""
    box = f'x="{left}" y="{top}" width="{PANEL}" height="{HEIGHT}" rx="8"'
    yield f'<rect {box} fill="{colors["panel"]}" stroke="{colors["rule"]}"/>'
    yield text(left + 14, top + 25, title, colors["ink"], size=16)
    x0, y0 = left, top + 46
    for start, end in edges:
        (_, ax, ay, _), (_, bx, by, _) = nodes[start], nodes[end]
        yield f'<path d="M{x0 + ax} {y0 + ay}L{x0 + bx} {y0 + by}" stroke="{colors["quiet"]}" stroke-width="1.5"/>'
    for words, x, y, kind in nodes:
        color = colors["orange"] if kind.startswith("label") else colors["blue"]
        width = 88 if kind.endswith("s") and len(words) > 6 else 60 if kind.endswith("s") else 30
        yield (
            f'<rect x="{x0 + x - width / 2}" y="{y0 + y - 15}" width="{width}" height="30" rx="15" '
            f'fill="{colors["ground"]}" stroke="{color}" stroke-width="2"/>'
        )
        yield text(x0 + x, y0 + y + 5, words, color, weight=600, anchor="middle")
    yield text(left + 14, top + HEIGHT - 38, formula, colors["ink"], size=16, weight=600)
    yield text(left + 14, top + HEIGHT - 14, name, colors["quiet"], size=14, face=MONO)


def diagram(colors):
    """Two questions with four answers each, as SVG."""
    drawn, top = [], 0
    for number, (question, panels) in enumerate(
        {"about the labels?": LABELS, "about the features?": FEATURES}.items(), start=1
    ):
        drawn.append(text(0, top + 28, f"{number}. What do you assume {question}", colors["ink"], size=18, weight=600))
        top += HEAD
        for index, one in enumerate(panels):
            drawn += panel((index % 2) * (PANEL + GAP), top + (index // 2) * (HEIGHT + GAP), *one, colors)
        top += 2 * (HEIGHT + GAP) + GAP
    height = top - 2 * GAP + 1
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 0 {WIDTH + 2} {height}" width="{WIDTH + 2}" height="{height}">'
    return "\n".join([head, *drawn, "</svg>"]) + "\n"


if __name__ == "__main__":
    for suffix, colors in {"": LIGHT, "_dark": DARK}.items():
        Path(__file__).with_name(f"assumptions{suffix}.svg").write_text(diagram(colors), encoding="utf-8")
