"""Naive Bayes for numeric and nominal features together, as in Weka."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from labelsieve.tables.sparse import validate_data
from labelsieve.tables.types import TableLike, TargetsLike, is_sparse
from replications.mulan.weka_filters import column_ends
from replications.mulan.weka_neighbors import ProbabilisticClassifier

UNSEEN = -1


class MixedNaiveBayes(ProbabilisticClassifier):
    r"""Classifier by :math:`P(c) \prod_j P(x_j \mid c)`, with a normal density or the frequencies of values for each column.

    Binary columns (only 0 and 1) and nominal ones have frequencies with Laplace's correction; the others are normal. These are
    scikit-learn's ``BernoulliNB``, ``CategoricalNB`` and ``GaussianNB``, whose joint log probabilities are added.

    Parameters
    ----------
    nominal : sequence of int, default=()
        Nominal columns; a study sets them from the data set.

    Notes
    -----
    An unseen value counts like one without any row of the class. Sparse columns that are not binary are made dense. Cost: one
    pass over the data.

    Examples
    --------
    >>> X = np.array([[0.1, 2, 1], [0.2, 2, 0], [0.9, 0, 1], [1.0, 1, 0]])
    >>> MixedNaiveBayes(nominal=[1]).fit(X, [0, 0, 1, 1]).predict([[0.3, 2, 1], [0.8, 3, 0]])
    array([0, 1])
    """

    def __init__(self, nominal: Sequence[int] = ()) -> None:
        self.nominal = nominal

    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Estimate frequencies, means and variances."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self._log_prior = np.log(counts / counts.sum())
        differences = abs(X.multiply(X) - X) if is_sparse(X) else np.abs(X * X - X)
        binary = column_ends(differences, "max") == 0  # only 0 and 1
        valued = np.zeros_like(binary)
        valued[list(self.nominal)] = True
        self._models = []
        for columns, model in ((binary, BernoulliNB()), (valued & ~binary, _Categories()), (~binary & ~valued, GaussianNB())):
            if columns.any():
                self._models.append((np.flatnonzero(columns), model.fit(_dense_unless(X[:, columns], model), y)))
        return self

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the probability of every class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        total = (1 - len(self._models)) * self._log_prior  # every model counts the prior once
        for columns, model in self._models:
            total = total + model.predict_joint_log_proba(_dense_unless(X[:, columns], model))
        probabilities: NDArray[np.float64] = softmax(total, axis=1)
        return probabilities


class _Categories(CategoricalNB):  # type: ignore[misc]
    """Frequencies of values, with one more level for all unseen values."""

    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        self._codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=UNSEEN).fit(X)
        self.min_categories = [len(values) + 1 for values in self._codes.categories_]
        super().fit(self._codes.transform(X), y)
        return self

    def predict_joint_log_proba(self, X: TableLike) -> Any:
        codes = self._codes.transform(X)
        return super().predict_joint_log_proba(np.where(codes == UNSEEN, np.array(self.min_categories) - 1, codes))


def _dense_unless(X: TableLike, model: BaseEstimator) -> Any:
    return X if isinstance(model, BernoulliNB) or not is_sparse(X) else X.toarray()
