"""Fingerprints: the code that results depend on is hashed, and paths that exclude or include code exist."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import labelsieve
from labelsieve import fingerprint

ROOT = Path(labelsieve.__file__).parent


@pytest.mark.parametrize("path", [*fingerprint.INSIDE, *fingerprint.OUTSIDE])
def test_listed_paths_exist(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("selectors/sieve.py", True),
        ("core/_native.abi3.so", True),
        ("studies/cells.py", True),
        ("studies/estimators.py", True),
        ("cli/options.py", False),
        ("report/text.py", False),
        ("studies/study.py", False),
    ],
)
def test_the_hash_depends_on_the_code_of_results_alone(path, counts, tmp_path, monkeypatch):
    shutil.copytree(ROOT, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    (tmp_path / "copy" / "core" / "_native.abi3.so").write_bytes(b"compiled")
    monkeypatch.setattr(fingerprint, "find_spec", lambda _: SimpleNamespace(submodule_search_locations=[tmp_path / "copy"]))
    before = fingerprint.code_print.__wrapped__()
    with (tmp_path / "copy" / path).open("ab") as file:
        file.write(b"# changed")
    assert (fingerprint.code_print.__wrapped__() != before) == counts


def test_objects_are_hashed_by_their_text():
    texts = np.array([["rock", "calm"], ["jazz", None]], dtype=object)
    assert fingerprint.array_print(texts) == fingerprint.array_print(texts.copy()) != fingerprint.array_print(texts[::-1])
