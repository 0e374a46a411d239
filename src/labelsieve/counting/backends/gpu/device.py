"""One GPU: finding it, compiling kernels for it, copying to and from its memory, and the layout of bits there."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from labelsieve.errors import DeviceError
from labelsieve.tables.types import DeviceArray

INSTALL = "pip install 'labelsieve[gpu]' (CUDA 12), or pip install 'cupy-cuda13x[ctk]' (CUDA 13)"
KERNELS = "labelsieve.counting.backends.gpu"
TENSOR_SHARED = 200 * 1024  # bytes of a block
MMA_SHARED = 96 * 1024
MMA_THREADS = 256


def count_type(narrow: bool) -> str:
    """Return the type of counts in the kernels: 16 bits for few rows."""
    return "u16" if narrow else "int"


def find_cupy(device: int | None) -> Any:
    """Return the module CuPy; raise an error with the remedy if it is not installed or does not find the GPU."""
    try:
        cupy = import_module("cupy")
    except ImportError:
        raise DeviceError(f"backend='gpu' needs CuPy: {INSTALL}. backend='native' selects the same features.") from None
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except (ImportError, RuntimeError) as error:
        raise DeviceError(f"CuPy finds no GPU ({error}); check nvidia-smi, or use backend='native'.") from None
    try:
        cupy.cuda.nvrtc.getVersion()
    except (ImportError, RuntimeError) as error:
        raise DeviceError(f"CuPy finds no compiler, NVRTC ({str(error).strip()}): {INSTALL}.") from None
    if device is not None and not 0 <= device < n_devices:
        raise DeviceError(f"device={device}: CuPy finds {n_devices} GPUs, numbered from 0.")
    return cupy


def portable_kernel(name: str, *options: str) -> Any:
    """Return a counting kernel that every GPU can run."""
    return compiled_kernel(KERNELS, "portable.cu", name, *options)


@cache
def compiled_kernel(package: str, file: str, name: str, *options: str) -> Any:
    """Compile a kernel from a source file of a package."""
    module = import_module("cupy").RawModule(code=_source(package, file), options=("--std=c++17", *options))
    return module.get_function(name)


@cache
def mma_kernels(levels: int, narrow: bool) -> Sequence[Any]:
    """Compile the kernels that count with the tensor cores of compute capability 8.0 to 9.0."""
    source = _source(KERNELS, "tiles.cu") + _source(KERNELS, "mma.cu")
    options = "--std=c++17", f"-DLEVELS={levels}", f"-DCOUNT={count_type(narrow)}"
    module = import_module("cupy").RawModule(code=source, options=options)
    count = module.get_function("count")
    count.max_dynamic_shared_size_bytes = MMA_SHARED
    return module.get_function("clear"), count


@cache
def wgmma_kernels(levels: int, narrow: bool, device: int) -> Sequence[Any]:
    """Compile the kernels that count with the tensor cores of 9.0; CuPy compiles for plain 9.0, without their instruction."""
    cupy = import_module("cupy")
    nvrtc = cupy.cuda.nvrtc
    registers = {"@D@": ", ".join(f"%{i}" for i in range(56)), "@C@": ", ".join(f'"+r"(c[{i}])' for i in range(56))}
    source = _source(KERNELS, "tiles.cu") + _source(KERNELS, "wgmma.cu")
    for mark, text in registers.items():
        source = source.replace(mark, text)
    options = "--std=c++17", "-arch=sm_90a", f"-DLEVELS={levels}", f"-DCOUNT={count_type(narrow)}"
    key = hashlib.sha256(repr((source, options, nvrtc.getVersion())).encode()).hexdigest()
    folder = os.environ.get("CUPY_CACHE_DIR", "~/.cupy/kernel_cache")  # where CuPy keeps the others
    path = Path(folder).expanduser() / f"labelsieve-{key}.cubin"
    if not path.is_file():
        program = nvrtc.createProgram(source, "wgmma.cu", (), ())
        try:
            nvrtc.compileProgram(program, options)
            cubin = nvrtc.getCUBIN(program)
        finally:
            nvrtc.destroyProgram(program)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{id(program)}")
        temporary.write_bytes(cubin)
        temporary.replace(path)
    module = cupy.RawModule(path=str(path))
    count = module.get_function("count")
    count.max_dynamic_shared_size_bytes = TENSOR_SHARED
    return module.get_function("clear"), count


@cache
def _source(package: str, file: str) -> str:
    return files(package).joinpath(file).read_text("utf-8")


STAGED = 2**25  # bytes of an array that are copied to the GPU at once
STAGING_THREADS = 4  # which copy them to memory from which the GPU reads


class CardMemory:
    """The memory of one GPU, by default CuPy's current one, and copies between it and the host."""

    def __init__(self, device: int | None = None) -> None:
        self.xp = find_cupy(device)
        self.device = self.xp.cuda.Device(device)
        self._buffer: NDArray[Any] | None = None

    def free_bytes(self) -> int:
        """Return the bytes of the GPU that are free, or kept for reuse."""
        with self.device:
            return int(self.device.mem_info[0]) + int(self.xp.get_default_memory_pool().free_bytes())

    def to_host(self, values: object) -> NDArray[Any]:
        """Copy an array of the GPU to the host."""
        host: NDArray[Any] = self.xp.asnumpy(values)
        return host

    def to_buffer(self, values: Any) -> NDArray[Any]:
        """Copy an array to memory of the host that the next call overwrites, which is faster for large arrays."""
        if self._buffer is None or self._buffer.nbytes < values.nbytes:
            self._buffer = self.host_array((values.nbytes,), np.uint8)
        host: NDArray[Any] = self._buffer[: values.nbytes].view(values.dtype).reshape(values.shape)
        values.get(out=host)
        return host

    def to_device(self, values: NDArray[Any]) -> Any:
        """Copy an array to the GPU; a large one piece by piece, one on its way while the next one is staged."""
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
        """Yield arrays of :meth:`host_array` on the GPU, one after the other; the next one is copied meanwhile."""
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
        """Allocate memory of the host from which copies to the GPU are fast."""
        pinned: NDArray[Any] = import_module("cupyx").empty_pinned(shape, dtype=dtype)
        return pinned

    def recorded(self, step: Callable[[], Any]) -> Callable[[], Any]:
        """Record what ``step`` queues as a graph that one call queues; its results are always at the same place in memory."""
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


BIT_LEVELS = 16  # variables with more are counted as codes
STAGE = 1024  # rows
WORDS = STAGE // 32
BLOCK = 64  # columns of features that lie together
AT_ONCE = 2**30  # bits that are packed at once; CuPy packs fewer than 2^31
MOST_COLUMNS = 112  # of the targets in one block of counts; the last one is 1 in every row


def n_stages(n_rows: int) -> int:
    """Return the number of stages of 1,024 rows that ``n_rows`` rows take.

    >>> n_stages(1024), n_stages(1025)
    (1, 2)
    """
    return -(-n_rows // STAGE)


def pad_rows(xp: ModuleType, codes: DeviceArray) -> Any:
    """Fill up codes to whole stages with rows of level 0, which no column counts."""
    n_columns, n_rows = codes.shape
    width = n_stages(n_rows) * STAGE
    if n_rows == width:
        return codes
    padded = xp.zeros((n_columns, width), dtype=codes.dtype)
    padded[:, :n_rows] = codes
    return padded


def pack_plain(xp: ModuleType, codes: DeviceArray, n_levels: int) -> Any:
    """Pack codes of shape (columns, rows) with the same number of levels as bits: ``[column, level - 1][stage][word]``."""
    codes = pad_rows(xp, codes)
    n_columns, n_rows = len(codes) * (n_levels - 1), codes.shape[1]
    levels = xp.arange(1, n_levels, dtype=codes.dtype)
    step = max(1, AT_ONCE // (n_columns * STAGE)) * STAGE
    parts = []
    for start in range(0, n_rows, step):
        is_level = codes[:, None, start : start + step] == levels[None, :, None]
        words = xp.packbits(is_level.reshape(-1), bitorder="little").view(xp.uint32)
        parts.append(words.reshape(n_columns, -1, WORDS))
    return parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=1)


def to_fragments(xp: ModuleType, plain: DeviceArray) -> Any:
    """Order blocks of 64 plain columns as the threads of a warp group hold them: ``[block][stage][2048]``."""
    n_columns, stages, _ = plain.shape
    n_blocks = -(-n_columns // BLOCK)
    if n_columns < n_blocks * BLOCK:
        plain = xp.concatenate([plain, xp.zeros((n_blocks * BLOCK - n_columns, stages, WORDS), dtype=xp.uint32)])
    split = plain.reshape(n_blocks, 4, 8, 2, stages, 4, 2, 4)
    return split.transpose(0, 4, 1, 5, 2, 7, 6, 3).reshape(n_blocks, stages, BLOCK * WORDS)


def from_fragments(xp: ModuleType, blocks: DeviceArray) -> Any:
    """Return the plain columns of blocks: the inverse of :func:`to_fragments`."""
    n_blocks, stages, _ = blocks.shape
    split = blocks.reshape(n_blocks, stages, 4, 4, 8, 4, 2, 2)
    return xp.ascontiguousarray(split.transpose(0, 2, 4, 7, 1, 3, 6, 5)).reshape(n_blocks * BLOCK, stages, WORDS)


def unpack_codes(xp: ModuleType, plain: DeviceArray, n_levels: int, n_rows: int) -> Any:
    """Return the codes of plain columns as uint16: the inverse of :func:`pack_plain`."""
    n_variables = len(plain) // (n_levels - 1)
    bits = xp.unpackbits(plain.reshape(-1).view(xp.uint8), bitorder="little")
    bits = bits.reshape(n_variables, n_levels - 1, -1)[:, :, :n_rows]
    codes = xp.zeros((n_variables, n_rows), dtype=xp.uint16)
    for level in range(1, n_levels):
        codes += bits[:, level - 1] * xp.uint16(level)
    return codes


def all_rows(xp: ModuleType, n_rows: int) -> Any:
    """Return a plain column that is 1 in every row."""
    return pack_plain(xp, xp.ones((1, n_rows), dtype=xp.uint8), 2)


def to_swizzled(xp: ModuleType, plain: DeviceArray) -> Any:
    """Order up to 112 plain columns as the tensor cores read them from shared memory: ``[stage][112][128 bytes]``, swizzled."""
    n_columns, stages, _ = plain.shape
    chunks = xp.zeros((MOST_COLUMNS, stages, 8, 4), dtype=xp.uint32)  # of 16 bytes
    chunks[:n_columns] = plain.reshape(n_columns, stages, 8, 4)
    line, chunk = xp.arange(MOST_COLUMNS)[:, None], xp.arange(8)
    return xp.ascontiguousarray(chunks.transpose(1, 0, 2, 3)[:, line, chunk ^ line % 8])


def rows_of_fragments(xp: ModuleType, fragments: DeviceArray, stages: slice) -> Any:
    """Return some stages of the fragments of a condition, in the same order: passes of four levels, stages, levels."""
    padded, n_all, _ = fragments.shape
    flat, parts = fragments.reshape(-1), []
    for first in range(0, padded, 4):
        width = min(4, padded - first)
        of_pass = flat[first * n_all * WORDS :][: width * n_all * WORDS].reshape(n_all, width * WORDS)
        parts.append(of_pass[stages].reshape(-1))
    return xp.concatenate(parts).reshape(padded, -1, WORDS)


def padded_levels(n_levels: int) -> int:
    """Return the number of columns of a condition in passes of 4, 4, ..., and 1, 2 or 4 in the last one.

    >>> [padded_levels(n) for n in (2, 3, 4, 5, 6)]
    [1, 2, 4, 4, 5]
    """
    columns = n_levels - 1
    return columns + (columns % 4 == 3)
