# SPDX-License-Identifier: MIT
"""Tests thread states of CPython that contain the id of one thread but are run by another
thread. Such thread states exist in programs that embed Python, and in children that C code
has forked (uWSGI). Each row of Ocular's list of threads belongs to a thread of the kernel.
Each test runs a separate process."""

import pytest
from e2e.program import script

PRELUDE = """
import json, ocular, os, signal, sys, threading, time
sys.path.insert(0, os.environ["OCULAR_TEST_EXTENSIONS"] + "/tests/python")
import native_threads
signal.alarm(55) # in case anything hangs
pid = os.getpid()
settings = dict(overhead_budget=0.5, quiet=True, perfetto=False)
def spin(seconds):
    limit = time.thread_time() + seconds
    while time.thread_time() < limit:
        pass
def wait_until(condition):
    limit = time.monotonic() + 50
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)
def row(snapshot, tid=None):
    tid = tid or threading.get_native_id()
    found = [t for t in snapshot["threads"] if t["tid"] == tid]
    assert len(found) <= 1, snapshot["threads"]
    return found[0] if found else None
def share(snapshot, name):
    return sum(f["share"] or 0 for f in snapshot["functions"] if f["name"] == name)
def spin_until_sampled():
    "Spins until samples in spin() have most of this thread's CPU time. Returns a snapshot."
    limit = time.monotonic() + 50
    while time.monotonic() < limit:
        spin(0.05)
        snapshot = ocular.snapshot()
        mine = row(snapshot)
        if (mine and mine["samples"] and snapshot["sampler"]["samples"] > 10 and
                share(snapshot, "spin") > 0.5 * mine["cpu_share"] > 0):
            return snapshot
    assert False, (mine, snapshot["sampler"])
def rows(snapshot):
    return {t["tid"]: t["name"] for t in snapshot["threads"] if not t["ended"]}
def finish(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
def say(value):
    print(json.dumps(value), flush=True)
"""


def answer(tmp_path, source, **more):
    return script(tmp_path, PRELUDE + source, **more).answer


def test_a_state_that_another_thread_runs(tmp_path):
    """Another thread than the main thread runs the main thread's thread state. Python takes
    this other thread for the main thread, but the kernel does not."""
    tids, names, main = answer(
        tmp_path,
        """
ocular.start_tracing(**settings)
spin(0.01)
def works():
    global snapshot, tid
    snapshot, tid = spin_until_sampled(), threading.get_native_id()
native_threads.visit(works, -1, False)
names = rows(snapshot)
wait_until(lambda: row(ocular.snapshot(), tid)["ended"])
snapshot = spin_until_sampled() # back again
say([[pid, tid], {t: n for t, n in names.items()}, rows(snapshot)])
""",
    )
    assert set(names) == {str(tid) for tid in tids}
    assert names[str(tids[0])] == "MainThread" != names[str(tids[1])]
    assert main == {str(tids[0]): "MainThread"}


def test_the_state_was_run_before_tracing_began(tmp_path):
    """The thread state was run before tracing began. Ocular knew only the thread whose id
    is in the thread state, while another thread ran the state."""
    tids, names = answer(
        tmp_path,
        """
def works():
    ocular.start_tracing(**settings)
    say([[pid, threading.get_native_id()], rows(spin_until_sampled())])
native_threads.visit(works, -1, False)
""",
    )
    assert names.keys() == {str(tid) for tid in tids}


def test_a_thread_with_a_state_for_each_call(tmp_path):
    """The thread lives outside of Python between its calls, and keeps its row."""
    ended, samples = answer(
        tmp_path,
        """
ocular.start_tracing(**settings)
read, write = os.pipe()
tids = []
def brief():
    tids.append(threading.get_native_id())
    spin(0.02)
thread = threading.Thread(target=native_threads.visit, args=(brief, read, True),
                          daemon=True)
thread.start()
def is_listed():
    mine = row(ocular.snapshot(), tids[0]) if tids else None
    return mine and mine["samples"] is not None
wait_until(is_listed)
first, ended = row(ocular.snapshot(), tids[0]), []
def is_observed():
    now = row(ocular.snapshot(), tids[0])
    ended.append(now["ended"])
    return now["samples"] >= first["samples"] + 3
wait_until(is_observed)
os.write(write, b"1")
wait_until(lambda: len(tids) == 2)
before = row(ocular.snapshot(), tids[0])["samples"]
wait_until(lambda: row(ocular.snapshot(), tids[0])["samples"] > before)
os.close(write)
thread.join()
say([any(ended), len(set(tids))])
""",
    )
    assert not ended and samples == 1


@pytest.mark.parametrize("attached", [True, False])
def test_a_fork_in_c(tmp_path, attached):
    """Python's fork handlers have not run, so the thread state contains the id of a thread
    in the parent."""
    status, rows = answer(
        tmp_path,
        f"""
read, write = os.pipe()
threading.Thread(target=time.sleep, args=(0.3,)).start()
child = native_threads.fork({attached}, -1)
if not child:
    ocular.start_tracing(**settings)
    snapshot = spin_until_sampled()
    assert threading.get_native_id() == os.getpid() != pid
    os.write(write, json.dumps([t["tid"] == os.getpid() for t in
                                snapshot["threads"]]).encode())
    ocular.stop_tracing()
    os._exit(0)
os.close(write)
say([finish(child), json.loads(os.read(read, 100))])
""",
    )
    assert status == 0 and rows == [True]


IDLE = """
ocular.serve()
"""
TRACED = """
ocular.start_tracing(serve=True, **settings)
spin(0.01)
"""


@pytest.mark.parametrize("attached", [True, False])
@pytest.mark.parametrize("begins", [IDLE, TRACED], ids=["idle", "traced"])
def test_a_served_programs_child_serves(tmp_path, begins, attached, sockets):
    """A child that C code has forked serves without a call in the child, like a child of
    os.fork(). Ocular's threads have just begun in the parent, and wait for the GIL. In the
    child no thread waits for the GIL."""
    result = answer(
        tmp_path,
        begins
        + f"""
children = []
for _ in range(3):
    child = native_threads.fork({attached}, -1)
    if not child:
        break
    children.append(child)
else:
    say([finish(child) for child in children])
    ocular.stop_tracing()
    sys.exit()
path = os.environ["OCULAR_DIR"]
wait_until(lambda: f"{{os.getpid()}}.sock" in os.listdir(path))
if {begins is TRACED}:
    wait_until(ocular.is_tracing)
    spin_until_sampled()
os._exit(7)
""",
    )
    assert result == [7] * 3


def test_a_child_of_a_program_with_threads(tmp_path, sockets):
    """If a thread waited for the GIL at the fork, the child would hang as soon as it had a
    second thread. So Ocular starts none in the child."""
    result = answer(
        tmp_path,
        """
ocular.serve()
threading.Thread(target=time.sleep, args=(1,)).start()
child = native_threads.fork(True, -1)
if not child:
    spin(0.5)
    os._exit(len(os.listdir("/proc/self/task")))
say(finish(child))
""",
    )
    assert result == 1


def test_a_fork_waits_for_our_threads(tmp_path, sockets):
    """If C code forked while a thread of Ocular holds the GIL, the GIL would never be
    released in the child. So Ocular makes the fork wait."""
    status = answer(
        tmp_path,
        """
import subprocess
read, write = os.pipe()
numbers = range(1_000_000)
def arm():
    os.write(write, b"1")
    sum(numbers) # C code that holds the GIL
    raise RuntimeError("not now")
ocular._ocular.serve(arm, 5)
viewer = subprocess.Popen([os.environ["OCULAR_TOP"], f"--pid={pid}", "--once"],
                          stderr=subprocess.DEVNULL)
child = native_threads.fork(False, read)
if not child:
    os._exit(7)
status = finish(child)
viewer.wait()
say(status)
""",
    )
    assert status == 7
