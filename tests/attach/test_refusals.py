# SPDX-License-Identifier: MIT
"""If Ocular cannot attach to a process, it refuses with a message, and the process
continues to run as before."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap

import pytest
from attach.programs import WORKS, Program, files
from e2e.program import PYTHON, TOP, run, start, wait_until
from tui.emulated import Top

DISABLED = {"PYTHON_DISABLE_REMOTE_DEBUG": "1"}


def refusal(program, *words):
    before = program.state()
    done = program.attach()
    assert done.status == 1 and done.out == ""
    for word in words:
        assert word in done.err, done.err
    assert program.state() == before and not files()


def test_no_python(tmp_path):
    process = start(["sleep", "600"])
    try:
        done = run([TOP, "--attach-only", "--pid", process.pid])
        assert done.status == 1 and "runs no CPython" in done.err
    finally:
        process.kill()
        process.communicate()


def test_no_process():
    process = start(["true"])
    process.communicate()
    for option in "--attach-only", "--detach", "--attach":
        done = run([TOP, option, "--pid", process.pid])
        assert done.status == 1 and "there is no process" in done.err
        assert run([TOP, option]).status == 2


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11"])
def test_an_old_python(tmp_path, version):
    old = shutil.which(f"python{version}")
    if old is None or subprocess.run([old, "-c", ""]).returncode:
        pytest.skip(f"there is no python{version}")
    with Program(tmp_path, WORKS, old) as program:
        refusal(program, "Ocular needs 3.12 or newer")


def test_a_free_threaded_python(tmp_path):
    free = next(filter(None, (shutil.which(f"python3.{n}t") for n in range(13, 16))), None)
    if free is None:
        pytest.skip("there is no free-threaded Python")
    with Program(tmp_path, WORKS, free) as program:
        refusal(program, "free-threaded")


def test_the_door_is_closed(tmp_path):
    with Program(tmp_path, WORKS, **DISABLED) as program:
        refusal(program, "PYTHON_DISABLE_REMOTE_DEBUG")
    if sys.version_info >= (3, 14):
        arguments = ["-X", "disable-remote-debug"]
        with Program(tmp_path, WORKS, arguments=arguments) as program:
            refusal(program, "disable-remote-debug")


def test_a_stopped_program(tmp_path):
    with Program(tmp_path, WORKS) as program:
        os.kill(program.pid, signal.SIGSTOP)
        path = f"/proc/{program.pid}/stat"
        wait_until(lambda: open(path).read().split(") ")[1][0] == "T")
        refusal(program, "is stopped", f"kill -CONT {program.pid}")
        os.kill(program.pid, signal.SIGCONT)
        assert program.attach().status == 0 and program.detach().status == 0


def test_another_debugger(tmp_path):
    source = """
        import ctypes, sys
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0  # PTRACE_SEIZE
        print("ready", flush=True)
        sys.stdin.read()
        """
    with Program(tmp_path, WORKS) as program:
        command = [PYTHON, "-c", textwrap.dedent(source), program.pid]
        debugger = start(command, stdin=subprocess.PIPE)
        assert debugger.stdout.readline() == "ready\n"
        refusal(program, "another debugger", str(debugger.pid))
        debugger.communicate("")
        assert program.attach().status == 0 and program.detach().status == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root, to become another user")
def test_another_user(tmp_path):
    # Another user may not read the build folder, so this user gets a copy of the viewer.
    with (
        Program(tmp_path, WORKS) as program,
        tempfile.TemporaryDirectory(prefix="ocular-") as place,
    ):
        os.chmod(place, 0o755)
        done = subprocess.run(
            [shutil.copy(TOP, place), "--attach-only", "--pid", str(program.pid)],
            user=65534,
            env={},
            cwd="/",
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1 and "belongs to another user" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do it")
def test_the_kernel_forbids_it(tmp_path):
    """The kernel forbids attaching, because of ptrace_scope or because of the program's
    capabilities."""
    forbid = "import ctypes\nctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE\n"
    with Program(tmp_path, forbid + WORKS) as program:
        done = program.attach()
        assert done.status == 1 and "ptrace_scope" in done.err, done.err
        assert not files() and program.end()[1] == ""


def test_it_serves_by_its_own_choice(tmp_path):
    source = "import ocular\nocular.serve()\n" + WORKS
    with Program(tmp_path, source, PYTHONPATH=os.environ["PYTHONPATH"]) as program:
        done = program.attach()
        assert done.status == 0 and "serves already" in done.out
        done = program.detach()
        assert done.status == 1 and "nobody attached to this program" in done.err
        assert program.end()[1] == ""


def test_the_user_says_no(tmp_path, sockets):
    """The user answers no. The tests in test_filters.py answer yes."""
    with Program(tmp_path, WORKS) as program:
        before = program.state()
        top = Top(sockets, "--pid", str(program.pid))
        try:
            top.wait(r"Attach to it, until you leave\? \[y/N\]")
            top.press("n", "\n")
            top.wait("attach to it as it runs")
            assert os.waitstatus_to_exitcode(top.wait_gone()) == 1
        finally:
            top.close()
        assert program.state() == before and not files()


def test_no_ocular_for_it(tmp_path):
    """The viewer finds no package of Ocular for the program."""
    alone = shutil.copy(TOP, tmp_path / "ocular-top")
    with Program(tmp_path, WORKS) as program:
        before = program.state()
        done = run([alone, "--attach-only", "--pid", program.pid])
        assert done.status == 1 and "there is no Ocular for Python" in done.err
        assert program.state() == before and not files()
        assert program.end()[1] == ""
