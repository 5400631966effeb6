# SPDX-License-Identifier: MIT
"""Runs a command, and kills it together with its children before or after its Nth system
call. N counts either all system calls, or the system calls of one kind. So a test can kill
at every moment, even on a busy machine."""

import ctypes
import os
import signal

TRACEME, PEEKUSER, CONT_TO_SYSCALL, SETOPTIONS = 0, 3, 24, 0x4200
ORIG_RAX = 15 * 8  # Offset of the field orig_rax in struct user.
# Traces system calls and forks, and kills the children when this process ends.
OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x100000
EVENT_SYSCALL = signal.SIGTRAP | 0x80
ALL = 0x40000000  # The value of __WALL.
PTRACE = 101  # Number of the system call ptrace on x86-64.

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.syscall.argtypes = [ctypes.c_long] * 5


def ptrace(request, pid, data=0):
    if libc.ptrace(request, pid, None, data) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def begin(command):
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for fd in range(3):
                os.dup2(null, fd)
            ptrace(TRACEME, 0)
            os.execv(command[0], list(map(str, command)))
        finally:
            os._exit(127)
    os.waitpid(pid, 0)  # the child stops when it calls exec
    ptrace(SETOPTIONS, pid, OPTIONS)
    return pid


def number_of(pid):
    """Returns the number of the system call at which the traced process has stopped."""
    word = ctypes.c_long()
    # The test makes this system call directly, because the C library's wrapper has
    # other arguments.
    asked = PEEKUSER, pid, ORIG_RAX, ctypes.addressof(word)
    return word.value if libc.syscall(PTRACE, *asked) == 0 else None


def run_until(command, most, only=None):
    """Runs the command and kills its processes after `most` stops. Before and after each
    system call there is one stop. If `only` is given, only system calls with this number
    have stops. Returns the number of stops until all processes were killed or had ended."""
    main = begin(command)
    ptrace(CONT_TO_SYSCALL, main)
    running, calls = {main}, 0
    while running:
        pid, status = os.waitpid(-1, ALL)
        if not os.WIFSTOPPED(status):
            running.discard(pid)
            continue
        running.add(pid)
        what = os.WSTOPSIG(status)
        calls += what == EVENT_SYSCALL and only in (None, number_of(pid))
        if calls > most:
            for each in running:
                os.kill(each, signal.SIGKILL)
            most = float("inf")
        passed = 0 if what in (EVENT_SYSCALL, signal.SIGTRAP, signal.SIGSTOP) else what
        try:
            ptrace(CONT_TO_SYSCALL, pid, passed)
        except OSError:
            pass  # the process has been killed in the meantime
    return calls
