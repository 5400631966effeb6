# SPDX-License-Identifier: MIT
"""What is measured has a second look, and no other test has one."""

import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest
from e2e.measured import measured, measured_once

taken = []

@measured_once
def look():
    taken.append(None)
    return len(taken)

@measured
def test_a_first_look_at_other_figures(look):
    assert look == 2

@measured
def test_another_with_the_same_second_figures(look):
    assert look == 2 and len(taken) == 2

@measured
def test_at_most_two(look):
    assert look == 3

@measured
def test_nothing_but_a_verdict(look):
    raise ValueError

def test_not_marked(look):
    assert look == 2
"""


def test_a_second_look(tmp_path):
    (tmp_path / "test_looks.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-v",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            tmp_path,
            tmp_path,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    verdicts = {}
    for line in done.stdout.splitlines():
        name, found, words = line.partition(" ")
        if "::" in name and found:
            verdicts.setdefault(name.partition("::")[2], []).append(words.split()[0])
    assert verdicts == {
        "test_a_first_look_at_other_figures": ["RERUN", "PASSED"],
        "test_another_with_the_same_second_figures": ["RERUN", "PASSED"],
        "test_at_most_two": ["RERUN", "FAILED"],
        "test_nothing_but_a_verdict": ["FAILED"],
        "test_not_marked": ["FAILED"],
    }, done.stdout + done.stderr
