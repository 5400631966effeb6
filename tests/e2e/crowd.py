# SPDX-License-Identifier: MIT
"""A program that is watched by many viewers at once, good ones and bad ones: it does
rounds of work that meet the tracer (new code, calls, the interpreter given away and
taken back)."""

import contextlib
import random
import struct
import threading

from e2e import client
from e2e.client import Client, Ended, Refused
from e2e.program import Running, files

PROGRAM = """
import os, sys, threading, time
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
end = []
def obey():
    sys.stdin.read()
    end.append(True)
threading.Thread(target=obey).start()
def some_work():
    for n in range(5):
        eval(compile(f"(lambda n: n)({n})", "<made>", "eval"))
        os.stat("/")  # without the interpreter, which somebody else may take
    work(1000)
while not end:
    work(100)
    rounds += 2
    some_work()
    time.sleep(0.001)
final = ocular.stop_tracing()
calls = [f["calls"] for f in final["functions"] if f["name"] == "work"]
print(rounds, calls[0], final["lost"], flush=True)
"""


class Program(Running):
    def __init__(self, directory):
        super().__init__(directory, PROGRAM)
        self.path = self.said[1]

    def end(self):
        """Rounds that it did, the calls that Ocular counted, events lost."""
        last, err = super().end()
        assert err == "", err
        return [int(word) for word in last.split()]

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
