"""Every public name: criteria, published methods, label spaces, discretizers, stopping rules, measures and learners."""

from labelsieve.metrics import CONVENTIONS, MEASURES
from labelsieve.registry.aliases import ALIASES
from labelsieve.registry.classes import (
    CRITERIA,
    DISCRETIZERS,
    LABEL_SPACES,
    STOPPING_RULES,
    make_count,
    make_criterion,
    make_discretizer,
    make_label_space,
    make_stopping_rule,
)
from labelsieve.registry.discretizer_settings import declare_nominal, discretizer_of
from labelsieve.registry.learners import (
    BASES,
    CLASSIFIERS,
    Learner,
    for_label_sets,
    make_base,
    make_classifier,
)
from labelsieve.registry.presets import (
    AUTO,
    DEFAULT_CRITERION,
    DEFAULT_DISCRETIZER,
    PRESETS,
    Preset,
    ResolvedMethod,
    make_selector,
    make_target_discretizer,
    method_name,
    method_names,
    method_of,
    resolve_method,
    selector_class,
)
from labelsieve.registry.published_methods import METHODS, Method, methods_of

__all__ = [
    "ALIASES",
    "AUTO",
    "BASES",
    "CLASSIFIERS",
    "CONVENTIONS",
    "CRITERIA",
    "DEFAULT_CRITERION",
    "DEFAULT_DISCRETIZER",
    "DISCRETIZERS",
    "LABEL_SPACES",
    "MEASURES",
    "METHODS",
    "PRESETS",
    "STOPPING_RULES",
    "Learner",
    "Method",
    "Preset",
    "ResolvedMethod",
    "declare_nominal",
    "discretizer_of",
    "for_label_sets",
    "make_base",
    "make_classifier",
    "make_count",
    "make_criterion",
    "make_discretizer",
    "make_label_space",
    "make_selector",
    "make_stopping_rule",
    "make_target_discretizer",
    "method_name",
    "method_names",
    "method_of",
    "methods_of",
    "resolve_method",
    "selector_class",
]
