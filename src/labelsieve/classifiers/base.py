"""The base classes of the multi-label classifiers.

A classifier reads X as numbers and Y as a sparse 0/1 matrix, fits clones of its base estimator, and predicts in the form in
which Y was given: :class:`LabelCoder` remembers that form. Row weights reach base estimators through the functions at the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from numbers import Number
from typing import Any, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from labelsieve.errors import InputError
from labelsieve.parameters import CheckedParameters
from labelsieve.tables.frames import check_sparse, read_values, without_duplicates
from labelsieve.tables.magnitude import check_for_models
from labelsieve.tables.problem import check_numbers, required
from labelsieve.tables.targets import counted_targets, missing_cells
from labelsieve.tables.types import Features, Frame, Matrix, SparseMatrix, TableLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import positive_weights

WEIGHT = "sample_weight"
Weights = NDArray[np.float64] | None  # positive weights of the rows; None: equal weights
Method = TypeVar("Method", bound=Callable[..., Any])


def if_base_has(method: str) -> Callable[[Method], Method]:
    """Decorate a method that a classifier has only if its base estimator has ``method``."""

    def check(classifier: MultiLabelClassifier) -> bool:
        # The AttributeError of a base estimator without the method is the cause that scikit-learn shows.
        getattr(classifier._base(), method)
        return True

    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


class MultiLabelClassifier(CheckedParameters, ClassifierMixin, BaseEstimator):
    """A multi-label classifier. A subclass has ``fit`` and ``_label_probabilities``, or overrides ``_present``.

    Attributes
    ----------
    classes_ : ndarray
        Column numbers for labels of 0 and 1; otherwise the two values of each column.
    n_labels_ : int
        Number of labels.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    _coder: "LabelCoder"

    def _base(self) -> Any:
        """Return the estimator that is cloned and fitted, or None if there is none."""
        return None

    def _weighted_estimators(self) -> list[Any]:
        """Return the estimators that get row weights: all of them must accept weights."""
        return [self._base()]

    def _read(
        self, X: TableLike, Y: TargetsLike | None, sample_weight: WeightsLike = None
    ) -> tuple[Matrix, sp.csr_matrix, Weights]:
        """Read X as numbers, Y as a sparse 0/1 matrix, and the row weights. Every label must be known."""
        X, labels, known, weights = self._read_known(X, Y, sample_weight)
        if known is not None:
            raise InputError(unknown_label(known))
        return X, labels, weights

    def _read_known(
        self, X: TableLike, Y: TargetsLike | None, sample_weight: WeightsLike = None
    ) -> tuple[Matrix, sp.csr_matrix, NDArray[np.bool_] | None, Weights]:
        """Read X, Y, the mask of the cells of Y that are known (None: all), and the weights, without rows of weight 0."""
        Y = required(self, Y)
        X = read_numbers(self, X)
        self._check_base(X)
        rows, weights = (None, None) if sample_weight is None else positive_weights(sample_weight, X.shape[0])
        if rows is not None:  # the others must not add a value of a label
            X, Y = X[np.flatnonzero(rows)], counted_targets(Y, rows)
        labels, self._coder, known = encode_labels(Y)
        if labels.shape[0] != X.shape[0]:
            sizes = f"X has {X.shape[0]} rows and Y has {labels.shape[0]}"
            raise InputError(f"Found input variables with inconsistent numbers of samples: {sizes}.")
        self.n_labels_, self.classes_ = labels.shape[1], self._coder.classes
        if sample_weight is None:
            return X, labels, known, None
        for estimator in self._weighted_estimators():
            weight_arguments(estimator, weights)
        return X, labels, known, None if weights is None or (weights == 1).all() else weights

    def _check_base(self, X: Matrix) -> None:
        """Refuse a regressor, and values of X that are too large for models."""
        base = self._base()
        if hasattr(base, "__sklearn_tags__") and is_regressor(base):
            raise InputError(f"{type(self).__name__} needs a classifier as its base, and {base!r} is a regressor.")
        if base is not None:
            check_for_models(type(self).__name__, X)

    def _with_names(self, original: Any, X: Matrix) -> Features:
        """Return X as a frame of the kind of ``original``, if that has column names, for selectors that use them."""
        if not hasattr(self, "feature_names_in_") or is_sparse(X):
            return X
        names, frames = self.feature_names_in_.tolist(), nw.get_native_namespace(original)
        named: Frame = nw.from_numpy(X, schema=names, native_namespace=frames).to_native()
        return named

    def _read_queries(self, X: TableLike) -> Matrix:
        """Read the rows to predict."""
        check_is_fitted(self)
        return read_numbers(self, X, reset=False)

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        """Return the probability of every label, shape (n_rows, n_labels)."""
        raise NotImplementedError

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        """Return the predicted labels, shape (n_rows, n_labels)."""
        present: NDArray[np.bool_] = self._label_probabilities(X) > 0.5
        return present

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict the probability of every label, shape (n_rows, n_labels); of both values, if Y was one column."""
        return self._in_form_of_y(self._label_probabilities(X))

    def predict(self, X: TableLike) -> Any:
        """Predict the labels of every row, in the form of Y; a label with a probability of exactly a half is absent."""
        check_is_fitted(self)
        return self._coder.decode(self._present(X))

    def _in_form_of_y(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add the probabilities of absence if Y was one column, as scikit-learn has them for two classes."""
        return np.hstack([1 - probabilities, probabilities]) if self._coder.kind == "one" else probabilities

    def _decisions_in_form_of_y(self, decisions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one decision value for each row if Y was one column."""
        return decisions[:, 0] if self._coder.kind == "one" else decisions

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


class MetaClassifier(MultiLabelClassifier):
    """A multi-label classifier that has probabilities if its base estimator has them."""

    base: Any

    def _base(self) -> Any:
        return self.base

    @if_base_has("predict_proba")
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict the probability of every label, shape (n_rows, n_labels); of both values, if Y was one column."""
        return super().predict_proba(X)


def read_numbers(estimator: object, X: TableLike, *, reset: bool = True) -> Matrix:
    """Validate X for an estimator: float64, dense or CSR without duplicate entries."""
    numbers = check_numbers(estimator, X, reset=reset)
    return without_duplicates(numbers.tocsr()) if is_sparse(numbers) else numbers


@dataclass(frozen=True)
class LabelCoder:
    """The form of Y: dense or sparse, one column or many, and the two values of each.

    ``values[l]`` are the values for absent and present: 0 and 1, or the two values of a column in ascending order.
    """

    values: list[NDArray[Any]]
    kind: str  # "one", "many" or "sparse"
    dtype: np.dtype[Any]

    @property
    def classes(self) -> Any:
        """The attribute ``classes_`` of scikit-learn.

        The two values of a single column, the indices of the labels if Y is 0/1 (as in ``OneVsRestClassifier``), and otherwise
        the two values of each column.
        """
        if self.kind == "one":
            return self.values[0]
        return np.arange(len(self.values)) if self._only_bits else self.values

    @property
    def _only_bits(self) -> bool:
        return all(len(values) == 2 and values[0] == 0 and values[1] == 1 for values in self.values)

    def encode(self, Y: TargetsLike) -> NDArray[np.uint8]:
        """Encode other labels in the form of Y as zeros and ones; for a constant label, any other value is a one."""
        check_sparse(Y, "Y")
        if is_sparse(Y):
            table = Y.toarray()
        else:
            table, missing = _read_values(Y)
            if missing is not None:
                raise InputError(unknown_label(~missing))
        table = table.reshape(table.shape[0], -1)
        if table.shape[1] != len(self.values):
            raise InputError(f"Y has {table.shape[1]} labels, and the training rows had {len(self.values)}.")
        codes = np.empty(table.shape, dtype=np.uint8)
        for label, (absent, present) in enumerate(self.values):
            column = table[:, label]
            unknown = (column != absent) & (column != present)
            if unknown.any() and absent != present:
                row = int(np.argmax(unknown))
                raise InputError(
                    f"Y, row {row}, column {label}: {column[row]!s} is not a value of the label, which was {absent!s} or "
                    f"{present!s} in the training rows."
                )
            codes[:, label] = column == present if absent != present else unknown
        return codes

    def decode(self, present: NDArray[np.bool_]) -> Any:
        """Return predicted labels in the form of Y."""
        if self.kind == "sparse":
            return sp.csr_matrix(present.astype(self.dtype))
        if self._only_bits:
            decoded = present.astype(self.dtype)
        else:
            columns = [values[present[:, label].astype(np.intp)] for label, values in enumerate(self.values)]
            decoded = np.column_stack(columns)
        return decoded[:, 0] if self.kind == "one" else decoded


def encode_labels(Y: TargetsLike) -> tuple[sp.csr_matrix, LabelCoder, NDArray[np.bool_] | None]:
    """Encode Y as a sparse 0/1 matrix, with the coder that decodes predictions and the mask of the known cells.

    Labels may be unknown in some rows (NaN, None, NA); the mask is None if all are known.

    >>> matrix, coder, known = encode_labels([["no", "yes"], ["no", "no"]])
    >>> matrix.toarray()
    array([[0, 1],
           [0, 0]], dtype=uint8)
    """
    if is_sparse(Y):
        matrix = _read_sparse(Y)
        coder = LabelCoder([np.array([0, 1])] * matrix.shape[1], "sparse", matrix.dtype)
        return matrix.astype(np.uint8), coder, None
    table, missing = _read_values(Y)
    kind = "many" if table.ndim == 2 else "one"
    if table.ndim != 2:
        table = column_or_1d(table).reshape(-1, 1)
    _refuse_empty(table)
    known = None if missing is None else ~missing.reshape(table.shape)
    present = np.zeros(table.shape, dtype=np.uint8)
    values = []
    for label in range(table.shape[1]):
        rows = slice(None) if known is None else known[:, label]
        column = table[rows, label]
        if not len(column):
            raise InputError(f"Y, column {label}: the label is unknown in every row that counts; leave it out.")
        found = _distinct(column, label)
        if table.dtype.kind in "biuf" and np.isin(found, (0, 1)).all():
            found = np.array([0, 1], dtype=table.dtype)
        present[rows, label] = column == found[-1] if len(found) == 2 else 0
        values.append(found if len(found) == 2 else np.repeat(found, 2))
    return sp.csr_matrix(present), LabelCoder(values, kind, table.dtype), known


def _read_sparse(Y: SparseMatrix) -> sp.csr_matrix:
    """Copy a sparse matrix of labels as a CSR matrix that stores only ones."""
    if Y.ndim != 2:
        raise InputError(f"Y: a sparse matrix of labels has rows and columns, and this has {Y.ndim} dimension.")
    _refuse_empty(Y)
    check_sparse(Y, "Y")
    matrix = sp.csr_matrix(Y, copy=True)  # the next steps work in place, and Y may be read-only
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not (matrix.data == 1).all():
        raise InputError("Y: a sparse matrix of labels must hold 0 and 1 only.")
    return matrix


def _refuse_empty(table: NDArray[Any] | SparseMatrix) -> None:
    if 0 in table.shape:
        raise InputError(f"Y is empty: it has {table.shape[0]} rows and {table.shape[1]} columns.")


def _read_values(Y: TargetsLike) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Read Y as an array, with the mask of its missing cells (None: no cell).

    Objects that are all numbers, as in frames of several types, become numbers.
    """
    table = read_values(Y, "Y")
    if table.dtype.kind == "f" and not np.isfinite(table).all():
        if np.isinf(table).any():
            raise InputError(unknown_label(~np.isinf(table)))
        return table, np.isnan(table)
    if table.dtype.kind != "O":
        return table, None
    missing = missing_cells(table.ravel()).reshape(table.shape)
    present = table[~missing]
    if all(isinstance(value, Number | np.bool_) for value in present):
        numbers = np.array(present.tolist())
        if not missing.any():
            return numbers.reshape(table.shape), None
        filled = np.zeros(table.shape, dtype=numbers.dtype if len(numbers) else np.float64)
        filled[~missing] = numbers
        return filled, missing
    return table, missing if missing.any() else None


def _distinct(column: NDArray[Any], label: int) -> NDArray[Any]:
    """Return the one or two values of a label, ascending, and refuse a column with more."""
    try:
        if column.dtype.kind == "O":
            set(column.tolist())  # raises for sets and lists, which have no hash and no total order
        found = np.unique(column)
    except TypeError as error:
        raise InputError(
            f"Y, column {label}, holds values that cannot be sorted ({error}); a label has two values of one type. Sets of "
            "labels become 0/1 columns with sklearn.preprocessing.MultiLabelBinarizer."
        ) from None
    if len(found) <= 2:
        return found
    kind_of_target = type_of_target(column)
    if kind_of_target.startswith("continuous"):
        raise InputError(f"Unknown label type: {kind_of_target}. Y, column {label}: labels have two values, not real numbers.")
    raise InputError(
        f"Only binary classification is supported. Y, column {label}, has {len(found)} different values, and a label "
        "has two; for classes, pass one 0/1 column for each."
    )


def unknown_label(known: NDArray[np.bool_]) -> str:
    """Return the message that refuses labels of which some are unknown."""
    row, *columns = np.argwhere(~known)[0].tolist()
    cell = f"row {row}" + "".join(f", column {column}" for column in columns)
    return (
        f"Input y contains NaN, infinity or another missing value: Y, {cell}. Every label must be known here; fill it, drop "
        "the row, or use a learner of separate labels: BinaryRelevance, MLkNN, BRkNN."
    )


def fit_weighted(estimator: BaseEstimator, X: TableLike, y: TargetsLike, weights: Weights = None) -> Any:
    """Fit the estimator, with the weights of the rows if there are any."""
    return estimator.fit(X, y) if weights is None else estimator.fit(X, y, **weight_arguments(estimator, weights))


def weight_arguments(estimator: BaseEstimator, weights: Weights) -> dict[str, Weights]:
    """Return the weights as arguments of ``estimator.fit``; refuse an estimator whose ``fit`` accepts none.

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
    if isinstance(estimator, MultiLabelClassifier):  # it passes them on
        for inner in estimator._weighted_estimators():
            weight_arguments(inner, weights)
    return dict.fromkeys(names, weights)


def weight_parameters(estimator: BaseEstimator) -> list[str]:
    """List the parameters of ``estimator.fit`` that accept row weights; none if weights would not reach the last model.

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
        while isinstance(final, Pipeline) or _is_search(final):
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
        if isinstance(estimator, StackingClassifier) and estimator.final_estimator is not None:
            members.append(estimator.final_estimator)
        return [WEIGHT] if all(has_fit_parameter(member, WEIGHT) for member in members) else []
    return weight_parameters(estimator.estimator) if _is_search(estimator) else []


def _is_search(estimator: object) -> bool:
    """Tell whether an estimator searches parameters: it fits the best ones again, which its parameter ``refit`` controls."""
    return hasattr(estimator, "estimator") and hasattr(estimator, "refit")


def _accepts_while_transforming(step: object) -> bool:
    """Tell whether the ``fit_transform`` of a step, which a pipeline calls, accepts weights."""
    if not hasattr(step, "fit_transform"):
        return True
    parameters = signature(step.fit_transform).parameters
    return WEIGHT in parameters or any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())


def requesting_weights(estimator: BaseEstimator) -> Any:
    """Clone an estimator for a scikit-learn meta-estimator; the clone requests weights if metadata routing is enabled."""
    cloned = clone(estimator)
    if get_config()["enable_metadata_routing"] and has_fit_parameter(cloned, WEIGHT) and hasattr(cloned, "set_fit_request"):
        cloned.set_fit_request(sample_weight=True)
    return cloned
