"""The directive ``surface``: all public names of a package, from its ``__all__``."""

import importlib
import inspect
import re
from typing import ClassVar

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

# The public packages. A name that several packages list is documented on the page of the first.
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
    "labelsieve.replications",
    "labelsieve.replications.mulan",
    "labelsieve.report",
    "labelsieve.report.figures",
    "labelsieve.registry",
    "labelsieve.counting.backends",
)


def public(package):
    """Public classes and functions of a package, by name."""
    module = importlib.import_module(package)
    values = {name: getattr(module, name) for name in module.__all__ if not name.startswith("__")}
    return {name: value for name, value in values.items() if inspect.isclass(value) or inspect.isroutine(value)}


def home(value, name):
    """The package on whose page an object is documented."""
    return next(package for package in PACKAGES if public(package).get(name) is value)


def first_paragraph(value):
    """The first paragraph of a docstring, for the table of names."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


def lines_of(package, first=()):
    """reStructuredText: a table of the names, then the documentation of each; ``first`` names precede the others."""
    values = public(package)
    values = {name: values[name] for name in dict.fromkeys([*first, *values])}
    yield from [".. list-table::", "   :widths: auto", "   :class: surface", ""]
    for name, value in values.items():
        role = "class" if inspect.isclass(value) else "func"
        yield f"   * - :py:{role}:`~{home(value, name)}.{name}`"
        yield f"     - {first_paragraph(value)}"
    for name, value in values.items():
        if home(value, name) != package:
            continue
        if inspect.isclass(value):
            # With the members of base classes of the library, and without those of scikit-learn and Python.
            foreign = dict.fromkeys(base.__name__ for base in value.__mro__ if not base.__module__.startswith("labelsieve"))
            yield from ["", f".. autoclass:: {package}.{name}", "   :members:", f"   :inherited-members: {', '.join(foreign)}"]
        else:
            yield from ["", f".. autofunction:: {package}.{name}"]
    yield ""


class Surface(SphinxDirective):
    """``.. surface:: labelsieve.chains``, optionally with ``:first:`` and names."""

    required_arguments = 1
    option_spec: ClassVar[dict] = {"first": str.split}

    def run(self):
        self.env.note_reread()  # generated from the code, which Sphinx does not watch
        package = self.arguments[0]
        self.content = StringList(list(lines_of(package, self.options.get("first", ()))), source=f"surface of {package}")
        return self.parse_content_to_nodes()


def skip_routing(app, what, name, value, skip, options):
    """Skip ``set_fit_request`` and similar methods of scikit-learn, whose text links to its own pages."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app):
    app.add_directive("surface", Surface)
    app.connect("autodoc-skip-member", skip_routing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
