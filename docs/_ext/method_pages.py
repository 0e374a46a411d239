"""The directive ``catalog``: every criterion and method of ``labelsieve methods``, from the registry."""

import inspect

from docutils.statemachine import StringList
from plain_text import plain
from sphinx.util.docutils import SphinxDirective

from labelsieve.cli.methods import EXPLAINED
from labelsieve.labelspace import refusal
from labelsieve.registry import CRITERIA, LABEL_SPACES, METHODS, PRESETS, make_criterion


def indented(text, by=3):
    return [f"{' ' * by}{line}".rstrip() for line in text.splitlines()]


def field(name, *lines):
    """A row of a two-column table."""
    return [f"   * - {name}", f"     - {lines[0]}", *(f"       {line}".rstrip() for line in lines[1:])]


def parameters_of(criterion):
    kind = type(criterion)
    if kind.__init__ is object.__init__:
        return "none"
    parameters = inspect.signature(kind).parameters.values()
    return ", ".join(f"``{parameter.name}={parameter.default!r}``" for parameter in parameters) or "none"


def spaces_of(criterion):
    supported = [name for name, space in LABEL_SPACES.items() if refusal(criterion.plan.target_needs, space()) is None]
    return "any" if len(supported) == len(LABEL_SPACES) else ", ".join(f"``{name}``" for name in supported)


def criteria():
    """A section for each criterion: definition, our reading, cost."""
    for name in CRITERIA:
        criterion = make_criterion(name)
        plan, kind = criterion.plan, type(criterion)
        cost = plan.explain(**EXPLAINED).splitlines()[1 if plan.first is None else 2 :]
        yield from [f".. _method-{name}:", "", name, "~" * len(name), "", *inspect.getdoc(kind).splitlines(), ""]
        yield from [".. list-table::", "   :widths: auto", "   :class: facts", ""]
        yield from field("paper", plain(criterion.paper))
        yield from field("formula", f"``{plan.score}``")
        yield from field("first feature", "the same, with no selected features" if plan.first is None else f"``{plan.first}``")
        yield from field("parameters", parameters_of(criterion))
        yield from field("label spaces", spaces_of(criterion))
        yield from field("class", f"``{kind.__module__}.{kind.__name__}``")
        yield from ["", ".. code-block:: text", "", *indented("\n".join(cost)), ""]


def methods():
    """A section for each method without greedy search."""
    for name, method in METHODS.items():
        yield from [f".. _method-{name}:", "", name, "~" * len(name), "", plain(method.summary), ""]
        yield from [".. list-table::", "   :widths: auto", "   :class: facts", ""]
        yield from field("paper", plain(method.paper))
        yield from field("formula", f"``{method.formula}``")
        yield from field("in Python", f"``{method.call}``")
        if not method.no_ranking:
            yield from field("scores", plain(method.scores))
        yield from field("cost", plain(method.cost))
        if method.reading:
            yield from field("our reading", plain(method.reading))
        if method.no_ranking:
            yield from field("no ranking", plain(method.no_ranking))
        yield ""


def presets():
    """A row for each published method: criterion, label space, discretizer."""
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
    yield from ["   * - name", "     - criterion", "     - label space", "     - discretizer", "     - paper"]
    for name, preset in PRESETS.items():
        yield from [f"   * - ``{name}``", f"     - ``{preset.criterion}``", f"     - ``{preset.targets}``"]
        yield from [f"     - ``{preset.discretizer}``", f"     - {preset.paper}"]
    yield ""


SECTIONS = {"criteria": criteria, "methods": methods, "presets": presets}


class Catalog(SphinxDirective):
    """``.. catalog:: criteria``, ``methods`` or ``presets``."""

    required_arguments = 1

    def run(self):
        self.env.note_reread()  # generated from the code, which Sphinx does not watch
        section = self.arguments[0]
        self.content = StringList(list(SECTIONS[section]()), source=f"labelsieve methods, {section}")
        return self.parse_content_to_nodes(allow_section_headings=True)


def setup(app):
    app.add_directive("catalog", Catalog)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
