# SPDX-License-Identifier: MIT
"""What .ci/run says of checks that were not made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent
PYTEST = """
import pytest

@pytest.mark.skipif(True, reason="there is no tmux")
def test_skipped(): pass

def test_made(): pass
"""


def unchecked(*logs):
    return subprocess.run(
        [ROOT / ".ci" / "unchecked", *logs], check=True, capture_output=True, text=True
    ).stdout


def test_a_skipped_test_is_named_with_its_reason(tmp_path):
    """As pytest prints it with the options of this project."""
    (tmp_path / "test_it.py").write_text(PYTEST)
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    (tmp_path / "tests").mkdir()
    with open(tmp_path / "test-x.log", "w") as log:
        pytest_ = [sys.executable, "-m", "pytest", "test_it.py"]
        assert subprocess.run(pytest_, cwd=tmp_path, stdout=log).returncode == 0
    said = unchecked(tmp_path / "test-x.log")
    assert said.startswith("test-x: SKIPPED [1] test_it.py")
    assert said.endswith("there is no tmux\n") and said.count("\n") == 1


def test_a_unit_test_that_skips_itself_is_named(tmp_path):
    program = tmp_path / "obj" / "x" / "test_x"
    program.parent.mkdir(parents=True)
    program.write_text("""#!/bin/sh
echo "[==========] Running 2 test(s)."
echo "[  SKIPPED ] test_of_perf"
echo "[==========] 2 test(s) run."
echo "[  PASSED  ] 1 test(s)."
echo "[  SKIPPED ] 1 test(s), listed below:"
echo "[  SKIPPED ] test_of_perf"
""")
    program.chmod(0o755)
    with open(tmp_path / "asan.log", "w") as log:
        subprocess.run([ROOT / "tests" / "run_units", program], stdout=log, check=True)
    assert unchecked(tmp_path / "asan.log") == "asan: [  SKIPPED ] test_of_perf\n"


@pytest.mark.parametrize("clang", ["no-such-compiler", "false"])
def test_fuzzers_that_cannot_be_built_are_named(tmp_path, clang):
    with open(tmp_path / "fuzz.log", "w") as log:
        subprocess.run(
            [ROOT / "tests" / "fuzz" / "run_fuzzers", "1", "frames"],
            cwd=tmp_path,
            env={**os.environ, "CLANG": clang},
            stdout=log,
            check=True,
        )
    assert unchecked(tmp_path / "fuzz.log").startswith("fuzz: fuzz: skipped, " + clang)


def test_nothing_is_said_of_what_was_made(tmp_path):
    log = tmp_path / "tsan.log"
    log.write_text(
        "[  PASSED  ] 9 test(s).\nfuzz: frames, 12 inputs in 1 s, nothing found\n"
    )
    assert unchecked(log) == ""
