# SPDX-License-Identifier: MIT
"""The stress test finds what it is there to find: who watches over it, with
programs that end badly; what looks for leaks, with leaks."""

import argparse
import os
import sys
import threading
import time
from pathlib import Path

import pytest
from e2e.program import wait_until

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import party as parties  # noqa: E402
import stress  # noqa: E402
import watch  # noqa: E402

pytestmark = pytest.mark.once

OPTIONS = argparse.Namespace(seconds=1, seed="1", gdb=False, untraced=False, preload=None)
FINE = "import sys; open(sys.argv[1], 'w').write('{\"counts\": {\"code\": 3}}')"


@pytest.mark.parametrize(
    "program, words",
    [
        (FINE, None),
        (FINE + "; print('hello')", "printed:\nhello"),
        (FINE + "; sys.exit(3)", "ended with 3"),
        ("import os; os.abort()", "ended with SIGABRT"),
        ("pass", "ended too soon"),
        (FINE + "; open('troubles', 'w').write('a leak\\0\\n')", "a leak"),
        ("import time; time.sleep(60)", "hangs"),
    ],
)
def test_who_watches_over_it(tmp_path, monkeypatch, program, words):
    monkeypatch.setattr(stress, "PATIENCE", 1 if words == "hangs" else 60)
    monkeypatch.setattr(
        stress,
        "command",
        lambda options, scratch, report: [sys.executable, "-c", program, str(report)],
    )
    troubles, report = stress.watch_over(OPTIONS, tmp_path)
    if words is None:
        assert not troubles and report == {"counts": {"code": 3}}
    else:
        assert any(trouble.startswith(words) for trouble in troubles), troubles


def test_what_a_part_raises_is_a_trouble(tmp_path):
    party = parties.Party("1", tmp_path)

    def part(party, dice):
        raise KeyError("oh")

    troop = parties.Troop(party, [("one", part)])
    troop.start()
    assert troop.join(60) == []
    assert "KeyError: 'oh'" in (tmp_path / "troubles").read_text()


def test_a_part_that_does_not_end(tmp_path):
    party = parties.Party("1", tmp_path)
    over = threading.Event()
    troop = parties.Troop(party, [("one", lambda party, dice: over.wait())])
    troop.start()
    try:
        wait_until(lambda: "over.wait" in parties.where(["one"]))
        assert troop.join(0.05) == ["one"]
    finally:
        over.set()
    assert troop.join(60) == []


def settled():
    """What is held once the threads of what ran before have ended."""
    held = watch.Held.now()
    for _ in range(50):
        time.sleep(0.1)
        last, held = held, watch.Held.now()
        if held.threads == last.threads:
            break
    return held


def test_leaks():
    before = settled()
    assert watch.complaints(before, before) == []
    over = threading.Event()
    thread = threading.Thread(target=over.wait, daemon=True)
    thread.start()
    near, far = os.pipe()
    hoard = bytearray(watch.MEMORY_SLACK + (20 << 20))
    hoard[::4096] = b"x" * len(hoard[::4096])
    found = watch.complaints(before, watch.Held.now())
    assert [words.split(" more")[0].split(" grew")[0] for words in found] == [
        "2",
        "1",
        "memory",
    ], found
    over.set()
    thread.join()
    os.close(near)
    os.close(far)


def test_a_child_that_is_left(monkeypatch, tmp_path):
    monkeypatch.setenv("OCULAR_DIR", str(tmp_path))
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    (tmp_path / f"{os.getpid()}.sock").touch()
    assert watch.leftovers() == [
        f"child {pid} is still there",
        f"{os.getpid()}.sock is left",
    ]


def test_the_quiet_phase_counts_right():
    assert watch.quiet_phase("adaptive", 0) == []
    assert watch.quiet_phase("precise", 500) == []


def test_the_quiet_phase_sees_a_wrong_count(monkeypatch):
    monkeypatch.setattr(
        watch, "KNOWN", watch.KNOWN.replace("    caller(times)", "    caller(times - 1)")
    )
    assert any("leaf was called" in words for words in watch.quiet_phase("adaptive", 0))
