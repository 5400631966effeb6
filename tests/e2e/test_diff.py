# SPDX-License-Identifier: MIT
"""Runs `ocular diff` and `ocular-top a.ocular b.ocular` with recordings of real runs.
tests/tui/test_comparison.c tests the statistics with made-up runs."""

import json
import re
import time

import pytest
from e2e.program import PYTHON, diff, run, top, write

# Both runs make the same number of calls, even on a busy machine. The loops run in C
# functions, so that tracing every call costs little.
WORK = """
import sys, time
begin = time.monotonic()
def changed(n):
    return sum(map(abs, range(n)))
def first():
    return sum(map(hash, range(9000)))
def second():
    return len("".join(map(str, range(3000))))
def third():
    return sorted(range(6000), key=abs)[0]
for _ in range(int(sys.argv[1])):
    changed(int(sys.argv[2])); first(); second(); third()
time.sleep(max(0, begin + float(sys.argv[3]) - time.monotonic()))
"""
ROUNDS = 900

# The three runs take 6 s of CPU time, which can be minutes on a busy machine.
pytestmark = [pytest.mark.once, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Returns a folder with recordings of three runs. The runs a and b are equal. In the
    run `slow`, one function takes ten times as long. The run `slow` is longer than the runs
    a and b, even if the machine was busier during those."""
    folder = tmp_path_factory.mktemp("runs")
    program, least = write(folder, WORK), 0
    for name, size in ("a", "6000"), ("b", "6000"), ("slow", "60000"):
        options = ["--threshold", "0", "--quiet", "--output", f"{name}.ocular"]
        command = [PYTHON, "-m", "ocular", *options, program, ROUNDS, size]
        begin = time.monotonic()
        done = run([*command, least if name == "slow" else 0], timeout=300, cwd=folder)
        assert done.status == 0, done.err
        least = max(least, 1.5 * (time.monotonic() - begin))
    return folder


def functions(done):
    return {f["name"]: f for f in json.loads(done.out)["functions"]}


def test_what_has_changed_is_found(runs):
    done = diff(runs, "a.ocular", "slow.ocular", "--json", "--fail-above", "50%")
    assert done.status == 1 and not done.err
    found = functions(done)
    assert next(iter(found)) == "changed" and found["changed"]["differs"]
    share = found["changed"]["share"]
    assert share["differs"] and share["change"] > 2 * share["error"] > 0
    assert found["changed"]["slowdown"] > 0.5
    calls = found["first"]["calls_per_s"]
    assert not calls["differs"]  # The longer run makes the same number of calls.
    # `--fail-above` accepts a function that became faster. On a busy machine the other
    # functions can be slower by a few tens of per cent.
    assert diff(runs, "slow.ocular", "a.ocular", "--fail-above", "150%").status == 0


def test_the_same_is_not(runs):
    done = diff(runs, "a.ocular", "a.ocular", "--fail-above", "0")
    assert done.status == 0 and "0 of " in done.out
    # The table says how small a change the comparison could have found.
    assert re.search(r"  = ±\d+(\.\d)?  ", done.out)
    done = diff(runs, "a.ocular", "b.ocular", "--fail-above", "50%", "--json")
    assert done.status == 0, done.out


def test_as_text_and_in_the_viewer(runs):
    done = diff(runs, "a.ocular", "slow.ocular", "--fail-above", "10%")
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0].startswith("a.ocular: ") and "samples" in lines[1]
    assert any("shares and means are compared" in line for line in lines)
    table = next(i for i, line in enumerate(lines) if "SHARE" in line)
    assert "changed" in lines[table + 1] and "±" in lines[table + 1]
    assert "slower by more than 10%: changed, by" in done.out
    assert max(map(len, lines[table:])) <= 120
    pair = [str(runs / "a.ocular"), str(runs / "slow.ocular"), "--once"]
    for size in "80x24", "150x50", "60x12":
        drawn = top(*pair, "--size", size).out
        assert "Two runs" in drawn and "±" in drawn and "changed" in drawn
    assert "def changed" in top(*pair, "--keys", "<Enter>").out
    assert "d Compare" in top(*pair, "--size", "150x30", "--keys", "q").out
    assert "Two runs" in top(*pair, "--size", "80x24", "--keys", "qd").out
    one = top(str(runs / "a.ocular"), "--once", "--size", "80x24", "--keys", "d")
    assert "Two recordings can be compared" in one.out
    found = json.loads(top(*pair, "--json").out)
    assert found["functions"][0]["name"] == "changed"


def test_refusals(runs):
    (runs / "bad.ocular").write_bytes(b"ocular\r\n" + bytes(5000))
    for arguments, words in (
        (["a.ocular", "nowhere.ocular"], "No such file"),
        (["bad.ocular", "a.ocular"], "version 0"),
        (["a.ocular", __file__], "no recording"),
        (["a.ocular"], "required"),
        (["a.ocular", "b.ocular", "--fail-above", "much"], "takes per cent"),
    ):
        done = diff(runs, *arguments)
        assert done.status == 2 and words in done.err and not done.out, arguments
    assert top("--diff", str(runs / "a.ocular")).status == 2
    assert top(str(runs / "a.ocular"), str(runs / "bad.ocular"), "--once").status == 2
