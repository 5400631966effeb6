# SPDX-License-Identifier: MIT
"""Each program that measures Ocular runs, for a few seconds, and sees it at work. The
bounds are wide and hold on a busy machine; with Ocular switched off none holds. The
figures themselves are judged by `make figures`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.program import SLOW

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("regrtest", "stress")]

import run  # noqa: E402
import watch  # noqa: E402

pytestmark = pytest.mark.timeout(300)


def figures(folder, rig, arguments):
    """{name: value}, as `make figures` gets them."""
    path = folder / "figures.jsonl"
    done = subprocess.run(
        [sys.executable, TESTS / rig, *arguments.split()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * SLOW,
        env={**os.environ, "OCULAR_FIGURES": str(path)},
    )
    assert done.returncode == 0, done.stdout
    lines = map(json.loads, path.read_text().splitlines())
    return {line["name"]: line["value"] for line in lines}


def test_accuracy(tmp_path):
    """However fast the CPU is: no function is too short to be looked at here."""
    file = tmp_path / "all.json"
    words = f"--short --only long_loop --only recursive --json {file}"
    values = figures(tmp_path, "accuracy/accuracy.py", words)
    found = json.loads(file.read_text())
    assert values["accuracy/counts_wrong"] == 0
    assert all(row["calls"] > 100 for row in found["counts"]) and found["counts"]
    assert {row["function"] for row in found["cycles"]} == {"long_loop", "recursive"}
    for row in found["cycles"]:
        for threshold in "0", "500":
            assert 0.3 < row["ocular"][threshold]["p50"] / row["truth"]["p50"] < 3, row


@pytest.mark.once
@pytest.mark.parametrize(
    "rig, arguments, within",
    [
        (
            "accuracy/ordinary.py",
            "--programs threads --seconds 6",
            {
                "ordinary/threads: samples a CPU second": (10, 1000),
                "ordinary/threads: worst share, points": (0, 40),
                "ordinary/threads: armed of the jobs, %": (1, 100),
            },
        ),
        (
            "bench/bench.py",
            "--only hooks --rounds 3",
            {
                f"bench/{probe}/{what}": (0.3, 30)
                for probe in ("calls", "loops", "steps")
                for what in ("times_floor", "timeline_times_floor")
            },
        ),
        (
            "bench/bench.py",
            "--viewer --brief --functions 100 --threads 2 --seconds 0.3",
            {
                "viewer/100/snapshot": (10, 1000),  # kB, a hundred functions
                "viewer/100/connecting_to_the_first_frame": (0, 1e4),
                "viewer/100/a_key_to_the_screen/main/worst": (0, 1e4),
            },
        ),
    ],
    ids=["ordinary", "hooks", "viewer"],
)
def test_it_sees_ocular_at_work(tmp_path, rig, arguments, within):
    found = figures(tmp_path, rig, arguments)
    for name, (low, high) in within.items():
        assert low < found[name] <= high, (name, found)


@pytest.mark.once
def test_regrtest_sees_that_nothing_is_traced(monkeypatch):
    options, _ = run.MODES["adaptive"]
    monkeypatch.setitem(
        run.MODES, "adaptive", ([word for word in options if word != "--serve"], 10)
    )
    found = run.run_module("test_genexps", "adaptive", 60)
    assert [kind for kind, _ in found.notes] == ["was not traced"]


@pytest.mark.once
def test_stress_sees_a_wrong_count(monkeypatch):
    assert watch.quiet_phase("adaptive", 0) == []
    monkeypatch.setattr(
        watch, "KNOWN", watch.KNOWN.replace("    caller(times)", "    caller(times - 1)")
    )
    assert any("leaf was called" in words for words in watch.quiet_phase("adaptive", 0))
