from typing import TYPE_CHECKING

import numpy as np

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.information_map import information_map
from labelsieve.report.figures.style import FONT

if TYPE_CHECKING:
    from labelsieve.selectors.base_discoveries import BaseDiscoveries
    from labelsieve.selectors.column_frames import Names

N_SHOWN = 40


def discovery_map(
    selector: "BaseDiscoveries",
    *,
    names: "Names" = None,
    label_names: "Names" = None,
    n_shown: int = N_SHOWN,
    ax: Axes | None = None,
) -> Axes:
    """Draw the discovered pairs of features (rows) and labels (columns), dark where they share much information.

    Pairs that were not discovered are white. Rows and columns are ordered by similarity, as in
    :func:`labelsieve.report.figures.information_map`. Labels without a discovery are left out. For a selector that discovers
    features instead of pairs, the map has all labels.

    Parameters
    ----------
    selector : fitted selector with discoveries
        Such as :class:`labelsieve.selectors.MarginalDiscoveries`.
    names, label_names : sequence of str, optional
        Of features and labels (default: those of ``fit``).
    n_shown : int, default=40
        Features at most, those with the smallest q-values.
    ax : matplotlib axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> from labelsieve.selectors import MarginalDiscoveries
    >>> data = make_feature_roles(n_rows=200, n_xor_pairs=0, n_noisy_copies=0)
    >>> found = MarginalDiscoveries().fit(data.X, data.Y)
    >>> len(discovery_map(found).get_yticklabels()) == len(found.selected_)
    True
    """
    from sklearn.utils.validation import check_is_fitted

    from labelsieve.selectors.column_frames import column_names

    check_is_fitted(selector)
    pairs = selector.pair_support_
    if not selector.finds_pairs:
        pairs = np.broadcast_to(selector.support_[:, np.newaxis], selector.information_.shape)
    rows = selector.selected_[pairs[selector.selected_].any(axis=1)][:n_shown]
    columns = np.flatnonzero(pairs[rows].any(axis=0))
    if not len(rows):
        raise InputError("discovery_map: nothing was discovered, so there is nothing to draw; see reason_.")
    names = getattr(selector, "feature_names_in_", None) if names is None else names
    label_names = getattr(selector, "label_names_", None) if label_names is None else label_names
    features = column_names(None, names, selector.n_features_in_, "feature")
    labels = column_names(None, label_names, pairs.shape[1], "label")
    table = np.where(pairs, np.nan_to_num(selector.information_), 0.0)[np.ix_(rows, columns)]
    ax = information_map(table, features=[features[row] for row in rows], labels=[labels[column] for column in columns], ax=ax)
    hidden = int(pairs.any(axis=1).sum()) - len(rows)
    if hidden:
        ax.set_title(f"the first {len(rows)} of {len(rows) + hidden} features", fontsize=FONT)
    return ax
