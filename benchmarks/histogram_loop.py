"""Compiles and calls ``histogram_loop.c``, the plain way to count."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_suffix(".c")


class CompilerMissing(Exception):
    """Why the C loop cannot be run."""


def compile_histogram_loop():
    """The function ``histogram_gains``, built for this very machine."""
    if shutil.which("cc") is None:
        raise CompilerMissing("no C compiler named cc")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "histogram_loop.so"
        command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", str(SOURCE), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise CompilerMissing("cc failed: " + (done.stderr.strip().splitlines() or ["no message"])[0])
        function = ctypes.CDLL(str(library)).histogram_gains
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    function.argtypes = [
        pointer, integer, integer, integer, pointer, pointer, integer, integer, pointer, pointer,
    ]  # fmt: skip
    function.restype = ctypes.c_int
    return function


class HistogramLoop:
    """JMI's numbers for the first ``candidates`` features, by the C loop."""

    def __init__(self, function, workload, x, y, values, candidates):
        self.function, self.workload, self.candidates = function, workload, candidates
        self.x, self.y, self.values = np.asfortranarray(x), np.asfortranarray(y), np.ascontiguousarray(values)

    def relevance(self):
        return self.call(None)

    def gains(self, newest):
        return self.call(self.x[:, newest].ctypes.data)

    def call(self, given):
        shape, gains = self.workload, np.empty(self.candidates, dtype=np.int64)
        failed = self.function(
            self.x.ctypes.data, self.candidates, shape.rows, shape.levels, given,
            self.y.ctypes.data, shape.targets, shape.classes, self.values.ctypes.data, gains.ctypes.data,
        )  # fmt: skip
        if failed:
            raise MemoryError("histogram_gains could not allocate its tables")
        return gains
