"""Routing of row weights to a base estimator: the parameters of its ``fit`` that accept them, and an error if none does."""

from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from labelsieve.errors import InputError
from labelsieve.table_types import TableLike, TargetsLike

WEIGHT = "sample_weight"
Weights = NDArray[np.float64] | None  # of rows, all positive; None: equal weights


def fit_weighted(estimator: BaseEstimator, X: TableLike, y: TargetsLike, weights: Weights = None) -> Any:
    """Fit the estimator, with the weights of the rows if there are any."""
    return estimator.fit(X, y) if weights is None else estimator.fit(X, y, **weight_arguments(estimator, weights))


def weight_arguments(estimator: BaseEstimator, weights: Weights) -> dict[str, Weights]:
    """The weights as arguments of ``estimator.fit``; refuses an estimator whose ``fit`` accepts none.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler, StandardScaler
    >>> sorted(weight_arguments(make_pipeline(MinMaxScaler(), StandardScaler(), LogisticRegression()), None))
    ['logisticregression__sample_weight', 'standardscaler__sample_weight']
    """
    names = weight_parameters(estimator)
    if not names:
        raise InputError(
            f"sample_weight would be ignored: {estimator!r} cannot pass weights to every model that it fits. Use a base whose "
            "fit accepts sample_weight (the last step, in a pipeline; with metadata routing, steps request it by "
            "set_fit_request), or fit without sample_weight."
        )
    if hasattr(estimator, "_weighted_estimators"):  # a classifier of this package, which passes them on
        for inner in estimator._weighted_estimators():
            weight_arguments(inner, weights)
    return dict.fromkeys(names, weights)


def weight_parameters(estimator: BaseEstimator) -> list[str]:
    """The parameters of ``estimator.fit`` that accept row weights; none if weights would not reach the last model.

    ``sample_weight`` itself; in a pipeline that of the last step, and of earlier steps whose ``fit`` accepts weights; in a
    parameter search those of its estimator; in voting and stacking ``sample_weight``, if all members accept it. With metadata
    routing, pipelines and similar meta-estimators accept ``sample_weight`` if their final estimator requests it.
    """
    routed = bool(get_config()["enable_metadata_routing"])
    if has_fit_parameter(estimator, WEIGHT):
        # Without routing, a calibrated estimator that accepts no weights is fitted without them, with a warning.
        unrouted = isinstance(estimator, CalibratedClassifierCV) and estimator.estimator is not None and not routed
        return [] if unrouted and not has_fit_parameter(estimator.estimator, WEIGHT) else [WEIGHT]
    if routed:
        final = estimator
        while isinstance(final, Pipeline | BaseSearchCV):
            final = final.steps[-1][1] if isinstance(final, Pipeline) else final.estimator
        return [WEIGHT] if get_routing_for_object(final).consumes("fit", [WEIGHT]) else []
    if isinstance(estimator, Pipeline):
        (last, classifier), before = estimator.steps[-1], estimator.steps[:-1]
        found = [(last, name) for name in weight_parameters(classifier)]
        if found:
            found += [
                (step, name)
                for step, transformer in before
                if _accepts_while_transforming(transformer)
                for name in weight_parameters(transformer)
            ]
        return [f"{step}__{name}" for step, name in found]
    if isinstance(estimator, VotingClassifier | StackingClassifier):  # they pass on sample_weight by that name only
        members = [member for _, member in estimator.estimators if not isinstance(member, str)]
        final = getattr(estimator, "final_estimator", None)
        members += [] if final is None else [final]
        return [WEIGHT] if all(has_fit_parameter(member, WEIGHT) for member in members) else []
    return weight_parameters(estimator.estimator) if isinstance(estimator, BaseSearchCV) else []


def requesting_weights(estimator: BaseEstimator) -> Any:
    """A clone for a scikit-learn meta-estimator, which requests weights if metadata routing is enabled."""
    cloned = clone(estimator)
    if get_config()["enable_metadata_routing"] and has_fit_parameter(cloned, WEIGHT) and hasattr(cloned, "set_fit_request"):
        cloned.set_fit_request(sample_weight=True)
    return cloned


def _accepts_while_transforming(step: object) -> bool:
    """True for a step whose ``fit_transform``, which a pipeline calls, accepts weights."""
    if not hasattr(step, "fit_transform"):
        return True
    parameters = signature(step.fit_transform).parameters
    return WEIGHT in parameters or any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
