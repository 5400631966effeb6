# SPDX-License-Identifier: MIT
"""`ocular convert`: makes a timeline or a profile out of a recording, which a program
that was killed has left, or --output x.ocular. No process is traced."""

import argparse
import contextlib
import fcntl
import glob
import os
import signal
import struct
import sys

from ocular import _ocular

ENDING = ".ocular"
HEAD = struct.Struct("<8sII")  # magic, version, ended


def _was_killed(path):
    """Whether that is the recording of a program that has ended and did not stop it."""
    try:
        with open(path, "rb") as file:
            magic, _, ended = HEAD.unpack(file.read(HEAD.size))
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (OSError, struct.error):  # BlockingIOError: its program runs
        return False
    return magic == b"ocular\r\n" and not ended


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


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="ocular convert",
        allow_abbrev=False,
        description="Make a timeline or a profile out of a recording.",
    )
    parser.add_argument("recording", metavar="FILE", help="of a name such as x.ocular")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="its ending says what it is, as that of --output does "
        "(default: beside the recording, .json)",
    )
    options = parser.parse_args(arguments)
    output = options.output or options.recording.removesuffix(ENDING) + ".json"
    if output.endswith((ENDING, ENDING + ".gz")):
        parser.error("a recording is made by a trace; name a timeline or a profile")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the file appears when it is whole
    try:
        size, events, wrong = _ocular.convert(
            os.fsencode(options.recording), os.fsencode(output)
        )
    except ValueError as error:
        print(f"ocular convert: {options.recording}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"ocular convert: {output}: {error.strerror}", file=sys.stderr)
        return 1
    if wrong:
        print(f"ocular convert: {options.recording}: {wrong}", file=sys.stderr)
    print(f"{output}: {size / 1e6:.1f} MB, of {events} events")
    return 0
