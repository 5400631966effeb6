# SPDX-License-Identifier: MIT
"""Tests ocular-top on many kinds of terminals, also with many resizes, stops by a shell,
few colours, tmux and no keyboard. The viewer always restores the terminal."""

import os
import pty
import re
import shutil
import signal
import subprocess
import termios

import pytest
from e2e.program import wait_until
from tui.emulated import MAKE, SLOW, TOP, Top, built, environment, selected

TMUX = shutil.which("tmux")

pytestmark = built


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "sample"
    subprocess.run([MAKE, path, "600"], check=True)
    return str(path)


@pytest.fixture
def watch(recording, tmp_path):
    running = []

    def begin(*arguments, **more):
        running.append(Top(tmp_path, "--replay", recording, *arguments, **more))
        return running[-1]

    yield begin
    for one in running:
        one.close()


def colours(top, first=0):
    """Returns the foreground and background colours of all cells that are not blank."""
    return {
        (cell.fg, cell.bg)
        for y, row in top.screen.buffer.items()
        for cell in row.values()
        if y >= first and (cell.data.strip() or cell.bg != "default")
    }


# --- Resizes and signals


def test_a_storm_of_resizes(watch):
    top = watch()
    top.wait("Plan.execute")
    random = 7
    for _ in range(150):
        random = random * 1103515245 + 12345 & 0x7FFFFFFF
        top.resize(1 + (random >> 8) % 300, 1 + (random >> 17) % 100)
        if random % 5 == 0:
            top.press("jkotb?"[random % 6])
        if random % 11 == 0:
            top.read(0.001)
    top.resize(100, 30)
    for _ in range(9):
        top.press("Esc")
        if re.search("(?m)^ overhead", top.settle()):
            break
    top.wait(lambda text: "q Quit" in text.splitlines()[29])
    assert top.text().splitlines()[0].startswith(" ocular-top")
    top.press("q")
    assert top.wait_gone() == 0
    top.check_restored()


def test_a_resize_that_is_taken_back(watch):
    """A terminal that becomes smaller loses cells, even if it grows again before the viewer
    notices."""
    top = watch()
    top.wait("Plan.execute")
    for _ in range(20):
        top.resize(60, 12)
        top.resize(100, 30)
        top.wait(
            lambda text: (
                text.startswith(" ocular-top") and "q Quit" in text.splitlines()[29]
            )
        )


@pytest.mark.parametrize(
    "where, number",
    [("", "SIGTERM"), ("?", "SIGHUP"), ("/x", "SIGINT"), ("e", "SIGQUIT")]
    + [("?", "SIGSEGV"), ("/x", "SIGABRT"), (("Enter",), "SIGBUS")],
)
def test_restored_from_everywhere(watch, where, number):
    top = watch()
    top.wait("Plan.execute")
    top.press(*where)
    top.settle()
    os.kill(top.pid, getattr(signal, number))
    status = top.wait_gone()
    is_crash = number in ("SIGSEGV", "SIGABRT", "SIGBUS")
    killed_by = -getattr(signal, number) if is_crash else 0
    assert os.waitstatus_to_exitcode(status) == killed_by
    top.check_restored()
    assert top.raw.rfind(b"\x1b[?1006;1000l") > top.raw.rfind(b"\x1b[?1006;1000h")


# --- Colours

# These tests bring a description of a terminal with sixteen colours, because some
# systems have none.
SIXTEEN = r"""sixteen|sixteen colours, colors#16, pairs#256,
\tsetaf=\E[%?%p1%{8}%<%t3%p1%d%e9%p1%{8}%-%d%;m,
\tsetab=\E[%?%p1%{8}%<%t4%p1%d%e10%p1%{8}%-%d%;m,
\tuse=xterm,
""".replace(r"\t", "\t")


@pytest.mark.skipif(not shutil.which("tic"), reason="there is no tic")
@pytest.mark.parametrize(
    "term,most", [("xterm-256color", 256), ("sixteen", 16), ("xterm", 8), ("linux", 8)]
)
def test_colours(watch, tmp_path, term, most):
    source = tmp_path / "source"
    source.write_text(SIXTEEN)
    subprocess.run(["tic", "-x", "-o", tmp_path / "terminfo", source], check=True)
    places = f"{tmp_path}/terminfo::/usr/share/terminfo:/lib/terminfo"
    top = watch(TERM=term, TERMINFO_DIRS=places, NO_COLOR="")
    top.wait("Plan.execute")
    top.settle()
    used = {name for pair in colours(top) for name in pair}
    assert len(used) > 3  # Some texts have colours.
    rich = {name for name in used if re.fullmatch("[0-9a-f]{6}", name)}
    assert bool(rich) == (most == 256), rich
    assert b"38;5;" not in top.raw or most == 256


def test_a_curses_library_of_another_system(watch, tmp_path):
    """The viewer in a wheel has its own curses library, which can search for terminfo in
    other folders than this system. The test changes the names of these folders in a copy of
    the library."""
    linked = subprocess.run(["ldd", TOP], capture_output=True, text=True).stdout
    # Some systems have one curses library, and other systems have two.
    found = re.findall(r"(\S+) => (\S*lib(?:ncursesw|tinfo)\S*)", linked)
    for name, path in found:
        with open(path, "rb") as file:
            library = file.read()
        (tmp_path / name).write_bytes(library.replace(b"/terminfo", b"/nowhere0"))
    top = watch(TERM="xterm-256color", LD_LIBRARY_PATH=str(tmp_path))
    top.wait("Plan.execute")
    top.press("q")
    assert top.wait_gone() == 0


@pytest.mark.parametrize(
    "term,options,more",
    [
        ("vt100", [], {}),
        ("xterm-256color", [], {"NO_COLOR": "1"}),
        ("xterm-256color", ["-C"], {}),
    ],
)
def test_without_colours_everything_is_readable(watch, term, options, more):
    top = watch(*options, TERM=term, **more)
    text = top.wait("Plan.execute")
    assert selected(text).startswith("▸") and "▼" in text
    assert re.search("[●◐○] now", top.settle())
    assert {name for pair in colours(top) for name in pair} == {"default"}


def test_the_background_is_the_terminals(watch):
    """Only bars have a background colour, so the viewer fits light and dark terminals."""
    top = watch()
    top.wait("Plan.execute")
    lines = top.settle().splitlines()
    for y, line in enumerate(lines):
        backs = {cell.bg for cell in top.screen.buffer[y].values()}
        bar = "CALLS/s" in line or "q Quit" in line or line.startswith("▸")
        assert bar or backs <= {"default"}, line


# --- Situations in which something is missing ---------------------------------


def test_a_keyboard_that_is_no_stdin(recording, tmp_path):
    """With `find ... | ocular-top`, the viewer reads keys from the terminal."""
    top = Top(tmp_path, "-c", f"{TOP} --replay {recording} </dev/null", program="/bin/sh")
    try:
        top.wait("Plan.execute")
        top.press("j")
        top.wait(lambda text: "Plan.execute" in selected(text))
        top.press("q")
        assert top.wait_gone() == 0
        top.check_restored()
    finally:
        top.close()


def test_no_terminal_at_all(recording, tmp_path):
    for shell in ("</dev/null >out 2>err", "<&- >out 2>err"):
        done = subprocess.run(
            ["setsid", "-w", "sh", "-c", f"{TOP} --replay {recording} -n 1 {shell}"],
            cwd=tmp_path,
            env=environment(tmp_path),
            timeout=SLOW,
        )
        assert done.returncode == 0, (tmp_path / "err").read_text()
        assert "Plan.execute" in (tmp_path / "out").read_text()


def test_a_terminal_that_goes_without_a_signal(recording, tmp_path):
    """The terminal is not the viewer's controlling terminal, so only the descriptor shows
    that the terminal is gone."""
    master, slave = pty.openpty()
    top = subprocess.Popen(
        [TOP, "--replay", recording],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment(tmp_path),
        start_new_session=True,
    )
    try:
        os.close(slave)
        seen = b""
        while b"Plan.execute" not in seen:
            seen += os.read(master, 1 << 16)
        os.close(master)
        assert top.wait(SLOW) == 0
    finally:
        top.kill()
        top.wait()


def test_dumb_is_refused_in_words(watch):
    top = watch(TERM="dumb")
    top.wait("cannot place its cursor")
    assert "--batch" in top.settle()
    assert os.waitstatus_to_exitcode(top.wait_gone()) == 1
    assert termios.tcgetattr(top.slave) == top.before
    assert b"\x1b" not in top.raw


# --- tmux, and a shell with job control in tmux -------------------------------


class Pane:
    def __init__(self, directory, command):
        self.socket = str(directory / "tmux")
        arguments = *"-f /dev/null new-session -d -x 100 -y 30".split(), command
        self.run(*arguments, env=environment(directory, ENV=None))

    def run(self, *arguments, env=None):
        return subprocess.run(
            [TMUX, "-S", self.socket, *arguments],
            env=env,
            timeout=SLOW,
            capture_output=True,
            text=True,
        ).stdout

    def text(self):
        return self.run("capture-pane", "-p")

    def wait(self, wanted):
        try:
            wait_until(lambda: re.search(wanted, self.text()), SLOW)
        except AssertionError:
            raise AssertionError(f"never came: {wanted}\n{self.text()}") from None

    def press(self, *keys):
        self.run("send-keys", *keys)


@pytest.mark.skipif(not TMUX, reason="there is no tmux")
def test_in_tmux_stopped_and_continued_by_a_shell(recording, tmp_path):
    pane = Pane(tmp_path, "sh -i")
    try:
        pane.wait("(?m)^[$#] *$")
        pane.press("PS1='shell> '", "Enter")
        pane.wait("(?m)^shell>")
        pane.press("echo before", "Enter")
        pane.wait("(?m)^before")
        pane.press(f"{TOP} --replay {recording}", "Enter")
        pane.wait("▸.*EqualityConstraint")
        pane.press("j")
        pane.wait("▸.*Plan.execute")
        pane.press("C-z")
        # the shell's screen has come back
        pane.wait("(?m)^before(.|\n)*Stopped")
        assert "▸" not in pane.text()
        pane.press("stty -a | grep -c -- -icanon", "Enter")
        pane.wait("(?m)^0$")  # the shell's terminal mode has come back
        pane.run("resize-window", "-x", "120", "-y", "40")
        pane.press("fg", "Enter")
        pane.wait("▸.*Plan.execute")
        pane.press("j")
        pane.wait("q Quit")
        pane.press("q")
        pane.wait("(?m)^before(.|\n)*shell> *$")
        assert "▸" not in pane.text()
        assert (
            pane.run("display-message", "-p", "#{alternate_on}#{mouse_any_flag}").strip()
            == "00"
        )
        assert pane.run("display-message", "-p", "#{cursor_flag}").strip() == "1"
    finally:
        pane.run("kill-server")
