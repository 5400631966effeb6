# SPDX-License-Identifier: MIT
"""Tests the functions through which an event goes from the hook to the screen.
docs/architecture.md lists them. Every function exists, and all functions together are short
enough to be read."""

import re
from pathlib import Path

import pytest
from test_layout import functions_of, sources

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent
LINES = 2200
# the name of a function, and its file if the file follows
NAMED = re.compile(r"`(\w+)`(?:,? \(?`([\w/]+\.[ch])`)?")


def bodies():
    """Returns the lines of each C function, by its file and name."""
    return {
        (path, name): lines
        for path in sources()
        for name, lines in functions_of(path.read_text())
    }


def road(text, functions):
    """Returns the functions that a reader of `text` has to read: those that the text names,
    and those that these call in the same file. Also returns the names in the text that look
    like functions, but do not exist."""
    named = {
        name: path
        for name, path in NAMED.findall(text)
        if re.search(r"[a-z]_[a-z]|^want$", name)
    }
    todo = [
        (path, name)
        for path, name in functions
        if name in named and path.as_posix().endswith(named[name])
    ]
    missing = set(named) - {name for _, name in todo}
    seen = set()
    while todo:
        path, name = key = todo.pop()
        if key not in seen:
            seen.add(key)
            called = re.findall(r"\b(\w+)\(", "\n".join(functions[key]))
            todo += [(path, other) for other in called if (path, other) in functions]
    return seen, missing


def section():
    text = (ROOT / "docs/architecture.md").read_text()
    return text.split("## The road of an event")[1].split("\n## ")[0]


def test_the_road_of_an_event_is_short():
    functions = bodies()
    seen, missing = road(section(), functions)
    assert not missing
    files = {path for path, _ in seen}
    # The section must name many functions and files, so that the test can fail.
    assert len(seen) > 40 and len(files) > 12
    lines = sum(len(functions[key]) for key in seen)
    assert lines <= LINES, f"{lines} lines in {len(seen)} functions, {len(files)} files"
