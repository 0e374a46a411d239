"""Estimator classes found by walking a package: a new estimator is checked because it exists."""

import inspect
import re
from importlib import import_module
from pkgutil import walk_packages

from sklearn.base import BaseEstimator


def estimator_classes(package, base=BaseEstimator):
    """Public classes with ``fit`` that the modules of ``package`` define, by name; ``Base...`` classes are for subclassing."""
    modules = [package, *(import_module(found.name) for found in walk_packages(package.__path__, f"{package.__name__}."))]
    return sorted(
        {
            item
            for module in modules
            for name, item in vars(module).items()
            if inspect.isclass(item)
            and issubclass(item, base)
            and item.__module__ == module.__name__
            and hasattr(item, "fit")
            and not inspect.isabstract(item)
            and not re.match("_|Base[A-Z]", name)
        },
        key=lambda item: item.__name__,
    )


FEW = {"n_rounds": 2, "n_estimators": 5, "n_repeats": 1}


def few_repetitions(item, fixed=()):
    """Settings of an estimator class that costs time otherwise: few repetitions, unless their number is ``fixed``."""
    return {name: value for name, value in FEW.items() if name in item().get_params(deep=False) and name not in fixed}


def quick(item, **settings):
    """An estimator with its defaults, but few repetitions where they cost time."""
    small = {"portfolio": ["mim"], "cv": 3, "learner": "knn"}
    known = item().get_params(deep=False)
    return item(**few_repetitions(item), **{name: small[name] for name in small.keys() & known.keys()}, **settings)


def estimator_cases(package, settings=None, base=BaseEstimator):
    """An estimator of every class with its defaults, or those that ``settings`` lists for the class instead.

    A class in ``settings`` that the package does not define is an error, so that a renamed class does not lose its cases.
    """
    settings = dict(settings or {})
    classes = estimator_classes(package, base)
    assert settings.keys() <= set(classes), f"not in {package.__name__}: {settings.keys() - set(classes)}"
    return [estimator for item in classes for estimator in (settings[item] if item in settings else [quick(item)])]
