# SPDX-License-Identifier: MIT
"""Lists the files that git tracks, for the tests that read the tree."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def tracked():
    """Returns the names of those tracked files that exist. Skips the test if the tree is
    not a git checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]
