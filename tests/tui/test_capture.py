# SPDX-License-Identifier: MIT
"""Tests `make screenshots`, which writes pictures of the screen."""

import io
import os
import re
import subprocess
import sys
import xml.dom.minidom
from pathlib import Path

import pyte
import pytest
from PIL import Image
from tui.emulated import BUILD, ROOT, TOP, Top

sys.path.insert(0, str(ROOT / "screenshots"))

import capture
import png

MAKE = str(BUILD / "obj" / "tests" / "tui" / "make_recording")
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not os.path.exists(TOP), reason="not built"),
]


try:
    png.font(False)
    FONT = True
except png.NoFont:
    FONT = False


@pytest.fixture
def recorded(tmp_path):
    """Starts ocular-top with a recording that lasts for minutes."""
    file = str(tmp_path / "recording")
    subprocess.run([MAKE, file, "600"], check=True)
    top = Top(tmp_path, "--replay", file, size=capture.SIZE)
    top.wait("SHARE")
    yield top
    top.close()


def test_pictures_are_what_is_on_the_screen(recorded, tmp_path):
    capture.take_pictures(recorded, ["opcodes"], tmp_path)
    text = (tmp_path / "opcodes.ans").read_text()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert plain.count("\n") == 36 and "\x1b" not in plain
    assert max(map(len, plain.splitlines())) > 140
    assert re.search(r"LOAD_ATTR -> LOAD_ATTR_SLOT", plain)
    assert re.search(r"->.* \d+ .*->", plain)  # the log, with the counts at its right
    assert "\x1b[0;38;2;" in text
    drawn = xml.dom.minidom.parse(str(tmp_path / "opcodes.svg"))
    words = [node.firstChild.data for node in drawn.getElementsByTagName("text")]
    assert any("LOAD_ATTR_SLOT" in word for word in words)
    assert (tmp_path / "opcodes.png").exists() == FONT


def test_pictures_of_the_real_program(tmp_path):
    """Takes pictures like `make screenshots`, but without its pauses."""
    options = ["main", "--wait", "0", "--patience", "0", "--into", tmp_path]
    done = subprocess.run(
        [sys.executable, ROOT / "screenshots" / "capture.py", *options],
        check=True,
        timeout=100,
        stderr=subprocess.PIPE,
        text=True,
    )
    if FONT:
        with Image.open(tmp_path / "main.png") as picture:
            assert picture.size == (150 * 9 + 24, 36 * 18 + 24)
            assert len(picture.convert("RGB").getcolors(1 << 16)) > 30
    else:
        assert "fonts-dejavu-core" in done.stderr  # the package to install
    drawn = xml.dom.minidom.parse(str(tmp_path / "main.svg"))
    words = [node.firstChild.data for node in drawn.getElementsByTagName("text")]
    text = " ".join(words)
    assert "SHARE" in text and "overhead" in text and ".py:" in text


def test_nobodys_home_is_on_a_picture():
    for path in ROOT.glob("screenshots/*.ans"):
        assert not re.search("/root|/home/|/work", Path(path).read_text())


def picture_of(*lines):
    screen = pyte.Screen(20, 4)
    pyte.Stream(screen).feed("\r\n".join(lines))
    picture = Image.open(io.BytesIO(png.render(screen, capture.look, capture.BACKGROUND)))
    return picture.convert("RGB")


def cell(picture, column, line):
    """Returns the number of pixels of each colour in a cell: {colour: count}."""
    wide, high = png.CELL
    x, y = png.MARGIN + column * wide, png.MARGIN + line * high
    part = picture.crop((x, y, x + wide, y + high))
    return {
        "#{:02x}{:02x}{:02x}".format(*colour): count for count, colour in part.getcolors()
    }


@pytest.mark.skipif(not FONT, reason=png.MISSING)
def test_a_png_is_what_the_terminal_shows():
    size = png.CELL[0] * png.CELL[1]
    picture = picture_of(
        "\x1b[31m█▄▌▕\x1b[0m \x1b[44mX\x1b[0m", "\x1b[32m●\x1b[0m", "\x1b[7m \x1b[0m"
    )
    red, green = capture.COLOURS["red"], capture.COLOURS["green"]
    assert cell(picture, 0, 0) == {red: size}
    assert cell(picture, 1, 0) == {red: size // 2, capture.BACKGROUND: size // 2}
    assert cell(picture, 2, 0)[red] == 4 * png.CELL[1]  # 4 of 9 columns
    assert 0 < cell(picture, 3, 0)[red] < size / 3
    assert cell(picture, 4, 0) == {capture.BACKGROUND: size}
    blue = cell(picture, 5, 0)
    # blue, with a letter on it
    assert blue[capture.COLOURS["blue"]] > size / 2 and len(blue) > 2
    assert cell(picture, 0, 1)[green] > 10  # a rare colour is not replaced
    assert cell(picture, 0, 2) == {capture.FOREGROUND: size}


def test_without_a_font_it_says_what_to_install(monkeypatch):
    monkeypatch.setenv("OCULAR_FONT", "/no/such/font.ttf")
    png.font.cache_clear()
    with pytest.raises(png.NoFont, match="fonts-dejavu-core.*OCULAR_FONT"):
        picture_of("x")
    monkeypatch.undo()
    png.font.cache_clear()
