# SPDX-License-Identifier: MIT
"""A recording says what functions waited for, even if the program was killed. Each thread
of the recorded program waits in a known way, for so long that Ocular's samples find the
right share of waiting. The kernel says for how long a thread ran, and for how long it had
no CPU."""

import gzip
import json

import pytest
from e2e.program import PYTHON, SLOW, run, start, top, write
from ocular import _stacks

pytestmark = pytest.mark.once

NEAR = 0.1  # Tolerance, as a share of one core.
# The first three seconds are left out, because Ocular finds the threads in this time.
FROM_S, TO_S = 3, 10
KINDS = {"sleeps": "sleep", "locks": "lock", "reads": "socket"}
STRETCH = "--keys", f"[{FROM_S}<Enter>]{TO_S}<Enter>"
PROGRAM = f"""
import glob, json, shutil, socket, sys, threading, time
import ocular
ends = socket.socketpair()
lock = threading.Lock()
lock.acquire()
offset = ocular.snapshot()["uptime_s"] - time.monotonic()
calls, clocks = [], []
def now():
    return time.monotonic() + offset
def note(began):
    calls.append([sys._getframe(1).f_code.co_name, began, now()])
def sleeps():
    began = now()
    time.sleep(0.5)
    note(began)
def locks():
    began = now()
    lock.acquire(timeout=0.5)
    note(began)
def reads():
    began = now()
    ends[0].recv(1)
    note(began)
def burns():
    for _ in range(10000): pass
def sends():
    time.sleep(0.5)
    ends[1].send(b"x")
def forever(function):
    while True:
        function()
threads = [
    threading.Thread(target=forever, args=(each,), daemon=True, name=each.__name__)
    for each in (sleeps, locks, reads, burns, sends)
]
for thread in threads:
    thread.start()
(burner,) = [thread.native_id for thread in threads if thread.name == "burns"]
while now() < {TO_S} + 1:
    ran = open(f"/proc/self/task/{{burner}}/schedstat").read().split()[0]
    clocks.append([now(), int(ran) / 1e9])
    time.sleep(0.1)
(recording,) = glob.glob("run.*.ocular")
shutil.copy(recording, "killed.ocular")  # as if killed now
print(json.dumps(dict(calls=calls, clocks=clocks)), flush=True)
"""


class Truth:
    """The shares that the program itself has measured between FROM_S and TO_S."""

    def __init__(self, said):
        self.calls, self.clocks = said["calls"], said["clocks"]

    def within(self, name):
        """Returns the share of the time in which the function was running or waiting."""
        return sum(
            max(min(end, TO_S) - max(began, FROM_S), 0)
            for function, began, end in self.calls
            if function == name
        ) / (TO_S - FROM_S)

    def ran(self):
        """Returns the share of the time in which the thread of burns() had a CPU."""
        inside = [clock for clock in self.clocks if FROM_S <= clock[0] <= TO_S]
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


# The second program sleeps in a function that the first program does not have.
OTHER = f"import time\ndef extra():\n time.sleep({TO_S})\nextra()\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Runs two programs at the same time. Returns their folder, and the Truth about the
    threads of the first program. The folder has the recordings run.ocular and other.ocular,
    and a copy of run.ocular from before the end of the first program."""
    folder = tmp_path_factory.mktemp("waits")
    command = [PYTHON, "-m", "ocular", "--quiet", "--output"]
    other = [*command, "other.ocular", write(folder, OTHER, "other.py")]
    with start(other, cwd=folder) as process:
        options = ["run.ocular", "--budget", "0.05", write(folder, PROGRAM)]
        done = run([*command, *options], cwd=folder, timeout=2 * SLOW)
        assert process.communicate(timeout=SLOW)[1] == ""
    return folder, Truth(done.answer)


@pytest.fixture(params=["killed", "run"])
def recorded(request, program):
    """Returns the Truth, and the path of a recording."""
    folder, truth = program
    return truth, folder / f"{request.param}.ocular"


def shown(*options):
    done = top(*map(str, options), "--once", "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def rows(snapshot):
    return {row["name"]: row for row in snapshot["functions"]}


def near(value):
    return pytest.approx(value, abs=NEAR)


def test_functions(recorded):
    """After a wait, a thread perhaps has to wait for the GIL or a CPU before it runs again.
    The time that the program itself has measured includes this second wait."""
    truth, path = recorded
    found = rows(shown(path, *STRETCH))
    for name, kind in KINDS.items():
        row = found[name]
        assert row["wait_share"] == near(truth.within(name)), name
        parts = dict(row["waits"])
        gil, cpu = parts.pop("gil"), parts.pop("cpu")
        assert sum(parts.values()) == pytest.approx(parts[kind])
        assert parts[kind] + gil + cpu == pytest.approx(row["wait_share"])
        assert parts[kind] > row["wait_share"] / 2
    burns = found["burns"]
    assert burns["share"] == near(truth.ran())
    # This bound is rough, because Ocular learns only seconds later who had no CPU.
    assert 0 <= burns["wait_share"] < 1 - truth.ran() + 3 * NEAR
    assert burns["total_parts"]["sleep"] == 0
    # forever() calls the functions of all threads, and only the main thread calls others.
    # How its waits are divided by kind is known from few answers.
    parts = found["forever"]["total_parts"]
    assert all(parts[kind] > 0 for kind in KINDS.values())
    below = *KINDS, "burns", "sends", "note", "now", "forever"
    waits = sum(found[name]["wait_share"] or 0 for name in below if name in found)
    assert sum(parts.values()) - parts["c"] - parts["gc"] == near(waits)


def test_a_thread_and_the_whole_program(recorded):
    truth, path = recorded
    snapshot = shown(path, *STRETCH)
    threads = {row["name"]: row for row in snapshot["threads"]}
    assert threads["reads"]["wait_share"] == near(1)
    assert threads["burns"]["cpu_share"] == near(truth.ran())
    assert snapshot["gil"]["waited"] >= 0 and snapshot["cpu"]["waited"] >= 0
    done = top(str(path), "--once", "--size", "150x30", "--sort", "wait%")
    lines = done.out.splitlines()
    (title,) = [i for i, line in enumerate(lines) if "WAIT▼" in line]
    assert lines[title + 1].split()[-1].count(":") == 1, lines


def test_the_flame_graph(recorded):
    truth, path = recorded
    stacks = shown(path, "--keys", "f")
    names = {row["id"]: row["name"] for row in stacks["functions"]}
    waits = {}
    for wait in stacks["waits"]:
        name = names.get(stacks["rows"][wait["parent"]]["id"])
        waits[name, wait["kind"]] = wait["share"]
    for name, kind in KINDS.items():
        assert 0 < waits[name, kind] < truth.within(name) + NEAR
    for keys in "fm", "fmm":
        done = top(str(path), "--once", "--size", "400x40", "--keys", keys)
        assert "(socket)" in done.out and "(lock)" in done.out
        assert ("wall time" in done.out) == (keys == "fm")


def converted(path, ending):
    output = path.with_suffix(f".{ending}")
    if not output.exists():
        done = run([PYTHON, "-m", "ocular", "convert", path, "-o", output])
        assert done.status == 0, done.err
    return output


def test_files_for_other_tools(recorded):
    truth, path = recorded
    folded = converted(path, "wall.folded").read_text().splitlines()
    asleep = sum(
        int(line.rpartition(" ")[2])
        for line in folded
        if "sleeps (" in line and ";(waiting: sleep) " in line
    )
    assert asleep / 1e6 > truth.within("sleeps") * (TO_S - FROM_S) / 2
    cpu, wall = _stacks.read_times(line.encode() for line in folded)
    document = json.loads(converted(path, "speedscope.json").read_text())
    ends = [profile["endValue"] for profile in document["profiles"]]
    assert ends == [pytest.approx(1000 * each.total, rel=0.01) for each in (cpu, wall)]
    assert wall.total > 3 * cpu.total
    assert b"(waiting: lock)" in gzip.decompress(converted(path, "pb.gz").read_bytes())
    assert "(waiting: lock)" in converted(path, "html").read_text()


def test_a_wait_that_grows(program):
    folder, _ = program
    pair = str(folder / "killed.ocular"), str(folder / "other.ocular")
    found = json.loads(top("--diff", "--json", "--", *pair).out)
    row = next(row for row in found["functions"] if row["name"] == "extra")
    assert row["wait"]["a"] == 0 and row["wait"]["b"] > 0.7 and row["wait"]["differs"]
    (kinds,) = [wait for wait in row["waits"] if wait["kind"] == "sleep"]
    assert kinds["a"] == 0 and kinds["b"] > 0.5
    done = top("--diff", "--", *pair)
    assert "waits longer, most of all for sleep: extra, 0.0% and then " in done.out
    wide = top(*pair, "--once", "--size", "240x40").out
    (line,) = [line for line in wide.splitlines() if " extra " in line]
    assert "WAITS FOR" in wide and " sleep " in line
