"""The page on the architecture matches the import contract and the source tree."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")


def table(header):
    """Cells of the table with this header, row by row."""
    rows = PAGE[PAGE.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def contract_layers():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [set(re.split(r"[ :|]+", layer)) - {"__main__"} for layer in layers]


def test_layers_of_the_page_are_those_of_the_import_contract():
    assert [set(re.findall(r"`(\w+)`", packages)) for _, packages, _ in table("| layer |")] == contract_layers()


def test_every_package_of_the_page_exists():
    for _, packages, _ in table("| layer |"):
        for name in re.findall(r"`(\w+)`", packages):
            package = ROOT / "src" / "labelsieve" / name
            assert (package / "__init__.py").is_file() or package.with_suffix(".py").is_file(), name


def test_the_page_lists_every_folder_of_the_native_code():
    folders = {f"`native/{path.name}`" for path in (ROOT / "native").iterdir() if path.is_dir()}
    assert {row[0] for row in table("| folder |")} == folders


def test_the_diagram_is_drawn_from_the_import_contract():
    draw = runpy.run_path(str(ROOT / "docs" / "images" / "architecture.py"))
    assert draw["diagram"]() == (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:src|tests|native|docs|examples|benchmarks)/[\w/.*]+)`", GUIDE + PAGE)))
)
def test_files_named_in_the_guide_exist(path):
    assert list(ROOT.glob(path))
