"""The directive ``catalog``: every criterion and method of ``labelsieve methods``, from the catalog itself."""

import inspect

from docutils.statemachine import StringList
from plain_text import plain
from sphinx.util.docutils import SphinxDirective

from labelsieve.cli.methods_command import EXPLAINED
from labelsieve.labelspace import refusal
from labelsieve.registry import CRITERIA, LABEL_SPACES, METHODS, PRESETS, make_criterion


def indented(text, by=3):
    return [f"{' ' * by}{line}".rstrip() for line in text.splitlines()]


def field(name, *lines):
    """An entry of a definition table, of one line or more."""
    return [f"   * - {name}", f"     - {lines[0]}", *(f"       {line}".rstrip() for line in lines[1:])]


def parameters_of(criterion):
    kind = type(criterion)
    if kind.__init__ is object.__init__:
        return "none"
    return ", ".join(f"``{one.name}={one.default!r}``" for one in inspect.signature(kind).parameters.values()) or "none"


def spaces_of(criterion):
    taken = [name for name, space in LABEL_SPACES.items() if refusal(criterion.plan.target_needs, space()) is None]
    return "any" if len(taken) == len(LABEL_SPACES) else ", ".join(f"``{name}``" for name in taken)


def criteria():
    """A section for each criterion: what it is, what it was taken to mean, what it costs."""
    for name in CRITERIA:
        criterion = make_criterion(name)
        plan, kind = criterion.plan, type(criterion)
        cost = plan.explain(**EXPLAINED).splitlines()[1 if plan.first is None else 2 :]
        yield from [f".. _method-{name}:", "", name, "~" * len(name), "", *inspect.getdoc(kind).splitlines(), ""]
        yield from [".. list-table::", "   :widths: auto", "   :class: facts", ""]
        yield from field("paper", criterion.paper)
        yield from field("formula", f"``{plan.score}``")
        yield from field("first pick", "the same, with nothing chosen yet" if plan.first is None else f"``{plan.first}``")
        yield from field("parameters", parameters_of(criterion))
        yield from field("label spaces", spaces_of(criterion))
        yield from field("class", f":py:class:`{kind.__module__}.{kind.__name__}`")
        yield from ["", ".. code-block:: text", "", *indented("\n".join(cost)), ""]


def others():
    """A section for each method that is no formula for the greedy search."""
    for name, one in METHODS.items():
        yield from [f".. _method-{name}:", "", name, "~" * len(name), "", plain(one.summary), ""]
        yield from [".. list-table::", "   :widths: auto", "   :class: facts", ""]
        yield from field("paper", plain(one.paper))
        yield from field("formula", f"``{one.formula}``")
        yield from field("in Python", f"``{one.call}``")
        yield from field("scores", plain(one.scores))
        yield from field("cost", plain(one.cost))
        if one.reading:
            yield from field("our reading", plain(one.reading))
        if one.no_ranking:
            yield from field("no ranking", plain(one.no_ranking))
        yield ""


def presets():
    """A row for each published recipe: criterion, label space, discretizer."""
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
    yield from ["   * - name", "     - criterion", "     - label space", "     - discretizer", "     - paper"]
    for name, one in PRESETS.items():
        yield from [f"   * - ``{name}``", f"     - ``{one.criterion}``", f"     - ``{one.targets}``"]
        yield from [f"     - ``{one.discretizer}``", f"     - {one.paper}"]
    yield ""


PARTS = {"criteria": criteria, "others": others, "presets": presets}


class Catalog(SphinxDirective):
    """``.. catalog:: criteria``, ``others`` or ``presets``."""

    required_arguments = 1

    def run(self):
        self.env.note_reread()  # it comes from the code, which Sphinx does not watch
        part = self.arguments[0]
        self.content = StringList(list(PARTS[part]()), source=f"labelsieve methods, {part}")
        return self.parse_content_to_nodes(allow_section_headings=True)


def setup(app):
    app.add_directive("catalog", Catalog)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
