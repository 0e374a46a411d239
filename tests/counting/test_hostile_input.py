"""Whatever is handed to the core, or changed under its feet, it answers with an exception and never with a crash."""

import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from labelsieve.information import Codes, conditional_mutual_information, entropy, mutual_information
from tests.support import hostile_inputs as hostile
from tests.support.random_tables import binary_table, many_levels_table

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@cache
def answers():
    """The answer of the core to every case; after a crash a new process continues with the next."""
    answers, names = {}, [*hostile.WRONG, *hostile.ODD]
    while len(answers) < len(names):
        done = run("-m", "tests.support.hostile_inputs", *names[len(answers) :])
        answers |= zip(names[len(answers) :], done.stdout.splitlines(), strict=False)
        if done.returncode != 0:
            answers[names[len(answers)]] = f"crashed with {done.returncode}: {done.stderr[-500:]}"
    return answers


@pytest.mark.parametrize("name", hostile.WRONG)
def test_the_core_refuses(name):
    kind, _, rest = answers()[name].partition(": ")
    assert kind == "refused", answers()[name]
    assert rest.split(":")[0] in ("ValueError", "TypeError", "MemoryError", "RuntimeError")


@pytest.mark.parametrize("name", hostile.ODD)
def test_the_core_survives(name):
    assert answers()[name].startswith(("refused: ", "accepted")), answers()[name]


@pytest.mark.parametrize("call", ["mutual_information(codes, Y)", "mutual_information(Y, codes)"])
def test_row_numbers_changed_after_the_codes_were_made_do_not_crash(call):
    script = f"""
        import numpy as np, scipy.sparse as sp
        from labelsieve.information import Codes, mutual_information
        rng = np.random.default_rng(0)
        for row in (2**30, -1, 7):
            for seen_by_the_core in (False, True):
                X = sp.csc_array((rng.random((400, 300)) < 0.2).astype(np.uint8))
                Y = rng.integers(2, size=(400, 3))
                codes = Codes.from_values(X)
                if seen_by_the_core:
                    {call}
                X.indices[:30] = row
                try:
                    information = {call}
                except ValueError as error:
                    print("refused")
                else:
                    print("sane" if np.all((information >= 0) & (information < 1)) else information)
    """
    done = run("-c", textwrap.dedent(script))
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-500:]}"
    lines = done.stdout.splitlines()
    assert len(lines) == 6
    assert set(lines) <= {"refused", "sane"}


CHANGED = {
    "zeros and ones": lambda: binary_table(0, 300, 200),
    "16 bits": lambda: binary_table(1, 300, 200).astype(np.uint16),
    "5 levels": lambda: many_levels_table(2, 300, [5] * 40).astype(np.uint8),
    "33 levels": lambda: many_levels_table(3, 300, [33] * 40).astype(np.uint8),
    "34 levels": lambda: many_levels_table(4, 300, [34] * 5),
    "few columns": lambda: binary_table(5, 300, 8),
}


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("value", [255, 256, 65_535])
def test_values_changed_after_the_codes_were_made_are_refused_or_count_as_some_value(name, value):
    table = CHANGED[name]()
    value = min(value, np.iinfo(table.dtype).max)
    partner = binary_table(6, 300, 3)
    codes = Codes.from_values(table)
    mutual_information(codes, partner)
    table[7:90, :] = value
    assert np.shares_memory(codes.dense, table)
    for measure in (
        lambda: entropy(codes),
        lambda: mutual_information(codes, partner),
        lambda: mutual_information(partner, codes),
        lambda: conditional_mutual_information(partner, partner, codes),
    ):
        try:
            result = measure()
        except ValueError as error:
            assert "code" in str(error)  # noqa: PT017
        else:
            assert np.all(result >= 0)
            assert np.all(result <= np.log(300) + 1e-9)


def test_more_threads_than_the_system_gives_is_an_exception():
    resource = pytest.importorskip("resource", reason="the system has no limit on memory to set")
    assert resource.RLIMIT_AS is not None
    script = """
        import resource
        import numpy as np
        from labelsieve.information import mutual_information
        resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
        table = np.random.default_rng(0).integers(2, size=(3000, 900), dtype=np.uint8)
        try:
            mutual_information(table, table[:, :100], n_jobs=2000)
        except Exception as error:
            print("refused", type(error).__name__)
        else:
            print("accepted")
    """
    done = run("-c", textwrap.dedent(script))
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-500:]}"
    assert done.stdout.startswith(("refused", "accepted"))
