"""Targets that are searched side by side get the same lists, bit for bit, as one after the other."""

import pytest

from labelsieve.counting.backends import CountingOptions
from labelsieve.counting.workspace import Workspace
from labelsieve.formula import labelwise as formula_labelwise
from labelsieve.formula.labelwise import can_share
from labelsieve.information import Codes
from labelsieve.search import GreedySearch, search_each
from labelsieve.search import labelwise as search_labelwise
from tests.support.criterion_cases import VARIANTS, make_case, make_parents

N_TARGETS = 5
variants = pytest.mark.parametrize("name", VARIANTS)


def make_workspace(seed, **options):
    X, Y = make_case(seed, n_targets=N_TARGETS)
    return Workspace(Codes.from_values(X), Codes.from_values(Y), CountingOptions(**options))


def one_after_the_other(plan, workspace, parents, forced=(), excluded=()):
    searches = []
    for target in range(N_TARGETS):
        scorer = plan.bind(workspace, targets=slice(target, target + 1), parents=parents)
        searches.append(GreedySearch(scorer, workspace.X.n_columns, forced, excluded, workspace.constant_features))
        searches[-1].extend(workspace.X.n_columns)
    return [search.selected for search in searches], [search.scores for search in searches]


def assert_same_lists(plan, workspace, parents):
    expected, scores = one_after_the_other(plan, workspace, parents)
    ours, our_scores = search_each(plan, workspace, workspace.X.n_columns, parents=parents, last=workspace.constant_features)
    assert ours.tolist() == expected
    assert our_scores.tolist() == scores


@variants
@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
def test_the_same_bits_side_by_side(name, estimator):
    plan = VARIANTS[name][0]().plan
    for seed in range(1000, 1010):
        assert_same_lists(plan, make_workspace(seed, estimator=estimator), make_parents(seed, N_TARGETS))


@variants
def test_blocks_and_gaps_change_nothing(name, monkeypatch):
    plan = VARIANTS[name][0]().plan
    for width, gap in ((1, 0), (2, 0), (3, 100), (100, 0), (100, 1)):
        monkeypatch.setattr(formula_labelwise, "WIDEST_GAP", gap)
        for seed in (1020, 1021):
            workspace = make_workspace(seed)
            monkeypatch.setattr(search_labelwise, "PANEL_BYTES", 8 * workspace.X.n_columns * width)
            assert_same_lists(plan, workspace, make_parents(seed, N_TARGETS))


def test_pairs_that_are_not_kept_are_counted_again(monkeypatch):
    plan = VARIANTS["mlfs, parents"][0]().plan
    monkeypatch.setattr(Workspace, "keeps_pairs", False)
    for seed in range(1030, 1036):
        assert_same_lists(plan, make_workspace(seed), make_parents(seed, N_TARGETS))


@pytest.mark.parametrize("name", ["mim", "jmi", "cmi"])
def test_forced_come_first_and_closed_never(name):
    plan = VARIANTS[name][0]().plan
    workspace = make_workspace(1040)
    n_features = workspace.X.n_columns
    expected, _ = one_after_the_other(plan, workspace, None, forced=[2, 1], excluded=[0])
    assert (
        search_each(plan, workspace, n_features - 1, forced=[2, 1], excluded=[0], last=workspace.constant_features)[0].tolist()
        == expected
    )


def test_only_joints_and_pairs_of_selected_features_are_not_shared():
    assert [name for name, (make, _, _) in VARIANTS.items() if not can_share(make().plan)] == ["cmi", "relaxmrmr"]


@pytest.mark.parametrize("name", ["jmi", "cmi"])
def test_progress_goes_up_to_the_end(name, monkeypatch):
    workspace = make_workspace(1050)
    monkeypatch.setattr(search_labelwise, "PANEL_BYTES", 8 * workspace.X.n_columns * 2)
    shares = []
    search_each(VARIANTS[name][0]().plan, workspace, 3, progress=lambda done, total: shares.append(done / total))
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] == 1
