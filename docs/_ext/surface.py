"""The directive ``surface``: the public names of a package, from its ``__all__``."""

import importlib
import inspect
import re
import sys
from functools import cache

from docutils.statemachine import StringList
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

# The public packages, and the names that precede the others on their pages. A name that several packages list is documented on
# the page of the first.
PACKAGES = {
    "labelsieve": "Sieve LabelwiseSieve QuadraticSieve",
    "labelsieve.criteria": "",
    "labelsieve.formula": "",
    "labelsieve.labelspace": "",
    "labelsieve.discretize": "EqualFrequency EqualWidth KMeansBins MeanStd MDL",
    "labelsieve.stopping": "",
    "labelsieve.information": "",
    "labelsieve.discoveries": "",
    "labelsieve.statistics": "",
    "labelsieve.selectors": "ChiSquare ReliefF ReliefFML RReliefF LLSF MDDM FScore",
    "labelsieve.classifiers": "BinaryRelevance LabelPowerset BRkNN MLkNN",
    "labelsieve.chains": "",
    "labelsieve.metrics": "",
    "labelsieve.datasets": "load fetch Dataset",
    "labelsieve.datasets.splits": "",
    "labelsieve.studies": "",
    "labelsieve.report": "",
    "labelsieve.report.figures": "",
    "labelsieve.registry": "",
    "labelsieve.counting.backends": "",
}

# Names of ``__all__`` that packages share and users do not need, and symbols, which the page of formulas describes in a table.
UNLISTED = {
    "labelsieve": "__version__",
    "labelsieve.criteria": "StepComponents",
    "labelsieve.formula": "S f pa s t y z",
    "labelsieve.labelspace": "NETWORKS check_parents compatibility_table find_parents known_classes label_space_name refusal"
    " target_names to_count",
    "labelsieve.discretize": "allows_missing one_table",
    "labelsieve.stopping": "stop_ranking",
    "labelsieve.datasets": "load_or_fetch",
    "labelsieve.registry": "AUTO DEFAULT_CRITERION DEFAULT_DISCRETIZER DEFAULT_FORMULA ResolvedMethod declare_nominal"
    " discretizer_of for_label_sets make_count make_target_discretizer methods_of resolve_method",
}
# Methods and properties that packages share; most are those of ``Plan`` and ``Formula``.
UNLISTED_MEMBERS = """
    bind children for_columns formulas free get_metadata_routing is_static keeps_terms leave_out native needs
    needs_of_known_rows over_selected require_memory require_plain_rows require_unsupervised runs_on_device suited_to
    takes_target_weights target_needs text uses_targets walk
"""


@cache
def public(package):
    """Public names of a package, and what they stand for."""
    module = importlib.import_module(package)
    names = dict.fromkeys([*PACKAGES[package].split(), *module.__all__])
    unlisted = UNLISTED.get(package, "").split()
    values = {name: getattr(module, name) for name in names if name not in unlisted}
    return {name: value for name, value in values.items() if type(value).__name__ != "Reducer"}


def home(value, name):
    """The package on whose page an object is documented."""
    return next(package for package in PACKAGES if public(package).get(name) is value)


def description(value, name):
    """The first paragraph of a docstring or, of a constant, the comment that begins with ``#:``."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    for module in sorted(sys.modules):
        if module == home(value, name) or module.startswith(f"{home(value, name)}."):
            found = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name))
            if found is not None:
                return " ".join(" ".join(found).split())
    raise ValueError(f"{home(value, name)}.{name} has no comment that begins with #:")


@cache
def documented():
    """The class at which a method is documented: the public class that defines it, or the first that has it."""
    values = [item for package in PACKAGES for item in public(package).items()]
    classes = [(f"{home(value, name)}.{name}", value) for name, value in values if inspect.isclass(value)]
    found = {member: name for name, value in classes for member in members(value, vars(value))}
    for name, value in classes:
        for member in members(value, dir(value)):
            found.setdefault(member, name)
    return found


def members(value, names):
    """Public methods and properties of a class that the library defines, with their names."""
    for name in names:
        member = inspect.getattr_static(value, name, None)
        code = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
        listed = (
            not name.startswith("_") and name not in UNLISTED_MEMBERS.split() and inspect.getdoc(getattr(value, name, None))
        )
        if listed and inspect.isroutine(code) and getattr(code, "__module__", "").startswith("labelsieve"):
            yield name, code


def class_lines(name, value):
    """Documentation of a class; methods that are documented elsewhere are named in one line, with links."""
    elsewhere = {}
    for member in members(value, sorted(dir(value))):
        owner = documented()[member]
        if owner != name:
            elsewhere.setdefault(owner, []).append(member[0])
    # With the members of base classes of the library, and without those of scikit-learn and Python.
    foreign = dict.fromkeys(base.__name__ for base in value.__mro__ if not base.__module__.startswith("labelsieve"))
    hidden = [member for inherited in elsewhere.values() for member in inherited]
    yield from ["", f".. autoclass:: {name}", "   :members:", f"   :inherited-members: {', '.join(foreign)}"]
    yield from [f"   :exclude-members: {', '.join(hidden)}"] if hidden else []
    yield from ["   :special-members: __call__"] if "__call__" in vars(value) and value.__call__.__doc__ else []
    if elsewhere:
        links = [
            f"{', '.join(f':py:obj:`{each} <{owner}.{each}>`' for each in names)} as in :py:class:`~{owner}`"
            for owner, names in elsewhere.items()
        ]
        yield from ["", f"   Further methods: {'; '.join(links)}.", ""]


def lines_of(package):
    """reStructuredText: a table of the names, then the documentation of each."""
    values = public(package)
    yield from [f".. py:module:: {package}", "", ".. list-table::", "   :widths: auto", "   :class: surface", ""]
    for name, value in values.items():
        role = "class" if inspect.isclass(value) else "func" if inspect.isroutine(value) else "data"
        yield f"   * - :py:{role}:`~{home(value, name)}.{name}`"
        yield f"     - {description(value, name)}"
    for name, value in values.items():
        if home(value, name) != package:
            continue
        if inspect.isclass(value):
            yield from class_lines(f"{package}.{name}", value)
        elif inspect.isroutine(value):
            yield from ["", f".. autofunction:: {package}.{name}"]
        else:
            yield from ["", f".. py:data:: {name}", "", f"   {description(value, name)}"]
    yield ""


class Surface(SphinxDirective):
    """``.. surface:: labelsieve.chains``."""

    required_arguments = 1

    def run(self):
        self.env.note_reread()  # generated from the code, which Sphinx does not watch
        package = self.arguments[0]
        self.content = StringList(list(lines_of(package)), source=f"surface of {package}")
        return self.parse_content_to_nodes()


def skip_member(app, what, name, value, skip, options):
    """Skip members that packages share, fields of named tuples, and methods of scikit-learn that link to its own pages."""
    shared = name in UNLISTED_MEMBERS.split() or (inspect.getdoc(value) or "").startswith("Alias for field number")
    foreign = re.fullmatch(r"set_\w+_request", name) and not value.__module__.startswith("labelsieve")
    return True if shared or foreign else None


def short_signature(app, what, name, value, options, signature, returns):
    """Defaults without Python's internal notation, and no signature for protocols, which are not called."""
    if getattr(value, "_is_protocol", False):
        return "", returns
    for long, short in (("<factory>", "..."), ("slice(None, None, None)", "slice(None)")):
        signature = signature and signature.replace(long, short)
    return signature, returns


def link_pages(app, what, name, value, options, lines):
    """Link the pages that docstrings name by their files, ``docs/scale/gpu.md``."""
    lines[:] = [re.sub(r"(?:``)?\bdocs/([\w/]+)\.md\b(?:``)?", r":doc:`/\1`", line) for line in lines]


def setup(app):
    app.add_directive("surface", Surface)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-signature", short_signature)
    app.connect("autodoc-process-docstring", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
