# SPDX-License-Identifier: MIT
"""Runs ocular-top on a separate pseudo-terminal, and interprets its output by a terminal
emulator (pyte)."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from pathlib import Path

import pyte
import pytest
from e2e.program import BUILD, SLOW, TOP

MAKE = str(BUILD / "obj" / "tests" / "tui" / "make_recording")
ESCAPE = 0.03  # seconds. Slightly more than ESCAPE_MS of tui/screen/terminal.c.

KEYS = {
    "Up": "\x1bOA",
    "Down": "\x1bOB",
    "PgUp": "\x1b[5~",
    "PgDn": "\x1b[6~",
    "Home": "\x1bOH",
    "End": "\x1bOF",
    "Esc": "\x1b",
    "Left": "\x1bOD",
    "Right": "\x1bOC",
    "Backspace": "\x7f",
    "Enter": "\r",
    "Space": " ",
    "Tab": "\t",
    "Ctrl-L": "\x0c",
    "F1": "\x1bOP",
    "F4": "\x1bOS",
    "F5": "\x1b[15~",
    "F6": "\x1b[17~",
    "F10": "\x1b[21~",
    # mouse events in the middle of the screen
    "Wheel-up": "\x1b[<64;20;9M",
    "Wheel-down": "\x1b[<65;20;9M",
    "Click": "\x1b[<0;20;9M\x1b[<0;20;9m",
}


# Marks the tests of files that need the viewer and make_recording.
built = [
    pytest.mark.once,
    pytest.mark.skipif(
        not (os.path.exists(TOP) and os.path.exists(MAKE)), reason="not built"
    ),
]


def environment(directory, **more):
    # curses takes the size from COLUMNS and LINES, which pytest's readline sets for
    # child processes.
    not_ours = "NO_COLOR", "COLUMNS", "LINES"
    wanted = {k: v for k, v in os.environ.items() if k not in not_ours}
    wanted.update(OCULAR_DIR=str(directory), TERM="xterm-256color", LC_ALL="C.UTF-8")
    wanted.update(more)
    return {k: v for k, v in wanted.items() if v is not None}


class Screen(pyte.Screen):
    """A screen with three sequences of xterm that pyte does not know. REP repeats the last
    character. SU and SD scroll the lines between the margins up or down."""

    last = " "
    rendered = ()

    def text(self):
        """Returns all lines of the screen as one text. Only changed lines are rendered
        again, because rendering a large screen takes long."""
        if len(self.rendered) != self.lines:
            self.rendered = [""] * self.lines
            self.dirty.update(range(self.lines))
        for y in self.dirty:
            if y < self.lines:
                line = self.buffer[y]
                self.rendered[y] = "".join(line[x].data for x in range(self.columns))
        self.dirty.clear()
        return "\n".join(self.rendered)

    def draw(self, data):
        super().draw(data)
        self.last = data[-1:] or self.last

    def repeat(self, count=1):
        super().draw(self.last * (count or 1))

    def scroll(self, line, move, count):
        here = self.cursor.y
        self.cursor.y = line
        for _ in range(count or 1):
            move()
        self.cursor.y = here

    def delete_characters(self, count=None):
        """Deletes characters. As in xterm, the new blanks at the right get the current
        background."""
        super().delete_characters(count)
        line = self.buffer[self.cursor.y]
        for x in range(max(self.columns - (count or 1), self.cursor.x), self.columns):
            line[x] = self.cursor.attrs

    def scroll_up(self, count=1):
        bottom = self.margins.bottom if self.margins else self.lines - 1
        self.scroll(bottom, self.index, count)

    def scroll_down(self, count=1):
        self.scroll(self.margins.top if self.margins else 0, self.reverse_index, count)


class Stream(pyte.ByteStream):
    more = {"b": "repeat", "S": "scroll_up", "T": "scroll_down"}
    csi = {**pyte.ByteStream.csi, **more}
    events = pyte.ByteStream.events | set(more.values())


class Top:
    """Runs ocular-top on its own pseudo-terminal."""

    def __init__(self, directory, *arguments, size=(100, 30), cwd=None, program=TOP, **env):
        self.width, self.height = size
        self.screen = Screen(*size)
        self.stream = Stream(self.screen)
        self.raw = b""
        self.master, slave = pty.openpty()
        self.slave = slave
        self.set_size()
        self.before = termios.tcgetattr(slave)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(slave, fd)
            os.closerange(3, 64)
            if cwd:
                os.chdir(cwd)
            try:
                os.execve(program, [program, *arguments], environment(directory, **env))
            finally:
                os._exit(127)
        self.status = None

    def set_size(self):
        size = struct.pack("HHHH", self.height, self.width, 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def resize(self, width, height):
        self.width, self.height = width, height
        self.screen.resize(height, width)
        self.set_size()

    def read(self, seconds=0.05):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def text(self):
        return self.screen.text()

    def shown(self):
        """Returns the text without blank lines, for an error message."""
        lines = (line.rstrip() for line in self.text().splitlines())
        return "\n".join(line for line in lines if line)

    def wait(self, wanted, seconds=SLOW):
        """Waits until the screen's text matches the pattern `wanted`, or until wanted(text)
        is true. Returns the text."""
        matches = wanted if callable(wanted) else re.compile(wanted).search
        end, before = time.monotonic() + seconds, None
        while time.monotonic() < end:
            text = self.text()
            if text != before and matches(text):
                return self.rest_of_the_frame(text, matches)
            before = text
            self.read()
        raise AssertionError(f"never came: {wanted}\n{self.shown()}")

    def rest_of_the_frame(self, text, matches):
        """Reads the rest of the current frame, because a frame can arrive in several
        pieces. Returns the new text of the screen if it still matches, else `text`."""
        for _ in range(5):
            if self.waits() and not self.read(0):
                break
            self.read(0.02)
        return self.text() if matches(self.text()) else text

    def waits(self):
        """Returns true if the viewer has read all keys and sleeps. A viewer that waits for
        a CPU does not count as sleeping. (Keys that a kernel thread has not delivered yet
        are found by select(), but not by FIONREAD.)"""
        unread, _, _ = select.select([self.slave], [], [], 0)
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2][0]
        except FileNotFoundError:
            return True
        return state in "ZX" or (not unread and state not in "RD")

    def settle(self, seconds=0.1):
        """Waits until no output has come for a short time, twice in a row. Returns the
        screen. Once is not enough, because the viewer can still wait for the rest of an
        escape sequence."""
        end, quiet = time.monotonic() + SLOW, 0
        while quiet < 2 and time.monotonic() < end:
            came = self.read(ESCAPE if quiet else seconds)
            quiet = 0 if came or not self.waits() else quiet + 1
        return self.text()

    def press(self, *keys):
        """Presses keys. A key is a name in KEYS, a single character, or a sequence that a
        terminal sends."""
        for key in keys:
            assert key in KEYS or len(key) == 1 or key[0] == "\x1b", f"no such key: {key}"
            os.write(self.master, KEYS.get(key, key).encode())

    def is_gone(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        return self.status is not None

    def wait_gone(self, seconds=SLOW):
        end = time.monotonic() + seconds
        while not self.is_gone():
            assert time.monotonic() < end, "it does not leave\n" + self.shown()
            self.read()
        while self.read(0.05):
            pass
        return self.status

    def check_restored(self):
        assert termios.tcgetattr(self.slave) == self.before
        last = self.raw.rfind(b"\x1b[?1049h")
        assert last >= 0
        rest = self.raw[last:]
        assert rest.rfind(b"\x1b[?1049l") > 0, "still on the alternate screen"
        shown, hidden = rest.rfind(b"\x1b[?25h"), rest.rfind(b"\x1b[?25l")
        shown = max(
            shown, rest.rfind(b"\x1b[?12l\x1b[?25h"), rest.rfind(b"\x1b[34h\x1b[?25h")
        )
        assert shown > hidden, "the cursor is still hidden"

    def close(self):
        if not self.is_gone():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        os.close(self.slave)


def selected(text):
    # Returns "" if no line is selected, for example because only half of a frame has
    # arrived.
    return next((line for line in text.splitlines() if line.startswith(("▸", ">"))), "")
