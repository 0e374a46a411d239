"""The directive ``surface``: all public names of packages, from their ``__all__``, so that none can be forgotten."""

import importlib
import inspect
import re

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

# Those that users may import from. A name that several of them list is described on the page of the first.
PACKAGES = (
    "labelsieve",
    "labelsieve.criteria",
    "labelsieve.formula",
    "labelsieve.labelspace",
    "labelsieve.discretize",
    "labelsieve.stopping",
    "labelsieve.information",
    "labelsieve.statistics",
    "labelsieve.selectors",
    "labelsieve.classifiers",
    "labelsieve.chains",
    "labelsieve.metrics",
    "labelsieve.datasets",
    "labelsieve.datasets.splits",
    "labelsieve.studies",
    "labelsieve.replications.mulan",
    "labelsieve.report",
    "labelsieve.report.figures",
)


def public(package):
    """Classes and functions that a package lists, by name."""
    module = importlib.import_module(package)
    things = {name: getattr(module, name) for name in module.__all__ if not name.startswith("__")}
    return {name: thing for name, thing in things.items() if inspect.isclass(thing) or inspect.isroutine(thing)}


def home(thing, name):
    """The package on whose page a thing is described."""
    return next(package for package in PACKAGES if public(package).get(name) is thing)


def first_paragraph(thing):
    """What a table says of a name: the beginning of its docstring."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def lines_of(package):
    """reStructuredText: a table of the names, then each of them in full."""
    things = public(package)
    yield from [".. list-table::", "   :widths: auto", "   :class: surface", ""]
    for name, thing in things.items():
        role = "class" if inspect.isclass(thing) else "func"
        yield f"   * - :py:{role}:`~{home(thing, name)}.{name}`"
        yield f"     - {first_paragraph(thing)}"
    for name, thing in things.items():
        if home(thing, name) != package:
            continue
        if inspect.isclass(thing):
            yield from ["", f".. autoclass:: {package}.{name}", "   :members:"]
        else:
            yield from ["", f".. autofunction:: {package}.{name}"]
    yield ""


class Surface(SphinxDirective):
    """``.. surface:: labelsieve.chains``."""

    required_arguments = 1

    def run(self):
        self.env.note_reread()  # it comes from the code, which Sphinx does not watch
        package = self.arguments[0]
        self.content = StringList(list(lines_of(package)), source=f"surface of {package}")
        return self.parse_content_to_nodes()


def skip_routing(app, what, name, thing, skip, options):
    """scikit-learn gives every estimator ``set_fit_request`` and the like, with text that points into its own pages."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app):
    app.add_directive("surface", Surface)
    app.connect("autodoc-skip-member", skip_routing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
