"""Memory of a GPU: copies to it and from it, and operations on it that are queued again as a whole."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from labelsieve.counting.backends.gpu_compile import find_cupy

STAGED = 2**25  # bytes of an array that are copied to the GPU at once
STAGING_THREADS = 4  # which copy them to memory from which the GPU reads


class CardMemory:
    """The memory of one GPU.

    Parameters
    ----------
    device : int, default=None
        The number of the GPU; None is CuPy's current one.
    """

    def __init__(self, device: int | None = None) -> None:
        self.xp = find_cupy(device)
        self.device = self.xp.cuda.Device(device)
        self._buffer: NDArray[Any] | None = None

    def free_bytes(self) -> int:
        """Memory of the GPU that is free, or kept for reuse."""
        with self.device:
            return int(self.device.mem_info[0]) + int(self.xp.get_default_memory_pool().free_bytes())

    def to_host(self, values: object) -> NDArray[Any]:
        host: NDArray[Any] = self.xp.asnumpy(values)
        return host

    def to_buffer(self, values: Any) -> NDArray[Any]:
        """The same in memory that the next call overwrites: faster for large arrays."""
        if self._buffer is None or self._buffer.nbytes < values.nbytes:
            self._buffer = self.host_array((values.nbytes,), np.uint8)
        host: NDArray[Any] = self._buffer[: values.nbytes].view(values.dtype).reshape(values.shape)
        values.get(out=host)
        return host

    def to_device(self, values: NDArray[Any]) -> Any:
        """A copy on the GPU; of large arrays piece by piece, one on its way while the next one is staged."""
        values = np.ascontiguousarray(values)
        if values.nbytes <= STAGED:
            return self.xp.asarray(values)
        cuda, stream = self.xp.cuda, self.xp.cuda.get_current_stream()
        copied, flat = self.xp.empty(values.shape, dtype=values.dtype), values.reshape(-1).view(np.uint8)
        staged = [(self.host_array((STAGED,), np.uint8), cuda.Event(disable_timing=True)) for _ in range(2)]
        with ThreadPoolExecutor(STAGING_THREADS) as pool:
            for number, start in enumerate(range(0, len(flat), STAGED)):
                piece, (buffer, done) = flat[start : start + STAGED], staged[number % 2]
                done.synchronize()
                parts = [np.array_split(array, STAGING_THREADS) for array in (buffer[: len(piece)], piece)]
                list(pool.map(np.copyto, *parts))
                cuda.runtime.memcpyAsync(
                    copied.data.ptr + start, buffer.ctypes.data, len(piece), cuda.runtime.memcpyHostToDevice, stream.ptr
                )
                done.record(stream)
        stream.synchronize()
        return copied

    def streamed(self, packed: Sequence[NDArray[Any]]) -> Iterator[Any]:
        """Arrays of :meth:`host_array` on the GPU, one after the other; the next one is copied meanwhile."""
        if not packed:
            return
        cuda, stream, copying = self.xp.cuda, self.xp.cuda.get_current_stream(), self.xp.cuda.Stream(non_blocking=True)
        size = max(array.nbytes for array in packed)
        buffers = [self.xp.empty(size, dtype=np.uint8) for _ in range(min(2, len(packed)))]
        copied, free = ([cuda.Event(disable_timing=True) for _ in buffers] for _ in range(2))
        for event in free:
            event.record(stream)

        def send(number: int) -> None:
            array, at = packed[number], number % 2
            copying.wait_event(free[at])
            to_device = cuda.runtime.memcpyHostToDevice
            cuda.runtime.memcpyAsync(buffers[at].data.ptr, array.ctypes.data, array.nbytes, to_device, copying.ptr)
            copied[at].record(copying)

        send(0)
        for number, array in enumerate(packed):
            if number + 1 < len(packed):
                send(number + 1)
            stream.wait_event(copied[number % 2])
            yield buffers[number % 2][: array.nbytes].view(array.dtype).reshape(array.shape)
            free[number % 2].record(stream)

    def host_array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Memory of the host from which copies to the GPU are fast."""
        pinned: NDArray[Any] = import_module("cupyx").empty_pinned(shape, dtype=dtype)
        return pinned

    def recorded(self, step: Callable[[], Any]) -> Callable[[], Any]:
        """What ``step`` queues, as a graph that one call queues; its results are always at the same place in memory."""
        cuda = self.xp.cuda
        outside, allocate, stream = cuda.get_current_stream(), cuda.get_allocator(), cuda.Stream(non_blocking=True)

        def taken(size: int) -> Any:
            with outside:  # what was freed there can be used again
                return allocate(size)

        own = cuda.MemoryPool(taken)  # no other array may come to lie where the graph writes
        with cuda.using_allocator(own.malloc), stream:
            stream.begin_capture()
            try:
                results = step()
            finally:
                graph = stream.end_capture()

        def repeat() -> Any:
            graph.launch(cuda.get_current_stream())
            return results

        repeat.__dict__["memory"] = own  # as long as it can be called
        return repeat
