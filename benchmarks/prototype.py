"""Throw-away prototypes that set the goals: of counting, and of sums of products (:func:`load_moments`).

The first is compiled and run as a program of its own, on its own data.

Its data have the shape and density of ours, not the same values. It prints CPU seconds of one thread for
packing and for the counting of all steps, the pair panel apart. Its packing time leaves out what it does
before: recoding by frequency, row lists of the targets, the first touch of the packed memory. Ours
includes these.
"""

import ctypes
import re
import shutil
import subprocess
from dataclasses import dataclass

from benchmarks.shared_folder import VARIABLE, shared_folder

FLAGS = ["-O3", "-march=x86-64-v3", "-DVW=32", '-DNAME="v3"', "-fopenmp", "-std=c++17"]
MOMENTS_FLAGS = ["-O3", "-march=native", "-std=c++17", "-ffp-contract=off", "-shared", "-fPIC"]
PACKING = re.compile(r"pack from byte codes ([\d.]+) s")
COUNTING = re.compile(r"cpu ([\d.]+) s +pair ([\d.]+)")


class PrototypeMissing(Exception):
    """Why there is no prototype to compare with."""


@dataclass(frozen=True)
class PrototypeTimes:
    packing: float = float("inf")
    counting: float = float("inf")

    @property
    def total(self):
        return self.packing + self.counting

    def best(self, other):
        return PrototypeTimes(min(self.packing, other.packing), min(self.counting, other.counting))


def compile_prototype(into):
    """Path of the program, built in the folder ``into``."""
    folder = shared_folder("kernel")
    if folder is None:
        raise PrototypeMissing(f"no kernel/ in ${VARIABLE} or ../shared")
    program = into / "prototype"
    return _compiled([*FLAGS, str(folder / "jmi_port.cpp")], program)


def load_moments(into):
    """The prototype of a forward selection by least squares from exact sums, as a library of C functions."""
    folder = shared_folder("kernel")
    if folder is None:
        raise PrototypeMissing(f"no kernel/ in ${VARIABLE} or ../shared")
    library = _compiled([*MOMENTS_FLAGS, str(folder / "moments.cpp"), "-ldl"], into / "moments.so")
    return ctypes.CDLL(str(library))


def _compiled(arguments, program):
    if shutil.which("g++") is None:
        raise PrototypeMissing("no g++ to compile it with")
    command = ["g++", *arguments, "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise PrototypeMissing("g++ failed: " + (done.stderr.strip().splitlines() or ["no message"])[0])
    return program


def run_prototype(program, number, repetitions):
    done = subprocess.run([str(program), str(number), str(repetitions)], capture_output=True, text=True, check=True)
    packing, counting = PACKING.search(done.stdout), COUNTING.search(done.stdout)
    if packing is None or counting is None:
        raise RuntimeError(f"the prototype printed something unexpected: {done.stdout!r}")
    return PrototypeTimes(float(packing[1]), float(counting[1]))
