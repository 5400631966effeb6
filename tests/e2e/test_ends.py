# SPDX-License-Identifier: MIT
"""If a process ends while it writes a timeline, no incomplete file is left, no matter how
it ends. If only the writing ends, the process continues."""

import gzip
import json
import os
import signal
from pathlib import Path

import pytest
from e2e.program import PYTHON, SLOW, TOP, Running, is_writing, start, wait_until, write

# this file tests only the engine, which does not depend on CPython
pytestmark = pytest.mark.once

LARGE = """
import ocular, os, sys, threading, time
def leaf(n): return n + 1
ocular.start_tracing(deinstrument_threshold=0, quiet=True, serve=True, output="t.json.gz")
for n in range(20_000): leaf(n)
"""


@pytest.fixture(autouse=True)
def files_without_names(tmp_path):
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"this file system has no files without a name: {error}")


EXPORTS = """
def export():
    while True: ocular.export("mine.json.gz")
threading.Thread(target=export, daemon=True).start()
print("ready", flush=True)
"""


def stop_writing(writer, opener, directory):
    """Stops the writing process at a moment when it has an incomplete file open."""

    def is_stopped():
        wait_until(lambda: is_writing(opener.pid, directory))
        writer.send_signal(signal.SIGSTOP)
        status = Path(f"/proc/{writer.pid}/stat")
        wait_until(lambda: status.read_text().rsplit(")")[-1].split()[0] == "T")
        if is_writing(opener.pid, directory):
            return True
        writer.send_signal(signal.SIGCONT)
        return False

    wait_until(is_stopped)


def whole_files(directory):
    """Checks that each timeline in the directory can be read to its end. Returns the names
    of these files. Recordings are left out."""
    names = os.listdir(directory)
    for name in names:
        if name.endswith(".gz"):
            assert json.loads(gzip.open(directory / name).read())
    return {name for name in names if not name.endswith(".ocular")}


def test_it_is_killed(tmp_path, sockets):
    body = LARGE + EXPORTS + "time.sleep(600)"
    process = start([PYTHON, write(tmp_path, body)], cwd=tmp_path)
    assert process.stdout.readline() == "ready\n"
    stop_writing(process, process, tmp_path)
    process.kill()
    process.communicate(timeout=SLOW)
    assert whole_files(tmp_path) <= {"program.py", "mine.json.gz"}


SERVES = """
print("ready", flush=True)
sys.stdin.read()
while True:
    try:
        ocular.export("mine.json.gz")
        break
    except RuntimeError as error: # the process has not noticed that the viewer has ended
        assert "another export" in str(error), error
ocular.stop_tracing()
print("done")
"""


def test_the_viewer_is_killed(tmp_path, sockets):
    """The viewer is killed while the traced program is stopped in the middle of writing."""
    watched = [f"{n}.json.gz" for n in range(30)]
    keys = "".join(f"e<Ctrl-U>{name}<Enter><Frame>" for name in watched)
    with Running(tmp_path, LARGE + SERVES) as program:
        viewer = start([TOP, "-p", program.pid, "--size", "100x30", "--keys", keys])
        stop_writing(program.process, viewer, tmp_path)
        viewer.kill()
        viewer.communicate(timeout=SLOW)
        program.process.send_signal(signal.SIGCONT)
        assert program.end()[0] == "done"
    left = whole_files(tmp_path)
    assert left - {*watched} == {"mine.json.gz", "program.py", "t.json.gz"}
