"""Selection for very many features and labels stores nothing of the size of features times labels, or of pairs of labels."""

import subprocess
import sys

import pytest

N_FEATURES, N_LABELS, N_ROWS = 200_000, 40_000, 400
CRITERIA = ("mim", "mlinfogain", "mrmr", "scls", "ami", "jmi", "cife", "cmim", "icap")
LIMIT = 2**29  # bytes; a bit for every feature and label would be 1 GB, a byte for every pair of labels 1.6 GB

FITS = f"""
import resource
from pathlib import Path
import numpy as np
import scipy.sparse as sp
from labelsieve import LabelwiseSieve, Sieve

def table(n_columns, n_ones):
    rng = np.random.default_rng(n_columns)
    entries = rng.integers({N_ROWS}, size=n_ones), (n_columns * rng.random(n_ones) ** 3).astype(int)
    return (sp.csr_array((np.ones(n_ones, dtype=np.int8), entries), shape=({N_ROWS}, n_columns)) > 0).astype(np.int8)

X, Y = table({N_FEATURES}, 12_000), table({N_LABELS}, 2_000).tolil()
informative = np.argsort(-X.sum(axis=0))[:40]
Y[:, np.arange(40)] = X[:, informative].tolil()
Y = Y.tocsr()
Sieve("mim", discretizer=None, n_features_to_select=2).fit(X, Y[:, :1000])  # loads all modules
now = int(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmSize")))
resource.setrlimit(resource.RLIMIT_AS, (1024 * now + {LIMIT}, -1))
for criterion in {CRITERIA}:
    sieve = Sieve(criterion, discretizer=None, n_features_to_select=3).fit(X, Y)
    print(criterion, len(set(sieve.selected_.tolist())), flush=True)
for criterion, settings in (("mim", {{}}), ("jmi", {{"n_candidates": 10}}), ("jmi", {{}}), ("cmim", {{}})):
    lists = LabelwiseSieve(criterion, discretizer=None, n_features_to_select=3, **settings).fit(X, Y[:, :4_000])
    print("labelwise", criterion, lists.label_support_.nnz, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_criterion_stores_a_number_for_every_feature_and_label():
    run = subprocess.run([sys.executable, "-c", FITS], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    expected = [f"{criterion} 3" for criterion in CRITERIA] + [
        f"labelwise {name} 12000" for name in ("mim", "jmi", "jmi", "cmim")
    ]
    assert run.stdout.splitlines() == expected
