"""Flushing a file to disk in the background, so that a power failure loses milliseconds and the writer never waits."""

import os
import threading
from pathlib import Path

from labelsieve.errors import StudyError


class Flusher:
    """Call ``fsync`` on a file in a thread after every notification of a write.

    A transaction that waits for the disk takes some milliseconds, a few per cent of a study with short cells. With this class
    the writer continues: its data survive its own death at once, and that of the machine some milliseconds later.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR)
        self._written = threading.Event()
        self._closed = False
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._flush, daemon=True)
        self._thread.start()

    def written(self) -> None:
        """Request a flush; raise the error of an earlier one, if any."""
        if self._error is not None:
            raise StudyError(f"{self._path}: the disk failed while writing ({self._error.strerror}).")
        self._written.set()

    def _flush(self) -> None:
        while not self._closed:
            self._written.wait()
            self._written.clear()
            try:
                os.fsync(self._file)
            except OSError as error:
                self._error = error
                return

    def close(self) -> None:
        """Flush once more and stop the thread."""
        self._closed = True
        self._written.set()
        self._thread.join()
        os.close(self._file)
