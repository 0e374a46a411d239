"""Draw the diagram of architecture.md from the import contract of pyproject.toml: ``python docs/images/architecture.py``."""

import re
import tomllib
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
PYPROJECT = HERE.parents[1] / "pyproject.toml"

# What Sieve("jmi").fit(X, Y) calls, in order: functions of labelsieve, what they return, and what they do. Several functions in
# one step are alternatives, by the criterion.
FLOW = [
    (["registry.resolve_method"], "ResolvedMethod", "names become objects: criterion, label space, discretizers"),
    (["selectors.sieve.require_supported"], "", "refuses what does not go together, before data are read"),
    (["tables.problem.read"], "Problem", "reads X, Y and weights, once, from anything that users pass"),
    (["registry.ResolvedMethod.encode"], "Codes", "LabelSpace.encode for targets, Discretizer.encode for features"),
    (["counting.workspace.Workspace"], "counts", "joint counts and sums of n log n, by a backend (make_backend)"),
    (["formula.Plan.bind", "search.LeastSquaresGain", "search.CombinedGain"], "Gain", ""),
    (["search.GreedySearch.extend"], "Result", "adds the best candidate, until a number or StoppingRule.decide"),
    (["selectors.base.BaseSieve._keep"], "fitted Sieve", "sets selected_, scores_, support_ and the other attributes"),
    (["selectors.base.BaseSieve.selection"], "Selection", "the result as a value: text, JSON, CSV, notebook, report"),
]
OF_GAINS = ["a formula: jmi, cmim, ...", "omp: least squares", "hybrid, the default: both"]

# What each layer contains, by its first package.
CONTENTS = {
    "cli": "command line: the only code that prints",
    "report": "HTML reports, comparisons of methods",
    "chains": "classifier chains",
    "selectors": "scikit-learn selectors",
    "selection": "result of a fit; all public names",
    "search": "search, stopping rules, classifiers",
    "criteria": "components",
    "formula": "symbols, planner and evaluation of formulas",
    "information": "entropy and mutual information",
    "counting": "joint counts, fixed-point arithmetic, backends",
    "tables": "reading of tables, targets, weights; codes",
    "core": "compiled module; helpers",
}

WIDTH, MARGIN, CHIP, ROW, STEP = 900, 16, 26, 42, 50
INK, MUTED, EDGE, BAND, BOX, ACCENT = "#1b1f24", "#57606a", "#8a939c", "#eef2f6", "#ffffff", "#0072b2"
SANS = "system-ui, Segoe UI, Helvetica, Arial, sans-serif"
MONO = "ui-monospace, Menlo, Consolas, monospace"


def layers():
    """Packages of each layer, from the top."""
    contracts = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    for layer in next(contract["layers"] for contract in contracts if contract["id"] == "layers"):
        yield [name for name in re.split(r"[ :|]+", layer) if name != "__main__"]


def text(x, y, content, *, size=13, color=INK, font=SANS, anchor="start", weight=400):
    style = f'font-family="{font}" font-size="{size}" font-weight="{weight}" fill="{color}" text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(content)}</text>'


def box(x, y, width, height, fill):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" fill="{fill}" stroke="{EDGE}"/>'


def arrow(x, y, to_x, to_y):
    return f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{ACCENT}" stroke-width="1.5" marker-end="url(#head)"/>'


def flow(y):
    """The calls of a fit from the top down; beside each arrow what is passed on, beside each box what it does."""
    width = 318
    gap = 12
    third = (WIDTH - 2 * MARGIN - 2 * gap) / 3
    for number, (functions, product, meaning) in enumerate(FLOW):
        top = y + number * STEP
        for column, function in enumerate(functions):
            wide = width if len(functions) == 1 else third
            x = MARGIN + column * (third + gap)
            yield box(x, top, wide, 28, BAND)
            yield text(x + 10, top + 18, function, size=12, font=MONO, weight=600)
            if len(functions) > 1:
                yield text(x + wide - 8, top + 18, OF_GAINS[column], size=10, color=MUTED, anchor="end")
        yield text(MARGIN + width + 16, top + 18, meaning, size=13, color=INK)
        if number + 1 < len(FLOW):
            yield arrow(MARGIN + 24, top + 29, MARGIN + 24, top + STEP - 2)
            yield text(MARGIN + 36, top + 43, product, size=11, color=ACCENT, font=MONO)


def stack(y):
    """The layers from the top down, with their packages."""
    left = MARGIN + 96
    for number, packages in enumerate(layers()):
        top = y + number * ROW
        yield f'<rect x="{left}" y="{top}" width="{WIDTH - left - MARGIN}" height="{ROW - 6}" rx="5" fill="{BAND}"/>'
        x = left + 10
        for package in packages:
            width = 7.3 * len(package) + 18
            yield box(x, top + 5, width, CHIP, BOX)
            yield text(x + width / 2, top + 22, package, size=12, font=MONO, anchor="middle")
            x += width + 8
        yield text(WIDTH - MARGIN - 10, top + 22, CONTENTS[packages[0]], size=11, color=MUTED, anchor="end")


def diagram():
    """The calls of a fit above the layers, as SVG on white, so that it can be read on light and dark pages."""
    count = len(list(layers()))
    first = 46
    second = first + len(FLOW) * STEP + 24
    height = second + 16 + count * ROW + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">'
    )
    marker = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    marker += f'<path d="M0 0L8 4L0 8z" fill="{ACCENT}"/></marker>'
    middle = MARGIN + 34
    drawn = [
        text(MARGIN, 30, 'The flow of Sieve("jmi").fit(X, Y)', size=15, weight=600),
        *flow(first),
        text(MARGIN, second, "Layers: imports go down", size=15, weight=600),
        arrow(middle, second + 26, middle, height - MARGIN - 10),
        text(middle + 10, second + 16 + count * ROW / 2, "imports", size=12, color=ACCENT),
        *stack(second + 16),
    ]
    back = f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>'
    title = "<title>Flow of a fit and layers of labelsieve</title>"
    return "\n".join([head, title, f"<defs>{marker}</defs>", back, *drawn, "</svg>"]) + "\n"


if __name__ == "__main__":
    (HERE / "architecture.svg").write_text(diagram(), encoding="utf-8")
