# SPDX-License-Identifier: MIT
"""Forking while traced: the child neither hangs nor touches what is its
parent's; the parent goes on being traced. Each in a process of its own."""

import os

import pytest
from e2e import trace
from e2e.program import script

PRELUDE = """
import json, multiprocessing, ocular, os, sys, threading, time, warnings
warnings.simplefilter("ignore")
def work(n):
    while n:
        n -= 1
def ours():
    return [open(f"/proc/self/task/{t}/comm").read().strip()
            for t in os.listdir("/proc/self/task")]
def calls(snapshot, name):
    return sum(f["calls"] for f in snapshot["functions"] if f["name"] == name)
def finish(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
def say(value):
    print(json.dumps(value), flush=True)
if __name__ == "__main__":
    ocular.start_tracing(serve=True, quiet=True, output="trace.json",
                         deinstrument_threshold=0)
    path = ocular._ocular.socket_path()
"""


def answer(tmp_path, body, **more):
    lines = ["    " + line for line in body.strip("\n").splitlines()]
    return script(tmp_path, PRELUDE + "\n".join(lines) + "\n", **more).answer


def test_the_parent_goes_on(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
work(5)
pid = os.fork()
if not pid:
    work(5)
    os._exit(ocular.is_tracing())
status = finish(pid)
work(5)
snapshot = ocular.snapshot()
time.sleep(0.2) # a thread gives itself its name
say([status, calls(snapshot, "work"), os.path.exists(path), ours()])
""",
    )
    status, calls, served, threads = result
    assert status == 0 and calls == 2 and served
    assert {"ocular-collect", "ocular-governor", "ocular-sampler"} <= set(threads)
    timeline = trace.read(tmp_path / "trace.json")
    assert timeline.names()["work"] == 2
    assert len(timeline.calls) == 1


def test_the_child_ends_by_itself(tmp_path, sockets):
    """Through the interpreter's exit, with its own atexit and all."""
    result = answer(
        tmp_path,
        """
pid = os.fork()
if not pid:
    work(1000)
    sys.exit(5)
say([finish(pid), os.path.exists(path), os.path.exists("trace.json")])
work(5)
""",
    )
    assert result == [5, True, False]
    assert trace.read(tmp_path / "trace.json").names()["work"] == 1
    assert sorted(os.listdir(tmp_path)) == ["program.py", "trace.json"]


def test_nothing_of_ours_runs_in_the_child(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
read, write = os.pipe()
pid = os.fork()
if not pid:
    tools = [sys.monitoring.get_tool(tool) for tool in (3, 4, 5)]
    local = [sys.monitoring.get_local_events(tool, work.__code__) |
             sys.monitoring.get_events(tool)
             for tool in (3, 4) if not sys.monitoring.use_tool_id(tool, "x")]
    sockets = [n for n in os.listdir("/proc/self/fd")
               if n.isdigit() and "socket" in os.path.realpath(f"/proc/self/fd/{n}")]
    os.write(write, json.dumps([ocular.is_tracing(), tools, local, ours(),
             sockets, ocular.stop_tracing()]).encode())
    os._exit(0)
os.close(write)
finish(pid)
say(json.loads(os.read(read, 10000)))
""",
    )
    tracing, tools, local, threads, sockets_open, stopped = result
    assert not tracing and stopped is None
    assert tools == [None] * 3 and local == [0, 0]
    assert len(threads) == 1 and not threads[0].startswith("ocular-")
    assert sockets_open == []


def test_a_child_traces_for_itself(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
work(5)
pid = os.fork()
if not pid:
    ocular.start_tracing(serve=True, quiet=True, output="child.json",
                         deinstrument_threshold=0)
    mine = ocular._ocular.socket_path()
    assert mine != path and os.path.exists(mine) and os.path.exists(path)
    work(5), work(5)
    snapshot = ocular.snapshot()
    assert calls(snapshot, "work") == 2, snapshot
    assert snapshot["pid"] == os.getpid()
    sys.exit(7)
status = finish(pid)
work(5)
say([status, calls(ocular.snapshot(), "work"), os.path.exists(path)])
""",
    )
    assert result == [7, 2, True]
    assert trace.read(tmp_path / "child.json").names()["work"] == 2
    assert trace.read(tmp_path / "trace.json").names()["work"] == 2


def test_many_forks_with_busy_threads(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
stop = threading.Event()
def spin():
    while not stop.is_set():
        work(50)
threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads: thread.start()
statuses = []
for n in range(25):
    pid = os.fork()
    if not pid:
        work(100)
        if n % 2:
            ocular.start_tracing(perfetto=False, quiet=True)
            work(100)
            ocular.stop_tracing()
        os._exit(n)
    statuses.append(finish(pid))
stop.set()
for thread in threads: thread.join()
say([statuses, calls(ocular.snapshot(), "work") > 25])
""",
    )
    assert result == [list(range(25)), True]


def test_fork_inside_a_thread_and_a_generator(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
def generate():
    yield 1
    pid = os.fork()
    yield pid
def body():
    for value in generate():
        pass
    if not value:
        work(10)
        os._exit(11)
    statuses.append(finish(value))
statuses = []
thread = threading.Thread(target=body)
thread.start(); thread.join()
say(statuses)
""",
    )
    assert result == [11]


def test_grandchildren(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
def down(n):
    if n == 0:
        return 3
    pid = os.fork()
    if not pid:
        os._exit(down(n - 1))
    return finish(pid) + 1
say(down(3))
""",
    )
    assert result == 6


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(tmp_path, sockets, method):
    result = answer(
        tmp_path,
        f"""
context = multiprocessing.get_context({method!r})
with context.Pool(2) as pool:
    total = sum(pool.map(abs, range(-50, 0)))
process = context.Process(target=work, args=(100,))
process.start(); process.join()
work(5)
say([total, process.exitcode, calls(ocular.snapshot(), "work")])
""",
    )
    assert result == [1275, 0, 1]
    trace.read(tmp_path / "trace.json")
    assert "trace.json" in os.listdir(tmp_path)
    assert not [n for n in os.listdir(tmp_path) if n.startswith("trace.") and n != "trace.json"]


def test_subprocesses_are_none_of_our_business(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
import subprocess
out = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True)
pid = os.posix_spawn("/bin/true", ["true"], {})
say([out.stdout.decode(), out.stderr.decode(), finish(pid), ocular.is_tracing()])
""",
    )
    assert result == ["1\n", "", 0, True]


def test_fork_during_snapshots_and_export(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
stop = threading.Event()
def look():
    while not stop.is_set():
        ocular.snapshot()
        try:
            ocular.export("now.json")
        except RuntimeError:
            pass
threads = [threading.Thread(target=look) for _ in range(2)]
for thread in threads: thread.start()
statuses = []
for n in range(15):
    pid = os.fork()
    if not pid:
        work(10)
        ocular.start_tracing(quiet=True, perfetto=False)
        work(10)
        ocular.snapshot()
        ocular.stop_tracing()
        os._exit(1)
    statuses.append(finish(pid))
stop.set()
for thread in threads: thread.join()
say(statuses)
""",
    )
    assert result == [1] * 15


def test_a_child_knows_its_own_thread(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
work(5)
pid = os.fork()
if not pid:
    ocular.start_tracing(quiet=True, perfetto=False)
    work(5)
    final = ocular.stop_tracing()
    os._exit([t["tid"] for t in final["threads"]] != [threading.get_native_id()])
say(finish(pid))
""",
    )
    assert result == 0


def test_a_fork_that_python_does_not_know_of(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
import ctypes, signal
pid = ctypes.PyDLL(None).fork() # keeps the interpreter's lock
if not pid:
    signal.alarm(20)
    if ocular.is_tracing() or ocular.stop_tracing() is not None:
        os._exit(1)
    sys.exit(0) # through the stop at exit
say([finish(pid), ocular.is_tracing()])
""",
    )
    assert result == [0, True]


def test_fork_while_tracing_ends(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
over = threading.Event()
def restart():
    while not over.is_set():
        ocular.stop_tracing()
        ocular.start_tracing(serve=True, quiet=True, perfetto=False)
thread = threading.Thread(target=restart)
thread.start()
statuses = set()
for n in range(60):
    pid = os.fork()
    if not pid:
        os._exit(0)
    statuses.add(finish(pid))
over.set()
thread.join()
say(sorted(statuses))
""",
    )
    assert result == [0]
