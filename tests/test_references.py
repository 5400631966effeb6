# SPDX-License-Identifier: MIT
"""Comments, and documents for developers, name only files and functions that exist."""

import re
from pathlib import Path

import pytest
from tracked import tracked

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("docs/architecture.md", "docs/hacking.md", "docs/protocol.md")
# Files and functions of CPython, the kernel, other tools or an example.
FOREIGN = re.compile(
    r"(Python|Include|kernel|json)/|pycore_|codeobject\.c|coverage\.py|app\.py|attach\.py"
)
FILE = re.compile(r"(?<![\w/.*<>-])(?:\w+/)*[a-z_]\w*\.(?:c|h|py)\b(?!\()")
FUNCTION = re.compile(r"\b(?!Py|Noun)[A-Z][a-z]+(?:[A-Z][a-z]+)*_[a-z]\w+\b")


def prose(name, text):
    """Yields (line number, text) of the prose in a file."""
    for number, line in enumerate(text.split("\n"), 1):
        said = line if name in DOCUMENTS else line.partition("//")[2]
        if said:
            yield number, said


def words_of_code(name, text):
    if name.endswith((".c", ".h", ".def")):
        text = re.sub(r"//[^\n]*", "", text)
    return re.findall(r"\w+", text)


def test_names_are_there():
    names = tracked()
    texts = {
        name: (ROOT / name).read_text("utf-8")
        for name in names
        if name.endswith((".c", ".h", ".def", ".py", ".md"))
    }
    files = {Path(name).name for name in names}
    known = set()
    for name, text in texts.items():
        if not name.endswith(".md"):
            known.update(words_of_code(name, text))
    missing = []
    for name, text in texts.items():
        if not name.endswith((".c", ".h")) and name not in DOCUMENTS:
            continue
        if name.startswith("tests/"):
            continue
        for number, said in prose(name, text):
            found = [n for n in FILE.findall(said) if not FOREIGN.match(n)]
            gone = [n for n in found if Path(n).name not in files]
            gone += [n for n in FUNCTION.findall(said) if n not in known]
            missing += [f"{name}:{number}: {n}" for n in gone]
    assert not missing
