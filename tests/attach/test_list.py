# SPDX-License-Identifier: MIT
"""Tests ocular-top's list of processes. The processes that serve come first in the list.
The other Python processes follow, each with a note about attaching. Enter attaches to the
selected process."""

import os
import shutil
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from attach.listed import choose, find, row
from attach.programs import BLOCKED, WORKS, Program, files
from e2e.program import TOP
from tui.emulated import Top, selected

VERSION = "{}.{}.{}".format(*sys.version_info)
LIST = "which process"


@contextmanager
def viewer(sockets, *arguments, size=(100, 30), **more):
    top = Top(sockets, *arguments, size=size, **more)
    try:
        yield top
    finally:
        top.close()


@pytest.mark.once
@pytest.mark.parametrize("look", ["100x30", "60x20", "mono"])
def test_enter_attaches_until_the_viewer_leaves(tmp_path, sockets, look):
    size = (80, 24) if look == "mono" else tuple(map(int, look.split("x")))
    options = ["-C", "-U"] if look == "mono" else []
    with Program(tmp_path, WORKS) as program:
        before = program.state()
        with viewer(sockets, *options, size=size) as top:
            top.wait("No process serves just now")
            find(top, program, f"{VERSION}: Enter attaches")
            choose(top, program)
            top.wait(rf"Attach to process {program.pid}, until you leave\? y/n")
            top.press("y")
            top.wait("busy")
            top.press("p")
            text = find(top, program, " serves")
            assert "1 serve, " in text and str(program.pid) in selected(text)
            top.press("Enter")
            top.wait("busy")
            top.press("q")
            assert top.wait_gone() == 0
            top.check_restored()
        program.is_again(before)
        assert not files()
        out, err = program.end()
        assert out == "names busy select sys time work\n" and err == ""


def test_what_serves_elsewhere_is_not_attached_to(tmp_path, sockets):
    traced = {"arguments": ("-m", "ocular", "--serve")}
    with (
        tempfile.TemporaryDirectory() as elsewhere,
        Program(
            tmp_path,
            WORKS,
            **traced,
            PYTHONPATH=os.environ["PYTHONPATH"],
            OCULAR_DIR=elsewhere,
        ) as program,
        viewer(sockets) as top,
    ):
        find(top, program, f"{VERSION}: serves elsewhere")
        choose(top, program)
        top.wait(f"process {program.pid} serves already")
        top.press("q")
        assert top.wait_gone() == 0


def test_two_of_them(tmp_path, sockets):
    (tmp_path / "two").mkdir()
    with Program(tmp_path, WORKS) as one, Program(tmp_path / "two", WORKS) as two:
        before = one.state(), two.state()
        with viewer(sockets) as top:
            for program in one, two:
                choose(top, program)
                top.wait("until you leave")
                top.press("y")
                top.wait("busy")
                top.press("p")
                top.wait(LIST)
            top.wait("2 serve, ")
            one.process.kill()
            top.wait("1 serve, ")
            top.press("q")
            assert top.wait_gone() == 0
        two.is_again(before[1])
        assert two.end()[1] == ""


FORKS = """
import os, signal
if not os.fork():
    signal.pause()
print("ready", flush=True)
input()
"""


def test_workers_stand_below_their_master(tmp_path, sockets):
    with Program(tmp_path, FORKS) as master:
        children = Path(f"/proc/{master.pid}/task/{master.pid}/children")
        worker = SimpleNamespace(pid=int(children.read_text()))
        try:
            with viewer(sockets, size=(140, 30)) as top:
                find(top, master, " [master] ")
                find(top, worker, " [worker] ")
                lines = find(top, worker, "└ ").splitlines()
                at = lines.index(row("\n".join(lines), worker))
                assert row(lines[at - 1], master)
        finally:
            os.kill(worker.pid, signal.SIGKILL)


def test_nothing_is_done_without_a_yes(tmp_path, sockets):
    with Program(tmp_path, WORKS) as program, viewer(sockets) as top:
        before = program.state()
        choose(top, program)
        top.wait("until you leave")
        top.press("n")
        top.wait("Nothing was changed")
        # A key that is pressed before the question is visible does not answer the question.
        os.kill(top.pid, signal.SIGSTOP)
        top.press("Enter", "y", "y")
        os.kill(top.pid, signal.SIGCONT)
        top.wait("until you leave")
        assert "until you leave" in top.settle()
        top.press("Esc", "q")
        assert top.wait_gone() == 0
        assert program.state() == before and not files()


def test_one_that_ends_while_it_is_asked_about(tmp_path, sockets):
    with Program(tmp_path, WORKS) as program, viewer(sockets) as top:
        choose(top, program)
        top.wait("until you leave")
        program.process.kill()
        program.process.wait()
        top.wait(f"process {program.pid} has ended")
        assert not row(top.settle(), program)
        top.press("y")
        assert LIST in top.settle()
        top.press("q")
        assert top.wait_gone() == 0


def test_refusals_are_said_in_the_list(tmp_path, sockets):
    """The list shows why Ocular refuses to attach, no matter whether a check from outside
    or the attempt itself has found the reason."""
    with Program(tmp_path, BLOCKED) as program, viewer(sockets, size=(80, 24)) as top:
        program.await_read()
        before = program.state()
        os.kill(program.pid, signal.SIGSTOP)
        find(top, program, "  stopped")
        choose(top, program)
        top.wait("let it go on with")
        os.kill(program.pid, signal.SIGCONT)
        find(top, program, f"{VERSION}: Enter attaches")
        choose(top, program)
        top.wait("until you leave")
        top.press("y")
        top.wait(f"Attaching to process {program.pid}")
        text = top.wait(r"is in the system\s+call read")
        assert LIST in text and str(program.pid) in selected(text)
        assert "try again when it has work" in " ".join(text.split())
        program.is_again(before)
        top.press("q")
        assert top.wait_gone() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root, to become another user")
def test_a_user_sees_his_own_and_root_all(tmp_path, sockets):
    folder = tmp_path / "nobody"
    folder.mkdir()
    become = "import os\nos.setgroups([])\nos.setgid(65534)\nos.setuid(65534)\n"
    theirs = "import select, sys, time\n" + become + WORKS
    with Program(folder, theirs) as theirs, Program(tmp_path, WORKS) as ours:
        with viewer(sockets) as top:
            find(top, ours)
            find(top, theirs, "nobody")
        command = f"exec setpriv --reuid 65534 --regid 65534 --clear-groups {TOP}"
        if not shutil.which("setpriv"):
            pytest.skip("no setpriv")
        with viewer(sockets, "-c", command, program="/bin/sh", OCULAR_DIR=None) as top:
            text = top.wait(LIST)
            assert not row(text, ours)
            # If a process has changed its user, the kernel hides it even from its new user.
            assert "needs root" in row(text, theirs)
