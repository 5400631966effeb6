# SPDX-License-Identifier: MIT
"""Attaches to a program that was started without Ocular, watches the program and
detaches. After detaching, the program's state is the same as before attaching, and the
program has printed nothing."""

import os
import signal
import textwrap
import time

import pytest
from attach import killed
from attach.programs import BLOCKED, TIGHT, WAITS, WORKS, Program, files
from e2e.program import PYTHON, SLOW, TOP, run, start, top, wait_until


def test_it_is_watched_and_as_before(tmp_path):
    with Program(tmp_path, WORKS) as program:
        before = program.state()
        done = program.attach()
        assert (done.status, done.err) == (0, "")
        assert f"process {program.pid} serves now" in done.out
        assert f"{program.pid}" in top("--list").out
        # The code of the module is called only once, before attaching, so only samples can
        # find it.
        assert program.functions("busy", "work") - {"<module>"} == {"busy", "work"}
        done = program.detach()
        assert (done.status, done.err) == (0, "")
        program.is_again(before)
        assert f"{program.pid}" not in top("--list").out
        out, err = program.end()
        assert out == "names busy select sys time work\n" and err == ""


def test_the_viewer_attaches_and_lets_go(tmp_path):
    with Program(tmp_path, WORKS) as program:
        before = program.state()
        program.functions("busy", arguments=["--attach"])
        program.is_again(before)
        done = top("--pid", program.pid, "--once")
        assert done.status == 1
        assert f"ocular-top --attach --pid {program.pid}" in done.err
        assert program.end()[1] == ""


def test_its_own_environment_comes_first(tmp_path):
    with Program(tmp_path, WORKS, PYTHONPATH=os.environ["PYTHONPATH"]) as program:
        assert program.attach("--package", tmp_path).status == 0
        assert program.detach().status == 0
        assert program.end()[1] == ""


def test_another_package_of_that_name(tmp_path):
    (tmp_path / "ocular").mkdir()
    with Program(tmp_path, WORKS) as program:
        program.comes_and_goes()


# ATTACH_ROUNDS sets how often the tests attach. They also pass with 100.
ROUNDS = int(os.environ.get("ATTACH_ROUNDS", 5))


def test_again_and_again(tmp_path):
    with Program(tmp_path, WORKS) as program:
        for _ in range(3):
            program.comes_and_goes()
        before, size = program.state(), resident(program.pid)
        for _ in range(ROUNDS):
            program.comes_and_goes()
        program.is_again(before)
        assert resident(program.pid) < size + 1024
        assert program.end()[1] == ""


def resident(pid):
    """Returns the KiB of anonymous memory of the process."""
    with open(f"/proc/{pid}/status") as file:
        return int(file.read().split("\nRssAnon:")[1].split()[0])


@pytest.mark.parametrize("source", [TIGHT, WAITS], ids=["tight", "waits"])
def test_programs_whose_main_thread_is_busy(tmp_path, source):
    with Program(tmp_path, source) as program:
        before = program.state()
        assert program.attach().status == 0
        assert program.snapshot().status == 0
        assert program.detach().status == 0
        program.is_again(before)
        assert program.process.poll() is None


def test_a_forked_child(tmp_path):
    """A forked child has a copy of its parent's memory, and so a copy of the request to its
    parent."""
    source = """
        import ctypes, os
        print("ready", flush=True)
        ctypes.PyDLL(None).read(0, ctypes.create_string_buffer(1), 1)
        if not os.fork():
            print(os.getpid(), flush=True)
            while True:
                sum(range(1000))
        os.read(0, 1)
        """
    with Program(tmp_path, textwrap.dedent(source)) as program:
        program.await_read()
        assert program.attach().status == 1
        program.process.stdin.write("\n")
        program.process.stdin.flush()
        child = int(program.process.stdout.readline())
        Program.pids.add(child)
        try:
            before = tasks(child)
            for _ in range(2):
                done = run([TOP, "--attach-only", "--pid", child])
                assert (done.status, done.err) == (0, "")
                done = run([TOP, "--detach", "--pid", child])
                assert (done.status, done.err) == (0, "")
            wait_until(lambda: tasks(child) == before)
        finally:
            os.kill(child, signal.SIGKILL)


def tasks(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def test_a_program_blocked_in_c(tmp_path):
    with Program(tmp_path, BLOCKED) as program:
        program.await_read()
        before = program.state()
        begin = time.monotonic()
        done = program.attach()
        assert 4 < time.monotonic() - begin < 30
        assert done.status == 1 and "its main thread is in the system call read" in done.err
        program.is_again(before)
        program.process.stdin.write("x")
        program.process.stdin.flush()
        assert program.process.stdout.readline() == "after\n"
        time.sleep(0.3)
        program.is_again(before)
        assert program.end() == ("", "")


def test_signals_are_the_programs(tmp_path):
    source = WORKS.replace("print(", "import signal\nprint(", 1)
    with Program(tmp_path, source) as program:
        assert program.attach().status == 0
        program.process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in program.process.communicate()[1]


# The signal is sent at 30 different times after the start of the attaching program.
def test_the_attaching_side_is_interrupted(tmp_path):
    with Program(tmp_path, WORKS) as program:
        before = program.state()
        for step in range(30):
            attaching = start([TOP, "--attach-only", "--pid", program.pid])
            time.sleep(0.003 * step)
            attaching.send_signal(signal.SIGINT)
            attaching.communicate()
        done = program.detach()
        assert done.status == 0 or "does not serve" in done.err
        program.is_again(before)
        time.sleep(3)
        # attaching also removes what the killed attaching program has left
        program.comes_and_goes("busy")
        assert program.end()[1] == ""


def test_the_attaching_side_is_killed_at_every_step(tmp_path):
    """The attaching program is killed before one of its own system calls, or before one of
    its child's. With KILL_STRIDE=1, the test does this for every such system call."""
    command = [TOP, "--attach-only", "--pid"]
    with Program(tmp_path, WORKS) as program:
        program.comes_and_goes()  # the imported modules stay after detaching
        before = program.state()
        steps = killed.run_until([*command, program.pid], float("inf"))
        assert steps > 100 and program.detach().status == 0
        stride = int(os.environ.get("KILL_STRIDE", steps // 12))
        for step in range(0, steps, stride):
            killed.run_until([*command, program.pid], step)
            assert program.process.poll() is None
            done = program.detach()
            assert done.status == 0 or "does not serve" in done.err, (step, done.err)
            program.is_again(before)
        time.sleep(3)
        # attaching also removes what the killed attaching program has left
        program.comes_and_goes()
        assert program.end()[1] == ""


def test_the_attaching_side_dies_while_it_waits(tmp_path):
    with Program(tmp_path, BLOCKED) as program:
        program.await_read()
        attaching = start([TOP, "--attach-only", "--pid", program.pid])
        time.sleep(0.2)
        attaching.kill()
        attaching.communicate()
        program.process.stdin.write("x")
        program.process.stdin.flush()
        assert program.process.stdout.readline() == "after\n"
        wait_until(lambda: not files(), what="the program cleans up")
        assert program.end() == ("", "")


def test_several_at_once(tmp_path):
    """Each attaching program stops the process for a moment, as a debugger does. While the
    first attaching program loads Ocular, the others send their requests."""
    source = """
import sys, time
class Slow:
    def find_spec(name, *more):
        if name == "ocular._settings":
            time.sleep(1)
sys.meta_path.insert(0, Slow)
"""
    with Program(tmp_path, source + WORKS) as program:
        before = program.state()
        for what in "--attach-only", "--detach":
            sides = [start([TOP, what, "--pid", program.pid]) for _ in range(3)]
            said = [side.communicate(timeout=SLOW) for side in sides]
            # On a busy machine one program can attach after another one has already
            # detached.
            late = [what == "--detach" and "does not serve" in err for _, err in said]
            assert [side.returncode for side in sides] == late and not all(late), said
        program.is_again(before)
        assert program.end()[1] == ""


def test_a_program_that_may_import_nothing_more(tmp_path):
    """The script still answers if a module cannot be imported. For example, a program that
    has given up root perhaps may not read the module."""
    with Program(tmp_path, "import sys\nsys.modules['fcntl'] = None\n" + WORKS) as program:
        program.comes_and_goes("busy")
        assert program.end()[1] == ""


def test_a_program_that_ends_of_it(tmp_path):
    """If the program ends while Ocular attaches, attaching reports the end, also if the
    program is a zombie."""
    source = """
import os, sys
class Finder:
    def find_spec(name, *more):
        if name == "ocular":
            os._exit(1)
sys.meta_path.insert(0, Finder)
"""
    with Program(tmp_path, source + WORKS) as program:
        done = program.attach()
        assert done.status == 1 and f"process {program.pid} has ended" in done.err


def test_the_python_command(tmp_path):
    with Program(tmp_path, WORKS) as program:
        done = run([PYTHON, "-m", "ocular", "attach", program.pid])
        assert (done.status, done.err) == (0, "")
        done = run([PYTHON, "-m", "ocular", "status"])
        assert f"{program.pid}" in done.out
        done = run([PYTHON, "-m", "ocular", "attach", program.pid])
        assert done.status == 0 and "serves already" in done.out
        assert run([PYTHON, "-m", "ocular", "detach", program.pid]).status == 0
        done = run([PYTHON, "-m", "ocular", "detach", program.pid])
        assert done.status == 1 and "nothing to end" in done.err
