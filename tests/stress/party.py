# SPDX-License-Identifier: MIT
"""Defines Party, which has the data that all parts of the stress test share: the time to
stop, random numbers, counts and failures. Each part is a function that gets a Party and
runs in a thread of its own until `party.over` is set."""

import collections
import os
import random
import threading
import time
import traceback
from pathlib import Path

TROUBLE_ENDS = "\0\n"  # separates two entries in the file "troubles"


class Party:
    def __init__(self, seed, folder):
        self.seed = seed
        self.folder = Path(folder)  # Folder for the timelines.
        self.pid = os.getpid()  # The process that is traced.
        self.rate = 0.1  # Seconds between the snapshots for a viewer.
        self.tracing = True  # If False, the test runs without Ocular.
        self.over = threading.Event()
        self.counts = collections.Counter()
        self.names = 0
        self.lock = threading.Lock()

    def dice(self, name):
        """Returns a generator of random numbers for one part. For the same seed, its
        numbers are always the same."""
        return random.Random(f"{self.seed}/{name}")

    def count(self, what, times=1):
        with self.lock:
            self.counts[what] += times

    def fail(self, text):
        """Notes a failure of the test. The test continues, but at its end it fails. The
        failure is written to a file at once, because the process might not reach the end of
        the test."""
        with self.lock, open(self.folder / "troubles", "a") as file:
            file.write(text + TROUBLE_ENDS)

    def fresh(self, stem):
        """Returns a file name that nothing else uses."""
        with self.lock:
            self.names += 1
            return f"{stem}{self.names}"

    def going(self, pause=0.0):
        """Waits for `pause` seconds. Returns True if the test is not over then."""
        return not self.over.wait(pause) if pause else not self.over.is_set()


class Troop:
    """The threads that run the parts."""

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
        """Waits for all threads. Returns the names of the threads that do not end."""
        limit = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0, limit - time.monotonic()))
        return [thread.name for thread in self.threads if thread.is_alive()]
