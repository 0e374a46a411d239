"""Scripts and snippets of the documentation run, and say what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_example_of_a_criterion_of_ones_own_avoids_copies():
    done = subprocess.run([sys.executable, "examples/own_criterion.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    *plan, mim, own = done.stdout.splitlines()
    assert plan[0] == "mostrepeated: sum_y(I(f, y)) - max_s(I(f, s))"
    assert not any("(f, s, y)" in line for line in plan)
    taken = {int(k) % 3 if int(k) < 6 else int(k) for k in own.split(": ")[1].split(", ")}
    assert taken == {0, 1, 2}, "one of each signal or its copy"
    assert mim.startswith("mim: ")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_python_of_a_page_runs_and_prints_what_it_says(page):
    text = page.read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    for call, expected in re.findall(r"^    >>> print\((.*)\)\n((?:    +\S.*\n)+)", text, re.MULTILINE):
        assert str(eval(call, names)) == "\n".join(line[4:] for line in expected.splitlines())
