"""A program that ends while it still holds a fitted selector ends without a word."""

import subprocess
import sys

PROGRAM = """
import threading, time
import numpy as np
from labelsieve import Sieve
X = np.random.default_rng(0).normal(size=(60, 4))
sieve = Sieve("jmi", n_features_to_select=2, warm_start=True).fit(X, X[:, :2] > 0)
threading.Thread(target=lambda held: time.sleep(3600), args=(sieve,), daemon=True).start()
"""


def test_nothing_is_printed_at_the_end():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
