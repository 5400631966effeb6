# SPDX-License-Identifier: MIT
"""Ocular attaches to programs that sleep, and detaches from them. The calls in which the
programs sleep end at the usual time and with the usual result."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attach import killed
from attach.programs import Program
from e2e.program import TOP, wait_until

SOURCE = """
import ctypes, os, select, signal, socket, subprocess, sys, threading, time
libc = ctypes.CDLL(None)
room = ctypes.create_string_buffer(64)
lock = threading.Lock()
lock.acquire()
poll, epoll = select.poll(), select.epoll()
poll.register(0, select.POLLIN)
epoll.register(0, select.EPOLLIN)
%s
print("ready", flush=True)
try:
    print(%s)
except KeyboardInterrupt:
    print("interrupted")
"""

# Each entry has the call in which a program sleeps, the number of the system call, the
# lines before the call, and the program's output. The call ends when stdin gets "x", or
# when a signal interrupts the call.
SLEEPS = [
    ("os.read(0, 1)", 0, "", "b'x'"),
    ("input()", 0, "", "x"),
    ("select.select([0], [], [])", 270, "", "([0], [], [])"),
    ("select.select([0], [], [], 600)", 270, "", "([0], [], [])"),
    ("poll.poll()[0][0]", 7, "", "0"),
    ("poll.poll(600_000)[0][0]", 7, "", "0"),
    ("epoll.poll()[0][0]", 232, "", "0"),
    ("epoll.poll(600)[0][0]", 232, "", "0"),
    ("time.sleep(600)", 230, "", "interrupted"),
    ("lock.acquire()", 202, "", "interrupted"),
    ("lock.acquire(timeout=600)", 202, "", "interrupted"),
    ("signal.pause()", 34, "", "interrupted"),
    ("os.waitpid(cat.pid, 0)[1]", 61, "cat = subprocess.Popen('cat')", "x0"),
    ("it.accept()", 288, "it = socket.create_server(('', 0))", "interrupted"),
    ("a.recv(1)", 45, "a, b = socket.socketpair()", "interrupted"),
    ("libc.read(0, room, 1)", 0, "", "1"),
    (  # the main thread cannot carry out a request, but another thread can
        "libc.pthread_mutex_lock(room)",
        202,
        "libc.pthread_mutex_lock(room)\n"
        "threading.Thread(target=time.sleep, args=[600], daemon=True).start()",
        None,
    ),
]
# The thread can also be in one of two further system calls: in restart_syscall, after a
# stop during a call with a timeout, and from 3.15 on in poll().
OTHERWISE = [219, 271]
# The main thread waits for a lock of the C library, as malloc() can do.
REFUSED = [("libc.pthread_mutex_lock(room)", 202, "libc.pthread_mutex_lock(room)", None)]


class Sleeper(Program):
    def __init__(self, directory, call, number, before, last):
        directory.mkdir()
        super().__init__(directory, SOURCE % (before, call))
        self.number, self.last = number, last
        wait_until(self.is_asleep, what=call)

    def is_asleep(self):
        number = Path(f"/proc/{self.pid}/syscall").read_text().split()[0]
        return number in map(str, (self.number, *OTHERWISE))

    def is_ended(self):
        if self.last is None:
            return
        if self.last == "interrupted":
            self.process.send_signal(signal.SIGINT)
        assert self.end() == (self.last + "\n", "")


def sleeps(directory, case):
    with Sleeper(directory, *case) as program:
        before = program.state()
        done = program.attach()
        assert (done.status, done.err) == (0, ""), (case, done)
        wait_until(program.is_asleep)
        done = program.detach()
        assert (done.status, done.err) == (0, ""), (case, done)
        program.is_again(before)
        wait_until(program.is_asleep)
        program.is_ended()


def is_refused(directory, case):
    with Sleeper(directory, *case) as program:
        before = program.state()
        done = program.attach()
        assert done.status == 1 and "its main thread is in the system call" in done.err
        program.is_again(before)
        wait_until(program.is_asleep)
        program.is_ended()


def test_it_cannot_tell(tmp_path):
    with ThreadPoolExecutor(20) as pool:
        tries = [
            pool.submit(sleeps if i < len(SLEEPS) else is_refused, tmp_path / str(i), case)
            for i, case in enumerate(SLEEPS + REFUSED)
        ]
    for each in tries:
        each.result()


PROCESS_VM_WRITEV = 311


def test_it_is_killed_as_it_writes(tmp_path):
    """Kills the attaching program before and after each time that it writes to the
    program's memory. If a write is incomplete, a later attempt to attach must still
    work."""
    command = [TOP, "--attach-only", "--pid"]
    with Sleeper(tmp_path / "program", *SLEEPS[0]) as program:
        program.comes_and_goes()  # the imported modules stay after detaching
        before = program.state()
        line = [*command, program.pid]
        steps = killed.run_until(line, float("inf"), PROCESS_VM_WRITEV)
        assert program.detach().status == 0
        assert steps >= 10
        for step in range(0, steps, 3):
            killed.run_until(line, step, PROCESS_VM_WRITEV)
            done = program.detach()
            assert done.status == 0 or "does not serve" in done.err, (step, done.err)
            program.is_again(before)
            wait_until(program.is_asleep)
        time.sleep(3)
        # attaching also removes what the killed attaching program has left
        program.comes_and_goes()
        program.is_ended()
