"""Text of the library, which is written for a terminal, inside reStructuredText."""

import re


def plain(text):
    """Text that means nothing more than it says."""
    return re.sub(r"([\\`*_|])", r"\\\1", text)
