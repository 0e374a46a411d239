"""The order of the examples in the gallery: those on real data first, from the simplest on."""

from pathlib import Path

REAL = (
    "spectra_of_meat.py",
    "pixels_of_digits.py",
    "pixels_of_each_digit.py",
    "diabetes_discoveries.py",
    "words_of_docstrings.py",
    "exercise_and_body.py",
)


class RealDataFirst:
    """A sort key: the place in the list, and the other examples behind it by name."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __call__(self, name):
        if name in REAL:
            return f"{REAL.index(name)}"
        return f"{len(REAL)} {name}"
