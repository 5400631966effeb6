# SPDX-License-Identifier: MIT
"""Contains programs that do not use Ocular, and functions that observe these programs from
outside."""

import contextlib
import json
import os
from pathlib import Path

from e2e.program import PYTHON, SLOW, TOP, Running, run, wait_until

# Works in short calls, like most programs, until stdin has input.
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

# The main thread waits for ever for the other threads to end.
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

# The main thread calls a C function, which returns when stdin has input. In this C
# function, the thread holds the GIL.
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
    """Runs a program without Ocular in its environment."""

    # Other tests attach to programs at the same time. The kernel uses the number of an
    # ended process again, so each test has sets of its own.
    pids = set()  # The pids of the processes that this test has started.
    older = set()  # The folders that existed before this test.

    def __init__(self, directory, source, interpreter=PYTHON, arguments=(), **env):
        env = {"PYTHONPATH": "", "OCULAR_SERVE": "", **env}
        super().__init__(directory, source, (interpreter, *arguments), env=env)
        assert self.said == ["ready"]
        Program.pids.add(self.pid)

    def end(self):
        """Waits until the program ends by itself. Returns its stdout and stderr."""
        out, err = self.process.communicate("x", timeout=SLOW)
        assert self.process.returncode == 0, err
        return out, err

    def names(self):
        """Returns the names of the program's threads."""
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
        """Waits until the state is the same as before attaching, because the thread that
        ran the script needs some time to end."""
        wait_until(lambda: self.state() == state, what=f"{self.state()} is {state}")

    def await_read(self):
        """Waits until the main thread waits for stdin in read(0, ...)."""
        path = Path(f"/proc/{self.pid}/syscall")
        wait_until(lambda: path.read_text().startswith("0 0x0 "), what="read()")

    def attach(self, *arguments):
        return run([TOP, "--attach-only", "--pid", self.pid, *arguments])

    def detach(self):
        return run([TOP, "--detach", "--pid", self.pid])

    def comes_and_goes(self, *functions):
        """Attaches, waits until these functions are traced, and detaches."""
        assert self.attach().status == 0
        if functions:
            self.functions(*functions)
        assert self.detach().status == 0

    def snapshot(self, *arguments):
        return run([TOP, "--pid", self.pid, "-n", "2", "-d", "0.3", "--json", *arguments])

    def functions(self, *names, arguments=()):
        """Waits until the viewer shows these functions, because on a busy machine they have
        perhaps not run yet. Returns the names of all functions that the viewer shows."""

        def shown():
            done = self.snapshot(*arguments)
            assert (done.status, done.err) == (0, ""), done
            rows = json.loads(done.out.splitlines()[-1])["functions"]
            found = {row["name"] for row in rows}
            return found.issuperset(names) and found

        return wait_until(shown, what=str(names))


def folders():
    """Returns the names of the folders in /tmp that attaching to any program has made."""
    return {path.name for path in Path("/tmp").glob("ocular-attach-*")}


def files():
    """Returns the names of folders that attaching to the programs of this test has left
    behind."""
    names = folders() - Program.older
    return {name for name in names if int(name.split("-")[2]) in Program.pids}
