"""The documentation builds without a warning and covers everything that is public."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labelsieve.registry import CRITERIA, METHODS, PRESETS
from replications import REPLICATIONS
from tests.docs.test_public_surface import PACKAGES

ROOT = Path(__file__).parents[2]
pytest.importorskip("sphinx", reason="the documentation needs the dependency group docs")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build from a copy, independent of files in the checkout."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "examples", "benchmarks", "leaderboard", "replications"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("gallery", "__pycache__"))
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "docs", "html"]
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return folder / "html"


def read(page):
    return page.read_text(encoding="utf-8")


def test_every_method_is_on_the_page_of_methods(site):
    page = read(site / "reference" / "methods.html").replace("<wbr>", "")
    for name in PRESETS:
        assert f">{name}<" in page, name
    for name in [*CRITERIA, *METHODS]:
        assert f'id="method-{name}"' in page, name


def test_the_page_of_the_leaderboard_is_made_from_the_results_in_the_repository(site):
    assert "Leaderboard of feature selectors" in read(site / "leaderboard-page.html")
    page = read(site / "evidence" / "leaderboard.html")
    assert 'href="../leaderboard-page.html"' in page
    n_tables = len(re.findall(r"data sets, \d+ selectors, critical difference", page))
    assert page.count('<th class="head"><p>default wins-losses</p></th>') == n_tables > 3


def test_generated_text_is_rendered(site):
    """Directives and list markers, such as the initials of an author in a cell, do not show up as text or lists."""
    for page in [*site.glob("evidence/*.html"), *site.glob("reference/methods.html")]:
        body = read(page)
        assert ".. list-table::" not in body, page.name
        assert not re.findall(r"<td><(?:ol|ul)", body), page.name


def test_every_published_study_is_on_the_page_of_replications(site):
    page = read(site / "evidence" / "replications.html")
    for name in REPLICATIONS:
        assert f'id="study-{name}"' in page


def test_every_public_package_has_a_page(site):
    pages = "".join(read(page) for page in (site / "reference" / "api").glob("*.html"))
    for package in ["labelsieve", "labelsieve.datasets", "labelsieve.labelspace", "labelsieve.selectors", *PACKAGES]:
        assert f'id="{package}.' in pages, package


def test_descriptions_are_rendered_as_text(site):
    """A description that begins with a letter and a period would be a list, and fields of named tuples have a placeholder."""
    for page in (site / "reference" / "api").glob("*.html"):
        assert not re.findall(r'<ol class="(?:lower|upper)(?:alpha|roman).*', read(page)), page.name
        assert "Alias for field number" not in read(page), page.name


def test_pages_need_no_network(site):
    for page in site.rglob("*.html"):
        external = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"", read(page))
        assert not external, f"{page.name}: {external}"


def test_every_example_is_in_the_gallery_with_a_figure(site):
    for example in (ROOT / "examples").glob("*.py"):
        assert f"sphx_glr_{example.stem}_001" in read(site / "gallery" / f"{example.stem}.html")
