# SPDX-License-Identifier: MIT
"""Tests what coroutines await. The truth is the program's own measurement of its awaits."""

import asyncio
import socket
import threading
import time

import ocular
import pytest
from e2e.program import wait_until

QUIET = dict(perfetto=False, quiet=True)
NEAR = 0.1  # tolerance, as a share of all awaits


class Handlers:
    """Runs handle() in an event loop until the end of the block. `times` has the seconds
    that handle() has awaited each kind of event."""

    def __init__(self, handle):
        self.go_on, self.times = True, {}
        self.thread = threading.Thread(target=asyncio.run, args=(self.main(handle),))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.go_on = False
        self.thread.join()

    async def main(self, handle):
        self.queue, self.lock = asyncio.Queue(), asyncio.Lock()
        near, self.far = socket.socketpair()
        self.reader, self.writer = await asyncio.open_connection(sock=near)
        while self.go_on:
            await handle(self)
        self.writer.close()
        self.far.close()

    def begins(self):
        self.began = time.monotonic()

    def ends(self, kind):
        self.times[kind] = self.times.get(kind, 0) + time.monotonic() - self.began


def later(seconds, function, *arguments):
    asyncio.get_running_loop().call_later(seconds, function, *arguments)


async def naps(seconds):
    await asyncio.sleep(seconds)


async def handle(its):
    its.begins()
    await naps(0.05)
    its.ends("sleep")

    its.begins()
    later(0.03, its.queue.put_nowait, 1)
    await its.queue.get()
    its.ends("queue")

    await its.lock.acquire()
    its.begins()
    later(0.04, its.lock.release)
    async with its.lock:
        its.ends("lock")

    its.begins()
    later(0.06, its.far.send, b"x")
    await its.reader.readexactly(1)
    its.ends("socket")

    its.begins()
    await asyncio.gather(naps(0.01), naps(0.03))
    its.ends("task")

    its.begins()
    future = asyncio.get_running_loop().create_future()
    later(0.03, future.set_result, None)
    await future
    its.ends("future")

    its.begins()
    await asyncio.to_thread(time.sleep, 0.03)
    its.ends("thread")


async def yields(its):
    """Each await lasts until the loop has run other code."""
    its.begins()
    later(0, time.sleep, 0.02)
    await asyncio.sleep(0)
    its.ends("loop")


def awaits_of(snapshot, name):
    kinds = "sleep queue lock socket thread task future loop other".split()
    for row in snapshot["tasks"]["awaits"]:
        if row["name"] == name:
            return {kind: row[kind] for kind in kinds}


def shares(numbers):
    return {kind: number / sum(numbers.values()) for kind, number in numbers.items()}


@pytest.mark.parametrize("settings", [dict(overhead_budget=0.01), dict(mode="precise")])
def test_each_await_has_its_kind(settings):
    with Handlers(handle) as its, ocular.tracing(**QUIET, **settings):
        began, before = time.monotonic(), dict(its.times)

        def check():
            time.sleep(0.3)
            found = awaits_of(ocular.snapshot(), "handle")
            truth = {kind: its.times[kind] - before.get(kind, 0) for kind in its.times}
            if not found or time.monotonic() - began < 5:
                return False
            parts, known = shares(found), shares(truth)
            # The only handler awaits all the time, so the shares add up to about 1.
            return 0.5 < sum(found.values()) < 1.001 and all(
                abs(parts[kind] - known.get(kind, 0)) < NEAR for kind in parts
            )

        assert wait_until(check)
        snapshot = ocular.snapshot()
    # A function's awaits also count for its callers.
    assert awaits_of(snapshot, "Handlers.main")["socket"] > 0
    assert awaits_of(snapshot, "naps")["sleep"] > 0
    assert awaits_of(snapshot, "naps")["queue"] == 0
    assert awaits_of(snapshot, "Queue.get")["queue"] > 0
    row = next(row for row in snapshot["tasks"]["awaits"] if row["name"] == "handle")
    assert row["file"] == __file__ and row["line"] == handle.__code__.co_firstlineno
    assert row["id"] in [function["id"] for function in snapshot["functions"]]


def test_a_task_that_the_loop_keeps_waiting():
    with Handlers(yields), ocular.tracing(**QUIET):

        def check():
            time.sleep(0.3)
            found = awaits_of(ocular.snapshot(), "yields")
            return found and shares(found)["loop"] > 0.9

        assert wait_until(check)
