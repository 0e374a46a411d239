"""Formulas as MathML, converted by docutils, so that pages need no script and no web font."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError

# docutils supports brackets that grow with their content, but not those of a given size.
OPENING = re.compile(r"\\[Bb]igg?\s*([(\[])")
CLOSING = re.compile(r"\\[Bb]igg?\s*([)\]])")
BARE_FRACTION = re.compile(r"\\frac\s*[^{\s]")  # docutils misreads it without an error
LOGARITHM = re.compile(r"\\log(?![_^\w])")  # docutils sets no space around it


def formula(text, block):
    """MathML of a formula; a formula that docutils cannot parse stops the build."""
    if BARE_FRACTION.search(text):
        raise ExtensionError(f"write \\frac with braces: {text}")
    known = CLOSING.sub(r"\\right\1", OPENING.sub(r"\\left\1", text))
    known = LOGARITHM.sub(r"\\,\\log\\,", known).replace(r"\dots", r"\ldots")
    try:
        return "".join(line.strip() for line in str(tex2mathml(known, as_block=block)).splitlines())
    except MathError as error:
        raise ExtensionError(f"cannot convert formula: {text}: {error}") from error


def visit_inline(writer, node):
    writer.body.append(formula(node.astext(), block=False))
    raise SkipNode


def visit_block(writer, node):
    writer.body.append(f'<div class="formula" tabindex="0">{formula(node.astext(), block=True)}</div>\n')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("config-inited", lambda _, config: setattr(config, "html_math_renderer", "mathml"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
