# SPDX-License-Identifier: MIT
"""A program that is watched by many viewers at once, good ones and bad ones. It
measures, in rounds of work that meet the tracer (new code, calls, the interpreter
given away and taken back), what it notices of them: CPU time, and time in which it
waited. A round in which its thread did not go to sleep has not waited, whatever the
clocks say: they also count other programs, and CPU time that the host has lent to
another machine."""

import contextlib
import json
import random
import struct
import threading
from pathlib import Path

from e2e import client
from e2e.client import Client, Ended, Refused
from e2e.program import Running, files, wait_until

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


def worked(thread):
    """CPU time of a thread, s."""
    return int(Path(f"/proc/{thread}/schedstat").read_text().split()[0]) / 1e9


class Program(Running):
    def __init__(self, directory):
        super().__init__(directory, PROGRAM)
        self.path = self.said[1]
        self.notes = Path(directory, "phases.json")

    def end(self):
        """Rounds that it did, the calls that Ocular counted, events lost."""
        last, err = super().end()
        assert err == "", err
        return [int(word) for word in last.split()]

    @contextlib.contextmanager
    def measures(self, phase):
        """Its rounds of work in between are this phase's, and there are enough."""
        self.say(phase)
        yield
        enough = worked(self.pid) + 0.1
        wait_until(lambda: worked(self.pid) > enough)
        self.say("")

    def say(self, phase):
        self.process.stdin.write(phase + "\n")
        self.process.stdin.flush()

    def rounds(self, phase):
        """After its end: [(ns of CPU, ns of waiting, ns in all)]."""
        return json.loads(self.notes.read_text())[phase]

    def serving_s(self):
        """CPU time of the threads that serve viewers."""
        tasks = [
            task.name
            for task in Path(f"/proc/{self.pid}/task").iterdir()
            if (task / "comm").read_text().strip() in SERVING
        ]
        assert len(tasks) == len(SERVING)
        return sum(map(worked, tasks))

    def sockets(self):
        return sum(name.startswith("socket:") for name in files(self.pid))


# --- Bad viewers --------------------------------------------------------------


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


@contextlib.contextmanager
def bad_viewers(path):
    """All kinds of them, as fast as they can."""
    stop = threading.Event()
    whims = (
        [never_reads] * 10
        + [vanishes_in_a_frame] * 2
        + [sends_garbage] * 2
        + [comes_and_goes] * 2
    )
    bad_ones = [
        threading.Thread(target=bad, args=(whim, path, random.Random(number), stop))
        for number, whim in enumerate(whims)
    ]
    for one in bad_ones:
        one.start()
    try:
        yield
    finally:
        stop.set()
        for one in bad_ones:
            one.join(30)


# --- A hundred good ones ------------------------------------------------------


@contextlib.contextmanager
def many_viewers(path, count):
    """Each has a list, `frames`, of the snapshots that it was sent (hashes)."""
    viewers = [Client(path) for _ in range(count)]
    for viewer in viewers:
        viewer.frames = []
    try:
        yield viewers
    finally:
        for viewer in viewers:
            viewer.close()


def take_frames(viewer, most):
    """Reads on until it has so many."""
    while len(viewer.frames) < most:
        head = viewer.read(12)
        kind, size, _ = struct.unpack("<HII", head[2:])
        payload = viewer.read(size)
        if kind == client.SNAPSHOT:
            viewer.frames.append(hash(payload))
