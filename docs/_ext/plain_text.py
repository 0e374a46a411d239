"""Text of the library, which is written for a terminal, in reStructuredText."""

import re


def plain(text):
    """Text with the markup characters of reStructuredText escaped, and with links to the pages that it names by their files."""
    *before, last = re.split(r"docs/([\w/]+)\.md", text)
    linked = (f"{_escaped(words)}:doc:`/{page}`" for words, page in zip(before[::2], before[1::2], strict=True))
    return "".join([*linked, _escaped(last)])


def _escaped(text):
    return re.sub(r"([\\`*_|])", r"\\\1", text)
