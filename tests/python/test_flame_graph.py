# SPDX-License-Identifier: MIT
"""Tests flame graphs in .html and .svg files. The tests check the sums of folded stacks,
and the pages and pictures that are made from them. tests/e2e/test_flame_page.py tests the
page in a browser."""

import gzip
import html
import json
import os
import random
import re
import signal
import xml.etree.ElementTree as ElementTree
from collections import Counter

import ocular
import pytest
from e2e.program import PYTHON, run, write
from ocular import _flame_file, _flame_page, _settings, _stacks

pytestmark = pytest.mark.once
SVG = "{http://www.w3.org/2000/svg}"
WORK = """
import time
def heavy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))
def main():
    heavy(0.3)
main()
"""
STACKS = """\
main;often;heavy 60
main;seldom;heavy 30
main;seldom 6
main 4
"""


def flame_of(text):
    return _stacks.read(text.encode().split(b"\n"))


def functions(flame):
    """Returns the self time and the total time of each function, by name."""
    return dict(zip(flame.names, zip(flame.own, flame.whole)))


def frames(flame):
    """Returns depth, name, self time and total time of each frame of the flame graph."""
    names = [flame.names[label] for label in flame.labels]
    return list(zip(flame.depths, names, flame.selfs, flame.totals))


# --- Sums of stacks -----------------------------------------------------------


def test_self_and_total():
    flame = flame_of(STACKS)
    assert frames(flame) == [
        (0, "all", 0, 100),
        (1, "main", 4, 100),
        (2, "often", 0, 60),
        (3, "heavy", 60, 60),
        (2, "seldom", 6, 36),
        (3, "heavy", 30, 30),
    ]
    assert functions(flame) == {
        "all": (0, 100),
        "main": (4, 100),
        "often": (0, 60),
        "heavy": (90, 90),
        "seldom": (6, 36),
    }
    assert [flame.names[n] for n in flame.by_self()] == ["heavy", "seldom", "main", "often"]


def test_a_recursion_counts_once():
    depth = 1000
    flame = flame_of("main;" + ";".join(["down"] * depth) + " 7\nmain;down;up;down 2\n")
    assert max(flame.depths) == depth + 1
    assert functions(flame)["down"] == (9, 9)
    assert functions(flame)["up"] == (0, 2)


def test_random_stacks_add_up():
    source = random.Random(4)
    lines, own, whole, every = [], Counter(), Counter(), Counter()
    for _ in range(3000):
        stack = [source.choice("abcdefgh") for _ in range(source.randrange(1, 12))]
        number = source.randrange(100)
        lines.append(f"{';'.join(stack)} {number}")
        own[stack[-1]] += number
        for name in set(stack):
            whole[name] += number
        for end in range(len(stack)):
            every[tuple(stack[: end + 1])] += number
    flame = flame_of("\n".join(lines))
    assert flame.total == sum(own.values()) == sum(flame.selfs)
    assert functions(flame) == {
        "all": (0, flame.total),
        **{name: (own[name], whole[name]) for name in whole},
    }
    path, found = [], {}
    for depth, name, _, total in frames(flame)[1:]:
        path[depth - 1 :] = [name]
        found[tuple(path)] = total
    assert found == {stack: number for stack, number in every.items() if number}


def test_nothing_and_one():
    assert frames(flame_of("")) == [(0, "all", 0, 0)]
    assert frames(flame_of("a 0\n\n# a comment\n")) == [(0, "all", 0, 0)]
    assert frames(flame_of("a 5")) == [(0, "all", 0, 5), (1, "a", 5, 5)]
    for text in "", "a 5":
        assert "</html>" in _flame_page.page(flame_of(text), _flame_page.Facts("t"))
        ElementTree.fromstring(_flame_page.picture(flame_of(text), _flame_page.Facts("t")))


def test_what_other_tools_write():
    """Reads folded stacks of perf, py-spy and async-profiler, with blanks in names, CRLF,
    fractions and a BOM."""
    text = "\ufeffswapper;[unknown];do_idle_[k] 3\r\na b (c d.py:7);x::y (z) 1.5\r\n"
    names = functions(flame_of(text))
    assert names["do_idle_[k]"] == (3, 3) and names["x::y (z)"] == (1.5, 1.5)
    assert _stacks.split("a b (c d.py:7)") == ("a b", "c d.py", "7")
    assert _stacks.split("f (<frozen runpy>:65)") == ("f", "<frozen runpy>", "65")
    assert _stacks.split("f (lib.so)") == ("f", "lib.so", "")
    assert _stacks.split("f(int)") == ("f(int)", "", "")
    assert frames(flame_of("a;;b 1"))[2][1] == "<no name>"
    assert functions(flame_of("a\0b\x1bc 1"))["a\ufffdb\ufffdc"] == (1, 1)
    assert "\ufffd" in _stacks.read([b"\xff\xfe 1"]).names[1]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a 1\nb\n", 2),
        ("a 1\n\n\na;b c\n", 4),
        ("12\n", 1),
        ("a -3\n", 1),
        ("a nan\n", 1),
        ("a 1e9\n", 1),
        ("a ١٢\n", 1),
        ("a " + "9" * 5000, 1),
        ('{"traceEvents":[\n', 1),
        ("\0" * 500, 1),
    ],
)
def test_a_bad_line_is_named(text, line):
    with pytest.raises(
        _stacks.BadStacks, match=f"^line {line} is no folded stack"
    ) as found:
        flame_of(text)
    assert len(str(found.value)) < 300


def test_numbers_that_a_browser_cannot_add_up():
    with pytest.raises(_stacks.BadStacks, match="too large"):
        flame_of("a 9007199254740992\nb 9007199254740992\n")


# --- The page and the picture -------------------------------------------------

EVIL = "</script><b onload=x()>&amp\"'\\u003c]]> (</title>.py:3)"


def data_of(page):
    (text,) = re.findall(
        '<script type="application/json" id="data">(.*?)</script>', page, re.S
    )
    return json.loads(text)


def test_names_are_escaped():
    facts = _flame_page.Facts("<b>title</b>", ["<i>'fact'</i>"])
    flame = flame_of(f"{EVIL};日本 (юникод.py:1) 3\n")
    page = _flame_page.page(flame, facts)
    assert page.count("</script>") == 3 and page.count("<script") == 3
    assert "<b" not in page.split("<script")[0].partition("<body>")[2].replace(
        "<button", ""
    )
    assert "<i>" not in page
    data = data_of(page)
    assert data["names"][1] == list(_stacks.split(EVIL))
    assert data["names"][2] == ["日本", "юникод.py", "1"]
    rows = re.findall(r"<tr>.*", page)[1:]
    assert html.unescape(rows[0]).endswith("<td>日本<td>юникод.py:1")
    root = ElementTree.fromstring(_flame_page.picture(flame, facts))
    assert root.find(f"{SVG}title").text == "<b>title</b>"
    assert EVIL in [title.text.split("\n")[0] for title in root.iter(f"{SVG}title")]


def test_a_page_with_waits():
    """The page shows the CPU time, and can switch to the wall time in a browser. A picture
    shows no waits."""
    lines = b"main;work 70\nmain;work;(waiting: lock) 30\n<untraced>;(waiting) 900\n"
    flames = _stacks.read_times(lines.splitlines())
    assert [flame.total for flame in flames] == [70, 1000]
    facts = _flame_page.Facts("t", unit="us")
    page = _flame_file.text_of(flames, facts, "x.html")
    wall, cpu = (
        json.loads(text)
        for text in re.findall(r'<script type="application/json".*?>(.*?)</script>', page)
    )
    assert sum(wall["selfs"]) == 1000 and ["(waiting: lock)", "", ""] in wall["names"]
    assert sum(cpu["selfs"]) == 70 and "<li>70 µs of CPU time" in page
    assert "waiting" not in _flame_file.text_of(flames, facts, "x.svg")
    without = _stacks.read_times([b"main;work 70"])
    assert without[1] is None
    assert 'id="wall"></script>' in _flame_file.text_of(without, facts, "x.html")


def test_the_page_needs_no_network():
    page = _flame_page.page(flame_of(STACKS), _flame_page.Facts("t"))
    assert not re.search(r"https?:|//[a-z]|\bsrc=|\bhref=|@import|url\(", page)
    (nonce,) = re.findall("script-src 'nonce-([0-9a-f]{32})'", page)
    assert f'<script type="module" nonce="{nonce}">' in page
    assert nonce not in _flame_page.page(flame_of(STACKS), _flame_page.Facts("t"))


def test_the_table_without_javascript():
    """Without JavaScript the page has a table of a few functions, with most time."""
    text = "".join(f"main;f{n} {n}\n" for n in range(1, 300))
    page = _flame_page.page(flame_of(text), _flame_page.Facts("t"))
    rows = re.findall(r"<tr><td>(.*)", page)
    assert len(rows) == _flame_page.LISTED and "100 of 300 functions" in page
    assert rows[0] == "0.67 %<td>299 samples<td>0.67 %<td>299 samples<td>f299<td>"


def test_figures_have_one_unit():
    for total, shown in (2_500_000, "2.500 s"), (2_500, "2.5 ms"), (25, "25 µs"):
        assert _flame_page.Figures(total, "us").amount(total) == shown
    figures = _flame_page.Figures(1_234_567_890, "us")
    assert figures.amount(1_234_567_890) == "1\u202f234.568 s"
    assert (figures.amount(1000), figures.share(0)) == ("0.001 s", "0.00 %")
    assert _flame_page.Figures(0, "samples").share(0) == "0.00 %"


def test_a_picture_has_what_is_wide_enough():
    wide = "main;a (a.py:1) 5000\nmain;b (b.py:2) 5000\nmain;c (c.py:3) 1\n"
    root = ElementTree.fromstring(
        _flame_page.picture(flame_of(wide), _flame_page.Facts("t", unit="us"))
    )
    titles = [each.text for each in root.iter(f"{SVG}title")]
    assert titles[1:] == [
        "all\n100.00 %, 10.0 ms",
        "main\n100.00 %, 10.0 ms",
        "a (a.py:1)\n50.00 %, 5.0 ms",
        "b (b.py:2)\n50.00 %, 5.0 ms",
    ]
    boxes = [each for each in root.iter(f"{SVG}svg") if each.find(f"{SVG}rect") is not None]
    assert float(boxes[3].get("x")) == pytest.approx(float(boxes[4].get("x")) - 590, abs=1)


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_colours():
    """All functions of a file have the same colour. The contrast between text and any of
    the colours is at least 4.5 (WCAG)."""
    for tones, ink in (_flame_page.LIGHT, "#23282f"), (_flame_page.DARK, "#e4e6ea"):
        colours = _flame_page.palette(tones)
        assert len(set(colours)) == _flame_page.GREY + 1
        assert min(contrast(each, ink) for each in colours) > 4.5
    colour = _flame_page.colour
    assert colour("a (x.py:1)") == colour("b (/usr/lib/x.py:9)") != colour("a (y.py:1)")
    assert colour("std::a") == colour("std::b")
    assert colour("<deeper stacks>") == _flame_page.GREY


# --- Options that write flame graphs ------------------------------------------


@pytest.mark.parametrize("name", ["o.html", "o.svg.gz"])
def test_as_output(tmp_path, name):
    program = write(tmp_path, WORK)
    # The program can have its own modules with the names of Ocular's modules. Ocular
    # must not import these modules.
    for module in "html", "json", "string", "base64", "tempfile":
        write(tmp_path, "raise SystemError", f"{module}.py")
    before = {*os.listdir(tmp_path), "o.folded"}
    write(tmp_path, "", "o.folded")
    command = [PYTHON, "-m", "ocular", "--output", name, program, "an argument"]
    done = run(command, cwd=tmp_path)
    assert done.status == 0 and f"  flame graph: {tmp_path / name}\n" in done.err
    assert {*os.listdir(tmp_path)} == before | {name}
    content = (tmp_path / name).read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
    assert "heavy (program.py:3)" in text or '["heavy","program.py","3"]' in text
    assert "program.py an argument" in text and f"Ocular {ocular.__version__}" in text
    again = run(command, cwd=tmp_path)
    (other,) = {*os.listdir(tmp_path)} - before - {name}
    assert again.status == 0 and re.fullmatch(rf"o\.\d+\.{re.escape(name[2:])}", other)


def test_what_is_known_of_the_run(tmp_path):
    program = write(tmp_path, WORK)
    options = ["--budget", "0.02", "--output", "o.html"]
    done = run([PYTHON, "-m", "ocular", *options, program], cwd=tmp_path)
    assert done.status == 0
    page = (tmp_path / "o.html").read_text()
    assert re.search(r"<li>\d[\d.]* m?s of CPU time<li>in", page)
    assert re.search(r"<li>in \d+\.\d s<li>\d+ samples<li>CPython 3\.\d+\.\d", page)
    assert "<li>budget 2 %" in page
    data = data_of(page)
    assert data["samples"] > 0 and data["unit"][0] in ("s", "ms")


def test_a_disk_that_is_full(tmp_path):
    """If the disk is full, the folded stacks stay and a message names their path."""
    program = write(
        tmp_path,
        WORK + "from ocular import _flame_file, _flame_page\n"
        "def full(*_): raise OSError(28, 'No space left on device')\n"
        "_flame_file.write = full\n",
    )
    done = run([PYTHON, "-m", "ocular", "--output", "o.html", program], cwd=tmp_path)
    stacks = tmp_path / "o.html.wall.folded"
    assert done.status == 0 and "heavy (program.py:3)" in stacks.read_text()
    assert (
        f"ocular: {tmp_path}/o.html was not written: No space left on device; its stacks "
        f"are in {stacks}\n"
    ) in done.err
    assert f"  sampled stacks: {stacks}\n" in done.err


def test_ctrl_c_while_it_is_made(tmp_path):
    program = write(
        tmp_path,
        WORK + "from ocular import _flame_file\n"
        "def interrupted(*_): raise KeyboardInterrupt\n"
        "_flame_file.text_of = interrupted\n"
        "import ocular\n"
        "try: ocular.stop_tracing()\n"
        "except KeyboardInterrupt: print('interrupted')\n",
    )
    done = run([PYTHON, "-m", "ocular", "--output", "o.html", program], cwd=tmp_path)
    assert done.out == "interrupted\n" and done.status == 0
    assert "ocular: interrupted: no timeline was written\n" in done.err
    assert os.listdir(tmp_path) == ["program.py"]


def test_sigterm_leaves_a_recording(tmp_path):
    source = (
        WORK
        + "import os, signal\ntime.sleep(0.5)\n"
        + "os.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)"
    )
    program = write(tmp_path, source)
    done = run([PYTHON, "-m", "ocular", "--output", "o.svg", program], cwd=tmp_path)
    assert (done.status, done.err) == (-signal.SIGTERM, "")
    (recording,) = tmp_path.glob("o.svg.*.ocular")
    for name in "x.svg", "x.html":
        done = run([PYTHON, "-m", "ocular", "convert", recording, "-o", name], cwd=tmp_path)
        assert (done.status, done.err) == (0, "")
        assert "heavy" in (tmp_path / name).read_text()
    assert sorted(os.listdir(tmp_path)) == sorted(
        ["program.py", recording.name, "x.html", "x.svg"]
    )


def test_export(tmp_path):
    ocular.start_tracing(quiet=True, perfetto=False)
    try:
        for name in "t.html", "t.svg":
            (tmp_path / name).write_text("what was there")
            assert ocular.export(tmp_path / name) == (tmp_path / name).stat().st_size > 1000
        assert sorted(os.listdir(tmp_path)) == ["t.html", "t.svg"]
        missing = tmp_path / "no" / "t.html"
        with pytest.raises(FileNotFoundError) as error:
            ocular.export(missing)
        assert error.value.filename == str(missing)
    finally:
        ocular.stop_tracing()


def test_a_file_that_appears_meanwhile(tmp_path):
    path = str(tmp_path / "a.html")
    assert _flame_file.write(path, "one") == 3
    with pytest.raises(FileExistsError):
        _flame_file.write(path, "two")
    assert _flame_file.write(path, "three", replaces=True) == 5
    assert os.listdir(tmp_path) == ["a.html"]


def test_endings():
    ending = _settings.page_ending
    assert ending("/x/a.html") == ".html" and ending("a.b.svg.gz") == ".svg.gz"
    assert not any(map(ending, ["a.json", "a.htm", ".html", "/x/.svg.gz", "a.html/b", ""]))
