"""Every criterion and label space select on a cluster what they select in one process, bit for bit, or are refused by both."""

from functools import partial

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")

from labelsieve import InputError
from labelsieve.counting.backends import dask_backend
from labelsieve.registry import CRITERIA, LABEL_SPACES
from tests.counting.test_dask_backend import LAYOUTS, cluster
from tests.selectors.test_same_selection_in_chunks import assert_same, fitted, make_data

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning", "ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def client():
    with cluster(n_workers=2, threads_per_worker=1, processes=False) as found:
        yield found


def both(client, part_rows, layout, **parameters):
    X, Y = make_data(part_rows)
    on_workers = partial(dask_backend, client=client, layout=layout, part_rows=part_rows)
    try:
        expected = fitted(X, Y, "native", **parameters)
    except InputError:
        with pytest.raises(InputError):
            fitted(X, Y, on_workers, **parameters)
        return
    assert_same(fitted(X, Y, on_workers, **parameters), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_criterion(client, layout):
    for criterion in sorted(CRITERIA):
        both(client, 31, layout, criterion=criterion, targets="single")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_label_space(client, layout):
    for space in sorted(LABEL_SPACES):
        for criterion in ("jmi", "mrmr", "cmim"):
            both(client, 17, layout, criterion=criterion, targets=space)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_parts_criteria_label_spaces_and_estimators(client, layout):
    rng = np.random.default_rng(LAYOUTS.index(layout))
    for _ in range(40):
        names = {"criterion": sorted(CRITERIA), "targets": sorted(LABEL_SPACES), "estimator": ["plugin", "miller-madow"]}
        drawn = {key: str(rng.choice(values)) for key, values in names.items()}
        both(client, int(rng.integers(5, 95)), layout, **drawn)
