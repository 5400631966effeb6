# SPDX-License-Identifier: MIT
"""Finds a program's row in ocular-top's list of processes."""

from e2e.program import wait_until
from tui.emulated import selected


def row(text, program):
    rows = [line for line in text.splitlines() if f" {program.pid} " in line[:12]]
    return rows[0] if rows else ""


def find(top, program, words=""):
    """Waits until the program's row contains these words, and returns the screen. The
    list shows all processes of the machine. Rows appear and vanish, and there can be more
    rows than lines on the screen."""
    direction = ["Down", "Up"]

    def there():
        text = top.settle(0.02)
        if not row(text, program):
            top.press(direction[0])
            # at the end of the list, the selection no longer moves
            if selected(text) == selected(top.settle(0.02)):
                direction.reverse()
            return None
        return text if words in row(text, program) else None

    return wait_until(there, what=f"{words} {program.pid}")


def choose(top, program):
    """Selects the program's row and presses Enter."""
    while f" {program.pid} " not in selected(text := find(top, program)):
        lines = text.splitlines()
        here, there = lines.index(selected(text)), lines.index(row(text, program))
        top.press(*["Up" if there < here else "Down"] * abs(there - here))
    top.press("Enter")
