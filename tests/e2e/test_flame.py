# SPDX-License-Identifier: MIT
"""The stacks that a process sends to a viewer who asks: whose time is whose."""

import errno
import struct
import time

import pytest
from e2e import client
from e2e.client import Client
from e2e.measured import measured
from e2e.program import PYTHON, start, write

PROGRAM = """
import threading, time
import ocular

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

def short():
    spin(0.01)

def long():
    spin(0.03)

def again(depth):
    if depth:
        again(depth - 1)
    else:
        spin(0.01)

def work():
    short()
    long()
    again(5)

def main():
    while True:
        work()

def deep(depth):
    if depth:
        deep(depth - 1)
    while True:
        spin(0.01)

ocular.start_tracing(serve=True, quiet=True, perfetto=False,
                     overhead_budget=0.05)
print(ocular._ocular.socket_path(), flush=True)
DEEP and threading.Thread(target=deep, args=(300,), daemon=True).start()
main()
"""


@pytest.fixture
def running(tmp_path, sockets, request):
    deep = getattr(request, "param", False)
    path = write(tmp_path, PROGRAM.replace("DEEP and", f"{deep} and"))
    process = start([PYTHON, path], cwd=tmp_path)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def watch(viewer, seconds=5, looks=0):
    """Asks once in a while, as the flame view does."""
    end = time.monotonic() + seconds
    limit = end + 60
    while time.monotonic() < end or (
        viewer.ask(client.FLAME)["samples"] < looks and time.monotonic() < limit
    ):
        viewer.ask(client.FLAME)
        time.sleep(0.3)
    return viewer.ask(client.FLAME), viewer.snapshot()


def tree(stacks):
    """Path of names -> CPU share of it and all below it."""
    names = {row["id"]: row["name"] for row in stacks["functions"]}
    assert sorted(names) == list(names)
    assert set(names) == {row["id"] for row in stacks["rows"]} - {None}
    paths, totals = [], {}
    for number, row in enumerate(stacks["rows"]):
        if number == 0:
            assert row["parent"] is None and row["id"] is None
            paths.append(())
        else:
            assert row["parent"] < number
            paths.append((*paths[row["parent"]], names.get(row["id"])))
        assert 0 <= row["c_share"] <= row["share"] + 1e-9
        for depth in range(len(paths[-1]) + 1):
            above = paths[-1][:depth]
            totals[above] = totals.get(above, 0) + row["share"]
    assert len(set(paths)) == len(paths)  # one row a path
    return totals


def test_the_first_answer_is_all_but_empty(running):
    with Client(running) as viewer:
        viewer.snapshot()
        stacks = viewer.ask(client.FLAME)
        assert stacks["samples"] == 0 and len(stacks["rows"]) == 1


@measured
@pytest.mark.timeout(300)
def test_the_paths(running):
    with Client(running) as viewer:
        stacks, snapshot = watch(viewer, looks=600)
    totals = tree(stacks)
    work = totals[("<module>", "main", "work")]
    assert stacks["samples"] >= 600
    # A fifth, three fifths, a fifth, whatever share of a core it was given; 0.12 are
    # six sigma.
    for path, part in {
        ("short", "spin"): 0.2,
        ("long", "spin"): 0.6,
        ("again",) * 6 + ("spin",): 0.2,
    }.items():
        assert totals[("<module>", "main", "work", *path)] / work == pytest.approx(
            part, abs=0.12
        ), (path, totals)
    # And the same as the functions' shares say.
    rows = {row["name"]: row for row in snapshot["functions"]}
    spinning = sum(share for path, share in totals.items() if path[-1:] == ("spin",))
    assert spinning == pytest.approx(rows["spin"]["cpu_share"], rel=0.2)


@measured
def test_asked_too_often_at_once(running):
    """Each answer is large, and made before the viewer reads one: the others are
    refused. That is no reason to be left."""
    with Client(running) as viewer:
        watch(viewer, 1)
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
        assert 2 <= kinds.count(client.STACKS) <= 20  # it may come in pieces
        assert {value[0] for kind, value in answers.values() if kind == client.ERROR} == {
            errno.EBUSY
        }
        viewer.last_request = first + 300
        assert viewer.ask(client.FLAME)["rows"] and viewer.snapshot()


@measured
@pytest.mark.parametrize("running", [True], indirect=True)
def test_a_stack_that_is_cut_off(running):
    """More than the sampler reads: what is known hangs on a row of its own."""
    with Client(running) as viewer:
        stacks, _ = watch(viewer, 2, looks=100)
    totals = tree(stacks)
    cut = {path: share for path, share in totals.items() if path[:1] == (None,)}
    assert cut.get((None,), 0) > 0.1 * totals[()]
    assert (None, "deep") in cut
    assert max(len(path) for path in cut) >= 120
