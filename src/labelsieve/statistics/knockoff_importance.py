"""Importance of columns by the lasso, fast enough to be computed for many knockoff copies."""

import warnings

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]
N_FOLDS, N_PENALTIES, SMALLEST_PENALTY = 3, 12, 0.03


def lasso_importance(X: Real, Y: Real) -> Real:
    """Absolute coefficients of the lasso, summed over the targets; each penalty by cross-validation.

    ``X`` and ``Y`` are standardized. Penalties are few and folds too, since a contrast with knockoff copies needs no accurate
    optimum. Cost: four paths of penalties for every target.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 4))
    >>> lasso_importance(X, X[:, [0]] + 0.1 * rng.standard_normal((200, 1))).round(1)
    array([0.9, 0. , 0. , 0. ])
    """
    from sklearn.exceptions import ConvergenceWarning  # loaded where it is needed: importing the package stays fast
    from sklearn.linear_model import LassoCV

    total = np.zeros(X.shape[1])
    n_folds = min(N_FOLDS, len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for target in Y.T:
            model = LassoCV(
                cv=n_folds,
                alphas=N_PENALTIES,
                eps=SMALLEST_PENALTY,
                max_iter=200,
                tol=1e-2,
                precompute=X.shape[1] <= 4 * len(X),
            )
            total += np.abs(model.fit(X, target).coef_)
    return total
