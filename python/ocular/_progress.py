# SPDX-License-Identifier: MIT
"""The line on stderr while the timeline is written at stop."""

import sys
import time

PATIENCE_S = 1  # of writing before anything is said
REFRESH_S = 0.2


class Progress:
    """Called with the part (0..1) that is written and the bytes of the file so
    far. On a terminal the line is written over in place, elsewhere it comes
    once. `say` writes text on stderr, and fails in silence."""

    def __init__(self, say):
        self.say = say
        self.due = time.monotonic() + PATIENCE_S
        self.in_place = False

    def __call__(self, part, size):
        now = time.monotonic()
        if now < self.due:
            return
        self.in_place = _is_terminal(sys.stderr)
        self.due = now + REFRESH_S if self.in_place else float("inf")
        text = f"ocular: writing the timeline: {part:.0%}, {size / 1e6:.1f} MB"
        self.say(f"\r{text}" if self.in_place else f"{text}\n")

    def end(self):
        if self.in_place:
            self.say("\n")


def _is_terminal(stream):
    try:
        return stream.isatty()
    except Exception:  # None, closed, or something of the program's
        return False
