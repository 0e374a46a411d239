"""Fuzz every target in turn, each in a separate process, and print the results: ``python -m fuzz --minutes 30``."""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

NAMES = ("arff", "xml", "libsvm", "csv", "parquet", "matlab", "packed", "any")
LEAST = 5  # seconds; less is not worth a new process
PATIENCE = 30  # seconds that a process may take beyond its time


def fuzz(target, seconds, folder):
    """Inputs tried, branches reached and runs that ended early, in ``seconds``; after an early end it starts again."""
    end, inputs, reached, ended = time.monotonic() + seconds, 0, 0, 0
    while (left := int(end - time.monotonic())) >= LEAST:
        command = [sys.executable, "-m", "fuzz.run_target", target, "--seconds", str(left), "--folder", str(folder)]
        log, record = folder / f"{target}.log", folder / f"{target}.json"
        record.unlink(missing_ok=True)
        with log.open("w") as lines:
            try:
                code = subprocess.run(command, stdout=lines, stderr=lines, timeout=left + PATIENCE).returncode
            except subprocess.TimeoutExpired:
                code = 1
        text = log.read_text(encoding="utf-8", errors="replace")
        if not record.exists() and not last_number(r"^#(\d+)\t", text):
            sys.exit(f"{target}: the fuzzer does not start.\n{text[-2000:]}")
        inputs += json.loads(record.read_text())["inputs"] if record.exists() else 0
        reached = max(reached, last_number(r"\bcov: (\d+)", text))
        ended += code != 0
    return inputs, reached, ended


def last_number(pattern, text):
    found = re.findall(pattern, text, re.MULTILINE)
    return int(found[-1]) if found else 0


def failures(target, folder):
    """Kept inputs that ended neither in a data set nor in a ``DatasetError``."""
    kinds = ("*.input", "crash-*", "timeout-*", "oom-*", "leak-*")
    return sorted(path for kind in kinds for path in folder.glob(f"{target}-{kind}"))


def main():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30, help="for all targets together (default: 30)")
    parser.add_argument("--targets", default=",".join(NAMES), help="comma-separated names (default: all)")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="keeps the corpus and what fails")
    options = parser.parse_args()
    names = options.targets.split(",")
    if set(names) - set(NAMES) or options.minutes * 60 / len(names) < LEAST:
        parser.error(f"targets are {', '.join(NAMES)}; each needs {LEAST} seconds")
    options.folder.mkdir(parents=True, exist_ok=True)
    found = []
    print(f"{'target':8}   {'inputs':>10}   {'branches':>8}   {'early ends':>10}   failures", flush=True)
    for name in names:
        inputs, reached, ended = fuzz(name, options.minutes * 60 / len(names), options.folder)
        kept = failures(name, options.folder)
        found += kept
        print(
            f"{name:8}   {inputs:10,}   {reached:8,}   {ended:10}   {', '.join(path.name for path in kept) or '-'}", flush=True
        )
    if found:
        sys.exit(f"Failures found: see {options.folder}. Repeat one with python -m fuzz.again FILE.")


if __name__ == "__main__":
    main()
