"""The page of a leaderboard in a browser: its ranks and probabilities are those of the library."""

from dataclasses import replace

import numpy as np
import pytest

from labelsieve.statistics import bayesian_signed_rank, critical_difference, ranks
from leaderboard import BoardData, BoardResults, leaderboard_report, restricted
from tests.support.browser import barriers, chromium, opened

METHODS = ["jmi", "<b>mim", "l1", "random", "all"]
N_DATA = 12


def board():
    """Twelve data sets, two learners; one method fails once, and one was not run everywhere."""
    rng = np.random.default_rng(0)
    values = rng.uniform(0.3, 0.7, size=(N_DATA, len(METHODS), 2, 2, 2))
    values[:, 0] += 0.05
    splits, failed = np.full(values.shape[:3], 5), np.zeros(values.shape[:3], dtype=int)
    values[3, 1], splits[3, 1], failed[3, 1] = np.nan, 0, 5
    values[4, 2], splits[4, 2] = np.nan, 0
    datasets = [
        BoardData(f"data{i}", "labels", ("text" if i % 2 else "images",), 100, 50, 5, ("micro_f1", "hamming_loss"))
        for i in range(N_DATA)
    ]
    cpu = rng.uniform(0.01, 2, size=values.shape[:2])
    errors = [("data3", "<b>mim", "TimeLimit: more than 60 s", 10)]
    names = METHODS, ["neighbors", "linear"], ["micro_f1", "hamming_loss"], (5, 20)
    return BoardResults(datasets, *names, values, splits, failed, cpu, cpu, errors, 600, 1.5)


def with_chains():
    """The same, and a third learner that ran with two selectors only."""
    made = board()
    added = {name: np.repeat(getattr(made, name)[:, :, :1], 3, axis=2) for name in ("n_splits", "n_failed")}
    values = np.concatenate([made.values, made.values[:, :, :1]], axis=2)
    values[:, [0, 1, 4], 2], added["n_splits"][:, [0, 1, 4], 2], added["n_failed"][:, :, 2] = np.nan, 0, 0
    return replace(made, learners=[*made.learners, "chains"], values=values, **added)


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def test_page_is_self_contained_and_names_counts_and_failures():
    page = leaderboard_report(board()).html()
    assert "5 selectors, 12 data sets, 2 learners, 600 cells run" in page
    assert "TimeLimit: more than 60 s" in page
    assert "<b>mim" not in page
    assert "https:" not in page


def test_ranks_and_probabilities_in_the_page_are_those_of_the_library(browser, tmp_path):
    made = board()
    path = leaderboard_report(made).write(tmp_path / "board.html")
    ranked = [0, 1, 3]
    values = made.values[:, :, :, 0][:, ranked]
    lowest = np.where(np.isnan(values), -1.0, values)  # a failure is last
    expected = np.mean([ranks(lowest[:, :, l, k], lower_is_better=False).mean(axis=0) for l in (0, 1) for k in (0, 1)], axis=0)
    with opened(browser, path) as (page, wrong):
        table = page.locator("#board-table tbody tr").all()
        cells = [[cell.inner_text() for cell in row.locator("th, td").all()] for row in table]
        shown = {row[1]: row[2] for row in cells}
        assert (shown.pop("l1"), shown.pop("all")) == ("-", "-")
        assert {METHODS.index(name): float(rank) for name, rank in shown.items()} == {
            m: pytest.approx(rank, abs=0.0051) for m, rank in zip(ranked, expected, strict=True)
        }
        assert [row[0] for row in cells if row[1] == "all"] == ["reference"]
        assert f"critical difference {critical_difference(3, N_DATA):.2f}" in page.locator("#board-table caption").inner_text()
        page.select_option("#board-compared", "jmi")
        hints = page.locator("#board-bayes rect title").all_text_contents()
        shares = [float(hint.split(": ")[1].split(" ")[0]) for hint in hints if "random" in hint]
        scores = made.values[:, :, :, 0, :].mean(axis=(2, 3))
        posterior = bayesian_signed_rank(scores[:, 0], scores[:, 3], same_within=0.01)
        assert np.allclose(shares, [posterior.first, posterior.same, posterior.second], atol=0.04)
        page.select_option("#board-common", "yes")
        assert page.locator("#board-table caption").inner_text().startswith("11 data sets")
        assert "l1" in page.locator("#board-ranks-figure").inner_text()
        page.select_option("#board-common", "")
        page.select_option("#board-kind", "text")
        assert page.locator("#board-table caption").inner_text().startswith("6 data sets")
        page.select_option("#board-measure", "hamming_loss")
        page.select_option("#board-size", "20")
        page.locator("#board-heat rect").first.click()
        assert "hamming loss" in page.locator("#board-curve figcaption").inner_text()
        assert not wrong


def test_learners_of_few_selectors_are_left_out_of_the_average(browser, tmp_path):
    made = with_chains()
    assert restricted(made).learners == ["neighbors", "linear"]
    assert restricted(made, learners=["chains"]).learners == ["chains"]
    with opened(browser, leaderboard_report(made).write(tmp_path / "board.html")) as (page, wrong):
        assert "learners: neighbors, linear." in page.locator("#board-table caption").inner_text()
        ranked = page.locator("#board-ranks-figure").inner_text()
        assert "jmi" in ranked
        page.select_option("#board-learner", "chains")
        assert "learners: chains." in page.locator("#board-table caption").inner_text()
        assert "jmi" not in page.locator("#board-ranks-figure").inner_text()
        assert not wrong


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (360, "light")])
def test_page_fits_screens_and_has_no_barriers(browser, tmp_path, width, scheme):
    path = leaderboard_report(board()).write(tmp_path / "board.html")
    with opened(browser, path, width=width, scheme=scheme) as (page, wrong):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not barriers(page)
        assert not wrong
