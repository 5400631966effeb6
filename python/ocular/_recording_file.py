# SPDX-License-Identifier: MIT
"""Finds and converts recordings. A killed program leaves a recording, and --output x.ocular
keeps the recording."""

import contextlib
import fcntl
import glob
import os
import struct
import sys

from ocular import _ocular

ENDING = ".ocular"
HEAD = struct.Struct("<8sII")  # fields: magic, version, ended
MAGIC = b"ocular\r\n"


def _was_killed(path):
    """Returns True if `path` is the recording of a program that ended without stopping the
    trace."""
    try:
        with open(path, "rb") as file:
            magic, _, ended = HEAD.unpack(file.read(HEAD.size))
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (OSError, struct.error):  # BlockingIOError: the program still runs
        return False
    return magic == MAGIC and not ended


def announce(settings):
    """Names the newest recording of a killed run on stderr, if there is one."""
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
    """Returns True if the file's content or the file's name shows that the file is a
    recording."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC or path.endswith(ENDING)
    except OSError:
        return path.endswith(ENDING)


def convert(paths, output):
    """Makes the file `output` from one or more recordings. Returns a message about the
    file, and facts about the first recording, as in a snapshot. Raises ValueError if a
    recording cannot be read."""
    size, events, wrong, facts = _ocular.convert(
        tuple(map(os.fsencode, paths)), os.fsencode(output)
    )
    for line in wrong.splitlines():
        print(f"ocular convert: {line}", file=sys.stderr)
    return f"{output}: {size / 1e6:.1f} MB, of {events} events", facts
