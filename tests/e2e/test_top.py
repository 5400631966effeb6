# SPDX-License-Identifier: MIT
"""Tests ocular-top with a real program. Checks the functions of ocular-top, and its message
for each case that cannot work."""

import json
import os
import socket
import struct
import subprocess

import ocular
import pytest
from e2e.counting import EXACT
from e2e.program import PYTHON, SLOW, start, top, wait_until, write
from ocular.demo import pure

pytestmark = pytest.mark.once


@pytest.fixture
def serving(sockets):
    ocular.start_tracing(quiet=True, serve=True, deinstrument_threshold=50)
    pure.CASES["recursion"]()
    yield
    ocular.stop_tracing()


def test_filter_and_sort(serving):
    done = top("-p", os.getpid(), "--once", "-F", "fibonacci", "-s", "calls/s")
    assert done.status == 0
    assert "fibonacci" in done.out and "ackermann" not in done.out


def test_only_own_code(serving):
    """`O` and --own leave out the standard library and installed packages."""

    def files(*arguments):
        done = top("-p", os.getpid(), "--once", "--json", *arguments)
        return {function["file"] for function in json.loads(done.out)["functions"]}

    def is_own(file):
        return "/lib/python3" not in file and not file.startswith("<")

    every = files("--keys", "<Frame>")
    assert not all(map(is_own, every)), every
    own = files("--keys", "O<Frame>")
    assert own and all(map(is_own, own)), own
    assert files("--own", "--keys", "<Frame>") == own
    assert files("--own", "--keys", "O<Frame>") >= every - own


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
    ocular.start_tracing(**EXACT)  # This trace does not serve viewers.
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
    # when the viewer lists the processes, it also removes stale sockets
    done = top("--once")
    assert done.status == 1 and not socket.exists()


def test_an_error_that_names_no_request(sockets):
    """An ERROR that answers no request ends the connection, so its text is the last
    message that the viewer gets."""

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
        # The first connections can be those that only check whether the process serves
        # viewers.
        while not said:
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
