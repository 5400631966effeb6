# SPDX-License-Identifier: MIT
"""Programs whose system calls a seccomp filter restricts: what attaching needs and they
may not do is said in words, and they go on as they were."""

import platform
from pathlib import Path

import pytest
from attach.programs import WORKS, Program, files
from e2e.program import wait_until

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the numbers of system calls are x86-64's"
)
NUMBERS = {"socket": 41, "bind": 49, "listen": 50, "clone": 56, "clone3": 435}

# Refuses these calls with EPERM from now on, in all threads that there are.
FILTER = """
import ctypes, struct
def forbid(*numbers):
    def each(code, yes, no, value):
        return struct.pack("HBBI", code, yes, no, value)
    refuse, allow = 0x00050001, 0x7FFF0000  # with EPERM
    program = each(0x20, 0, 0, 0)  # the number of the call
    for at, number in enumerate(numbers):
        program += each(0x15, len(numbers) - at, 0, number)
    program += each(0x06, 0, 0, allow) + each(0x06, 0, 0, refuse)
    buffer = ctypes.create_string_buffer(program, len(program))
    filter = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, filter, 0, 0) == 0, ctypes.get_errno()  # PR_SET_SECCOMP
"""


@pytest.mark.parametrize(
    "calls, said",
    [
        (["socket"], "Operation not permitted"),
        (["bind"], "Operation not permitted"),
        (["listen"], "Operation not permitted"),
        (["clone", "clone3"], "can't start new thread"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_attaching_needs_is_forbidden(tmp_path, calls, said):
    numbers = ", ".join(str(NUMBERS[name]) for name in calls)
    with Program(tmp_path, FILTER + f"forbid({numbers})\n" + WORKS) as program:
        before = program.state()
        for _ in range(2):
            done = program.attach()
            assert done.status == 1 and done.out == ""
            assert f"in process {program.pid}: " in done.err and said in done.err, done.err
            assert "a seccomp filter restricts" in done.err
            program.is_again(before)
            assert not files()
        out, err = program.end()
        assert "busy" in out and err == ""


def test_a_filter_that_forbids_nothing_we_need(tmp_path):
    with Program(tmp_path, FILTER + "forbid(165)\n" + WORKS) as program:  # mount
        assert program.attach().status == 0
        assert "busy" in program.snapshot().out
        assert program.detach().status == 0
        assert program.end()[1] == ""


def test_the_strict_mode(tmp_path):
    """Only read, write and exit are left: any other call of ours would kill it."""
    source = """
import ctypes
libc = ctypes.CDLL(None)
strict = libc.prctl
strict.argtypes = [ctypes.c_long] * 5
print("ready", flush=True)
strict(22, 1, 0, 0, 0)
while True:
    pass
"""
    with Program(tmp_path, source) as program:
        status = Path(f"/proc/{program.pid}/status")
        wait_until(lambda: "\nSeccomp:\t1\n" in status.read_text())
        done = program.attach()
        assert done.status == 1 and "strict mode" in done.err, done.err
        assert not files() and program.process.poll() is None
