"""Row weights on their way down to a base: which parameters of its fit take them, and a refusal where none does."""

from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from labelsieve.errors import InputError

WEIGHT = "sample_weight"
Weights = NDArray[np.float64] | None  # of rows, all above 0; None: one each


def fit_weighted(estimator: Any, X: Any, y: Any, weights: Weights = None) -> Any:
    """The estimator, fitted to rows that all count, with their weights where there are some."""
    return estimator.fit(X, y) if weights is None else estimator.fit(X, y, **weight_arguments(estimator, weights))


def weight_arguments(estimator: Any, weights: Weights) -> dict[str, Any]:
    """The weights as arguments of ``estimator.fit``; refuses an estimator whose fit takes none.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler, StandardScaler
    >>> sorted(weight_arguments(make_pipeline(MinMaxScaler(), StandardScaler(), LogisticRegression()), None))
    ['logisticregression__sample_weight', 'standardscaler__sample_weight']
    """
    names = weight_parameters(estimator)
    if not names:
        raise InputError(
            f"sample_weight would be ignored: {estimator!r} cannot hand weights to every model that learns. Use a base whose "
            "fit takes sample_weight (the last step, in a pipeline; where metadata routing is on, steps request it by "
            "set_fit_request), or fit without sample_weight."
        )
    if hasattr(estimator, "_weighted_parts"):  # a classifier of this package, which hands them on
        for part in estimator._weighted_parts():
            weight_arguments(part, weights)
    return dict.fromkeys(names, weights)


def weight_parameters(estimator: Any) -> list[str]:
    """Which parameters of ``estimator.fit`` take row weights; none of them if weights would not reach its last model.

    ``sample_weight`` itself; in a pipeline that of the last step, and of the steps before it whose fit takes weights; in a
    search for parameters those of its estimator; in votes and stacks ``sample_weight``, if all members take it. Where metadata
    routing is on, pipelines and the like take ``sample_weight`` if what learns in them requests it, and hand it on as asked.
    """
    routed = bool(get_config()["enable_metadata_routing"])
    if has_fit_parameter(estimator, WEIGHT):
        # Without routing a calibration of something that takes no weights warns, and weighs the sigmoid alone.
        deaf = isinstance(estimator, CalibratedClassifierCV) and estimator.estimator is not None and not routed
        return [] if deaf and not has_fit_parameter(estimator.estimator, WEIGHT) else [WEIGHT]
    if routed:
        learner = estimator
        while isinstance(learner, Pipeline | BaseSearchCV):
            learner = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner.estimator
        return [WEIGHT] if get_routing_for_object(learner).consumes("fit", [WEIGHT]) else []
    if isinstance(estimator, Pipeline):
        (last, classifier), before = estimator.steps[-1], estimator.steps[:-1]
        found = [(last, name) for name in weight_parameters(classifier)]
        if found:
            found += [
                (step, name) for step, part in before if _takes_while_transforming(part) for name in weight_parameters(part)
            ]
        return [f"{step}__{name}" for step, name in found]
    if isinstance(estimator, VotingClassifier | StackingClassifier):  # whose members get sample_weight by that name alone
        members = [one for _, one in estimator.estimators if not isinstance(one, str)]
        last = getattr(estimator, "final_estimator", None)
        return [WEIGHT] if all(has_fit_parameter(one, WEIGHT) for one in members + [last] * (last is not None)) else []
    return weight_parameters(estimator.estimator) if isinstance(estimator, BaseSearchCV) else []


def requesting_weights(estimator: Any) -> Any:
    """A clone to put into a scikit-learn procedure, which hands weights on as requested where metadata routing is on."""
    own = clone(estimator)
    if get_config()["enable_metadata_routing"] and has_fit_parameter(own, WEIGHT) and hasattr(own, "set_fit_request"):
        own.set_fit_request(sample_weight=True)
    return own


def _takes_while_transforming(step: Any) -> bool:
    """True for a step whose ``fit_transform``, which is what a pipeline calls, takes weights as its ``fit`` may."""
    if not hasattr(step, "fit_transform"):
        return True
    parameters = signature(step.fit_transform).parameters
    return WEIGHT in parameters or any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
