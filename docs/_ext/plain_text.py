"""Text of the library, which is written for a terminal, in reStructuredText."""

import re


def plain(text):
    """Text with the markup characters of reStructuredText escaped."""
    return re.sub(r"([\\`*_|])", r"\\\1", text)
