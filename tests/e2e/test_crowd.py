# SPDX-License-Identifier: MIT
"""Many viewers and bad ones at once, on a program that works: neither it nor a
viewer that behaves notices.

What the program would notice is measured by itself, in rounds of work that meet
the tracer (new code, calls, the interpreter given away and taken back): CPU time,
and time in which it neither ran nor was about to run although it had been, as
where it waits for a lock. Who waits sleeps, and the kernel counts that: a round
in which the thread did not go to sleep has no waiting, whatever its clocks say.
They tell of other programs, and of a virtual CPU that the machine lends to
somebody else, which is in no account of the thread.
"""

import json
import os
import random
import struct
import tempfile
import threading
import time
from pathlib import Path

import pytest
from e2e import client
from e2e.client import Client, Ended, Refused
from e2e.program import SLOW, TOP, Running, files, start, wait_until
from e2e.steady import attempts

PROGRAM = """
import json, os, resource, sys, threading, time
import ocular
def work(n):
    while n:
        n -= 1
for number in range(400):
    exec(f"def padding_{number}(n): return n")
    globals()[f"padding_{number}"](number)
ocular.start_tracing(serve=True, quiet=True, perfetto=False,
                     deinstrument_threshold=50)
for number in range(400):
    globals()[f"padding_{number}"](number)
print(os.getpid(), ocular._ocular.socket_path(), flush=True)
rounds = 0
end, phase, phases = [], "", {}
def obey():
    global phase
    for line in sys.stdin:
        phase = line.strip()
    end.append(True)
threading.Thread(target=obey).start()
def delayed():
    # How long this thread has been runnable and had no CPU.
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1])
def slept():
    # How often it has gone to sleep, as for a lock; who is preempted has not.
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
def some_work():
    for n in range(5):
        eval(compile(f"(lambda n: n)({n})", "<made>", "eval"))
        os.stat("/")  # without the interpreter, which somebody else may take
    work(1000)
while not end:
    work(100)
    rounds += 2
    now = phase
    # The wall clock is read innermost: what delays a reading is no waiting.
    delay, sleeps = delayed(), slept()
    cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
    some_work()
    wall = time.perf_counter_ns() - wall
    cpu, sleeps = time.thread_time_ns() - cpu, slept() - sleeps
    wait = max(wall - cpu - (delayed() - delay), 0) if sleeps else 0
    if now:
        phases.setdefault(now, []).append((cpu, wait, wall))
    time.sleep(0.001)
with open("phases.json", "w") as file:
    json.dump(phases, file)
final = ocular.stop_tracing()
calls = [f["calls"] for f in final["functions"] if f["name"] == "work"]
print(rounds, calls[0], final["lost"], flush=True)
"""


SERVING = ("ocular-server", "ocular-collect")


def times(thread):
    """Seconds that it ran, and that it could have and had no CPU."""
    ran, delayed, _ = Path(f"/proc/{thread}/schedstat").read_text().split()
    return int(ran) / 1e9, int(delayed) / 1e9


class Program(Running):
    def __init__(self, directory):
        super().__init__(directory, PROGRAM)
        self.path = self.said[1]
        self.notes = Path(directory, "phases.json")

    def end(self):
        last, err = super().end()
        assert err == "", err
        return [int(word) for word in last.split()]

    def measure(self, phase):
        """From now on its rounds of work are this phase's."""
        self.process.stdin.write(phase + "\n")
        self.process.stdin.flush()

    def rounds(self, phase):
        """After its end: [(ns of CPU, ns of waiting, ns in all)]."""
        return json.loads(self.notes.read_text())[phase]

    def works_on(self):
        """Until there are rounds enough, however little CPU time it gets."""

        def worked():
            return times(self.pid)[0]

        enough = worked() + 0.1
        wait_until(lambda: worked() > enough, SLOW)

    def ours(self):
        """The same as times(), of the threads that serve viewers."""
        tasks = [
            task.name
            for task in Path(f"/proc/{self.pid}/task").iterdir()
            if (task / "comm").read_text().strip() in SERVING
        ]
        assert len(tasks) == len(SERVING)
        return [sum(each) for each in zip(*map(times, tasks))]

    def sockets(self):
        return sum(name.startswith("socket:") for name in files(self.pid))


class Witness:
    """A viewer that behaves, in a process of its own."""

    SNAPSHOTS = 5

    def __init__(self, program):
        self.program, self.delayed = program, program.ours()[1]
        self.out = tempfile.TemporaryFile("w+")
        self.process = start(
            [TOP, "-p", program.pid, "--json", "-d", 1, "-n", self.SNAPSHOTS],
            stdout=self.out,
        )

    def is_content(self):
        """It has seen all that it asked for, one after the other."""
        wait_until(self.has_ended, SLOW)
        delayed = self.program.ours()[1] - self.delayed + times(self.process.pid)[1]
        _, err = self.process.communicate()
        self.out.seek(0)
        seen = [json.loads(line) for line in self.out]
        assert self.process.returncode == 0 and err == "", err
        assert len(seen) == self.SNAPSHOTS
        assert not any(snapshot["lost"] for snapshot in seen)
        uptimes = [snapshot["uptime_s"] for snapshot in seen]
        assert uptimes == sorted(set(uptimes))
        # One a second, had those who make and read them the machine for themselves.
        assert uptimes[-1] - uptimes[0] < 3 * self.SNAPSHOTS + delayed, uptimes
        return True

    def has_ended(self):
        """It is still listed, with its times."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)


def bad(whim, path, dice, stop):
    while not stop.is_set():
        try:
            with Client(path, timeout=5, hello=dice.random() < 0.8) as viewer:
                whim(viewer, dice, stop)
        except (OSError, Ended, Refused, AssertionError, struct.error):
            pass


def never_reads(viewer, dice, stop):
    viewer.send(client.RATE, struct.pack("<d", 0.1), 1)
    stop.wait()


def vanishes_in_a_frame(viewer, dice, stop):
    viewer.send(client.RATE, struct.pack("<d", 0.1), 1)
    viewer.read(12 + dice.randrange(4000))
    viewer.socket.sendall(client.MAGIC + b"\x10")


def sends_garbage(viewer, dice, stop):
    viewer.socket.sendall(dice.randbytes(dice.randrange(1, 3000)))
    viewer.socket.recv(100)


def comes_and_goes(viewer, dice, stop):
    pass


def waited(rounds):
    """The part of its time that it waited."""
    return sum(wait for _, wait, _ in rounds) / sum(wall for _, _, wall in rounds)


def note(wrong, check):
    """What no machine is to blame for is wrong if it happens once."""
    try:
        assert check()
    except AssertionError as error:
        wrong.append(repr(error))


def notices_nothing(face, directory):
    """The program, of what face(program, wrong) lets loose on it."""
    wrong = []

    def check():
        with Program(directory) as program:
            face(program, wrong)

    try:
        attempts(2, check)
    finally:
        assert not wrong


def face_bad_viewers(program, wrong):
    before = program.sockets()
    with Client(program.path) as viewer:  # it is not alone before, either
        viewer.snapshot()
        program.measure("before")
        program.works_on()
        program.measure("")
    stop = threading.Event()
    whims = (
        [never_reads] * 10
        + [vanishes_in_a_frame] * 2
        + [sends_garbage] * 2
        + [comes_and_goes] * 2
    )
    bad_ones = [
        threading.Thread(target=bad, args=(whim, program.path, random.Random(number), stop))
        for number, whim in enumerate(whims)
    ]
    for one in bad_ones:
        one.start()
    try:
        program.measure("during")
        ours, theirs = program.ours()[0], time.process_time()
        note(wrong, Witness(program).is_content)
        program.works_on()
        ours, theirs = program.ours()[0] - ours, time.process_time() - theirs
        program.measure("")
    finally:
        stop.set()
        for one in bad_ones:
            one.join(30)
    # Nothing is left of them, and others are let in.
    note(wrong, lambda: wait_until(lambda: program.sockets() == before))
    with Client(program.path) as viewer:
        assert viewer.snapshot()["functions"]
    rounds, calls, lost = program.end()
    # A floor, once it is dark.
    note(wrong, lambda: 0 < calls <= rounds and lost == 0)
    # It did not notice: it waits for nothing, its work takes what it took, and
    # those who storm pay more for it than it does.
    quiet, busy = program.rounds("before"), program.rounds("during")
    assert len(quiet) > 20 and len(busy) > 20
    assert waited(busy) < waited(quiet) + 0.01
    assert min(busy)[0] < 2 * min(quiet)[0]
    assert ours < theirs, (ours, theirs)


@pytest.mark.timeout(600)
def test_bad_viewers(tmp_path, sockets):
    """All kinds of them, as fast as they can, while one looks who behaves."""
    notices_nothing(face_bad_viewers, tmp_path)


def take_frames(viewer, most):
    """Reads so many snapshots, as bytes."""
    while len(viewer.frames) < most:
        head = viewer.read(12)
        kind, size, _ = struct.unpack("<HII", head[2:])
        payload = viewer.read(size)
        if kind == client.SNAPSHOT:
            viewer.frames.append(hash(payload))


def face_a_hundred(program, wrong):
    with Client(program.path) as viewer:
        viewer.snapshot()
        program.measure("before")
        program.works_on()
        program.measure("")
    some = [Client(program.path) for _ in range(99)]
    for viewer in some:
        viewer.frames = []
    try:
        witness = Witness(program)
        program.measure("during")
        for number in range(1, 5):
            for viewer in some:
                take_frames(viewer, number)
        note(wrong, witness.is_content)
        program.works_on()
        program.measure("")
    finally:
        for viewer in some:
            viewer.close()
    # They came at different times, and fell into step.
    assert len({viewer.frames[3] for viewer in some}) <= 20
    lost = program.end()[2]
    note(wrong, lambda: lost == 0)
    quiet, busy = program.rounds("before"), program.rounds("during")
    assert len(quiet) > 20 and len(busy) > 20
    assert waited(busy) < waited(quiet) + 0.01
    assert min(busy)[0] < 2 * min(quiet)[0]


@pytest.mark.timeout(600)
def test_a_hundred_viewers(tmp_path, sockets):
    """Each has all of its snapshots; what is built and encoded for all of them
    is what is for one, and the program does not notice."""
    notices_nothing(face_a_hundred, tmp_path)
