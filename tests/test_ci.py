# SPDX-License-Identifier: MIT
"""The messages of .ci/run about checks that were not made, and the checks that it makes
if there is time."""

import os
import shutil
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


# --- What needs a Debian of its own -------------------------------------------


def gate(root, can="exit 0", fails="nothing"):
    """Runs .ci/run with a make that does nothing, and fails for one target."""
    (root / ".ci").mkdir()
    for name in "run", "unchecked":
        shutil.copy(ROOT / ".ci" / name, root / ".ci" / name)
    for name, text in {
        "bin/make": f'echo "$*" >>{root}/calls; [ "$1" != {fails} ]',
        "bin/clang": "",
        "bin/llvm-symbolizer": "",
        "python/setup/interpreters": "printf 'ok\\tpython3\\t3.13.0\\tcpython-3.13.0\\n'",
        "tests/install/system": can,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    path = f"{root / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        [root / ".ci" / "run"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    return done, (root / "calls").read_text()


def test_the_matrix_is_named_where_it_cannot_run(tmp_path):
    done, calls = gate(tmp_path, can="echo needs a crane; exit 1")
    assert done.returncode == 0 and "matrix" not in calls
    assert "matrix: skipped, needs a crane (by hand: make matrix)\n" in done.stdout


def test_a_matrix_that_fails_fails_the_gate(tmp_path):
    done, _ = gate(tmp_path, fails="matrix")
    assert done.returncode == 1 and "== failed: matrix\n" in done.stdout
