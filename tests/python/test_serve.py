# SPDX-License-Identifier: MIT
"""Tests idle serving: a process listens, and is not traced until a viewer connects. Each
test runs a separate process."""

import os
import re
import select
import time
from pathlib import Path

import pytest
from e2e.client import ERROR, NOTICE, SNAPSHOT, Client, Ended, Refused
from e2e.program import PYTHON, SLOW, TOP, Running, run, script, wait_until, write

PRELUDE = """
import ocular, os, signal, sys, threading, time
ocular._GRACE_S = 1
def work(n):
    while n:
        n -= 1
def ours():
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as file:
                names.append(file.read().strip())
        except OSError:
            pass
    return sorted(n for n in names if n.startswith("ocular-"))
def tools():
    return [sys.monitoring.get_tool(tool) for tool in range(6)]
def say(*values):
    print(*values, flush=True)
def until(condition):
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit
        work(200)
        time.sleep(0.001)
"""

# This program serves viewers idly until its stdin ends.
LOOP = """
ocular.serve({arguments})
say(os.getpid())
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), done.set())).start()
while not done.is_set():
    work(200)
    time.sleep(0.001)
say("end", ocular.is_tracing())
"""


class Served(Running):
    """Runs a program that serves viewers. `path` is the path of the program's socket."""

    def __init__(self, directory, sockets, source, **more):
        super().__init__(directory, PRELUDE + source, **more)
        self.path = sockets / f"{self.pid}.sock"

    def end(self):
        found = super().end()
        assert not self.path.exists()
        return found

    def threads(self):
        found = {}
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                name = (task / "comm").read_text().strip()
                status = (task / "status").read_text()
            except OSError:  # The thread has ended.
                continue
            if name.startswith("ocular-"):
                found[name] = int(
                    re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1]
                )
        return found

    def sleeps(self):
        """Returns True if no thread of Ocular wakes up during a time that is longer than
        the longest of Ocular's timers."""
        before = self.threads()
        time.sleep(2.2)
        return self.threads() == before and set(before) == IDLE

    def is_armed(self):
        return "ocular-governor" in self.threads()


def serving(directory, sockets, arguments="", **more):
    return Served(directory, sockets, LOOP.format(arguments=arguments), **more)


IDLE = {"ocular-activate", "ocular-server"}


DISARMED = """
def armed():
    monitoring, found = sys.monitoring, []
    for tool in (3, 4, 5):
        mine = monitoring.get_tool(tool) is None
        if mine:
            monitoring.use_tool_id(tool, "probe")  # local events stay if an id is freed
        if monitoring.get_events(tool) or monitoring.get_local_events(tool, work.__code__):
            found.append(tool)
        if mine:
            monitoring.free_tool_id(tool)
    return found
ocular.serve()
say(os.getpid())
until(lambda: any(tools()) and armed())
say("armed")
until(lambda: not ocular.is_tracing() and "ocular-governor" not in ours())
say(armed(), [tool for tool in tools() if tool])
sys.stdin.read()
"""


def test_nothing_stays_armed_after_the_last_has_left(tmp_path, sockets):
    with Served(tmp_path, sockets, DISARMED) as served:
        with Client(served.path) as client:
            client.snapshot()
            assert served.process.stdout.readline() == "armed\n"
        assert served.end() == ("[] []", "")


def test_it_costs_nothing_until_somebody_looks(tmp_path, sockets):
    """A process that serves idly has no hook, no tool and no thread that wakes up. The
    process has hooks, tools and threads only while a viewer is connected."""
    with serving(tmp_path, sockets) as served:
        wait_until(lambda: set(served.threads()) == IDLE, SLOW)
        wait_until(served.sleeps, SLOW)
        came = time.monotonic()
        with Client(served.path) as client:
            client.rate(0.1)
            first = client.snapshot()
            assert first["uptime_s"] <= 1.01 * (time.monotonic() - came)
            wait_until(served.is_armed, SLOW)
            found = client.wait_for(
                lambda s: (
                    s["threads"]
                    and any(f["name"] == "work" and f["calls"] > 9 for f in s["functions"])
                )
            )
            assert found["overhead"]["budget"] == 0.01
            # The list of threads does not contain Ocular's threads.
            assert not [t for t in found["threads"] if t["name"].startswith("ocular-")]
            left = time.monotonic()
        wait_until(lambda: set(served.threads()) == IDLE, SLOW)
        assert time.monotonic() - left > 0.8  # the grace period is over
        wait_until(served.sleeps, SLOW)
        out, err = served.end()
        assert out == "end False" and err == ""
    assert os.listdir(tmp_path) == ["program.py"]  # No file is written.


MANY = """
import tracemalloc
COUNT = 5000
names = {}
exec(compile("\\n".join(f"def f{n}(): pass" for n in range(COUNT)), "many.py",
             "exec"), names)
ocular.serve()
say(os.getpid())
until(lambda: "ocular-governor" in ours())
for number in range(COUNT):
    names[f"f{number}"]()
tracemalloc.start()
before = tracemalloc.get_traced_memory()[0]
say("called")
if sys.stdin.readline() == "leave\\n":
    until(lambda: "ocular-governor" not in ours())
ocular.stop_serving()  # waits for the thread that ends the trace
say((tracemalloc.get_traced_memory()[1] - before) // COUNT)
"""


@pytest.mark.parametrize("how", ["leave", "stop"])
def test_no_results_are_made_where_nobody_gets_them(tmp_path, sockets, how):
    """If a trace ends because no viewer is left, Ocular builds no result in Python.
    Building a result would stop all other threads, and take 2 KB for each function."""
    with Served(tmp_path, sockets, MANY) as served:
        with Client(served.path) as client:
            client.snapshot()
            assert served.process.stdout.readline() == "called\n"
            if how == "stop":
                out, err = served.process.communicate("stop\n", timeout=30)
        if how == "leave":
            out, err = served.process.communicate("leave\n", timeout=30)
    assert int(out) < 200 and err == ""


def test_it_stays_armed_while_one_looks(tmp_path, sockets):
    with serving(tmp_path, sockets) as served:
        with Client(served.path) as stays:
            stays.rate(0.1)
            with Client(served.path) as goes:
                goes.snapshot()
                wait_until(served.is_armed)
            before = stays.snapshot()["events"]
            time.sleep(3)  # The program waits three times the grace period.
            assert served.is_armed()
            stays.wait_for(lambda s: s["uptime_s"] > 3 and s["events"] > before)
        wait_until(lambda: set(served.threads()) == IDLE)
        served.end()


def test_who_comes_back_finds_the_numbers(tmp_path, sockets):
    patient = "ocular._GRACE_S = 30\n" + LOOP.format(arguments="")
    with Served(tmp_path, sockets, patient) as served:
        with Client(served.path) as client:
            client.rate(0.1)
            before = client.wait_for(lambda s: s["events"] > 100)
        time.sleep(0.5)
        with Client(served.path) as client:
            kind, *_ = (client.receive(), client.receive())[1]
            assert kind == SNAPSHOT  # The first message after HELLO is a snapshot.
            after = client.snapshot()
        assert after["uptime_s"] > before["uptime_s"]
        assert after["events"] >= before["events"]
        ids = {f["id"] for f in after["functions"]}
        assert {f["id"] for f in before["functions"]} <= ids
        served.end()


def test_the_answer_comes_at_once(tmp_path, sockets):
    """A request is answered at once, even by a program that never releases the GIL."""
    source = """
import ctypes
ocular.serve()
say(1)
sys.stdin.readline()
byte = ctypes.create_string_buffer(1)
ctypes.PyDLL(None).read(0, byte, 1)  # holds the GIL
say("let go")
sys.stdin.read()
say("end")
"""
    with Served(tmp_path, sockets, source) as served:
        say(served, "go")
        time.sleep(0.3)
        out = served.process.stdout
        with Client(served.path) as client:
            assert client.receive()[2][1] == served.pid
            kind, _, text = client.receive()
            assert kind == NOTICE and "Arming" in text
            # The program is still in the C call in which it holds the GIL.
            assert not select.select([out], [], [], 0)[0]
            say(served, "")
            client.snapshot()
        assert out.readline() == "let go\n"
        served.end()


def test_no_free_tool_id(tmp_path, sockets):
    """If no tool id is free, the viewer gets an error and the program is not disturbed.
    As soon as an id is free, another viewer succeeds."""
    source = """
for tool in (3, 4, 5):
    sys.monitoring.use_tool_id(tool, "other")
ocular.serve()
say(1)
sys.stdin.readline()
assert tools()[3:] == ["other"] * 3 and not ocular.is_tracing()
sys.monitoring.free_tool_id(4)
sys.monitoring.free_tool_id(5)
say("free")
until(ocular.is_tracing)
sys.stdin.read()
say("end", tools()[3])
"""
    with Served(tmp_path, sockets, source) as served:
        for _ in range(2):
            with Client(served.path) as client, pytest.raises(Refused) as refusal:
                client.snapshot()
            assert "tool id" in refusal.value.args[1]
            with pytest.raises(Ended):
                client = Client(served.path)
                while True:
                    client.receive()
        done = run([TOP, "-p", served.pid, "--once", "--json"])
        assert done.status == 1 and "tool id" in done.err
        served.process.stdin.write("\n")
        served.process.stdin.flush()
        assert served.process.stdout.readline() == "free\n"
        with Client(served.path) as client:
            client.snapshot()
        assert served.end() == ("end other", "")


def test_the_program_traces_itself(tmp_path, sockets):
    """start_tracing() takes over the socket and its connected viewers. After stop_tracing()
    the process serves idly again."""
    source = """
ocular.serve(exclude=["nothing"])
say(1)
path = ocular._ocular.socket_path()
sys.stdin.readline()
assert ocular.is_tracing()
ocular.start_tracing(output="mine.json", quiet=True)
assert ocular._ocular.socket_path() == path
until(lambda: ocular.snapshot()["uptime_s"] > 1)
say("mine")
sys.stdin.readline()
final = ocular.stop_tracing()
assert final["threshold"] == 500 and not ocular.is_tracing()
assert os.path.exists("mine.json") and os.path.exists(path)
say("idle")
sys.stdin.readline()
until(ocular.is_tracing)
final = ocular.stop_tracing()
assert final is not None and ocular.stop_tracing() is None
say("end", sorted(name for name in os.listdir() if "json" in name))
"""
    with Served(tmp_path, sockets, source) as served:

        def go(word=None):
            served.process.stdin.write("\n")
            served.process.stdin.flush()
            if word:
                line = served.process.stdout.readline()
                assert line == word + "\n", served.process.stderr.read()

        with Client(served.path) as client:
            client.rate(0.1)
            armed = client.snapshot()
            go("mine")
            mine = client.wait_for(
                lambda s: s["uptime_s"] < armed["uptime_s"] or s["uptime_s"] > 1
            )
            go("idle")
            # Ended is raised after the last snapshot and the message END.
            with pytest.raises(Ended):
                while True:
                    kind, _, _ = client.receive()
            assert kind not in (ERROR, NOTICE)
        wait_until(lambda: not served.is_armed())
        with Client(served.path) as client:
            client.snapshot()
            go()
            with pytest.raises(Ended):
                while True:
                    kind, _, _ = client.receive()
        assert mine["pid"] == served.pid
        assert served.end() == ("end ['mine.json']", "")


def test_blocks_and_errors(tmp_path, sockets):
    body = """
sys.path.append(SITE)
import pytest
with pytest.raises(ValueError, match="overhead_budget"):
    ocular.serve(overhead_budget=7)
with pytest.raises(TypeError):
    ocular.serve(output="x")
assert not ocular._ocular.is_serving()
with ocular.tracing(perfetto=False, quiet=True):
    with pytest.raises(RuntimeError, match="before"):
        ocular.serve()
ocular.stop_serving()
ocular.serve()
ocular.serve(deinstrument_threshold=9)
path = ocular._ocular.socket_path()
with ocular.tracing(perfetto=False, quiet=True):
    assert ocular.is_tracing()
    assert ocular.snapshot()["overhead"]["budget"] == 0.01
    with pytest.raises(RuntimeError, match="stop_tracing"):
        ocular.stop_serving()
    assert os.path.exists(path)
assert not ocular.is_tracing() and os.path.exists(path)
with pytest.raises(RuntimeError, match="not tracing"):
    ocular.snapshot()
ocular.stop_serving()
assert not os.path.exists(path) and ours() == []
os.environ["OCULAR_DIR"] = "/nonexistent/nowhere"
with pytest.raises(RuntimeError, match="nowhere"):
    ocular.serve()
assert ours() == [] and not ocular._ocular.is_serving()
say('"ok"')
"""
    site = os.path.dirname(os.path.dirname(pytest.__file__))
    body = body.replace("SITE", repr(site))
    assert script(tmp_path, PRELUDE + body).answer == "ok"


def test_the_environment(tmp_path, sockets):
    source = (
        "import ocular, os\nprint(int(os.path.exists("
        "ocular._ocular.socket_path() or '')), int(ocular.is_tracing()))"
    )
    for value, out, said in [
        ("1", "1 0\n", ""),
        ("0", "0 0\n", ""),
        ("", "0 0\n", ""),
        ("yes", "0 0\n", "1 or 0"),
    ]:
        done = script(tmp_path, source, env={"OCULAR_SERVE": value})
        assert (done.status, done.out) == (0, out)
        assert said in done.err and bool(said) == bool(done.err)
    done = script(
        tmp_path, source, env={"OCULAR_SERVE": "1", "OCULAR_DIR": "/nonexistent/x"}
    )
    assert done.status == 0 and done.out == "0 0\n"
    assert "OCULAR_SERVE has no effect" in done.err
    assert os.listdir(sockets) == []


def test_from_the_command_line(tmp_path, sockets):
    source = (
        "import ocular, sys\n"
        "print(ocular._ocular.is_serving(), ocular.is_tracing(), sys.argv)"
    )
    path = write(tmp_path, source)
    done = run([PYTHON, "-m", "ocular", "--idle", path, "x"], cwd=tmp_path)
    assert done.out == f"True False ['{path}', 'x']\n" and done.err == ""
    done = run(
        [PYTHON, "-m", "ocular", "--quiet", "--no-perfetto", path],
        cwd=tmp_path,
        env={"OCULAR_SERVE": "1"},
    )
    assert done.out.startswith("True True") and done.err == ""
    done = run([PYTHON, "-m", "ocular", "--idle", "--output", "x", path], cwd=tmp_path)
    assert done.status == 2 and "--idle" in done.err
    assert os.listdir(sockets) == []


@pytest.mark.parametrize("threads", [0, 2])
def test_forked_children_serve_idly(tmp_path, sockets, threads):
    """Forked children serve idly on their own sockets, also if a viewer is connected to the
    parent. The parent continues to serve."""
    source = """
import warnings
warnings.simplefilter("error")
if THREADS:
    warnings.simplefilter("ignore")
for _ in range(THREADS):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
ocular.serve()
say(1)
def child():
    until(lambda: os.path.exists(ocular._ocular.socket_path() or ""))
    say("child", os.getpid(), ocular.is_tracing(), ours(), tools()[3:5])
    until(ocular.is_tracing)
    until(lambda: not ocular.is_tracing())
    sys.exit(7)
for _ in range(2):
    sys.stdin.readline()
    pid = os.fork()
    if not pid:
        child()
    until(lambda: os.waitpid(pid, os.WNOHANG)[1])
sys.stdin.read()
until(lambda: len(ours()) == 2)
say("end")
""".replace("THREADS", str(threads))
    with Served(tmp_path, sockets, source) as served:

        def fork():
            served.process.stdin.write("\n")
            served.process.stdin.flush()
            line = served.process.stdout.readline()
            word, pid, tracing, rest = line.split(" ", 3)
            assert (word, tracing) == ("child", "False"), line
            assert "governor" not in rest and "'ocular" not in rest.split("[")[-1]
            path = sockets / f"{pid}.sock"
            with Client(path) as client:
                assert client.snapshot()["pid"] == int(pid)
            wait_until(lambda: not path.exists())

        fork()  # The program forks while the parent serves idly.
        with Client(served.path) as client:
            client.snapshot()
            fork()  # The program forks while the parent is traced.
            before = client.snapshot()["uptime_s"]
            client.wait_for(lambda s: s["uptime_s"] > before)
        assert served.end() == ("end", "")


def test_a_child_of_a_trace_is_traced_and_serves_idly_later(tmp_path, sockets):
    body = """
ocular.serve()
ocular.start_tracing(perfetto=False, quiet=True)
pid = os.fork()
if not pid:
    until(ocular.is_tracing)
    ocular.stop_tracing()
    mine = ocular._ocular.socket_path()
    os._exit(3 if os.path.exists(mine) and not ocular.is_tracing() else 4)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
# One child stops before its trace has begun. The other one traces itself at once.
for act in (ocular.stop_tracing,
            lambda: (ocular.start_tracing(perfetto=False, quiet=True),
                     ocular.stop_tracing())):
    pid = os.fork()
    if not pid:
        act()
        until(lambda: ocular._ocular.is_serving())
        os._exit(5 + ocular.is_tracing())
    status = status, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
say([ocular.is_tracing(), str(status)].__repr__().replace("'", '"')
    .replace("True", "true"))
"""
    answer = script(tmp_path, PRELUDE + body).answer
    assert answer == [True, "((3, 5), 5)"]


def test_exit_while_arming(tmp_path, sockets):
    """The process can exit at any time while a trace starts, also by Ctrl-C."""
    source = """
ocular.serve()
say(1)
try:
    work(DELAY)
    if INTERRUPT:
        os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    pass
"""
    for delay in (0, 3000, 30000, 200000, 800000):
        for interrupt in (0, 1):
            with Served(
                tmp_path,
                sockets,
                source.replace("DELAY", str(delay)).replace("INTERRUPT", str(interrupt)),
            ) as served:
                try:
                    client = Client(served.path)
                except OSError:  # The process has ended already.
                    client = None
                out, err = served.process.communicate(timeout=30)
                assert served.process.returncode == 0 and err == ""
                if client:
                    client.close()
                assert os.listdir(sockets) == []


@pytest.mark.once
@pytest.mark.timeout(300)
def test_snapshots_are_part_of_the_budget(tmp_path, sockets):
    """A viewer asks for ten snapshots a second of a program with many functions and a small
    budget. The viewer gets one snapshot every two seconds."""
    source = """
code = "\\n".join(f"def f{n}(): return {n}" for n in range(3000))
space = {}
ocular.start_tracing(serve=True, overhead_budget=0.0001, quiet=True,
                     perfetto=False)
exec(compile(code, "<many>", "exec"), space)
for n in range(3000):
    space[f"f{n}"]()
say(1)
sys.stdin.read()
say("end")
"""
    with Served(tmp_path, sockets, source) as served:
        with Client(served.path) as client:
            client.rate(0.1)
            limit = time.monotonic() + 60
            took = [client.snapshot()["uptime_s"]] * 4
            # Another program can cause one long pause between snapshots, but not two in a
            # row.
            while min(b - a for a, b in zip(took[-3:], took[-2:])) < 1.5:
                took.append(client.snapshot()["uptime_s"])
                assert time.monotonic() < limit, took
            # Ocular builds no snapshot for the other viewer alone. On a busy machine a
            # viewer can miss a snapshot, so the test uses several viewers.
            seen, first = [client.snapshot()["uptime_s"]], None
            while first not in seen:
                assert time.monotonic() < limit + 60, (first, seen)
                with Client(served.path) as other:
                    first = other.snapshot()["uptime_s"]
                while seen[-1] < first:
                    seen.append(client.snapshot()["uptime_s"])
        served.end()


CLOSES = """
import select, socket
{begin}
say(os.getpid())
sys.stdin.readline()
numbers = [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]
os.closerange(3, 256)
pairs, counters = [], []
while {taken!r} == "sockets" and not (pairs and pairs[-1][1].fileno() > max(numbers)):
    pairs.append(socket.socketpair())
while {taken!r} == "eventfds" and not (counters and counters[-1] > max(numbers)):
    counters.append(os.eventfd(5, os.EFD_NONBLOCK))
for pair in pairs:
    for end in pair:
        end.send(b"12345678")
before = time.process_time()
time.sleep({seconds})
used = time.process_time() - before
say(used)
pipes = []
while not (pairs or counters) and not (pipes and pipes[-1][1] > max(numbers)):
    pipes.append(os.pipe())
for _, into in pipes:
    os.write(into, b"123456789")
time.sleep({seconds} / 3)
def left():
    "Yields whether the program's own files are unchanged."
    for pair in pairs:
        for end in pair:
            end.setblocking(False)
            yield end.recv(100) == b"12345678"
    for counter in counters:
        yield os.eventfd_read(counter) == 5
        os.eventfd_write(counter, 7)
    for out, _ in pipes:
        os.set_blocking(out, False)
        yield os.read(out, 100) == b"123456789"
    for out in [end for pair in pairs for end in pair] + [out for out, _ in pipes]:
        yield not select.select([out], [], [], 0)[0]
say(all(left()))
sys.stdin.readline()
{end}()
say(all(os.fstat(end.fileno()) for pair in pairs for end in pair)
    and all(os.eventfd_read(counter) == 7 for counter in counters))
"""


SERVING = pytest.mark.parametrize(
    "begin, end",
    [
        ("ocular.serve()", "ocular.stop_serving"),
        (
            "ocular.start_tracing(serve=True, quiet=True, perfetto=False)",
            "ocular.stop_tracing",
        ),
    ],
    ids=["idle", "traced"],
)


@pytest.mark.once
@pytest.mark.parametrize("taken", ["nothing", "sockets", "eventfds"])
@SERVING
def test_a_program_that_closes_all_descriptors(tmp_path, sockets, begin, end, taken):
    """The program closes all descriptors, including Ocular's, as a daemon does. Even
    without its descriptors, no thread of Ocular spins. Files that get the numbers of
    Ocular's descriptors are neither read nor written, and the process can serve again."""
    source = CLOSES.format(begin=begin, end=end, taken=taken, seconds=0.3)
    with Served(tmp_path, sockets, source) as served:
        with Client(served.path) as client:
            client.rate(0.1)
            client.snapshot()
            say(served, "go on")
            began, output = time.thread_time(), served.process.stdout
            while not select.select([output], [], [], 0)[0]:
                pass
            # A spinning thread would use this CPU time.
            spun = time.thread_time() - began
            assert float(output.readline()) < spun / 2
            assert served.process.stdout.readline() == "True\n"

        def is_served():
            try:
                with Client(served.path) as again:
                    return again.snapshot()
            except (OSError, Ended):
                return None

        wait_until(is_served)
        say(served, "go on")
        out, err = served.end()
        assert out == "True" and err == ""


def say(served, words):
    served.process.stdin.write(words + "\n")
    served.process.stdin.flush()
