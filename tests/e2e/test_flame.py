# SPDX-License-Identifier: MIT
"""Tests the stacks that a process sends to a viewer, and the time of each stack."""

import errno
import struct

import pytest
from e2e import client
from e2e.client import Client
from e2e.program import Running
from e2e.stacks import PATHS, WORK, running, tree, watch


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Yields the socket of a program that several tests use."""
    sockets = tmp_path_factory.mktemp("s")
    sockets.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OCULAR_DIR", str(sockets))
        with running(tmp_path_factory.mktemp("flame")) as path:
            yield path


UNWATCHED = """
import sys, time
import ocular
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
ocular.start_tracing(serve=True, quiet=True, perfetto=False, overhead_budget=0.05)
while (samples := ocular.snapshot()["sampler"]["samples"]) < 20:
    spin(0.05)
print(samples, ocular._ocular.socket_path(), flush=True)
sys.stdin.read()
"""


def test_the_first_answer_holds_what_ran_unwatched(tmp_path):
    """The process keeps stacks from the start of the trace. When the viewer sends its first
    request, the program only waits, so all samples are older than the request."""
    with Running(tmp_path, UNWATCHED) as program:
        samples, path = int(program.said[0]), program.said[1]
        with Client(path) as viewer:
            stacks = viewer.ask(client.FLAME)
        assert stacks["samples"] >= 0.8 * samples, (stacks["samples"], samples)
        names = {row["id"]: row["name"] for row in stacks["functions"]}
        spun = [row for row in stacks["rows"] if names.get(row["id"]) == "spin"]
        assert sum(row["cpu_ns"] for row in spun) > 0.5 * sum(
            row["cpu_ns"] for row in stacks["rows"]
        )


def test_the_paths(place):
    with Client(place) as viewer:
        stacks = watch(
            viewer,
            lambda stacks: all(tree(stacks).get((*WORK, *path), 0) > 0 for path in PATHS),
        )
    totals = tree(stacks)
    # work() calls only the functions of PATHS, and all of its time is in these functions.
    below = {path[3:] for path in totals if path[:3] == WORK}
    assert below == {path[:n] for path in PATHS for n in range(len(path) + 1)}
    assert totals[WORK] >= sum(totals[(*WORK, *path)] for path in PATHS) * 0.999


def test_asked_too_often_at_once(place):
    """Each answer is large, and the process makes it before the viewer reads an answer. So
    the process refuses most requests. The connection stays open, although the process
    refuses requests."""
    with Client(place) as viewer:
        watch(viewer, lambda stacks: len(stacks["rows"]) > 1)
        first = viewer.last_request + 1
        head = client.MAGIC + struct.pack("<HI", client.FLAME, 0)
        viewer.socket.sendall(
            b"".join(head + struct.pack("<I", first + n) for n in range(300))
        )
        answers = {}
        while len(answers) < 300:
            kind, request, value = viewer.receive()
            if request >= first:
                answers[request] = kind, value
        kinds = [answers[first + n][0] for n in range(300)]
        assert kinds[:2] == [client.STACKS] * 2
        # the requests can arrive in several pieces
        assert 2 <= kinds.count(client.STACKS) <= 64
        assert {value[0] for kind, value in answers.values() if kind == client.ERROR} == {
            errno.EBUSY
        }
        viewer.last_request = first + 300
        assert viewer.ask(client.FLAME)["rows"] and viewer.snapshot()


def test_a_stack_that_is_cut_off(tmp_path):
    """The sampler reads only a limited number of a stack's frames. If it has left out
    frames, the frames that it has read are below a row without a name."""

    def is_deep(stacks):
        cut = [
            path for path, share in tree(stacks).items() if path[:1] == (None,) and share
        ]
        return (None, "deep") in cut and max(map(len, cut)) >= 120

    with running(tmp_path, deep=True) as path, Client(path) as viewer:
        watch(viewer, is_deep)
