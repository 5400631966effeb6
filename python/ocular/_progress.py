# SPDX-License-Identifier: MIT
"""Shows progress on stderr while the timeline is written at stop."""

import sys
import time

PATIENCE_S = 1  # seconds of writing before the first message
REFRESH_S = 0.2


class Progress:
    """The writer calls the object with the written part of the timeline (0..1) and the
    file's size in bytes so far. On a terminal each message overwrites the last message. If
    stderr is no terminal, only one message is printed. `say` writes text to stderr and
    ignores errors."""

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
    # Stderr is None or closed, or the program has replaced it by an object without isatty.
    except Exception:
        return False
