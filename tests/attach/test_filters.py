# SPDX-License-Identifier: MIT
"""Tests programs whose system calls a seccomp filter restricts. A message names the
forbidden call, and the programs continue to run as before."""

import platform
import shutil
from pathlib import Path

import pytest
from attach.listed import choose
from attach.programs import WORKS, Program, files
from e2e.program import PYTHON, TOP, run, wait_until
from tui.emulated import Top

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the numbers of system calls are x86-64's"
)
NUMBERS = {"socket": 41, "bind": 49, "listen": 50, "clone": 56, "clone3": 435}
NUMBERS |= {"timer_create": 222, "process_vm_readv": 310, "flock": 73}
KILL_PROCESS, KILL_THREAD, TRAP = 0x80000000, 0, 0x00030000

# Installs a seccomp filter that refuses these system calls with EPERM, or with the action
# `refuse`.
FILTER = """
import ctypes, struct
def forbid(*numbers, refuse=0x00050001):
    def each(code, yes, no, value):
        return struct.pack("HBBI", code, yes, no, value)
    allow = 0x7FFF0000
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
    # 165 is the number of the system call mount
    with Program(tmp_path, FILTER + "forbid(165)\n" + WORKS) as program:
        program.comes_and_goes("busy")
        assert program.end()[1] == ""


def test_the_strict_mode(tmp_path):
    """The filter allows only read, write and exit. Any other system call of Ocular would
    kill the program."""
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


def killing(name, action=KILL_PROCESS):
    return FILTER + f"forbid({NUMBERS[name]}, refuse={action})\n"


def may_read():
    """Returns true if this user may read the filters of another process."""
    status = Path("/proc/self/status").read_text()
    rights = int(status.split("\nCapEff:")[1].split()[0], 16)
    return rights >> 21 & 1 and "\nSeccomp:\t0\n" in status


BY_ROOT = pytest.mark.skipif(not may_read(), reason="only root may read filters")


@BY_ROOT
@pytest.mark.once
@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_one_that_kills(tmp_path, name):
    with Program(tmp_path, killing(name) + WORKS) as program:
        before = program.state()
        done = program.attach()
        assert done.status == 1 and done.out == ""
        assert f"has a seccomp filter that would kill it for {name}(), " in done.err
        assert program.state() == before and not files()
        assert program.end()[1] == ""


@BY_ROOT
@pytest.mark.parametrize("action", [KILL_THREAD, TRAP], ids=["thread", "trap"])
def test_one_that_kills_in_another_way(tmp_path, action):
    with Program(tmp_path, killing("socket", action) + WORKS) as program:
        assert "would kill it for socket(), " in program.attach().err
        assert program.end()[1] == ""


@BY_ROOT
def test_one_of_several_and_one_of_a_thread(tmp_path):
    """A thread can have several filters, and each thread has filters of its own."""
    more = "\nfor number in 165, 166, 167:\n    forbid(number)\n"
    thread = f"""
import threading, time
def sandboxed():
    {killing("timer_create").strip().replace(chr(10), chr(10) + "    ")}
    done.set()
    time.sleep(1e6)
done = threading.Event()
threading.Thread(target=sandboxed, daemon=True).start()
done.wait()
"""
    for source in killing("bind") + more, thread:
        with Program(tmp_path, source + WORKS) as program:
            assert "has a seccomp filter that would kill it for " in program.attach().err
            assert program.end()[1] == ""


def without_rights():
    """Returns the beginning of a command that runs a viewer without the right to read
    filters."""
    if not may_read():
        return []
    if not shutil.which("setpriv"):
        pytest.skip("no setpriv")
    return [shutil.which("setpriv"), "--bounding-set", "-sys_admin"]


def test_one_that_cannot_be_read(tmp_path):
    """If Ocular cannot read a filter, it cannot know whether the filter kills the
    program. So ocular-top on a terminal asks the user."""
    with Program(tmp_path, FILTER + "forbid(165)\n" + WORKS) as program:
        before = program.state()
        command = [*without_rights(), TOP, "--pid", program.pid]
        done = run([*command, "--attach-only"])
        assert done.status == 1 and "a seccomp filter, which may kill it" in done.err
        assert "and which only root may read" in done.err
        assert program.state() == before and not files()
        assert program.end()[1] == ""


@pytest.mark.once
@pytest.mark.parametrize("in_list", [False, True])
def test_the_question_says_so(tmp_path, sockets, in_list):
    with Program(tmp_path, FILTER + "forbid(165)\n" + WORKS) as program:
        before = program.state()
        command = [*without_rights(), TOP]
        command += [] if in_list else ["--pid", str(program.pid)]
        top = Top(sockets, *command[1:], program=command[0])
        try:
            if in_list:
                choose(top, program)
            text = top.wait(r"until\s+you\s+leave\?")
            said = "".join(text.split())  # the terminal can break a line within a word
            assert "seccompfilter,whichonlyrootmayread," in said
            assert "maykillitforasystemcallofOcular's" in said
            top.press("y", *([] if in_list else ["\n"]))
            top.wait("busy")
            top.press("q")
            assert top.wait_gone() == 0
        finally:
            top.close()
        program.is_again(before)
        assert program.end()[1] == ""


def filtered(source, *arguments):
    """Runs the viewer under the filter that `source` installs."""
    inside = source + f"import os\nos.execv({str(TOP)!r}, __import__('sys').argv)\n"
    return run([PYTHON, "-c", inside, *arguments])


def test_the_same_one_as_ours(tmp_path):
    """The viewer and the program have the same filter, as if both ran in one container. So
    the viewer can try the system calls itself."""
    source = FILTER + "forbid(165)\n"
    with Program(tmp_path, source + WORKS) as program:
        for what in "--attach-only", "--detach":
            done = filtered(source, what, "--pid", program.pid)
            assert (done.status, done.err) == (0, ""), done.err
        assert program.end()[1] == ""


@pytest.mark.once
@pytest.mark.parametrize("action", [KILL_PROCESS, KILL_THREAD, TRAP])
@pytest.mark.parametrize("name", ["timer_create", "listen"])
def test_the_same_one_as_ours_kills(tmp_path, name, action):
    """The filter kills the program for a system call that the viewer itself never makes."""
    source = killing(name, action)
    with Program(tmp_path, source + WORKS) as program:
        before = program.state()
        done = filtered(source, "--attach-only", "--pid", program.pid)
        assert done.status == 1 and f"would kill it for {name}(), " in done.err
        assert program.state() == before and not files()
        assert program.end()[1] == ""


def test_docker_refuses_the_viewer_what_it_reads_memory_by(tmp_path):
    # 310 and 311 are the system calls process_vm_readv and process_vm_writev
    source = FILTER + "forbid(310, 311)\n"
    with Program(tmp_path, source + WORKS) as program:
        before = program.state()
        for what in "--attach-only", "--detach":
            done = filtered(source, what, "--pid", program.pid)
            assert (done.status, done.err) == (0, ""), done.err
        program.is_again(before)
        assert program.end()[1] == ""
