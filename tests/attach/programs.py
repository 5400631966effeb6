# SPDX-License-Identifier: MIT
"""Programs that know nothing of Ocular, and what can be seen of them from outside."""

import contextlib
import os
from pathlib import Path

from e2e.program import PYTHON, SLOW, TOP, Running, run, wait_until

# Works in short calls, as most programs do, until its stdin ends.
WORKS = """
import select, sys, time

def busy(n):
    return sum(range(n))

def work():
    for n in range(200):
        busy(n)
    time.sleep(0.001)

print("ready", flush=True)
while not select.select([0], [], [], 0)[0]:
    work()
print("names", *sorted(name for name in globals() if not name.startswith("__")))
"""

# Its main thread waits for the others, for ever.
WAITS = """
import threading, time

def work():
    while True:
        sum(range(1000))
        time.sleep(0.001)

threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
print("ready", flush=True)
threads[0].join()
"""

# It is in a call of C's that does not end until its stdin has something, and that keeps
# the interpreter's lock.
BLOCKED = """
import ctypes
held, room = ctypes.PyDLL(None), ctypes.create_string_buffer(1)
print("ready", flush=True)
held.read(0, room, 1)
print("after", flush=True)
input()
"""

TIGHT = """
print("ready", flush=True)
def spin():
    n = 0
    while True:
        n += 1
spin()
"""


class Program(Running):
    """It runs without Ocular in its environment."""

    pids = set()  # of all that there were

    def __init__(self, directory, source, interpreter=PYTHON, arguments=(), **env):
        env = {"PYTHONPATH": "", "OCULAR_SERVE": "", **env}
        super().__init__(directory, source, (interpreter, *arguments), env=env)
        assert self.said == ["ready"]
        Program.pids.add(self.pid)

    def end(self):
        """It ends by itself: what it says on stdout and stderr."""
        out, err = self.process.communicate("x", timeout=SLOW)
        assert self.process.returncode == 0, err
        return out, err

    def names(self):
        """Of its threads."""
        found = []
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found.append((task / "comm").read_text().strip())
        return sorted(found)

    def descriptors(self):
        found = []
        for each in Path(f"/proc/{self.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.append(os.readlink(each))
        return sorted(found)

    def timers(self):
        return Path(f"/proc/{self.pid}/timers").read_text()

    def state(self):
        return self.names(), self.descriptors(), self.timers()

    def is_again(self, state):
        """The thread that was asked has a moment to end."""
        wait_until(lambda: self.state() == state, what=f"{self.state()} is {state}")

    def await_read(self):
        """Until its main thread waits for its stdin: read(0, ...)."""
        path = Path(f"/proc/{self.pid}/syscall")
        wait_until(lambda: path.read_text().startswith("0 0x0 "), what="read()")

    def attach(self, *arguments):
        return run([TOP, "--attach-only", "--pid", self.pid, *arguments])

    def detach(self):
        return run([TOP, "--detach", "--pid", self.pid])

    def snapshot(self, *arguments):
        return run([TOP, "--pid", self.pid, "-n", "2", "-d", "0.3", "--json", *arguments])


def files():
    """The files in /tmp that attaching to these tests' programs has left."""
    return {
        path.name
        for path in Path("/tmp").glob("ocular-attach-*")
        if int(path.name.split("-")[2]) in Program.pids
    }
