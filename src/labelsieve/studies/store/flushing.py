"""What is written outlives a failing power supply, and nobody waits for the disk."""

import os
import threading
from pathlib import Path

from labelsieve.studies.study_error import StudyError


class Flusher:
    """Has the system bring a file to its disk whenever it is told that something was written.

    A transaction that waits for the disk takes some milliseconds, of which a study with short cells would feel a few per cent.
    Here the writer goes on: what it wrote outlives its own death at once, and that of the machine those milliseconds later.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR)
        self._written = threading.Event()
        self._ended = False
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._flush, daemon=True)
        self._thread.start()

    def written(self) -> None:
        """Something was; raises what the disk said of what was written before."""
        if self._error is not None:
            raise StudyError(f"{self._path}: the disk failed while writing ({self._error.strerror}).")
        self._written.set()

    def _flush(self) -> None:
        while not self._ended:
            self._written.wait()
            self._written.clear()
            try:
                os.fsync(self._file)
            except OSError as error:
                self._error = error
                return

    def close(self) -> None:
        """Flush once more and end."""
        self._ended = True
        self._written.set()
        self._thread.join()
        os.close(self._file)
