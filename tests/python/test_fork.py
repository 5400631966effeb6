# SPDX-License-Identifier: MIT
"""Tests programs that fork while they are traced. The child does not hang, and does not
touch its parent's files. The parent is still traced, and Python does not warn of Ocular's
threads. Each test runs a separate process."""

import os

import pytest
from e2e import client, trace
from e2e.program import PYTHON, Running, run, script, write

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
def wait_until(condition):
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)
def all_named(): # threads set their own names
    return sum(name.startswith("ocular-") for name in ours()) == len(ours()) - 1
if __name__ == "__main__":
    serve = os.environ.get("SERVE", "yes") == "yes"
    ocular.start_tracing(serve=serve, quiet=True, output="trace.json",
                         deinstrument_threshold=0, children=True)
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
wait_until(all_named)
say([status, calls(snapshot, "work"), os.path.exists(path), ours()])
""",
    )
    status, calls, served, threads = result
    assert status == 0 and calls == 2 and served
    assert {"ocular-collect", "ocular-governor", "ocular-sampler"} <= set(threads)
    timeline = trace.read(tmp_path / "trace.json")
    assert timeline.names()["work"] == 2
    assert len(timeline.calls) == 1


def test_a_fork_that_began_before_the_import(tmp_path, sockets):
    """os.fork() calls no handler that is registered after it has begun. During the fork a
    thread of Ocular waits for the GIL, and threads of the program are about to end."""
    result = script(
        tmp_path,
        """
import json, os, sys, threading, time, warnings
warnings.simplefilter("ignore")
sys.setswitchinterval(60) # no thread takes the GIL from the forking thread
def work():
    pass
def before():
    import ocular
    ocular.start_tracing(serve=False, quiet=True, perfetto=False)
    gate.set()
    end = time.monotonic() + 1
    while time.monotonic() < end: # all threads begin to wait for the GIL
        work()
gate = threading.Event()
threads = [threading.Thread(target=gate.wait) for _ in range(100)]
for thread in threads:
    thread.start()
os.register_at_fork(before=before)
pid = os.fork()
if not pid:
    os._exit(0)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
for thread in threads:
    thread.join()
print(json.dumps(status), flush=True)
""",
    )
    assert result.answer == 0


def test_a_fork_while_another_thread_imports(tmp_path, sockets):
    """If another thread is importing when the process forks, the lock of the import system
    is never released in the child. So all modules that a start in a child needs must be
    imported before the fork."""
    result = script(
        tmp_path,
        """
import _frozen_importlib, json, ocular, os, signal, threading, warnings
warnings.simplefilter("ignore")
names = ["ocular." + name for name in ("_probes", "_opcodes", "_settings")]
locks = [_frozen_importlib._get_module_lock(name) for name in names]
held, go = threading.Event(), threading.Event()
def imports():
    for lock in locks:
        lock.acquire()
    held.set()
    go.wait()
threading.Thread(target=imports, daemon=True).start()
held.wait()
pid = os.fork()
if not pid:
    signal.alarm(10)
    ocular.start_tracing(quiet=True, perfetto=False)
    os._exit(7 * ocular.is_tracing())
print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
""",
    ).answer
    assert result == 7


@pytest.mark.parametrize("serve", ["yes", "no"])
def test_nothing_of_ours_runs_in_the_child(tmp_path, sockets, serve):
    """In the child no thread of Ocular runs. The only exception is the child starter,
    if viewers can connect to the parent."""
    result = answer(
        tmp_path,
        """
import asyncio, weakref
asyncio.run(asyncio.sleep(0))
steps = asyncio.Handle._run.__code__
assert weakref.getweakrefcount(steps) == 1
read, write = os.pipe()
pid = os.fork()
if not pid:
    tracing = ocular.is_tracing() # Frees the parent's trace.
    assert weakref.getweakrefcount(steps) == 0 # No code is kept.
    tools = [sys.monitoring.get_tool(tool) for tool in (3, 4, 5)]
    local = [sys.monitoring.get_local_events(tool, work.__code__) |
             sys.monitoring.get_events(tool)
             for tool in (3, 4) if not sys.monitoring.use_tool_id(tool, "x")]
    sockets = [n for n in os.listdir("/proc/self/fd")
               if n.isdigit() and "socket" in os.path.realpath(f"/proc/self/fd/{n}")]
    os.write(write, json.dumps([tracing, tools, local, ours(),
             sockets, ocular.stop_tracing()]).encode())
    os._exit(0)
os.close(write)
finish(pid)
say(json.loads(os.read(read, 10000)))
""",
        env={"SERVE": serve},
    )
    tracing, tools, local, threads, sockets_open, stopped = result
    assert not tracing and stopped is None
    assert tools == [None] * 3 and local == [0, 0]
    assert len(threads) == (2 if serve == "yes" else 1)
    ended = {"collect", "governor", "sampler", "server"}
    assert not {"ocular-" + name for name in ended} & set(threads)
    assert sockets_open == []


# --- CPython's warning, and Ocular's threads around a fork --------------------

# Adds further fork handlers. These handlers run between Ocular's fork handlers and the
# moment at which CPython counts the threads. The handlers call Python functions in nested
# calls of any depth.
OTHERS = """
def deep(n):
    for _ in range(20):
        work(1)
    return n and deep(n - 1)
os.register_at_fork(before=lambda: deep(3), after_in_parent=lambda: deep(3),
                    after_in_child=lambda: deep(3))
"""


@pytest.mark.parametrize("serve", ["yes", "no"])
def test_no_warning_because_of_our_threads(tmp_path, sockets, serve):
    result = answer(
        tmp_path,
        OTHERS
        + """
import pty
# os.fork() ignores errors, so the warning must not become one.
seen = warnings.catch_warnings(record=True).__enter__()
warnings.simplefilter("always", DeprecationWarning)
wait_until(all_named)
before = ours()
def nested(n):
    return os.fork() if n == 0 else nested(n - 1)
def thread():
    other = threading.Thread(target=work, args=(5,))
    other.start(); other.join()
    # CPython counts the kernel's threads, and this one ends a little later.
    task = f"/proc/self/task/{other.native_id}"
    wait_until(lambda: not os.path.exists(task))
statuses = []
for n in range(12):
    if n % 4 == 0:
        pid = nested(n)
    elif n % 4 == 1:
        thread() # after its end the program has one thread
        pid = os.fork()
    elif n % 4 == 2:
        pid, fd = pty.fork()
    else:
        pid = list(map(lambda _: os.fork(), [0]))[0]
    if not pid:
        if n == 4:
            grandchild = os.fork()
            if not grandchild:
                os._exit(3)
            os._exit(finish(grandchild))
        os._exit(3)
    statuses.append(finish(pid))
context = multiprocessing.get_context("fork")
for _ in range(2):
    process = context.Process(target=work, args=(5,))
    process.start(); process.join()
    statuses.append(process.exitcode + 3)
wait_until(lambda: sorted(ours()) == sorted(before))
say([statuses, len(before), calls(ocular.snapshot(), "nested"),
     [str(warning.message) for warning in seen]])
""",
        env={"SERVE": serve},
    )
    statuses, threads, calls, warned = result
    assert warned == []
    assert statuses == [3] * 14
    assert threads == (5 if serve == "yes" else 4)
    assert calls == 1 + 5 + 9


def test_warnings_of_a_program_with_threads(tmp_path, sockets):
    """A program with threads gets the same warnings as without Ocular."""
    body = """
import os, sys, threading, time, warnings
if sys.argv[1] == "traced":
    import ocular
    ocular.start_tracing(serve=True, quiet=True, perfetto=False)
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(3):
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
stop.set()
thread.join()
print(len(seen), {w.category.__name__ for w in seen})
"""
    path = write(tmp_path, body)
    done = [run([PYTHON, path, kind], cwd=tmp_path) for kind in ("bare", "traced")]
    assert done[0].out == done[1].out == "3 {'DeprecationWarning'}\n"
    assert done[1].status == 0 and done[1].err == ""


def test_a_fork_that_fails(tmp_path, sockets):
    """A fork fails because of the limit of processes, which also prevents a new start of
    Ocular's threads. Ocular's threads start as soon as the limit allows new threads."""
    result = answer(
        tmp_path,
        """
import errno, resource
ocular.stop_tracing()
if os.getuid() == 0: # root has no limit
    try:
        os.setresuid(65534, 65534, 65534)
    except OSError:
        say("no other user")
        sys.exit()
ocular.start_tracing(overhead_budget=0.01, quiet=True, perfetto=False)
wait_until(all_named)
before = ours()
seen = warnings.catch_warnings(record=True).__enter__()
warnings.simplefilter("always", DeprecationWarning)
_, hard = resource.getrlimit(resource.RLIMIT_NPROC)
for limit in (0, hard):
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
    errors = []
    for _ in range(3):
        try:
            pid = os.fork()
        except OSError as error:
            errors.append(error.errno == errno.EAGAIN)
        else:
            if not pid:
                os._exit(0)
            errors.append(finish(pid))
        work(5)
    if limit == 0:
        alone, first = ours(), errors
snapshot = ocular.snapshot()
wait_until(lambda: sorted(before) == sorted(ours()))
say([first, len(alone), errors, calls(snapshot, "work"),
     [str(warning.message) for warning in seen]])
ocular.stop_tracing()
""",
    )
    if result == "no other user":
        pytest.skip("runs as root, and there is no other user")
    assert result == [[True] * 3, 1, [0] * 3, 6, []]


# --- Children of a process that serves -----------------------------------------


def test_a_child_serves_on_its_own_socket(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
import socket, subprocess
from ocular import _ocular
viewer = socket.socket(socket.AF_UNIX)
viewer.connect(path)
viewer.set_inheritable(False)
done, go = os.pipe()
pid = os.fork()
if not pid:
    viewer.close()
    os.close(go)
    if not os.read(done, 1): # waits for the parent's word or end
        os._exit(1)
    work(5)
    sys.exit(9)
other = path.replace(str(os.getpid()), str(pid))
def look(target):
    def loud():
        global out
        out = subprocess.run([os.environ["OCULAR_TOP"], "-p", str(target),
                              "--once", "--json"], capture_output=True, text=True)
        return out.returncode == 0
    wait_until(loud)
    return json.loads(out.stdout)
seen = look(pid)
mine = look(os.getpid())
listed = subprocess.run([os.environ["OCULAR_TOP"]], stdin=subprocess.DEVNULL,
                        capture_output=True, text=True)
listed = listed.stdout + listed.stderr
ocular.stop_tracing()
viewer.settimeout(20)
while viewer.recv(65536): # Ends, because the child has closed its copy.
    pass
gone = not os.path.exists(path) and os.path.exists(other)
os.write(go, b"x")
say([seen["pid"] == pid, seen["command"] == mine["command"],
     mine["pid"] == os.getpid(), str(pid) in listed and str(os.getpid()) in listed,
     gone, finish(pid), os.path.exists(other), str(pid)])
""",
    )
    *right, status, left, pid = result
    assert right == [True] * 5 and (status, left) == (9, False)
    assert set(os.listdir(tmp_path)) == {"program.py", "trace.json", f"trace.{pid}.json"}
    assert trace.read(tmp_path / f"trace.{pid}.json").names()["work"] == 1
    assert "work" not in trace.read(tmp_path / "trace.json").names()


def test_a_child_writes_what_a_viewer_asks_for(tmp_path, sockets):
    """If children=True is not set, a child writes a timeline only if a viewer asks the
    child for it."""
    program = """
import ocular, os, sys, time
def work():
    pass
ocular.start_tracing(serve=True, quiet=True, output="trace.json")
pid = os.fork()
if not pid:
    while not ocular.is_tracing():
        time.sleep(0.01)
    work()
    print(os.getpid(), flush=True)
    sys.stdin.read()
    sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
print("{}")
"""
    with Running(tmp_path, program) as parent:
        path = sockets / f"{parent.said[0]}.sock"
        with client.Client(path) as viewer:
            viewer.export(tmp_path / "asked.json")
        parent.end()
    assert set(os.listdir(tmp_path)) == {"program.py", "trace.json", "asked.json"}
    assert trace.read(tmp_path / "asked.json").names()["work"] == 1
    assert "work" not in trace.read(tmp_path / "trace.json").names()


def test_a_child_that_looks_at_itself_at_once(tmp_path, sockets):
    """If a child asks for a snapshot, its trace starts at once and not after 100 ms. If the
    child itself calls start_tracing(), the new trace replaces this trace."""
    result = answer(
        tmp_path,
        """
pid = os.fork()
if not pid:
    seen = ocular.snapshot()
    assert ocular.is_tracing() and seen["pid"] == os.getpid()
    assert os.path.exists(path.replace(str(os.getppid()), str(os.getpid())))
    ocular.start_tracing(quiet=True, output="own.json", deinstrument_threshold=0)
    assert ocular._ocular.socket_path() is None
    work(5)
    assert calls(ocular.stop_tracing(), "work") == 1
    assert ocular.stop_tracing() is None and not ocular.is_tracing()
    sys.exit(4)
say(finish(pid))
""",
    )
    assert result == 4
    assert set(os.listdir(tmp_path)) == {"program.py", "trace.json", "own.json"}


def test_what_is_executed_after_a_fork_is_not_traced(tmp_path, sockets):
    result = answer(
        tmp_path,
        """
import subprocess
statuses = [subprocess.call(["sleep", "0.2"], preexec_fn=lambda: work(5))]
pid = os.fork()
if not pid:
    os.execvp("sleep", ["sleep", "0.2"])
statuses.append(finish(pid))
say([statuses, os.listdir(os.path.dirname(path)) == [os.path.basename(path)]])
""",
    )
    assert result == [[0, 0], True]
