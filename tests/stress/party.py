# SPDX-License-Identifier: MIT
"""What all parts of the stress test share: the time to stop, their dice, their counts
and their failures. Each part is a function that takes a Party and runs in a thread of
its own until `party.over` is set."""

import collections
import random
import sys
import threading
import time
import traceback
from pathlib import Path

TROUBLE_ENDS = "\0\n"  # between two in the file "troubles"


class Party:
    def __init__(self, seed, folder):
        self.seed = seed
        self.folder = Path(folder)  # for timelines
        self.tracing = True  # False: the same without a tracer
        self.over = threading.Event()
        self.counts = collections.Counter()
        self.names = 0
        self.lock = threading.Lock()

    def dice(self, name):
        """A part's own random numbers: always the same for one seed."""
        return random.Random(f"{self.seed}/{name}")

    def count(self, what, times=1):
        with self.lock:
            self.counts[what] += times

    def fail(self, text):
        """Something is wrong. The test goes on, and fails in the end. Written
        down at once: there may be no end."""
        with self.lock, open(self.folder / "troubles", "a") as file:
            file.write(text + TROUBLE_ENDS)

    def fresh(self, stem):
        """A name that nobody else uses."""
        with self.lock:
            self.names += 1
            return f"{stem}{self.names}"

    def going(self, pause=0.0):
        """Whether to go on; a moment later."""
        return not self.over.wait(pause) if pause else not self.over.is_set()


class Troop:
    """The threads that run parts."""

    def __init__(self, party, parts):
        self.party = party
        self.threads = [
            threading.Thread(target=self._run, args=(part, name), name=name)
            for name, part in parts
        ]

    def _run(self, part, name):
        try:
            part(self.party, self.party.dice(name))
        except BaseException:
            self.party.fail(f"{name}: {traceback.format_exc()}")

    def start(self):
        for thread in self.threads:
            thread.start()

    def join(self, seconds):
        """Waits for all; the names of those that do not end."""
        limit = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0, limit - time.monotonic()))
        return [thread.name for thread in self.threads if thread.is_alive()]


def where(thread_names):
    """The Python stacks of some threads."""
    frames = sys._current_frames()
    text = []
    for thread in threading.enumerate():
        if thread.name in thread_names and thread.ident in frames:
            stack = traceback.format_stack(frames[thread.ident])
            text.append(f"{thread.name}:\n{''.join(stack)}")
    return "\n".join(text)
