"""Reading the features of scikit-learn estimators: its checks of shape and names, and errors that name the cell."""

from typing import Any

import numpy as np

from labelsieve.counting.cut_points import require_finite
from labelsieve.counting.number_table import is_frame, not_numbers, read_frame, read_table, unmask
from labelsieve.counting.sparse_format import validate_data
from labelsieve.errors import InputError


def check_features(estimator: Any, X: Any, *, reset: bool = True, dtype: Any = "numeric") -> Any:
    """``X`` with scikit-learn's checks. A frame stays a frame, since its columns may be text; masked cells become NaN.

    Values may be missing or infinite: the reader of the columns decides, and names the cell.
    """
    if is_frame(X):
        read_frame(X)  # names that occur twice
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    X = unmask(X)
    if getattr(getattr(X, "dtype", None), "kind", "") in ("U", "S"):
        raise not_numbers("X", "text")
    if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
        X = read_table(X, allow_missing=True).dense
    options = {"accept_sparse": ("csr", "csc"), "ensure_all_finite": False, "dtype": dtype}
    try:
        return validate_data(estimator, X, reset=reset, **options)
    except ValueError as error:
        if "could not convert string" in str(error) or "arrays of bytes/strings" in str(error):
            raise not_numbers("X", "text") from None
        raise


def check_numbers(estimator: Any, X: Any, *, reset: bool = True, dtype: Any = np.float64) -> Any:
    """``X`` as finite numbers, an array or a sparse matrix, for methods that calculate with them."""
    X = check_features(estimator, X, reset=reset, dtype=dtype)
    table = read_table(X)
    if table.text:
        column = table.name(min(table.text))
        raise InputError(
            f"{type(estimator).__name__} calculates with the features, and {column} is text; drop it, or encode it."
        )
    require_finite(table, allow_missing=False)
    return X if not is_frame(X) else np.asarray(table.dense, dtype=None if isinstance(dtype, str) else dtype)
