"""Runnable blocks of a Markdown page: fenced Python and doctest examples, in order."""

import doctest
import re
from typing import NamedTuple

import pytest

FENCE = re.compile(r"^ *(`{3,})(.*)$")
PYTHON = {"python", "pycon"}
SCHEDULER = "tcp://host:8786"  # the address of a cluster on all pages
# What a block needs that not every machine has, and how it is recognized.
NEEDS = {
    "cluster": re.compile(rf"{SCHEDULER}|import dask"),
    "Spark": re.compile(r"\bspark\b"),
    "GPU": re.compile(r'backend="gpu|GpuBackend'),
}


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


def is_code(block):
    """True for Python code, with or without prompts."""
    return block.language == "python" or (">>>" in block.text and block.language in PYTHON | {"indented"})


def needs_of(text):
    """The names of what the code of a page needs."""
    return {need for need, pattern in NEEDS.items() for block in blocks(text) if is_code(block) and pattern.search(block.text)}


def run_page(text, name, *, provided=()):
    """Run the Python blocks of a page and compare the output of its examples. Returns the number of blocks.

    Blocks that need something of ``NEEDS`` run only if it is ``provided``.
    """
    names, count = {"__name__": "page"}, 0
    for block in blocks(text):
        absent = [need for need, pattern in NEEDS.items() if need not in provided and pattern.search(block.text)]
        if absent or not is_code(block):
            continue
        if ">>>" in block.text:
            location = f"{name}, line {block.line}"
            test = doctest.DocTestParser().get_doctest(block.text, names, location, name, block.line)
            failures = []
            assert test.examples, location
            doctest.DocTestRunner(verbose=False).run(test, out=failures.append, clear_globs=False)
            assert not failures, "".join(failures)
            names.update(test.globs)
        else:
            exec(compile("\n" * block.line + block.text, name, "exec"), names)
        count += 1
    return count


def local_scheduler(folder):
    """Yield a function that puts the address of a local cluster, and a shared folder, in place of those in a text of a page."""
    distributed = pytest.importorskip("distributed")
    local = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "host": "127.0.0.1"}
    with distributed.LocalCluster(**local, protocol="tcp") as cluster:
        yield lambda text: text.replace(SCHEDULER, cluster.scheduler_address).replace("/shared/cache", str(folder / "cache"))
        while True:  # those that the page opened
            try:
                distributed.get_client().close()
            except ValueError:
                break
