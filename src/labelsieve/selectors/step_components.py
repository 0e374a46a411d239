"""Relevance, redundancy and complementarity of every selected feature, whatever criterion selected it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelsieve.criteria import StepComponents
from labelsieve.discretize import Discretizer
from labelsieve.labelspace import LabelSpace
from labelsieve.plotting import figure_function


class StepComponentsMixin:
    """For selectors that select one feature after the other."""

    selected_: NDArray[np.intp]
    targets_: LabelSpace
    discretizer_: Discretizer

    def information_components(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, NDArray[np.float64]]:
        r"""Relevance, redundancy and complementarity of every selected feature: the same components for any criterion.

        .. math:: \sum_y I(f; y) - \frac{q}{|S|} \sum_{s \in S} I(f; s) + \frac{1}{|S|} \sum_{s \in S} \sum_y I(f; s \mid y)
                  = \frac{1}{|S|} \sum_{s \in S} \sum_y I(f; y \mid s)

        in nats, with S the features selected before f (Brown et al. 2012, section 4). ``X``, ``y`` and ``sample_weight`` are
        those of ``fit``. A label space that draws at random without a seed draws again.

        Cost: tables of a candidate, a selected feature and a target at every step, whatever the criterion.

        Examples
        --------
        >>> from labelsieve import Sieve
        >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]  # exclusive or
        >>> components = Sieve("jmi", n_features_to_select=2, discretizer=None).fit(X, Y).information_components(X, Y)
        >>> {kind: values.round(2).tolist() for kind, values in components.items()}
        {'relevance': [0.0, 0.0], 'redundancy': [0.0, 0.0], 'complementarity': [0.0, 0.69]}
        """
        check_is_fitted(self)
        kinds = {"relevance": "relevance", "redundancy": "redundancy", "interaction": "complementarity"}
        if not len(self.selected_):
            return {name: np.empty(0) for name in kinds.values()}
        again = clone(self).set_params(
            criterion=StepComponents(),
            targets=self.targets_,
            discretizer=self.discretizer_,
            forced=self.selected_.tolist(),
            n_features_to_select=len(self.selected_),
            parents=None,
            excluded=(),
            warm_start=False,
        )
        found = again.fit(X, y, sample_weight).score_components_
        return {name: found[kind] for kind, name in kinds.items()}

    def plot(self, X: Any = None, y: Any = None, *, names: Any = None, n_shown: int = 30, ax: Any = None) -> Any:
        """Draw the selected features and the components of their scores: see :func:`labelsieve.report.figures.score_chart`.

        With the data of ``fit`` the components are those of :meth:`information_components`, which every criterion has.
        """
        check_is_fitted(self)
        components = None if X is None else self.information_components(X, y)
        return figure_function("ranking")(self, names=names, components=components, n_shown=n_shown, ax=ax)
