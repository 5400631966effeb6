# SPDX-License-Identifier: MIT
"""Tests the merged view of a master and its workers."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager, suppress

import pytest
from attach.listed import choose, find
from e2e.program import SLOW, TOP, Running, keys_of, top
from tui.emulated import Top

# The master of the tests reads commands from stdin. They say how to make a worker, and how
# often the worker calls work().
PROGRAM = """
import multiprocessing, os, signal, sys, time
import ocular
SETTINGS = dict(serve=True, quiet=True, perfetto=False, deinstrument_threshold=0,
                overhead_budget=None)
def work():
    pass
def wait():
    while True:
        time.sleep(0.01)
def drag(seconds):
    time.sleep(seconds)
def live(calls, seconds):
    for _ in range(calls):
        work()
    print(os.getpid(), flush=True)
    while seconds:
        drag(seconds)
    wait()
def spawned(calls, seconds):
    ocular.start_tracing(**SETTINGS)
    live(calls, seconds)
def forked(calls, seconds):
    while not ocular.is_tracing(): # the child's own trace begins a little later
        time.sleep(0.01)
    live(calls, seconds)
def main():
    spawn = multiprocessing.get_context("spawn")
    if "TRACED" in os.environ:
        ocular.start_tracing(**SETTINGS)
        for _ in range(5):
            work()
    print("ready", flush=True)
    for line in sys.stdin:
        how, calls, seconds = line.split()
        if how == "end":
            return ocular.stop_tracing()
        arguments = int(calls), float(seconds)
        if how == "fork" and os.fork() == 0:
            forked(*arguments)
        elif how == "spawn":
            spawn.Process(target=spawned, args=arguments).start()
        elif how == "plain":
            spawn.Process(target=live, args=arguments).start()
    os.killpg(0, signal.SIGKILL)
if __name__ == "__main__":
    main()
"""


pytestmark = pytest.mark.once


class Service(Running):
    def __init__(self, directory, traced=True):
        env = {"TRACED": "1"} if traced else {}
        super().__init__(directory, PROGRAM, env=env, start_new_session=True)
        self.workers = []

    def add(self, how, calls=0, seconds=0):
        self.process.stdin.write(f"{how} {calls} {seconds}\n")
        self.process.stdin.flush()
        self.workers.append(int(self.process.stdout.readline()))
        return self.workers[-1]

    def __exit__(self, *arguments):
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        super().__exit__(*arguments)


@contextmanager
def watched(pid, *options):
    """Returns an iterator over the viewer's snapshots."""
    command = [TOP, "--pid", str(pid), "--json", "--batch", "-d", "0.2", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as viewer:
        try:
            yield (json.loads(line) for line in viewer.stdout)
        finally:
            viewer.kill()


def until(snapshots, holds):
    """Returns the first snapshot for which holds() is true."""
    end = time.monotonic() + SLOW
    for snapshot in snapshots:
        if holds(snapshot):
            return snapshot
        assert time.monotonic() < end, snapshot
    raise AssertionError("the viewer has ended")


def calls(snapshot, name="work"):
    return sum(row["calls"] for row in snapshot["functions"] if row["name"] == name)


def merged(snapshot):
    return {row["pid"] for row in snapshot["workers"] if row["merged"]}


def row_of(snapshot, pid):
    return next((row for row in snapshot["workers"] if row["pid"] == pid), None)


def test_calls_of_all_processes_add_up(tmp_path, sockets):
    with Service(tmp_path) as service:
        for how, count in ("fork", 10), ("fork", 20), ("fork", 30), ("spawn", 40):
            service.add(how, count)
        everyone = {service.pid, *service.workers}
        with watched(service.pid) as snapshots:
            snapshot = until(
                snapshots, lambda it: merged(it) == everyone and calls(it) > 65
            )
        with watched(service.pid, "--alone") as snapshots:
            alone = next(snapshots)
    assert calls(snapshot) == 5 + 10 + 20 + 30 + 40
    work = [row for row in snapshot["functions"] if row["name"] == "work"]
    assert [row["calls_exact"] for row in work] == [True]
    assert snapshot["pid"] == service.pid and snapshot["workers_ended"] == 0
    assert [row["master"] for row in snapshot["workers"]] == [True] + [False] * 4
    assert "functions.calls" not in snapshot["not_merged"]
    assert "workers" not in alone and calls(alone) == 5


def test_a_worker_is_killed_and_replaced(tmp_path, sockets):
    """The counts of a worker that has ended stay in the sums."""
    with Service(tmp_path) as service, watched(service.pid, "--alone") as one:
        assert calls(next(one)) == 5
        first, second = service.add("fork", 10), service.add("fork", 20)
        with watched(service.pid) as snapshots:
            until(snapshots, lambda it: merged(it) == {service.pid, first, second})
            os.kill(first, signal.SIGKILL)
            ended = until(snapshots, lambda it: it["workers_ended"])
            third = service.add("fork", 7)
            # A worker's first snapshot can be older than the worker's calls.
            last = until(snapshots, lambda it: third in merged(it) and calls(it) > 35)
    assert calls(ended) == 35 and merged(ended) == {service.pid, second}
    assert calls(last) == 42 and merged(last) == {service.pid, second, third}
    assert last["uptime_s"] > ended["uptime_s"]


def test_all_processes_end(tmp_path, sockets):
    """The viewer ends. The master's trace ends before the master itself."""
    with Service(tmp_path) as service:
        worker = service.add("fork", 10)
        with watched(service.pid) as snapshots:
            until(snapshots, lambda it: merged(it) == {service.pid, worker})
            os.kill(worker, signal.SIGKILL)
            until(snapshots, lambda it: it["workers_ended"])
            service.process.stdin.write("end 0 0\n")
            service.process.stdin.flush()
            service.process.wait()
            with pytest.raises(AssertionError, match="the viewer has ended"):
                until(snapshots, lambda _: False)


def test_a_worker_that_hangs_does_not_block_the_others(tmp_path, sockets):
    with Service(tmp_path) as service:
        stopped, other = service.add("fork", 10), service.add("fork", 20)
        with watched(service.pid) as snapshots:
            until(snapshots, lambda it: len(merged(it)) == 3)
            os.kill(stopped, signal.SIGSTOP)
            silent = until(snapshots, lambda it: row_of(it, stopped)["silent_s"])
            with watched(service.pid) as later:
                without = next(later)
            os.kill(stopped, signal.SIGCONT)
            again = until(snapshots, lambda it: not row_of(it, stopped)["silent_s"])
    assert row_of(silent, stopped)["why"] and not row_of(silent, other)["why"]
    assert calls(silent) == calls(again) == 35
    assert not row_of(without, stopped)["merged"] and row_of(without, stopped)["why"]
    assert calls(without) == 25


def test_a_worker_that_is_not_traced_is_named(tmp_path, sockets):
    with Service(tmp_path) as service:
        traced, plain = service.add("fork", 10), service.add("plain", 20)
        with watched(service.pid) as snapshots:
            snapshot = until(snapshots, lambda it: len(merged(it)) == 2)
        screen = top("-p", service.pid, "--once", "--size", "120x20").out
    assert row_of(snapshot, plain)["why"] == "is not traced"
    assert not row_of(snapshot, plain)["merged"] and traced in merged(snapshot)
    assert calls(snapshot) == 15
    assert "1 worker, 1 more missing" in screen


def test_the_master_need_not_be_traced(tmp_path, sockets):
    with Service(tmp_path, traced=False) as service:
        workers = {service.add("spawn", 10), service.add("spawn", 20)}
        with watched(service.pid) as snapshots:
            snapshot = until(snapshots, lambda it: merged(it) == workers)
    assert calls(snapshot) == 30 and snapshot["pid"] == service.pid


def test_a_master_is_waited_for_until_a_worker_serves(tmp_path, sockets):
    with Service(tmp_path, traced=False) as service:
        command = [TOP, "--pid", str(service.pid), "--once", "--json"]
        pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with subprocess.Popen(command, **pipes) as viewer:
            assert "does not serve yet" in viewer.stderr.readline()
            worker = service.add("spawn", 10)
            snapshot, error = viewer.communicate(timeout=SLOW)
    assert not error and merged(json.loads(snapshot)) == {worker}


def test_which_worker_is_slow(tmp_path, sockets):
    """Presses the keys that docs/questions.md gives for finding the slow worker."""
    with Service(tmp_path) as service:
        for seconds in (0.01, 0.01, 0.2):
            service.add("fork", 0, seconds)
        slow = service.workers[-1]
        end = time.monotonic() + SLOW
        screen = ""
        while time.monotonic() < end and not re.search(rf"\b{slow}!.* drag\b", screen):
            keys = ["--size", "120x20", "--keys", keys_of("Which worker is slow?")]
            screen = top("-p", service.pid, "--once", *keys).out
    assert re.search(rf"\b{slow}!.* drag\b", screen), screen


@contextmanager
def listed(sockets):
    top = Top(sockets, size=(120, 30))
    try:
        yield top
    finally:
        top.close()


def test_the_list_leads_to_all_processes(tmp_path, sockets):
    """The master does not serve, but the list has it above its workers, with their sum."""
    with Service(tmp_path, traced=False) as service, listed(sockets) as top:
        for count in 10, 20:
            service.add("spawn", count)
        line = find(top, service, "[master of 2]")
        assert "its workers serve" in line
        assert re.search(rf" {service.pid} .*%  ", find(top, service, "% "))
        choose(top, service)
        top.wait("2 workers")
        service.process.kill()
        service.process.wait()
        top.wait("2 workers, master ended")


def test_the_list_leads_to_the_master_alone(tmp_path, sockets):
    with Service(tmp_path) as service:
        service.add("fork", 10)
        with listed(sockets) as top:
            find(top, service, "[master of 1]")
            choose(top, service)
            top.wait("1 worker ")
            top.press("p")
            top.wait("Only this process")
            top.press("o")
            assert " worker" not in top.wait(f"pid {service.pid} ")
