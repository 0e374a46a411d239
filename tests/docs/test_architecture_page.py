"""The page on the architecture matches the import contract and the source tree."""

import importlib
import os
import re
import runpy
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import labelsieve

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extend" / "architecture.md").read_text(encoding="utf-8")
GUIDE = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("CONTRIBUTING.md", "docs/extend/contributing.md"))


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


def resolve(dotted):
    """The object of labelsieve with this name, by imports and attributes."""
    found, names = labelsieve, dotted.split(".")
    for number, name in enumerate(names, 1):
        if not hasattr(found, name):
            importlib.import_module(f"labelsieve.{'.'.join(names[:number])}")
        found = getattr(found, name)
    return found


def test_functions_of_the_flow_exist():
    draw = runpy.run_path(str(ROOT / "docs" / "images" / "architecture.py"))
    drawn = [name for functions, _, _ in draw["FLOW"] for name in functions]
    listed = [function.strip("`").removeprefix("labelsieve.") for _, function, _ in table("| step |")]
    assert set(listed) <= set(drawn)
    for name in {*drawn, *listed}:
        assert callable(resolve(name)), name


def test_the_functions_of_the_flow_are_called_by_a_fit_in_this_order():
    draw = runpy.run_path(str(ROOT / "docs" / "images" / "architecture.py"))
    wanted = [functions[0].rsplit(".", 1)[-1] for functions, _, _ in draw["FLOW"]]
    wanted[wanted.index("Workspace")] = "Workspace.__init__"
    called = []

    def note(frame, event, argument):
        if event == "call" and f"{os.sep}labelsieve{os.sep}" in frame.f_code.co_filename:
            called.append(frame.f_code.co_qualname)

    X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]] * 5)
    sys.setprofile(note)
    try:
        labelsieve.Sieve("jmi", n_features_to_select=1).fit(X, X[:, 0]).selection(X, X[:, 0])
    finally:
        sys.setprofile(None)
    order = [next(place for place, name in enumerate(called) if name.endswith(each)) for each in wanted]
    assert order == sorted(order)


def test_the_tree_lists_every_package():
    packages = {path.parent.name for path in (ROOT / "src" / "labelsieve").glob("*/__init__.py")}
    tree = PAGE[PAGE.index("src/labelsieve/\n") :].split("```")[0]
    assert set(re.findall(r"^  (\w+)/", tree, re.MULTILINE)) == packages
