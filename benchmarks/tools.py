"""What there is to compare with on this machine, and a word on what is missing."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.histogram_loop import CompilerMissing, compile_histogram_loop
from benchmarks.prototype import PrototypeMissing, compile_prototype


@dataclass
class Tools:
    prototype: Path | None = None
    histogram: Any = None
    numpy: bool = True
    sklearn: bool = True


def find_tools(folder, slow_baselines=True):
    """Compile what must be compiled (the prototype into ``folder``); report absences, never fail for them."""
    tools = Tools(numpy=slow_baselines, sklearn=slow_baselines)
    try:
        tools.prototype = compile_prototype(folder)
    except PrototypeMissing as reason:
        print(f"No comparison with the prototype: {reason}.")
    if slow_baselines:
        try:
            tools.histogram = compile_histogram_loop()
        except CompilerMissing as reason:
            print(f"No C loop: {reason}.")
        if find_spec("sklearn") is None:
            tools.sklearn = False
            print("No scikit-learn column: scikit-learn is not installed.")
        if find_spec("threadpoolctl") is None:
            print("threadpoolctl is not installed: numpy may use several threads; its CPU time is printed.")
    return tools
