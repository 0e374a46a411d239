"""Reading the features of scikit-learn estimators: its checks of shape and names, errors that name the cell, device arrays."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from labelsieve.errors import InputError
from labelsieve.tables.cut_points import require_finite
from labelsieve.tables.frames import is_frame, not_numbers, read_table, unique_names, unmask
from labelsieve.tables.sparse import validate_data
from labelsieve.tables.types import Features, Matrix, TableLike, TargetsLike


def required(estimator: object, y: TargetsLike | None) -> TargetsLike:
    """``y``, with scikit-learn's error where there is none."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    return y


def check_features(estimator: object, X: TableLike, *, reset: bool = True, dtype: DTypeLike = "numeric") -> Features:
    """``X`` with scikit-learn's checks. A frame stays a frame, since its columns may be text; masked cells become NaN.

    Values may be missing or infinite: the reader of the columns decides, and names the cell.
    """
    if is_frame(X):
        unique_names(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise InputError(f"X is a {type(X).__name__}, which has no rows yet; pass X.collect().")
    X = unmask(X)
    if getattr(getattr(X, "dtype", None), "kind", "") in ("U", "S"):
        raise not_numbers("X", "text")
    if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
        X = read_table(X, allow_missing=True).values
    try:
        checked: Matrix = validate_data(
            estimator, X, reset=reset, accept_sparse=("csr", "csc"), ensure_all_finite=False, dtype=dtype
        )
        return checked
    except ValueError as error:
        if "could not convert string" in str(error) or "arrays of bytes/strings" in str(error):
            raise not_numbers("X", "text") from None
        raise


def check_numbers(estimator: object, X: TableLike, *, reset: bool = True, dtype: DTypeLike = np.float64) -> Matrix:
    """``X`` as finite numbers, an array or a sparse matrix, for methods that calculate with them."""
    checked = check_features(estimator, X, reset=reset, dtype=dtype)
    table = read_table(checked)
    if table.text:
        column = table.name(min(table.text))
        raise InputError(
            f"{type(estimator).__name__} calculates with the features, and {column} is text; drop it, or encode it."
        )
    require_finite(table, allow_missing=False)
    return checked if not is_frame(checked) else np.asarray(table.dense, dtype=None if isinstance(dtype, str) else dtype)


def from_device(values: Any) -> Any:
    """A numpy array of an array of CuPy or a tensor of PyTorch on any device, which is copied; anything else as it is.

    >>> from_device([1, 2])
    [1, 2]
    """
    library = type(values).__module__.partition(".")[0]
    if library == "cupy":
        return values.get()
    if library == "torch":
        return values.detach().cpu().numpy()
    return values
