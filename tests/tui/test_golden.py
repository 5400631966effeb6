# SPDX-License-Identifier: MIT
"""Compares screens with the saved screens in golden/. The screens show a recording in every
view, and after scripts of keys that change the views. The main view is also shown at a
larger size, with all columns. GOLDEN=write saves the screens as they are drawn now. Check
each difference by eye before you commit the saved screens. tests/tui/test_sizes.c draws all
views at all sizes."""

import os
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest
from e2e.program import ROOT
from tui.emulated import MAKE, TOP, built

GOLDEN = Path(__file__).resolve().parent / "golden"

pytestmark = built

SMALL, SHORT, LARGE = "80x24", "80x14", "150x24"
# The saved screens of these sizes leave this first line out.
TITLE = re.compile(
    r"\A ocular-top  pid 48213  python3 worker.p…  CPython 3.13.5  up 2:14:..  ▶ replay\n"
)

# Maps the name of a screen to the keys that lead to it. A new view needs new entries.
SCREENS = {
    "functions": "<Frame><Frame><Frame>",
    "filtered": "\\bench<Enter>j",
    "idle-hidden": "<Frame>iG",
    "own-code": "<Frame>O",
    "own-code-opcodes": "<Frame>oO",
    "own-code-threads": "<Frame>tO",
    "own-code-exceptions": "<Frame>xO",
    "baseline": "<Frame>b<Frame><Frame><Frame>",
    "reset": "u<Frame>r<Frame>",
    "help": "?",
    "opcodes": "<Frame>oj",
    "opcodes-filtered": "\\run_benchmark<Enter><Frame>o",
    "threads": "<Frame>tjj",
    "flame": "<Frame><Frame><Frame>f",
    "flame-zoomed": "<Frame>fjjj<Enter>j<Right>",
    "flame-deep": "<Frame>f<Right><End>",
    "flame-search": "<Frame>f/raw<Enter>",
    "flame-waits": "<Frame>fmmj<End>",
    "one-thread": "<Frame>tj<Enter>j",
    "latency": "<Frame>l",
    "loops": "<Frame>Lj",
    "tasks": "<Frame>Tj",
    "task-places": "<Frame>Tm",
    "task-group": "<Frame>T<Enter>j",
    "task-group-empty": "<Frame>Tj<Enter>",
    "exceptions": "<Frame>xj",
    "objects": "<Frame>mj<Enter>",
    "lines": "<Frame>nj",
    "callers": "jjc",
    "callers-none": "<Frame>Gc",
    "callers-unfolded": "jc<Down><Down><Right><Frame><Down><Right>",
    "callers-middle": "jjck<Enter><Frame>j",
    "annotate": "<Frame><Enter><Frame>Hj",
    "annotate-time": "<Frame><Enter>uG",
    "annotate-no-source": "<Frame>j<Enter>",
    "annotate-not-recorded": "G<Enter>",
}

# These screens differ from the screen "functions" only in their header or order.
ALIKE = {"baseline", "idle-hidden", "own-code", "own-code-threads", "reset"}


def run(recording, keys, size, **env):
    given = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    done = subprocess.run(
        [TOP, "--replay", recording, "--once", "--keys", keys, "--size", size],
        env={**given, "LC_ALL": "C.UTF-8", **env},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "sample"
    subprocess.run([MAKE, path], check=True)
    return str(path)


def width(line):
    glyphs = [c for c in line if not unicodedata.combining(c)]
    return len(glyphs) + sum(unicodedata.east_asian_width(c) in "WF" for c in glyphs)


def shortened(screen):
    """Replaces several empty lines of the screen by one line, which says their number."""
    return re.sub(
        r"(?<=\n)\n{2,}", lambda empty: f"[{len(empty[0])} empty lines]\n", screen
    )


@pytest.mark.parametrize(
    "name, size",
    [(name, SHORT if name in ALIKE else SMALL) for name in SCREENS]
    + [("functions", LARGE)],
)
def test_screen(recording, name, size):
    drawn = run(recording, SCREENS[name], size)
    columns, lines = map(int, size.split("x"))
    assert drawn.count("\n") == lines
    assert max(map(width, drawn.splitlines())) <= columns
    drawn, titles = TITLE.subn("", shortened(drawn))
    assert titles == (size != LARGE and name != "help")
    stored = GOLDEN / f"{name}-{size}.txt"
    if os.environ.get("GOLDEN") == "write":
        stored.write_text(drawn)
    assert drawn == stored.read_text(), f"{stored.name} differs; drawn is\n{drawn}"


@pytest.mark.parametrize("name", SCREENS)
def test_ascii_has_the_same_shape(recording, name):
    wide = run(recording, SCREENS[name], "100x30").splitlines()
    drawn = run(recording, SCREENS[name], "100x30", LC_ALL="C").splitlines()
    assert "".join(drawn).isascii()
    assert len(drawn) == len(wide) == 30
