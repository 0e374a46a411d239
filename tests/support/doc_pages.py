"""Runnable blocks of a Markdown page: fenced Python and doctest examples, in order."""

import doctest
import re
from typing import NamedTuple

FENCE = re.compile(r"^ *(`{3,})(.*)$")
PYTHON = {"python", "pycon"}


class Block(NamedTuple):
    """A block of a page: the language of its fence, or "indented", its first line number, and its text."""

    language: str
    line: int
    text: str


def blocks(text):
    """Fenced blocks, and indented blocks outside of them."""
    fence, first_line, lines = None, 0, []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        opening = FENCE.match(line)
        if fence is None and opening:
            if lines:
                yield Block("indented", first_line, "\n".join(lines) + "\n")
            fence, first_line, lines = opening, number, []
        elif fence is not None and line.strip() == fence[1]:
            yield Block(fence[2].strip(), first_line, "\n".join(lines) + "\n")
            fence, lines = None, []
        elif fence is not None:
            lines.append(line)
        elif line.startswith("    "):
            first_line = first_line if lines else number
            lines.append(line[4:])
        elif lines:
            yield Block("indented", first_line, "\n".join(lines) + "\n")
            lines = []


def run_page(text, name):
    """Run the Python blocks of a page and compare the output of its examples. Returns the number of blocks."""
    names, count = {"__name__": "page"}, 0
    for block in blocks(text):
        if ">>>" in block.text and block.language in PYTHON | {"indented"}:
            location = f"{name}, line {block.line}"
            test = doctest.DocTestParser().get_doctest(block.text, names, location, name, block.line)
            failures = []
            assert test.examples, location
            doctest.DocTestRunner(verbose=False).run(test, out=failures.append, clear_globs=False)
            assert not failures, "".join(failures)
            names.update(test.globs)
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, name, "exec"), names)
        else:
            continue
        count += 1
    return count
