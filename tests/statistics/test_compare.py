import numpy as np
import pandas as pd
import polars as pl
import pytest

from labelsieve import InputError
from labelsieve.statistics import compare, wilcoxon_holm

METHODS = ["jmi", "mrmr", "relief", "chance"]
CLEAR = np.array([[1.0, 2.0, 3.0, 4.0]] * 12) + np.linspace(0, 0.3, 12)[:, None] * [1.0, 1.3, 0.7, 1.1]


def test_clear_differences_are_found_and_said():
    found = compare(CLEAR, lower_is_better=True, methods=METHODS)
    assert found.average_ranks.tolist() == [1, 2, 3, 4]
    assert found.groups == ((0, 1), (1, 2), (2, 3))
    text = str(found)
    assert text.startswith("4 methods on 12 data sets, lower is better.\nFriedman's test: the methods differ (F_F = inf")
    assert "1.00   jmi      relief, chance\n" in text
    assert text.endswith("Not shown to differ among themselves: jmi, mrmr; mrmr, relief; relief, chance.")


def test_direction_turns_the_order_around():
    up, down = (compare(CLEAR, lower_is_better=lower, methods=METHODS) for lower in (False, True))
    assert up.order == down.order[::-1]
    assert np.array_equal(up.different, down.different)


def test_no_pair_differs_when_friedman_finds_nothing():
    table = np.random.default_rng(3).normal(size=(6, 4))
    found = compare(table, lower_is_better=False)
    assert found.friedman.p_value > 0.05
    assert not found.different.any()
    assert found.groups == ((0, 1, 2, 3),)
    assert str(found).endswith("No difference is shown.")


def test_second_test_waits_for_the_first():
    """Tables in which Nemenyi's test alone would see a pair, but Friedman's, asked first, does not."""
    random = np.random.default_rng(0)
    apart = np.linspace(-1, 1, 10) ** 5  # the first and the last, and a crowd between them
    found = [compare(random.normal(size=(6, 10)) + apart, lower_is_better=True) for _ in range(100)]
    held_back = [one for one in found if one.friedman.p_value >= 0.05 and one.p_values.min() < 0.05]
    assert held_back
    assert not any(one.different.any() for one in held_back)


def test_control_is_compared_with_all_and_nobody_else():
    found = compare(CLEAR, lower_is_better=True, control="mrmr", methods=METHODS)
    assert found.test == "bonferroni-dunn"
    assert found.different[1].tolist() == [False, False, False, True]
    assert np.isnan(found.p_values[0, 2])
    assert found.groups == ((0, 1, 2),)
    assert "against mrmr" in str(found)
    assert str(found).endswith("Not shown to differ from mrmr: jmi, relief.")
    assert set(found.to_frame()["better"]) | set(found.to_frame()["worse"]) == set(METHODS)
    assert len(found.to_frame()) == 3


def test_wilcoxon_sees_what_ranks_cannot():
    found = compare(CLEAR, lower_is_better=True, test="wilcoxon", methods=METHODS)
    assert found.critical_difference is None
    assert found.groups == ()
    assert str(found).endswith("All differences are significant.")
    against = compare(CLEAR, lower_is_better=True, test="wilcoxon", control=0, methods=METHODS)
    assert against.p_values[0] == pytest.approx(wilcoxon_holm(CLEAR, control=0))
    assert str(against).endswith("All differ significantly from jmi.")


def test_two_methods_are_compared_by_wilcoxon():
    found = compare(CLEAR[:, :2], lower_is_better=True)
    assert found.test == "wilcoxon"
    assert found.different[0, 1]
    assert found.p_values[0, 1] == pytest.approx(2 / 2**12)


def test_equal_methods_do_not_differ():
    found = compare(np.ones((5, 3)), lower_is_better=True)
    assert found.friedman.chi2 == 0
    assert found.friedman.p_value == 1
    assert not found.different.any()
    assert compare(np.ones((5, 3)), lower_is_better=True, test="wilcoxon").p_values.min() == 1


def test_frames_bring_their_names():
    named = pd.DataFrame(CLEAR.copy(), columns=METHODS, index=[f"set {row}" for row in range(12)])
    expected = compare(CLEAR, lower_is_better=True, methods=METHODS)
    columns = {"data set": list(named.index)} | {name: CLEAR[:, place] for place, name in enumerate(METHODS)}
    for table in (named, pl.DataFrame(columns), pd.DataFrame(columns), pl.DataFrame(columns).select(METHODS)):
        found = compare(table, lower_is_better=True)
        assert found.methods == tuple(METHODS)
        assert np.array_equal(found.p_values, expected.p_values)
    named.loc["set 7", "relief"] = np.nan
    with pytest.raises(InputError, match=r"the result of relief on set 7 is missing\. Every method"):
        compare(named, lower_is_better=True)
    named.loc["set 9", "mrmr"] = np.nan
    with pytest.raises(InputError, match="the result of relief on set 7 is missing, and so is one other"):
        compare(pl.from_pandas(named.reset_index(names="data set")), lower_is_better=True)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_pairs_come_as_a_frame(backend):
    frame = compare(CLEAR, lower_is_better=True, methods=METHODS).to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    rows = pl.from_arrow(frame) if backend == "pyarrow" else pl.DataFrame(frame)
    assert rows.columns == ["better", "worse", "better_rank", "worse_rank", "p_value", "real"]
    assert rows.filter(pl.col("real")).select("better", "worse").rows() == [
        ("jmi", "relief"),
        ("jmi", "chance"),
        ("mrmr", "chance"),
    ]


@pytest.mark.parametrize(
    ("table", "how", "message"),
    [
        ([1.0, 2.0], {}, "two dimensions"),
        ([["a", "b"]], {}, "must be numbers"),
        ([[1.0, 2.0]], {}, "at least two data sets and two methods, not 1 and 2"),
        ([[1.0], [2.0]], {}, "at least two data sets and two methods, not 2 and 1"),
        ([[1.0, np.inf], [2.0, 3.0]], {}, "the result of method 1 on data set 0 is infinite"),
        (np.ma.masked_greater(CLEAR, 4.0), {}, "some are masked"),
        (CLEAR.astype(complex), {}, "must be numbers"),
        (pd.DataFrame([[1.0, 2.0]] * 2, columns=["a", "a"]), {}, "cannot be read: Expected unique column names"),
        (pd.DataFrame({"a": [1.0, None], "b": [2.0, 3.0]}, dtype="Float64"), {}, "the result of a on data set 1 is missing"),
        (CLEAR, {"methods": "abcd"}, "methods must be a list"),
        (CLEAR, {"alpha": "0.05"}, "alpha must be a number"),
        (CLEAR, {"methods": ["a", "b"]}, "2 names for 4 methods"),
        (CLEAR, {"methods": ["a", "b", "c", "a"]}, "two methods have the same name"),
        (CLEAR, {"control": "pmu"}, "there is no method 'pmu'; there are method 0, "),
        (CLEAR, {"control": 4}, "there is no method 4; there are .*; by number, 0 to 3"),
        (CLEAR, {"test": "tukey"}, "test must be"),
        (CLEAR, {"test": "nemenyi", "control": 0}, "nemenyi compares all pairs"),
        (CLEAR, {"test": "bonferroni-dunn"}, "bonferroni-dunn needs control="),
        (CLEAR, {"alpha": 1.0}, "alpha must be between 0 and 1"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"], "c": [1, 2]}), {}, "one such column can name the data sets"),
        (pd.DataFrame({"a": [True, False], "c": [1, 2]}), {}, "column 'a' of the table of results holds Boolean"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(table, how, message):
    with pytest.raises(InputError, match=message):
        compare(table, lower_is_better=True, **how)


def test_unknown_frames_are_refused():
    with pytest.raises(InputError, match="backend must be 'pandas' or 'polars' or 'pyarrow', not 'excel'"):
        compare(CLEAR, lower_is_better=True).to_frame("excel")


def test_names_of_columns_may_be_numbers():
    for columns in ([10, 20, 30, 40], pd.MultiIndex.from_product([["x", "y"], ["1", "2"]])):
        found = compare(pd.DataFrame(CLEAR, columns=columns), lower_is_better=True, control=np.int64(1))
        assert found.methods == tuple(str(name) for name in columns)
        assert found.control == 1


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n_small", [20, 21], ids=["equal ranks", "ranks the other way"])
def test_wilcoxon_names_the_better_one_by_its_own_sums(lower, n_small):
    """The second method is better on more data sets or on as many, but by less: its average rank is no witness."""
    differences = np.concatenate([-0.001 * np.arange(1, n_small + 1), 0.01 * np.arange(n_small + 1, 41)])
    table = np.column_stack([np.zeros(40), differences if lower else -differences])
    found = compare(table, lower_is_better=lower, methods=["steady", "risky"])
    assert found.average_ranks[0] >= found.average_ranks[1]
    assert found.different[0, 1]
    assert found.better(0, 1)
    assert not found.better(1, 0)
    assert found.to_frame().loc[0, ["better", "worse"]].tolist() == ["steady", "risky"]
    last, note = str(found).split("\n")[-2:]
    assert last == "The difference is significant."
    assert note.endswith("because large differences count more: steady before risky.")


def table_where(condition, shape, apart):
    for seed in range(500):
        found = compare(np.random.default_rng(seed).normal(size=shape) + apart, lower_is_better=True)
        if condition(found):
            return found
    raise AssertionError("no such table")


def test_words_do_not_contradict_each_other():
    def unclear(found):
        return found.friedman.p_value < 0.05 and not found.different.any()

    text = str(table_where(unclear, (5, 8), np.linspace(0, 1.2, 8)))
    assert "Friedman's test: the methods differ" in text
    assert text.endswith("It is not shown which ones differ.")

    def held_back(found):
        return found.friedman.p_value >= 0.05 and np.ptp(found.average_ranks) > found.critical_difference

    text = str(table_where(held_back, (6, 10), np.linspace(-1, 1, 10) ** 5))
    assert "Nemenyi's test at 0.05: not applied, because Friedman's test shows no difference." in text
    assert text.endswith("No difference is shown.")
    assert str(compare(CLEAR[:, :2], lower_is_better=True)).endswith("The difference is significant.")


def test_columns_stay_in_line_when_ranks_have_two_digits():
    table = np.random.default_rng(0).normal(size=(30, 12)) + np.arange(12)
    lines = str(compare(table, lower_is_better=True)).split("\n")[4:18]
    assert {line.index("method") for line in lines if "method" in line} == {8}
