"""Text out of the bytes of a file."""

from pathlib import Path

from labelsieve.datasets.errors import DatasetError


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
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
