"""Progress bars on a terminal, for everything that takes longer than two seconds."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0  # seconds before a bar is shown


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the number of finished steps and the number of all steps.

    Nothing is printed where standard error is not a terminal. A bar that is opened while another one is shown, such as that of
    a selection in a study, gets a line below it.

    >>> with progress_bar("counting") as progress:
    ...     progress(1, 2)
    """
    # While bars are shown, sys.stderr is rich's, which prints above them and claims not to be a terminal.
    if _display is None and not (sys.stderr is not None and sys.stderr.isatty()):
        yield lambda done, total: None
        return
    started, line = time.monotonic(), None

    def show(done: int, total: int) -> None:
        nonlocal line
        seconds = time.monotonic() - started
        if line is None:
            if seconds < PATIENCE:
                return
            line = _open_line(title, total)
        left = f"{duration(seconds / done * (total - done))} left" if done else ""
        bars, task = line
        bars.update(task, completed=done, total=total, left=left)

    try:
        yield show
    finally:
        if line is not None:
            _close_line(*line)


# All open bars are lines of one display: two displays would write over each other.
_display: "Progress | None" = None
_lock = threading.Lock()


def _open_line(title: str, total: int) -> "tuple[Progress, TaskID]":
    """Add a line to the display, which the first line starts."""
    from rich.console import Console  # loaded for the first bar that is shown, as most calls end before that
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    global _display
    with _lock:
        if _display is None:
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[left]}"),
            )
            _display = Progress(*columns, console=Console(file=sys.stderr), transient=True)
            _display.start()
        return _display, _display.add_task(title, total=total, left="")


def _close_line(display: "Progress", task: "TaskID") -> None:
    """Remove a line; the last one ends the display and leaves nothing on the terminal."""
    global _display
    with _lock:
        display.remove_task(task)
        if not display.task_ids:
            display.stop()
            _display = None


def duration(seconds: float) -> str:
    """Return seconds in words.

    >>> duration(12.3), duration(2544), duration(18000)
    ('12 s', '42 minutes', '5.0 hours')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
