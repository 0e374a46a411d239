"""Run a kept input again, without the fuzzer: ``python -m fuzz.again build/fuzz/arff-slow.input``."""

import sys
import time
from pathlib import Path

from fuzz.targets import TARGETS, read_or_refused


def main():
    if len(sys.argv) != 2 or (target := Path(sys.argv[1]).name.partition("-")[0]) not in TARGETS:
        sys.exit(f"Usage: python -m fuzz.again TARGET-....input, with a target of {', '.join(TARGETS)}")
    start = time.process_time()
    read_or_refused(target, Path(sys.argv[1]).read_bytes())
    print(f"read or refused in {time.process_time() - start:.2f} s")


if __name__ == "__main__":
    main()
