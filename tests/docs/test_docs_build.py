"""The site is built without a warning, and has a page for everything that is public."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labelsieve.registry import CRITERIA, METHODS, PRESETS
from labelsieve.replications import REPLICATIONS
from tests.docs.test_public_surface import PACKAGES

ROOT = Path(__file__).parents[2]
pytest.importorskip("sphinx", reason="the documentation needs the dependency group docs")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built from a copy, so that nothing is left in the checkout and nothing there helps."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "examples", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("gallery", "__pycache__"))
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "docs", "html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def text_of(page):
    return page.read_text(encoding="utf-8")


def test_every_method_is_on_the_page_of_methods(site):
    page = text_of(site / "methods.html")
    for name in PRESETS:
        assert f">{name}<" in page, name
    for name in [*CRITERIA, *METHODS]:
        assert f'id="method-{name}"' in page, name


def test_every_published_study_is_on_the_page_of_replications(site):
    page = text_of(site / "replications.html")
    kept = json.loads((ROOT / "docs" / "studies" / "claims.json").read_text(encoding="utf-8"))
    assert list(kept) == list(REPLICATIONS), "python docs/studies/collect.py"
    for name in REPLICATIONS:
        assert f'id="study-{name}"' in page
        assert kept[name]["ran"].split(".")[0] in page


def test_every_public_package_has_a_page(site):
    pages = "".join(text_of(page) for page in (site / "api").glob("*.html"))
    for package in ["labelsieve", "labelsieve.datasets", "labelsieve.labelspace", "labelsieve.selectors", *PACKAGES]:
        assert f'id="{package}.' in pages, package


def test_pages_need_no_network(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"", text_of(page))
        assert not loaded, f"{page.name}: {loaded}"


def test_every_example_is_in_the_gallery_with_a_figure(site):
    for example in (ROOT / "examples").glob("*.py"):
        assert f"sphx_glr_{example.stem}_001" in text_of(site / "gallery" / f"{example.stem}.html")
