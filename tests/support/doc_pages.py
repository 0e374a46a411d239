"""What is on a Markdown page and can be run: Python in fences, and examples with ``>>>``, in their order."""

import doctest
import re
from typing import NamedTuple

FENCE = re.compile(r"^ *(`{3,})(.*)$")
PYTHON = {"python", "pycon"}


class Piece(NamedTuple):
    """A block of a page: the language of its fence, or "indented", the line that it begins at, and its text."""

    language: str
    line: int
    text: str


def pieces(text):
    """Fenced blocks, and indented ones outside of them."""
    fence, opened, block = None, 0, []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        found = FENCE.match(line)
        if fence is None and found:
            if block:
                yield Piece("indented", opened, "\n".join(block) + "\n")
            fence, opened, block = found, number, []
        elif fence is not None and line.strip() == fence[1]:
            yield Piece(fence[2].strip(), opened, "\n".join(block) + "\n")
            fence, block = None, []
        elif fence is not None:
            block.append(line)
        elif line.startswith("    "):
            opened = opened if block else number
            block.append(line[4:])
        elif block:
            yield Piece("indented", opened, "\n".join(block) + "\n")
            block = []


def run_page(text, name):
    """Run the Python of a page; examples must print what they say. Returns how many blocks ran."""
    names, count = {"__name__": "page"}, 0
    for piece in pieces(text):
        if ">>>" in piece.text and piece.language in PYTHON | {"indented"}:
            place = f"{name}, line {piece.line}"
            test = doctest.DocTestParser().get_doctest(piece.text, names, place, name, piece.line)
            report = []
            assert test.examples, place
            doctest.DocTestRunner(verbose=False).run(test, out=report.append, clear_globs=False)
            assert not report, "".join(report)
            names.update(test.globs)
        elif piece.language == "python":
            exec(compile("\n" * piece.line + piece.text, name, "exec"), names)
        else:
            continue
        count += 1
    return count
