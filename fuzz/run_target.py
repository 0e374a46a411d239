"""Fuzz one target in this process with atheris: ``python -m fuzz.run_target arff --seconds 60 --folder build/fuzz``.

Coverage is measured in the Python code of the library. The C parsers that it calls (expat, pyarrow, zlib, scipy's) are not
instrumented: mutations reach them, but are not guided there.

A Python exception is recorded and the run continues; a hang, too much memory or a crash of the process ends it, and
libFuzzer keeps the input.
"""

import argparse
import inspect
import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path

import numpy  # noqa: F401  loaded before the instrumentation, as it is not what is fuzzed
import scipy.io
import scipy.sparse  # noqa: F401

SECONDS_PER_INPUT = 10  # of the clock, then the run ends; slower than SLOW, of the processor, is written down
SLOW = 2.0
MEMORY = 2048  # megabytes resident
ADDRESSES = 16 * 2**30  # bytes of address space: a single request for more is a MemoryError, and written down
LONGEST = 2**16  # bytes of an input: enough to distinguish quadratic from linear time


class Log:
    """Counts inputs, and keeps one input for each failing location in the code."""

    def __init__(self, folder, target, seconds):
        self.folder, self.target, self.inputs, self.seen = folder, target, 0, set()
        self.slowest, self.end = 0.0, time.monotonic() + seconds

    def run(self, data):
        from fuzz.targets import read_or_refused

        self.inputs += 1
        start = time.process_time()
        try:
            read_or_refused(self.target, data)
        except Exception as error:
            steps = traceback.extract_tb(error.__traceback__)
            ours = [step for step in steps if "labelsieve" in step.filename] or steps
            self.keep(f"{type(error).__name__}-{Path(ours[-1].filename).stem}-{ours[-1].lineno}", data, traceback.format_exc())
        took = time.process_time() - start
        self.slowest = max(self.slowest, took)
        if took > SLOW:
            self.keep("slow", data, f"{took:.1f} s")
        over = time.monotonic() > self.end
        if over or self.inputs % 1000 == 0:
            self.save()
        if over:  # not by libFuzzer: its way out waits for pyarrow's threads, for ever
            sys.stderr.flush()
            os._exit(0)

    def keep(self, reason, data, text):
        if reason not in self.seen:
            self.seen.add(reason)
            (self.folder / f"{self.target}-{reason}.input").write_bytes(data)
            (self.folder / f"{self.target}-{reason}.txt").write_text(text, encoding="utf-8")

    def save(self):
        record = {"inputs": self.inputs, "slowest": self.slowest, "failures": sorted(self.seen)}
        (self.folder / f"{self.target}.json").write_text(json.dumps(record))


def functions(*packages):
    """The functions and methods of loaded modules. An editable install has an importer that atheris cannot instrument."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(packages):
            classes = [thing for thing in vars(module).values() if inspect.isclass(thing) and thing.__module__ == name]
            for holder in (module, *classes):
                functions = (thing for thing in vars(holder).values() if inspect.isfunction(thing) and thing.__module__ == name)
                found.update({id(function): function for function in functions})
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(prog="python -m fuzz.run_target", description=__doc__.splitlines()[0])
    parser.add_argument("target")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()

    import atheris

    import fuzz.targets  # noqa: F401
    from fuzz.seeds import seeds

    atheris.enabled_hooks.add("str")
    for function in functions("labelsieve.datasets", "defusedxml"):
        atheris.instrument_func(function)

    corpus = options.folder / f"corpus-{options.target}"
    corpus.mkdir(parents=True, exist_ok=True)
    for index, seed in enumerate(seeds(options.target)):
        (corpus / f"seed-{index}").write_bytes(seed)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    log = Log(options.folder, options.target, options.seconds)
    flags = [
        f"-timeout={SECONDS_PER_INPUT}",
        f"-rss_limit_mb={MEMORY}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={options.folder}/{options.target}-",
    ]
    atheris.Setup([sys.argv[0], *flags, str(corpus)], log.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
