"""Arrays of CuPy and tensors of PyTorch as input."""

from typing import Any


def from_device(values: Any) -> Any:
    """A numpy array of an array of CuPy or a tensor of PyTorch on any device, which is copied; anything else as it is.

    >>> from_device([1, 2])
    [1, 2]
    """
    library = type(values).__module__.partition(".")[0]
    if library == "cupy":
        return values.get()
    if library == "torch":
        return values.detach().cpu().numpy()
    return values
