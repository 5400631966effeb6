# SPDX-License-Identifier: MIT
"""A real program and a real ocular-top: what works and what is said if it
cannot."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys

import ocular
import pytest
from e2e import trace
from e2e.counting import EXACT, row
from e2e.program import PYTHON, SLOW, run, start, top, wait_until, write
from ocular.demo import pure

pytestmark = pytest.mark.once


@pytest.fixture
def serving(sockets):
    ocular.start_tracing(quiet=True, serve=True, deinstrument_threshold=50)
    pure.CASES["recursion"]()
    yield
    ocular.stop_tracing()


def test_once(serving):
    done = top("--pid", os.getpid(), "--once")
    assert done.status == 0 and done.err == ""
    for word in ("fibonacci", str(os.getpid()), "dark"):
        assert word in done.out


def test_json_lines(serving):
    done = top("-p", os.getpid(), "--json", "-n", 3, "-d", 0.1)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert done.status == 0 and len(lines) == 3
    uptimes = [line["uptime_s"] for line in lines]
    assert uptimes == sorted(uptimes) and uptimes[0] < uptimes[2]


def test_filter_and_sort(serving):
    done = top("-p", os.getpid(), "--once", "-F", "fibonacci", "-s", "calls/s")
    assert done.status == 0
    assert "fibonacci" in done.out and "ackermann" not in done.out


def test_several_viewers(serving):
    viewers = [
        start(
            [
                os.environ.get("OCULAR_TOP", "ocular-top"),
                "-p",
                os.getpid(),
                "--json",
                "-n",
                2,
                "-d",
                0.2,
            ]
        )
        for _ in range(6)
    ]
    for viewer in viewers:
        out, err = viewer.communicate(timeout=SLOW)
        assert viewer.returncode == 0 and len(out.splitlines()) == 2, err


def test_export_by_key(serving, tmp_path):
    done = top("-p", os.getpid(), "--once", "--keys", "e<Enter>")
    assert done.status == 0, done.err
    wait_until(lambda: (tmp_path / "ocular_trace.json").exists())
    assert trace.read(tmp_path / "ocular_trace.json").names()["fibonacci"] >= 50
    assert ocular.is_tracing()


def test_dead_pid():
    process = subprocess.Popen(["true"])
    process.wait()
    done = top("--pid", process.pid, "--once")
    assert done.status == 1 and done.out == ""
    assert "no process" in done.err and str(process.pid) in done.err


def test_a_process_that_does_not_serve(sockets):
    done = top("--pid", os.getpid(), "--once")
    assert done.status == 1 and done.out == ""
    assert "does not serve" in done.err and "serve=True" in done.err
    ocular.start_tracing(**EXACT)  # traced, but not served
    done = top("--pid", os.getpid(), "--once")
    ocular.stop_tracing()
    assert done.status == 1 and "does not serve" in done.err


def test_a_process_that_died_hard_leaves_a_stale_socket(tmp_path, sockets):
    path = write(
        tmp_path,
        """
        import ocular, sys
        ocular.start_tracing(serve=True, quiet=True, perfetto=False)
        print("ready", flush=True)
        sys.stdin.read()
        """,
    )
    process = start([PYTHON, path], stdin=subprocess.PIPE)
    try:
        assert process.stdout.readline() == "ready\n"
        socket = sockets / f"{process.pid}.sock"
        assert socket.exists()
        assert top("--pid", process.pid, "--once").status == 0
    finally:
        process.kill()
        process.communicate()
    done = top("--pid", process.pid, "--once")
    assert done.status == 1 and "no process" in done.err
    done = top("--once")  # a listing cleans up
    assert done.status == 1 and not socket.exists()


def test_nobody_serves(sockets):
    done = top("--once", "--json")
    assert done.status == 1 and done.out == "" and done.err


@pytest.mark.parametrize("arguments", [["--pid", "x"], ["--no-such"], ["-d", "0"]])
def test_usage(arguments):
    done = top(*arguments)
    assert done.status == 2 and done.out == "" and done.err


def test_the_program_ends_while_watched(tmp_path, sockets):
    path = write(
        tmp_path,
        """
        import ocular, sys
        ocular.start_tracing(serve=True, quiet=True, perfetto=False)
        print("ready", flush=True)
        sys.stdin.read()
        """,
    )
    process = start([PYTHON, path], stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    viewer = start(
        [
            os.environ.get("OCULAR_TOP", "ocular-top"),
            "-p",
            process.pid,
            "--json",
            "-n",
            1000,
            "-d",
            0.1,
        ]
    )
    assert viewer.stdout.readline().startswith("{")
    process.communicate("", timeout=SLOW)
    out, err = viewer.communicate(timeout=SLOW)
    assert process.returncode == 0
    assert viewer.returncode in (0, 1)
    for line in out.splitlines():
        json.loads(line)


def test_the_viewer_is_killed(serving):
    viewer = start(
        [
            os.environ.get("OCULAR_TOP", "ocular-top"),
            "-p",
            os.getpid(),
            "--json",
            "-d",
            0.1,
            "-n",
            1000,
        ]
    )
    assert viewer.stdout.readline()
    viewer.send_signal(signal.SIGKILL)
    viewer.communicate()
    pure.CASES["recursion"]()
    assert top("-p", os.getpid(), "--once").status == 0
    assert row(ocular.snapshot(), "fibonacci")


def test_the_demo(tmp_path, sockets):
    demo = start([PYTHON, "-m", "ocular.demo", "--serve", "--seconds", "100"], cwd=tmp_path)

    def all_is_there():
        last = top("-p", demo.pid, "--once", "--json").answer
        return (
            len(last["threads"]) >= 3
            and len(last["functions"]) > 20
            and last["sites"]["dark"] > 0
        )

    try:
        wait_until(lambda: (sockets / f"{demo.pid}.sock").exists())
        wait_until(all_is_there)
    finally:
        demo.terminate()
        out, err = demo.communicate(timeout=SLOW)
    assert (demo.returncode, out) == (0, ""), err


def test_outlandish_names_do_no_harm(sockets):
    namespace = {}
    exec("def f(): pass", namespace)
    function = namespace["f"]
    function.__code__ = function.__code__.replace(
        co_qualname="\x1b]0;owned\x07\udcff" + "n" * 3000, co_filename="\x1b[2J\n.py"
    )
    ocular.start_tracing(**EXACT, serve=True)
    function()
    shown = top("-p", os.getpid(), "--once", "--size", "120x60", "-F", "owned")
    raw = top("-p", os.getpid(), "--once", "--json")
    ocular.stop_tracing()
    assert shown.status == raw.status == 0
    assert "\x1b" not in shown.out and "owned" in shown.out
    assert "\x1b" not in raw.out and "owned" in raw.out
    json.loads(raw.out)
    assert run([sys.executable, "-c", ""]).status == 0


def test_an_error_that_names_no_request(sockets):
    """It is the connection's: nothing follows it, so its words are the last."""

    def frame(kind, payload):
        return b"Oc" + struct.pack("<HII", kind, len(payload), 0) + payload

    def text(words):
        return struct.pack("<I", len(words)) + words

    with socket.socket(socket.AF_UNIX) as listener:
        path = sockets / f"{os.getpid()}.sock"
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen()
        viewer = start([os.environ["OCULAR_TOP"], "--pid", os.getpid(), "--once"])
        said = False
        while not said:  # the first connections may only be a look
            peer, _ = listener.accept()
            hello = struct.pack("<IQ", 1, os.getpid()) + text(b"0.1.0")
            with peer:
                try:
                    peer.sendall(frame(1, hello))
                    said = bool(peer.recv(1000))
                    peer.sendall(frame(4, struct.pack("<Q", 90) + text(b"too large")))
                    wait_until(lambda: viewer.poll() is not None or not said)
                except OSError:
                    said = False
        out, err = viewer.communicate(timeout=SLOW)
    path.unlink(missing_ok=True)
    assert viewer.returncode == 1 and out == "" and "too large" in err
