# SPDX-License-Identifier: MIT
"""Tests that a recording contains the settings of its trace. The viewer and all outputs
show these settings. A comparison of two runs says if their settings differ."""

import json
import os
import signal
import struct
from xml.etree import ElementTree

import ocular
import pytest
from e2e import client, pftrace
from e2e.client import Client
from e2e.program import PYTHON, Running, diff, run, top, wait_until, write

pytestmark = [pytest.mark.once, pytest.mark.timeout(300)]

WORK = """
import time
def work(n): return sum(map(abs, range(n)))
def other(n): return sum(map(hash, range(n)))
end = time.process_time() + 0.3  # long enough for samples
while time.process_time() < end:
    work(3000)
    other(3000)
"""
SETTINGS = ["--threshold", "70", "--budget", "0.02", "--exclude", "numpy"]
SETTINGS += ["--exclude", "torch", "--include-only", "program"]


def traced(folder, output, *settings):
    program = write(folder, WORK)
    options = ["--quiet", "--output", output, *settings]
    done = run([PYTHON, "-m", "ocular", *options, program], cwd=folder)
    assert done.status == 0 and not done.err, done.err
    return folder / output


def convert(recording, output):
    command = [PYTHON, "-m", "ocular", "convert", recording, "-o", output]
    done = run(command, cwd=recording.parent)
    assert done.status == 0 and not done.err, done.err
    return recording.parent / output


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return traced(tmp_path_factory.mktemp("run"), "run.ocular", *SETTINGS)


def texts(rules):
    return [rule["text"] for rule in rules]


def check_facts(facts):
    assert facts["threshold"] == 70 and facts["mode"] == "adaptive"
    assert facts["overhead_budget"] == 0.02
    assert facts["exclude"] == "numpy, torch" and facts["include_only"] == "program"
    assert facts["version"] == ocular.__version__
    assert facts["python"].startswith("CPython 3.")


def test_of_timelines(tmp_path, recording):
    """A timeline that is converted from a recording contains the same settings as the
    timeline that the trace itself writes."""
    direct = json.loads(traced(tmp_path, "direct.json", *SETTINGS).read_text())
    check_facts(direct["otherData"])
    read = json.loads(convert(recording, "run.json").read_text())
    check_facts(read["otherData"])
    data = convert(recording, "run.pftrace").read_bytes()
    check_facts(pftrace.document(data)["otherData"])


def test_of_pages(tmp_path, recording):
    for page in traced(tmp_path, "direct.html", *SETTINGS), convert(recording, "run.html"):
        text = page.read_text()
        facts = ["threshold 70", "budget 2 %", "excluded: numpy, torch", "only: program"]
        for fact in *facts, f"Ocular {ocular.__version__}", "CPython 3.", " samples":
            assert f"<li>{fact}" in text or fact in text.split("<li>", 3)[3], fact
    assert "<title>run.ocular" in text and "program.py" in text.split("<table")[0]


def test_in_the_viewer(recording):
    recording = str(recording)
    shown = json.loads(top(recording, "--once", "--json").out)
    assert shown["version"] == ocular.__version__ and shown["threshold"] == 70
    assert shown["overhead"]["budget"] == 0.02
    assert texts(shown["filter"]["exclude"]) == ["numpy", "torch"]
    assert texts(shown["filter"]["include_only"]) == ["program"]
    line = top(recording, "--once", "--size", "240x40").out.splitlines()[0]
    assert "excluded numpy, torch" in line and "only program" in line
    page = top(recording, "--once", "--size", "80x40", "--keys", "?").out
    for words in "adaptive, threshold 70", "2% of its", "numpy, torch", "program":
        assert words in page.split("Views")[0], words


def test_of_a_killed_run(tmp_path, sockets):
    """If a viewer changes the budget, the recording contains the new one, not the first."""
    body = "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.01)"
    options = ["--serve", "--quiet", "--output", "t.json", "--exclude", "json"]
    command = [PYTHON, "-m", "ocular", *options]
    with Running(tmp_path, body, command) as program:
        [recording] = tmp_path.glob("*.ocular")

        def budget():
            shown = json.loads(top(str(recording), "--once", "--json").out)
            assert texts(shown["filter"]["exclude"]) == ["json"]
            return shown["overhead"]["budget"]

        assert budget() == 0.01
        with Client(sockets / f"{program.pid}.sock") as viewer:
            viewer.ask(client.BUDGET, struct.pack("<d", 0.05))
        wait_until(lambda: budget() == 0.05)
        os.kill(program.pid, signal.SIGKILL)
        program.process.wait()
        assert budget() == 0.05


# --- Forged recordings --------------------------------------------------------

# Offsets in the head of a recording (tracer/timeline/recording_format.h).
CHECK, CHECKED, MODE, PYTHON_VERSION, COMMAND, END = 16, 24, 104, 120, 184, 440


def checksum(data):
    """Computes the checksum of a head as docs/recording.md describes it."""
    check = 0xCBF29CE484222325
    for (word,) in struct.iter_unpack("<Q", data):
        check = (check ^ word) * 0x9E3779B97F4A7C15 % 2**64
        check ^= check >> 29
    return check


def forge(recording, path):
    """Copies the recording, and puts texts into its head that would control a terminal."""
    head = bytearray(recording.read_bytes())
    for at, size in (MODE, 16), (PYTHON_VERSION, 64), (COMMAND, 256):
        head[at : at + size] = (b"\x1b[2J<b>\xff\n" * 64)[:size]
    head[CHECK:CHECKED] = struct.pack("<Q", checksum(head[CHECKED:END]))
    path.write_bytes(head)
    return path


def test_a_forged_head_controls_no_terminal(tmp_path, recording):
    bad = forge(recording, tmp_path / "bad.ocular")
    compared = diff(tmp_path, recording, bad)
    assert "runs of CPython 3." in compared.out and "mode adaptive and" in compared.out
    said = [compared.out, diff(tmp_path, recording, bad, "--json").out]
    for keys in "", "?", "d":
        shown = top(str(bad), "--once", "--no-color", "--size", "200x60", "--keys", keys)
        assert shown.status == 0
        said.append(shown.out)
    said.append(convert(bad, "x.html").read_text())
    assert "<b>" not in said[-1].partition("</head>")[2].partition("<script")[0]
    said.append(convert(bad, "x.svg").read_text())
    ElementTree.fromstring(said[-1])  # the output is XML
    said.append(convert(bad, "x.json").read_text())
    assert not any("\x1b" in text for text in said)


def test_two_runs(tmp_path):
    traced(tmp_path, "a.ocular", "--threshold", "0")
    traced(tmp_path, "b.ocular", "--exclude", "other")
    note = "They were traced with different settings, so counts and times may differ for "
    note += "this reason: threshold 0 and 500, exclude other only in the second."
    assert note in diff(tmp_path, "a.ocular", "b.ocular").out.splitlines()
    assert "different settings" not in diff(tmp_path, "a.ocular", "a.ocular").out
    read = json.loads(diff(tmp_path, "a.ocular", "b.ocular", "--json").out)
    assert note in texts(read["notes"])
    assert [each["threshold"] for each in read["runs"]] == [0, 500]
    assert [texts(each["exclude"]) for each in read["runs"]] == [[], ["other"]]
    pair = [str(tmp_path / "a.ocular"), str(tmp_path / "b.ocular")]
    assert "different settings" in top(*pair, "--once", "--size", "200x20").out
