"""The layout of the package and of its tests keeps to the rules of the contributing guide."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "labelsieve"
TESTS = ROOT / "tests"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
ROOT_MODULES = {"__init__", "__main__", "errors", "fingerprint", "plotting", "progress", "table_types"}
LONGEST = 300  # lines of a module
# Words of everyday language that readers took for terms; the field has its own.
NOT_A_TERM = re.compile(
    r"\b(twins?|judg(e[sd]?|ing)|made-up|unless told|told otherwise|mend(s|ed)?|tells?|told|nobody|beside|cards?|rivals?"
    r"|busy machine|processor (time|seconds|hours)|tables that are not empty|lists? for every label|selection pays)\b",
    re.IGNORECASE,
)


def test_the_root_holds_only_what_every_package_uses():
    assert {path.stem for path in PACKAGE.glob("*.py")} == ROOT_MODULES


def test_no_two_modules_share_a_name():
    homes = defaultdict(list)
    for path in MODULES:
        homes[path.stem].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_only_core_imports_the_compiled_module():
    importing = [path for path in PACKAGE.rglob("*.py") if re.search(r"import _native|core\._native", path.read_text("utf-8"))]
    assert {path.relative_to(PACKAGE).parts[0] for path in importing} == {"core"}


def test_modules_have_one_idea_of_readable_length():
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {name: n_lines for name, n_lines in lengths.items() if n_lines > LONGEST} == {}


def test_tests_mirror_the_packages():
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - packages == {"docs", "native", "support"}
    assert packages - folders <= {"core"}  # which is only imports


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_tests_patch_objects_and_not_paths_of_modules(path):
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    patches = [call for call in calls if getattr(call.func, "attr", "") == "setattr" and call.args]
    strings = [call.args[0].value for call in patches if isinstance(call.args[0], ast.Constant)]
    assert [text for text in strings if str(text).startswith("labelsieve")] == []


def test_the_package_has_no_files_that_a_merge_or_an_editor_left():
    kinds = {path.suffix for folder in ("src", "native") for path in (ROOT / folder).rglob("*") if path.is_file()}
    known = {".py", ".pyi", ".pyc", ".typed", ".toml", ".json", ".csv", ".sha256", ".css", ".js", ".cu", ".cpp", ".hpp", ".so"}
    assert kinds <= known | {".gz"}  # data sets


NATIVE = [*(ROOT / "native").rglob("*.?pp"), *PACKAGE.rglob("*.cu")]
DOCS = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "studies").glob("*.md"), *ROOT.glob("*/README.md"), ROOT / "README.md"]
PAGES = [*PACKAGE.rglob("*.py"), *NATIVE, *DOCS, *(ROOT / "examples").glob("*.py")]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_texts_use_the_terms_of_the_field(path):
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    assert [f"{number}: {line.strip()}" for number, line in lines if NOT_A_TERM.search(line)] == []
