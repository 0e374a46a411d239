"""Peak memory of a call, above what the process held before it.

Measured in a fresh process, where little freed memory of earlier work can hide an allocation, and that
little is given back first. On Linux the peak is that of the address space itself: ``ru_maxrss`` survives
``exec`` and would report a large parent's memory.
"""

import ctypes
import multiprocessing
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


def in_fresh_process(function, *arguments):
    """Result of an importable function, called in a new interpreter."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def extra_memory(call):
    """Bytes by which the process grew at most while ``call()`` ran."""
    return_freed_memory()
    forget_peak()
    before = read_status("VmRSS") if STATUS.exists() else read_maximum()
    result = call()  # held, so that the result counts as memory too
    peak = read_status("VmHWM") if STATUS.exists() else read_maximum()
    del result
    return max(0, peak - before)


def return_freed_memory():
    """Ask the C library to give unused heap back to the system; only glibc can."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return


def forget_peak():
    """Set the peak back to the present size, where the system can; else earlier peaks may hide growth."""
    try:
        RESET.write_text("5")
    except OSError:
        return


def read_status(field):
    for line in STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"{STATUS} has no {field}")


def read_maximum():
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
