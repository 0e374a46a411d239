"""The layout of the package and of its tests keeps to the rules of the contributing guide."""

import ast
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "labelsieve"
TESTS = ROOT / "tests"
ROOT_MODULES = {"__init__", "__main__", "errors", "fingerprint", "parameters", "plotting", "progress", "resources"}


def test_the_root_holds_only_what_every_package_uses():
    assert {path.stem for path in PACKAGE.glob("*.py")} == ROOT_MODULES


def test_only_core_imports_the_compiled_module():
    importing = [path for path in PACKAGE.rglob("*.py") if re.search(r"import _native|core\._native", path.read_text("utf-8"))]
    assert {path.relative_to(PACKAGE).parts[0] for path in importing} == {"core"}


def test_tests_mirror_the_packages():
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - packages == {"docs", "leaderboard", "native", "replications", "support"}
    assert packages - folders <= {"core"}  # which is only imports


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_tests_patch_objects_and_not_paths_of_modules(path):
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    patches = [call for call in calls if getattr(call.func, "attr", "") == "setattr" and call.args]
    strings = [call.args[0].value for call in patches if isinstance(call.args[0], ast.Constant)]
    assert [text for text in strings if str(text).startswith("labelsieve")] == []


@pytest.mark.parametrize("folder", ["benchmarks", "examples", "fuzz", "leaderboard", "replications"])
def test_what_stands_next_to_the_package_imports_names_that_exist(folder):
    missing = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "labelsieve":
                module = import_module(node.module) if find_spec(node.module) else None
                names = [name.name for name in node.names if not hasattr(module, name.name)]
                missing += [f"{path.name}: {node.module}.{name}" for name in names if not find_spec(f"{node.module}.{name}")]
    assert missing == []


def test_the_package_has_no_files_that_a_merge_or_an_editor_left():
    kinds = {path.suffix for folder in ("src", "native") for path in (ROOT / folder).rglob("*") if path.is_file()}
    known = {".py", ".pyi", ".pyc", ".typed", ".toml", ".json", ".csv", ".sha256", ".css", ".js", ".cu", ".cpp", ".hpp", ".so"}
    assert kinds <= known | {".gz"}  # data sets
