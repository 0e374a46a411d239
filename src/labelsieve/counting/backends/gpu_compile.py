"""Kernels of the GPU backend, compiled on first use by NVRTC, through CuPy, and kept in CuPy's cache on disk."""

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from labelsieve.errors import DeviceError

INSTALL = "pip install 'labelsieve[gpu]' (CUDA 12), or pip install 'cupy-cuda13x[ctk]' (CUDA 13)"
BACKENDS = "labelsieve.counting.backends"
TENSOR_SHARED = 200 * 1024  # bytes of a block
MMA_SHARED = 96 * 1024
MMA_THREADS = 256


def count_type(narrow: bool) -> str:
    """The type of counts in the kernels: 16 bits for few rows."""
    return "u16" if narrow else "int"


def find_cupy(device: int | None) -> Any:
    """CuPy, if it is installed and sees the GPU."""
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
    """A counting kernel for every GPU."""
    return compiled_kernel(BACKENDS, "gpu_portable.cu", name, *options)


@cache
def compiled_kernel(package: str, file: str, name: str, *options: str) -> Any:
    """A kernel of a file of a package."""
    module = import_module("cupy").RawModule(code=_source(package, file), options=("--std=c++17", *options))
    return module.get_function(name)


@cache
def mma_kernels(levels: int, narrow: bool) -> Sequence[Any]:
    """Kernels that count with the tensor cores of compute capability 8.0 to 9.0."""
    source = _source(BACKENDS, "gpu_tiles.cu") + _source(BACKENDS, "gpu_mma.cu")
    options = "--std=c++17", f"-DLEVELS={levels}", f"-DCOUNT={count_type(narrow)}"
    module = import_module("cupy").RawModule(code=source, options=options)
    count = module.get_function("count")
    count.max_dynamic_shared_size_bytes = MMA_SHARED
    return module.get_function("clear"), count


@cache
def wgmma_kernels(levels: int, narrow: bool, device: int) -> Sequence[Any]:
    """The same for this GPU, of 9.0; CuPy compiles for plain 9.0, which has no such instruction."""
    cupy = import_module("cupy")
    nvrtc = cupy.cuda.nvrtc
    registers = {"@D@": ", ".join(f"%{i}" for i in range(56)), "@C@": ", ".join(f'"+r"(c[{i}])' for i in range(56))}
    source = _source(BACKENDS, "gpu_tiles.cu") + _source(BACKENDS, "gpu_wgmma.cu")
    for mark, text in registers.items():
        source = source.replace(mark, text)
    options = "--std=c++17", "-arch=sm_90a", f"-DLEVELS={levels}", f"-DCOUNT={count_type(narrow)}"
    key = hashlib.sha256(repr((source, options, nvrtc.getVersion())).encode()).hexdigest()
    folder = os.environ.get("CUPY_CACHE_DIR", "~/.cupy/kernel_cache")  # where CuPy keeps the others
    path = Path(folder).expanduser() / f"labelsieve-{key}.cubin"
    if not path.is_file():
        program = nvrtc.createProgram(source, "gpu_wgmma.cu", (), ())
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
