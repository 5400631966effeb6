# SPDX-License-Identifier: MIT
"""Tests SIGTERM under `python -m ocular`. The signal ends the process in the same way as an
untraced process. The socket is removed, and the recording stays. In all other respects
signals work as without Ocular."""

import gzip
import os
import re
import signal
import time

import pytest
from e2e import trace
from e2e.program import PYTHON, SLOW, start, write
from ocular import _ocular

pytestmark = pytest.mark.once
READY = """
import ctypes, os, signal, subprocess, sys, threading, time
def leaf(n): return n + 1
def work(n=2000):
    for i in range(n): leaf(i)
work()
def ready(*words): print("ready", *words, flush=True)
"""


BUSY = {
    "computing": "ready()\nwhile True: work()",
    "asleep": "ready()\ntime.sleep(600)",
    "in C, with the interpreter's lock": "ready()\nctypes.PyDLL(None).sleep(600)",
    "a thread computes": """
threading.Thread(target=lambda: [work() for _ in iter(int, 1)]).start()
ready()
""",
    "forks again and again": """
ready()
while True:
    child = os.fork()
    if not child: os._exit(0)
    os.waitpid(child, 0)
""",
}


def traced(tmp_path, body, *options):
    program = write(tmp_path, READY + body)
    command = [PYTHON, "-m", "ocular", "--output", "t.json", *options, program]
    return start(command, cwd=tmp_path)


def terminate(process, times=1):
    """Waits until a program is ready, and sends SIGTERM to it. Returns (stdout, stderr)."""
    assert process.stdout.readline().startswith("ready")
    for _ in range(times):
        process.send_signal(signal.SIGTERM)
    return process.communicate(timeout=SLOW)


@pytest.mark.parametrize("kind", BUSY)
def test_its_recording_stays(tmp_path, kind):
    process = traced(tmp_path, BUSY[kind])
    assert process.stdout.readline().startswith("ready")
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=SLOW) == ("", "")
    assert process.returncode == -signal.SIGTERM
    recording, _ = sorted(os.listdir(tmp_path), reverse=True)
    assert recording == f"t.{process.pid}.ocular"
    output = tmp_path / "t.json"
    _ocular.convert((os.fsencode(tmp_path / recording),), os.fsencode(output))
    # The function loses its hooks after 500 calls.
    assert trace.read(output).names()["leaf"] >= 500


HANDLES = """
def handle(number, frame):
    os.write(1, b"mine\\n")  # print() may be on the stack
    sys.exit(3)
signal.signal(signal.SIGTERM, handle)
ready()
while True: work()
"""


def test_a_handler_of_the_program(tmp_path):
    process = traced(tmp_path, HANDLES)
    out, err = terminate(process)
    assert process.returncode == 3 and out == "mine\n"
    assert "timeline: " in err and "SIGTERM" not in err
    assert (tmp_path / "t.json").exists()


def test_an_ignored_signal_stays_ignored(tmp_path):
    program = write(tmp_path, READY + "ready()\nsys.stdin.read()\nprint('on')")
    process = start(
        ["sh", "-c", 'trap "" TERM; exec "$@"', "sh", PYTHON, "-m", "ocular", program],
        cwd=tmp_path,
        stdin=-1,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate("", timeout=SLOW)
    assert (process.returncode, out) == (0, "on\n")


def test_without_a_timeline_it_is_as_it_was(tmp_path):
    process = traced(tmp_path, BUSY["asleep"], "--no-perfetto")
    assert terminate(process) == ("", "")
    assert process.returncode == -signal.SIGTERM
    assert os.listdir(tmp_path) == ["program.py"]


SERVES = {
    "idle": "ocular.serve()",
    "traced": "ocular.start_tracing(serve=True, perfetto=False)",
    "traced, then idle": """
ocular.serve()
ocular.start_tracing(perfetto=False)
ocular.stop_tracing()
""",
    "not traced any more": """
ocular.start_tracing(serve=True, perfetto=False)
ocular.stop_tracing()
""",
    "not any more": "ocular.serve()\nocular.stop_serving()",
    "a child": """
ocular.serve()
if os.fork():
    os.wait()
    os.kill(os.getpid(), signal.SIGTERM)
while not os.path.exists(f"{os.environ['OCULAR_DIR']}/{os.getpid()}.sock"):
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGTERM)
""",
}
SEES = """
sees = open("/proc/self/status").read().split("SigCgt:")[1].split()[0]
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
ready(int(sees, 16) >> (signal.SIGTERM - 1) & 1)
time.sleep(600)
"""


@pytest.mark.parametrize("kind", SERVES)
def test_no_socket_is_left(tmp_path, sockets, kind):
    program = write(tmp_path, READY + "import ocular\n" + SERVES[kind] + "\n" + SEES)
    process = start([PYTHON, program], cwd=tmp_path)
    if kind != "a child":
        served = not kind.endswith("any more")
        assert process.stdout.readline() == f"ready {int(served)}\n"
        assert len(os.listdir(sockets)) == served
        process.terminate()
    process.communicate(timeout=SLOW)
    assert process.returncode == -signal.SIGTERM
    assert os.listdir(sockets) == []


CHILDREN = """
def end(child): # the signal must end it at once
    time.sleep(0.2)
    os.kill(child, signal.SIGTERM)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
child = os.fork()
if not child:
    time.sleep(600)
statuses = [end(child)]
child = os.posix_spawn("/bin/sleep", ["sleep", "600"], os.environ)
statuses.append(end(child))
process = subprocess.Popen(["sleep", "600"])
time.sleep(0.2)
process.terminate()
statuses.append(process.wait())
ready(statuses)
"""


def test_children_die_of_it(tmp_path):
    process = traced(tmp_path, CHILDREN, "--quiet")
    out, err = process.communicate(timeout=SLOW)
    assert out == "ready [-15, -15, -15]\n" and (process.returncode, err) == (0, "")
    assert sorted(os.listdir(tmp_path)) == ["program.py", "t.json"]


def test_what_takes_too_long_stays_a_recording(tmp_path):
    """Writing compressed JSON of 1.2 million events would take too long, so only the
    recording stays."""
    options = "--threshold 0 --output t.json.gz --output-seconds 0.2".split()
    process = traced(tmp_path, "for _ in range(300): work()\nready()", *options)
    _, err = process.communicate(timeout=SLOW)
    recording = tmp_path / f"t.{process.pid}.ocular"
    assert process.returncode == 0
    assert (
        f"ocular: the output could not be written to {tmp_path}/t.json.gz: it took too "
        f"long (output_seconds); what was recorded is there: ocular convert {recording}\n"
    ) in err
    assert not (tmp_path / "t.json.gz").exists()
    _, events, wrong, _ = _ocular.convert(
        (os.fsencode(recording),), os.fsencode(tmp_path / "t.pftrace")
    )
    assert events > 300 * 2000 * 2 and wrong == ""


def test_stop_tracing_writes_all(tmp_path):
    body = """
import ocular
for _ in range(100): work()
ocular.stop_tracing()
ready(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""
    options = "--threshold 0 --output t.json.gz --output-seconds 0.1".split()
    process = traced(tmp_path, body, *options)
    assert process.communicate(timeout=SLOW)[0] == "ready True\n"
    text = gzip.open(tmp_path / "t.json.gz").read()
    begin = rb'"ph":"B","pid":\d+,"tid":\d+,"name":"leaf"'
    assert sum(1 for _ in re.finditer(begin, text)) == 101 * 2000
