"""The results on the page of the confirmation are those of the cells in the repository."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from benchmarks.confirmation import (
    DECIDING,
    NO_HARM,
    QUESTIONS,
    UNTOUCHED,
    by_learner,
    improvements,
    p_value,
    read_results,
    set_means,
)

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("protocol", ["first", "second"])
def test_improvements_wins_and_p_values_are_those_of_the_cells(protocol):
    page = (ROOT / "docs" / "evidence" / "confirmation.md").read_text(encoding="utf-8")
    results = read_results([ROOT / "leaderboard" / "confirmation" / "labels" / "values.parquet"])
    means = {measure: set_means(results, measure) for measure in (*DECIDING, *NO_HARM)}
    question = QUESTIONS[protocol]
    for name, rival in question.rivals.items():
        (row,) = re.findall(rf"^\| {name} \| `{rival}` \| (.*) \|$", page, flags=re.MULTILINE)
        for cell, (measure, (sign, _)) in zip(row.split(" | "), {**DECIDING, **NO_HARM}.items(), strict=False):
            found = improvements(means[measure], question.method, rival, UNTOUCHED, sign)
            assert len(found) == len(UNTOUCHED)
            shown, won_lost, *p = cell.split(", ")
            assert float(shown) == pytest.approx(found.mean(), abs=0.51 * 10 ** -len(shown.split(".")[1]))
            assert won_lost == f"{(found > 0).sum()}-{(found < 0).sum()}"
            assert (measure in DECIDING) == bool(p)
            for text in p:
                assert float(text.removeprefix("p = ")) == pytest.approx(p_value(found), abs=0.006)


def test_intervals_by_learner_are_those_of_the_cells():
    page = (ROOT / "docs" / "evidence" / "confirmation.md").read_text(encoding="utf-8")
    results = read_results([ROOT / "leaderboard" / "confirmation" / "labels" / "values.parquet"])
    for rival, learner, *cells in by_learner(results, QUESTIONS["second"]).itertuples(index=False):
        shown = "all features" if rival == "all" else f"`{rival}`"
        assert f"| {shown} | {learner} | {' | '.join(cells)} |" in page
