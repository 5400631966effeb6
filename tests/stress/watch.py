# SPDX-License-Identifier: MIT
"""Finds out which threads, descriptors, memory, children and tool ids a process holds
before and after the test."""

import ctypes
import gc
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

# Some memory of a process grows over time without being a leak. CPython keeps the names of
# freed code (70 bytes for each code object, measured untraced), and the C library keeps
# free memory between used blocks.
MEMORY_SLACK = 48 << 20
KEPT_PER_CODE = 80


@dataclass
class Held:
    descriptors: Counter
    threads: Counter
    memory: int

    @classmethod
    def now(cls):
        return cls(_descriptors(), _threads(), _memory())


def _descriptors():
    """Returns the open descriptors, by their targets, in which numbers are left out."""
    found = Counter()
    for entry in os.scandir("/proc/self/fd"):
        try:
            target = os.readlink(entry.path)
        # This is the descriptor by which this function reads the directory.
        except FileNotFoundError:
            continue
        found[target.partition(":[")[0]] += 1
    return found


def _threads():
    found = Counter()
    for task in Path("/proc/self/task").iterdir():
        try:
            found[(task / "comm").read_text().strip()] += 1
        except OSError:  # the thread has ended in the meantime
            continue
    return found


def _memory():
    """Returns the resident bytes, after malloc has returned its free memory to the
    system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def settled(before, code, seconds=5, serving=False):
    """Waits until no more is held than `before`, or for `seconds`. Returns what is held."""
    limit = time.monotonic() + seconds
    while True:
        held = Held.now()
        if not complaints(before, held, code, serving) or time.monotonic() > limit:
            return held
        time.sleep(0.1)


def complaints(before, after, code=0, serving=False):
    """Returns texts about resources in `after` that are not in `before`. `code` is the
    number of code objects that were made in between. If the process is still `serving`, it
    may have threads of Ocular."""
    found = [
        f"{number} more descriptors of {what}"
        for what, number in (after.descriptors - before.descriptors).items()
    ]
    found += [
        f"{number} more threads called {what}"
        for what, number in (after.threads - before.threads).items()
    ]
    ours = [] if serving else [what for what in after.threads if "ocular-" in what]
    found += [f"a thread {what} is left" for what in ours]
    if after.memory > before.memory + MEMORY_SLACK + KEPT_PER_CODE * code:
        found.append(f"memory grew from {before.memory >> 20} to {after.memory >> 20} MB")
    return found


def leftovers():
    """Returns texts about zombies, tool ids and a socket that are left."""
    found = []
    try:
        pid, _ = os.waitpid(-1, os.WNOHANG)
        found.append(f"child {pid} is still there" if pid else "a child is still running")
    except ChildProcessError:
        pass
    for tool in (3, 4, 5):
        if name := sys.monitoring.get_tool(tool):
            found.append(f"tool id {tool} is still {name}'s")
    found += [
        f"{name} is left"
        for name in os.listdir(os.environ["OCULAR_DIR"])
        if name.startswith(f"{os.getpid()}.")
    ]
    return found
