"""A progress bar: only on a terminal, only for what takes longer than two seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 2.0
REFRESH = 0.1
WIDTH = 30


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the steps done and their total number.

    >>> with progress_bar("counting") as progress:
    ...     progress(1, 2)
    """
    stream = sys.stderr
    started = shown = time.monotonic()
    visible = False
    interactive = bool(getattr(stream, "isatty", lambda: False)())

    def show(done: int, total: int) -> None:
        nonlocal shown, visible
        if not interactive:
            return
        now = time.monotonic()
        if now - started < PATIENCE or now - shown < REFRESH:
            return
        shown, visible = now, True
        filled = WIDTH * done // max(1, total)
        left = f", {duration((now - started) / done * (total - done))} left" if done else ""
        bar = "#" * filled + "." * (WIDTH - filled)
        stream.write(f"\r{title} [{bar}] {done}/{total}{left} \x1b[K")  # the rest of a longer line is wiped
        stream.flush()

    try:
        yield show
    finally:
        if visible:
            stream.write("\r\x1b[K")
            stream.flush()


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(12.3), duration(2544), duration(18000)
    ('12 s', '42 minutes', '5.0 hours')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
