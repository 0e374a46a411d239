"""What a reader has to follow stays small: a task walks through few functions and modules."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shared_files import shared_file

TABLE = Path(__file__).resolve().parents[1] / "examples" / "customers.csv"
# Functions, modules and depth; None: no limit.
BUDGETS = {
    ("fit",): (110, 25, 12),
    ("default",): (None, 32, None),
    # A selection that also predicts held-out rows and tests its rows against noise.
    ("select", str(TABLE), "left,upgraded,complained"): (None, 50, None),
    ("compare",): (None, 65, None),
}


@pytest.mark.parametrize("task", BUDGETS, ids=lambda task: task[0])
def test_a_task_walks_through_few_functions_and_modules(task):
    script = shared_file("tools", "walk.py")
    found = subprocess.run([sys.executable, str(script), *task], capture_output=True, text=True, check=True).stdout
    functions, modules, depth = map(int, re.search(r"(\d+) functions, .* (\d+) modules in .*depth (\d+)", found).groups())
    for count, limit in zip((functions, modules, depth), BUDGETS[task], strict=True):
        assert limit is None or count <= limit, found
