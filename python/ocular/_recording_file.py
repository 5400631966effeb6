# SPDX-License-Identifier: MIT
"""Recordings of programs that were killed, or that --output x.ocular has kept: which
there are, and what `ocular convert` makes of one."""

import contextlib
import fcntl
import glob
import os
import struct
import sys

from ocular import _ocular

ENDING = ".ocular"
HEAD = struct.Struct("<8sII")  # magic, version, ended
MAGIC = b"ocular\r\n"


def _was_killed(path):
    """Whether that is the recording of a program that has ended and did not stop it."""
    try:
        with open(path, "rb") as file:
            magic, _, ended = HEAD.unpack(file.read(HEAD.size))
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (OSError, struct.error):  # BlockingIOError: its program runs
        return False
    return magic == MAGIC and not ended


def announce(settings):
    """Says on stderr which recordings of killed runs there are."""
    name = os.path.basename(settings.output).removesuffix(".gz")
    for ending in ".speedscope.json", os.path.splitext(name)[1]:
        name = name.removesuffix(ending)
    folder = settings.timeline_spill or os.path.dirname(settings.output)
    pattern = os.path.join(glob.escape(folder), f"{glob.escape(name)}.*{ENDING}")
    found = [path for path in glob.glob(pattern) if _was_killed(path)]
    if not found:
        return
    with contextlib.suppress(OSError):
        found.sort(key=os.path.getmtime)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    path = os.path.relpath(found[-1])
    with contextlib.suppress(OSError):
        print(
            f"ocular: found {os.path.basename(path)} of a killed run{more}: "
            f"ocular convert {path}",
            file=sys.stderr,
            flush=True,
        )


def is_one(path):
    """By what it holds, or else by its name."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC or path.endswith(ENDING)
    except OSError:
        return path.endswith(ENDING)


def convert(path, output):
    """Makes the file, and says so in words. ValueError: the recording cannot be read."""
    size, events, wrong = _ocular.convert(os.fsencode(path), os.fsencode(output))
    if wrong:
        print(f"ocular convert: {path}: {wrong}", file=sys.stderr)
    return f"{output}: {size / 1e6:.1f} MB, of {events} events"
