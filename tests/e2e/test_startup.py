# SPDX-License-Identifier: MIT
"""If `ocular-top --pid $!` runs directly after the start of a process, it waits until the
process serves."""

import signal
import subprocess

import pytest
from e2e.program import SLOW, TOP, start
from tui.fake import FAKE

pytestmark = pytest.mark.once


def waiting(pid):
    """Starts a viewer, and waits until the viewer reports that it waits."""
    viewer = start([TOP, "--pid", pid, "--once", "--json"])
    line = viewer.stderr.readline()
    assert f"process {pid} does not serve yet: waiting 5 s" in line, line
    return viewer


def test_a_process_that_is_coming_up_is_waited_for(sockets):
    """After the test has written a line, the process begins to serve, with the same pid."""
    process = start(["sh", "-c", f"read go; exec {FAKE}"], stdin=subprocess.PIPE)
    try:
        viewer = waiting(process.pid)
        process.stdin.write("go\n")
        process.stdin.flush()
        out, err = viewer.communicate(timeout=SLOW)
        assert (viewer.returncode, err) == (0, "") and '"functions"' in out
    finally:
        process.kill()
        process.communicate()


def test_the_wait_ends_by_ctrl_c_or_with_advice(sockets):
    process = start(["sleep", "600"])
    try:
        viewer = waiting(process.pid)
        viewer.send_signal(signal.SIGINT)
        assert viewer.communicate(timeout=SLOW) == ("", "")
        assert viewer.returncode == -signal.SIGINT
        viewer = waiting(process.pid)
        out, err = viewer.communicate(timeout=SLOW)
        assert viewer.returncode == 1 and out == ""
        assert "does not serve. Start it with `python -m ocular --serve" in err
    finally:
        process.kill()
        process.communicate()
