"""The public interface: names, documentation, version, and import cost."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import labelsieve

ROOT = Path(__file__).resolve().parents[2]
CONTINUOUS = {"kernel_mutual_information", "neighbor_mutual_information"}  # they take numeric columns, not codes
PACKAGES = [
    "labelsieve.chains",
    "labelsieve.classifiers",
    "labelsieve.discoveries",
    "labelsieve.discretize",
    "labelsieve.information",
    "labelsieve.metrics",
    "labelsieve.report",
    "labelsieve.report.figures",
    "labelsieve.selectors",
    "labelsieve.statistics",
    "labelsieve.stopping",
    "labelsieve.studies",
]


def public_objects():
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            yield pytest.param(getattr(module, name), id=f"{package}.{name}")


@pytest.mark.parametrize("package", ["labelsieve", *PACKAGES])
def test_every_listed_name_exists_once(package):
    module = importlib.import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name)


@pytest.mark.parametrize("value", [param for param in public_objects() if inspect.isfunction(param.values[0])])
def test_every_public_function_is_documented_with_an_example(value):
    assert inspect.getdoc(value)
    assert doctest.DocTestParser().get_examples(inspect.getdoc(value)), "no example"


@pytest.mark.parametrize("value", [param for param in public_objects() if inspect.isclass(param.values[0])])
def test_every_public_class_and_its_methods_are_documented(value):
    assert inspect.getdoc(value)
    for name, method in inspect.getmembers(value, inspect.isroutine):
        if not name.startswith("_") and name in vars(value):
            assert inspect.getdoc(method), name


@pytest.mark.parametrize("value", [param for param in public_objects() if hasattr(param.values[0], "get_params")])
def test_every_parameter_of_an_estimator_is_documented_with_its_default(value):
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n\w|\Z)", inspect.getdoc(value), re.DOTALL)
    entries = re.findall(r"^(\w[^:\n]*)(?: : (.*))?$", section[1], re.MULTILINE) if section else []
    documented = {name: kind for names, kind in entries for name in names.strip().split(", ")}
    parameters = inspect.signature(value).parameters
    assert set(documented) == set(parameters)
    for name, kind in documented.items():
        default = re.fullmatch(r".*default=([\w.\"'-]+)", kind)
        if default is not None and default[1] != "PORTFOLIO":
            assert ast.literal_eval(default[1]) == parameters[name].default, name


def test_every_measure_takes_the_same_options():
    information = importlib.import_module("labelsieve.information")
    for name in information.__all__:
        value = getattr(information, name)
        if not inspect.isfunction(value) or name == "join" or name in CONTINUOUS:
            continue
        options = {
            parameter.name: parameter.default
            for parameter in inspect.signature(value).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        assert options == {"base": "nat", "estimator": "plugin", "sample_weight": None, "n_jobs": None}


def test_the_version_is_that_of_the_project():
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert labelsieve.__version__ == tomllib.load(file)["project"]["version"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        labelsieve.nonsense  # noqa: B018


@pytest.mark.parametrize(
    "package",
    [
        "labelsieve",
        "labelsieve.cli",
        "labelsieve.discoveries",
        "labelsieve.information",
        "labelsieve.metrics",
        "labelsieve.statistics",
        "labelsieve.report.figures",
    ],
)
def test_importing_loads_no_heavy_package(package):
    heavy = {"pandas", "polars", "pyarrow", "matplotlib", "sklearn", "torch", "dask", "hypothesis", "pytest"}
    script = f"import sys, {package}; print(*{heavy!r}.intersection(sys.modules))"
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert completed.stdout.split() == []
