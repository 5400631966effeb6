# SPDX-License-Identifier: MIT
"""Every difference that we hold to be CPython's doing happens without Ocular,
too: its control in place of the tracer, and the test shows the same."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import expected  # noqa: E402

VERSION = ".".join(map(str, sys.version_info[:3]))
RUN = """
import runpy, sys
{control}
sys.argv[1:] = ["-v", {match} {module!r}]
runpy.run_module("test", run_name="__main__", alter_sys=True)
"""


def firsts():
    """One entry of each [[difference]], with the names of all its tests."""
    found = {}
    entries = expected.Expected(expected.load(HERE / "expected.toml"), VERSION)
    for entry in entries.entries:
        found.setdefault((entry.reason, entry.control), []).append(entry)
    return list(found.values())


@pytest.mark.parametrize("entries", firsts(), ids=lambda entries: entries[0].test)
def test_it_happens_without_us(entries, tmp_path):
    single = entries[0].kind not in ("output", "crash at exit")
    module = entries[0].test.removeprefix("test.").split(".")[0]
    match = "".join(f"'-m', {entry.test!r}, " for entry in entries) if single else ""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            RUN.format(control=entries[0].control, match=match, module=module),
        ],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    words = done.stdout + done.stderr
    if re.search(
        rf"No module named 'test.{module}'|cannot import name '\w+' from 'test'", words
    ):
        pytest.skip("CPython's own tests are not installed here")
    assert "ocular" not in words
    if done.returncode < 0 and "Result: SUCCESS" in words:
        words += f"crash at exit: {signal.Signals(-done.returncode).name}"
    assert len(re.findall(entries[0].shows, words)) == len(entries), words
