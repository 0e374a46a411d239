"""Text out of the bytes of a file."""

from pathlib import Path

from labelsieve.datasets.dataset_error import DatasetError

LONGEST_LINE = 2**24  # bytes; a row of text takes many times its length while it is read


def _check_lines(data: bytes, file: Path) -> None:
    """Refuse a line that is too long, looking at one byte in many."""
    start = 0
    while len(data) - start > LONGEST_LINE:
        end = max(data.rfind(mark, start, start + LONGEST_LINE + 1) for mark in (b"\n", b"\r"))
        if end < 0:
            raise DatasetError(
                f"it is longer than {LONGEST_LINE:,} bytes.",
                file=file,
                line=data.count(b"\n", 0, start) + 1,
                remedy="Are its line ends lost? Rows of millions of values are for Parquet or Matlab files.",
            )
        start = end + 1


def decode(data: bytes, file: Path) -> str:
    """Text in UTF-8 or, where it is not that, Latin-1, which the older files of the field are in."""
    nul = data.find(b"\0")
    if nul >= 0:
        raise DatasetError(
            "there is a NUL byte, so this is not text in UTF-8 or Latin-1.",
            file=file,
            line=data.count(b"\n", 0, nul) + 1,
            remedy="Is the file damaged, or in UTF-16? Save it as UTF-8.",
        )
    _check_lines(data, file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
