"""Options that commands share: what their help says, and what they refuse."""

from typing import Literal

from labelsieve.errors import InputError

METHOD = "A criterion or a published method; see labelsieve methods."
TARGETS = (
    "What labels are taken for: single, joint, pruned, copy, copy-weight, select-max, select-min, select-random, ignore, "
    "group, group-rand or group-auto; auto: as the method says."
)


def check_counting(codes: bool, bins: int | None, n_jobs: int | None) -> int | Literal["auto"] | None:
    """How many bins to count in, from --bins and --codes; None is none.

    >>> check_counting(False, None, 2), check_counting(True, None, None)
    ('auto', None)
    """
    if codes and bins is not None:
        raise InputError("--codes and --bins exclude each other.")
    if n_jobs == 0:
        raise InputError("--n-jobs must not be 0; give a number of threads, or -1 for all.")
    return None if codes else bins or "auto"


def check_twins(twins: float | None) -> None:
    """Refuse a similarity that is none."""
    if twins is not None and not 0 < twins <= 1:
        raise InputError("--twins takes a number above 0 and at most 1.")
