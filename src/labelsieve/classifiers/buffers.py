"""Memory for arrays that are made again and again: fresh memory costs as much as filling it."""

import weakref

import numpy as np
from numpy.typing import NDArray


class Recycled:
    """Makes arrays of one shape from memory that nobody uses any more.

    An array lives as long as somebody holds it or a view of it; its memory then serves the next one.

    >>> made = Recycled((2, 3))
    >>> first, second = made.array(), made.array()
    >>> np.shares_memory(first, second)
    False
    >>> place, part = first.ctypes.data, first[1:]
    >>> del first
    >>> made.array().ctypes.data == place
    False
    >>> del part
    >>> made.array().ctypes.data == place
    True
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._free: list[NDArray[np.uint8]] = []

    def array(self) -> NDArray[np.float64]:
        """An array that nobody else has, with anything in it."""
        n_rows, n_columns = self._shape
        memory = self._free.pop() if self._free else np.empty(8 * n_rows * n_columns, dtype=np.uint8)
        array = np.frombuffer(memory.data, dtype=np.float64)
        # What the array rests on is held by all views of it, however they were made.
        weakref.finalize(array.base, self._free.append, memory).atexit = False
        return array.reshape(self._shape)
