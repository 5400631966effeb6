# SPDX-License-Identifier: MIT
"""Contains a program whose stacks are known, and a function that makes a tree from the
stacks that the program sends."""

import contextlib
import time

from e2e import client
from e2e.program import PYTHON, SLOW, start, write

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
WORK = ("<module>", "main", "work")
# Maps each call path that begins in work() to its portion of the time of work().
PATHS = {("short", "spin"): 0.2, ("long", "spin"): 0.6, ("again",) * 6 + ("spin",): 0.2}


@contextlib.contextmanager
def running(directory, deep=False):
    """Yields the address of the program's socket."""
    path = write(directory, PROGRAM.replace("DEEP and", f"{deep} and"))
    process = start([PYTHON, path], cwd=directory)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def watch(viewer, enough):
    """Asks for stacks repeatedly, as the flame view does, until enough(stacks) is true."""
    limit = time.monotonic() + SLOW
    while True:
        stacks = viewer.ask(client.FLAME)
        if enough(stacks):
            return stacks
        assert time.monotonic() < limit, stacks
        time.sleep(0.1)


def tree(stacks):
    """Maps each path of names to its CPU share, which includes the path's continuations."""
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
    assert len(set(paths)) == len(paths)  # each path has one row
    return totals
