"""A stand-in for arrays on a GPU, which, like those of CuPy, cannot be computed with together with arrays of numpy."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from labelsieve.counting.backends import GpuBackend
from labelsieve.counting.backends.protocol import Backend, Panel
from tests.support.numpy_kernels import NumpyKernels


class CardArray(NDArrayOperatorsMixin):
    """Not an ndarray: what expects one of the host fails."""

    def __init__(self, host):
        self.host = np.asarray(host)

    shape = property(lambda self: self.host.shape)
    size = property(lambda self: self.host.size)
    ndim = property(lambda self: self.host.ndim)
    dtype = property(lambda self: self.host.dtype)

    def __len__(self):
        return len(self.host)

    def __int__(self):
        return int(self.host)

    def __float__(self):
        return float(self.host)

    def __bool__(self):
        return bool(self.host)

    def __getitem__(self, key):
        return CardArray(self.host[_keys(key)])

    def __setitem__(self, key, value):
        self.host[_keys(key)] = _data(value)

    def __getattr__(self, name):
        if name in ("sum", "min", "max", "take", "reshape", "ravel", "astype", "item", "view", "cumsum"):
            method = getattr(self.host, name)
            return lambda *args, **options: _wrap(method(*map(_data, args), **options), name != "item")
        raise AttributeError(f"CuPy's arrays may have no {name}")

    def __array__(self, *args, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if method != "__call__":
            raise TypeError(f"CuPy may have no {ufunc.__name__}.{method}")
        if out:
            options["out"] = tuple(map(_data, out))
        result = ufunc(*map(_data, inputs), **options)
        return out[0] if out else _wrap(result)

    def __array_function__(self, function, types, args, options):
        if function not in (np.where, np.broadcast_to, np.repeat):
            raise TypeError(f"CuPy may have no {function.__name__}")
        return _wrap(function(*map(_data, args), **options))


def _data(value):
    if isinstance(value, CardArray):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return value


def _keys(key):
    return tuple(_data(part) for part in key) if isinstance(key, tuple) else _data(key)


def _wrap(value, always=True):
    return CardArray(value) if always and isinstance(value, np.ndarray | np.generic) else value


class CardModule:
    """In the place of CuPy: its functions return arrays of the GPU."""

    def asarray(self, values):
        return CardArray(values)

    def __getattr__(self, name):
        assert name in ("zeros", "empty", "full", "broadcast_to", "ascontiguousarray"), name
        return lambda *args, **options: CardArray(getattr(np, name)(*map(_data, args), **options))


class Delegate(Backend):
    """A backend that asks another one."""

    def __init__(self, backend):
        self._backend = backend

    def singles(self):
        return self._backend.singles()

    def panel(self, given, **options):
        return self._backend.panel(given, **options)

    def given_targets(self, given):
        return self._backend.given_targets(given)

    def given_single(self, given):
        return self._backend.given_single(given)

    def joint_counts(self, given=None, **options):
        return self._backend.joint_counts(given, **options)


class CardSums(Delegate):
    """Sums of a backend with kernels in numpy, as arrays of the GPU."""

    def __init__(self, backend):
        super().__init__(backend)
        self.xp = CardModule()
        self.device, self.recorded = backend.device, backend.recorded

    @property
    def chooses(self):
        return self._backend.chooses

    def singles(self):
        return tuple(map(CardArray, super().singles()))

    def panel(self, given, **options):
        return Panel(*map(CardArray, super().panel(given, **options)))

    def given_targets(self, given):
        return CardArray(super().given_targets(given))

    def fold_given_feature(self, accumulator, feature, fold, **options):
        fold = fold._replace(constant=_data(fold.constant), fixed=_data(fold.fixed))
        self._backend.fold_given_feature(_data(accumulator), _data(feature), fold, **options)

    def best(self, *arrays):
        self._backend.best(*map(_data, arrays))

    def to_host(self, values):
        return np.array(_data(values))


class StandIn(Delegate):
    """A GPU backend with kernels in numpy whose sums are arrays of a GPU."""

    def __init__(self, *tables, **options):
        super().__init__(GpuBackend(*tables, kernels=NumpyKernels(tensor=True), **options))
        self.on_device = CardSums(self._backend.on_device)
