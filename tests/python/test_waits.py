# SPDX-License-Identifier: MIT
"""Tests what functions wait for, in threads that wait in a known way. The kernel says for
how long a thread had a CPU, and for how long it was ready to run but had no CPU."""

import asyncio
import os
import socket
import socketserver
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import ocular
from e2e.counting import row
from e2e.program import wait_until
from e2e.threads import Crew

QUIET = dict(perfetto=False, quiet=True)
NEAR = 0.1  # tolerance, as a share of one core
PAUSE_S = 0.05
MAIN = threading.main_thread()


class Waits(Crew):
    """Runs functions in threads until the end of the block. A further thread ends their
    waits, again and again."""

    def __init__(self, *functions):
        self.lock = threading.Lock()
        self.sockets, self.pipe = socket.socketpair(), os.pipe()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.accepts = accepts in functions
        self.threads = [
            threading.Thread(target=function, args=(self,), name=function.__name__)
            for function in (*functions, feeds)
        ]

    def __exit__(self, *_):
        super().__exit__()
        for one in *self.sockets, self.listener:
            one.close()
        for one in self.pipe:
            os.close(one)


def feeds(waits):
    last = False
    while not last:
        last = not waits.go_on
        with waits.lock:
            time.sleep(PAUSE_S)
        waits.sockets[1].send(b"x")
        os.write(waits.pipe[1], b"x")
        if waits.accepts:  # without this thread, the listener's queue would soon be full
            socket.create_connection(waits.listener.getsockname()).close()


def sleeps(waits):
    while waits.go_on:
        time.sleep(PAUSE_S)


def reads_socket(waits):
    while waits.go_on:
        waits.sockets[0].recv(1)


def reads_pipe(waits):
    while waits.go_on:
        os.read(waits.pipe[0], 1)


def accepts(waits):
    while waits.go_on:
        waits.listener.accept()[0].close()


def serves(waits):
    class Server(socketserver.TCPServer):
        def service_actions(self):
            self._BaseServer__shutdown_request = not waits.go_on

    with Server(("127.0.0.1", 0), None) as server:
        server.serve_forever(poll_interval=PAUSE_S)


def takes_lock(waits):
    while waits.go_on:
        waits.lock.acquire(timeout=PAUSE_S / 2) and waits.lock.release()


def computes(waits):
    while waits.go_on:
        for _ in range(1000):
            pass


def runs_loop(waits):
    async def main():
        while waits.go_on:
            await asyncio.sleep(PAUSE_S)

    asyncio.run(main())


def blocks_loop(waits):
    async def main():
        while waits.go_on:
            time.sleep(PAUSE_S)
            await asyncio.sleep(0)

    asyncio.run(main())


class Truth:
    """Has the true times of the threads at each check. The machine's load changes, so the
    true shares are those of a time as long as the sampler's window."""

    def __init__(self, waits):
        self.waits = waits
        self.log = [(time.monotonic(), waits.times(MAIN))]

    def shares(self, snapshot):
        """Yields each thread's share of time with a CPU and share ready without one. Each
        time is about as long as the window, or begins at the start of the trace."""
        now, after = time.monotonic(), self.waits.times(MAIN)
        window_s = snapshot["sampler"]["window_s"] or 60
        for began, before in self.log:
            elapsed = now - began
            if elapsed < 2 * window_s and (
                elapsed > window_s / 2 or began == self.log[0][0]
            ):
                yield {
                    name: [(b - a) / elapsed for a, b in zip(before[name], after[name])]
                    for name in after
                }
        self.log.append((now, after))


def errors(snapshot, shares, kinds, field="waits"):
    """Compares what functions wait for with the truth. `kinds` has the kind of each
    thread's wait. Returns the errors, or None if one of the values is not known yet."""
    found_errors = []
    for thread, kind in kinds.items():
        found = row(snapshot, thread)
        parts = dict((found and found[field]) or {})
        cpu, ready = shares[thread]
        if parts.get(kind) is None:
            return None
        parts.pop("c", None)
        found_errors.append(abs(parts.pop(kind) - (1 - cpu - ready)))
        found_errors.append(abs(parts.pop("cpu") - ready))
        found_errors += parts.values()
        if field == "waits":
            found_errors.append(abs(sum(found["waits"].values()) - found["wait_share"]))
    return found_errors


def near(truth, *arguments, **more):
    def check():
        time.sleep(0.5)
        snapshot = ocular.snapshot()
        for shares in truth.shares(snapshot):
            wrong = errors(snapshot, shares, *arguments, **more)
            if wrong and max(wrong) < NEAR:
                return snapshot

    return wait_until(check)


KINDS = {
    "sleeps": "sleep",
    "reads_socket": "socket",
    "reads_pipe": "file",
    "takes_lock": "lock",
}


def test_each_wait_has_its_kind():
    functions = sleeps, reads_socket, reads_pipe, takes_lock
    with Waits(*functions) as waits, ocular.tracing(**QUIET):
        truth = Truth(waits)

        def check():
            snapshot = near(truth, KINDS)
            # Thread.run calls these functions, so its total waits include theirs.
            outer = row(snapshot, "Thread.run")["total_parts"]
            own = [row(snapshot, name)["waits"] for name in KINDS]
            return snapshot and all(
                outer[kind] > sum(waits[kind] for waits in own) - NEAR > 0
                for kind in ("sleep", "socket", "lock")
            )

        assert wait_until(check)
        # Ocular's first observation can come before it knows the called functions.
        own = row(ocular.snapshot(), "Thread.run")["waits"] or {}
        assert sum(own.values()) < NEAR


def test_threads_that_wait_for_the_gil():
    """A thread that only computes waits for the GIL and for a CPU. The number for the
    process is the sum of all threads' waits for a CPU."""
    with Waits(computes, computes) as waits, ocular.tracing(**QUIET):
        waits.threads[0].name = "first"
        truth = Truth(waits)

        def is_near(snapshot, shares):
            cpu, ready = (shares["first"][i] + shares["computes"][i] for i in range(2))
            of_all = sum(ready for _, ready in shares.values())
            found = row(snapshot, "computes")
            parts = dict((found and found["waits"]) or {})
            return (
                parts
                and abs(parts.pop("gil") - (2 - cpu - ready)) < 2 * NEAR
                and abs(parts.pop("cpu") - ready) < 2 * NEAR
                and max(parts.values()) < NEAR
                and abs(snapshot["cpu"]["waited"] - of_all) < 2 * NEAR
            )

        def check():
            time.sleep(0.5)
            snapshot = ocular.snapshot()
            return any(is_near(snapshot, shares) for shares in truth.shares(snapshot))

        assert wait_until(check)


def test_threads_that_soon_end():
    """The wait of a thread counts even if the thread ends before it is observed twice. A
    server that starts a thread for each request has such threads."""
    waited = 0

    def answers():
        nonlocal waited
        begin = time.monotonic()
        time.sleep(0.2)
        waited += time.monotonic() - begin

    with ocular.tracing(**QUIET):
        began = time.monotonic()

        def check():
            for _ in range(10):
                threading.Thread(target=answers).start()
                time.sleep(0.1)
            found = row(ocular.snapshot(), "answers")
            truth = waited / (time.monotonic() - began)
            waits = (found and found["waits"]) or {}
            return abs((waits.get("sleep") or 0) / truth - 1) < 0.15

        assert wait_until(check)


def test_a_loop_without_work_is_idle():
    """An event loop without work is idle. A function that sleeps in the loop is not."""
    kinds = {"runs_loop": "idle", "blocks_loop": "sleep"}
    with Waits(runs_loop, blocks_loop) as waits, ocular.tracing(**QUIET):
        near(Truth(waits), kinds, field="total_parts")


def test_a_server_without_a_request_is_idle():
    """A thread that waits for a connection is idle, one that waits for an answer is not."""
    kinds = {"accepts": "idle", "serves": "idle", "reads_socket": "socket"}
    with Waits(accepts, serves, reads_socket) as waits, ocular.tracing(**QUIET):
        near(Truth(waits), kinds, field="total_parts")


def test_a_worker_without_a_job_is_idle():
    with ThreadPoolExecutor(1) as pool, ocular.tracing(**QUIET):

        def check():
            for _ in range(10):
                pool.submit(time.sleep, 0.03).result()
                time.sleep(0.03)
            found = row(ocular.snapshot(), "_worker")
            parts = (found and found["total_parts"]) or {}
            idle, sleep, lock = (parts.get(kind) for kind in ("idle", "sleep", "lock"))
            known = None not in (idle, sleep, lock)
            return known and min(idle, sleep) > 0.2 and lock < NEAR

        assert wait_until(check)


def test_who_does_not_wait_has_no_kinds():
    with ocular.tracing(**QUIET):
        until = time.process_time() + 0.5
        while time.process_time() < until:
            sum(range(100))
        snapshot = ocular.snapshot()
    found = row(snapshot, "test_who_does_not_wait_has_no_kinds")
    assert found["total_parts"]["c"] > 0
    assert not (found["waits"] or {}).get("sleep")
