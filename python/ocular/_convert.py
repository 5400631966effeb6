# SPDX-License-Identifier: MIT
"""`ocular convert` makes any of Ocular's files from a recording, such as a killed
program leaves. The command also makes one timeline of the recordings of several
processes (`ocular merge` is another name for that), and a flame graph from folded stacks,
whether Ocular or another tool wrote them. The command traces no process."""

import argparse
import contextlib
import gzip
import os
import re
import signal
import sys
import zlib

from ocular import _flame_file, _flame_page, _ocular, _recording_file, _settings, _stacks

PLACE = re.compile(r" \(.+:\d+\)$")
DESCRIPTION = """\
Make a timeline, a profile or a flame graph, by the ending of its name, out of a recording
(x.ocular). Make one timeline out of the recordings of several processes, each at its own
time. Make a flame graph, .html or .svg, out of folded stacks: Ocular's .folded, those
of py-spy (--format raw), of perf by stackcollapse-perf.pl, of any tool that has a line for
each stack, with a number at its end."""


class _Refused(Exception):
    """Holds an error message for the user."""


@contextlib.contextmanager
def _lines(path):
    """Opens a file, or stdin for "-", and unpacks a file that gzip has compressed."""
    with contextlib.ExitStack() as opened:
        file = sys.stdin.buffer
        if path != "-":
            file = opened.enter_context(open(path, "rb"))
        packed = file.peek(2)[:2] == b"\x1f\x8b"
        yield gzip.GzipFile(fileobj=file) if packed else file


def _read(path):
    try:
        with _lines(path) as lines:
            return _stacks.read_times(lines)
    except _stacks.BadStacks as error:
        raise _Refused(str(error)) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _Refused(f"it cannot be unpacked: {error}") from None


def _unit(path, flame):
    """Returns the unit of the stacks' numbers. The unit is microseconds in Ocular's files
    and samples in other tools' files."""
    ours = path.removesuffix(".gz").endswith(".folded")
    return "us" if ours and any(map(PLACE.search, flame.names)) else "samples"


def _of_recordings(paths, output):
    """Makes the file from recordings and returns a message about it."""
    if not _settings.page_ending(output):
        return _recording_file.convert(paths, output)[0]
    stacks = f"{output}.{os.getpid()}{_settings.STACKS}"
    try:
        _, about = _recording_file.convert(paths, stacks)
        facts = _flame_file.facts_of(about, os.path.basename(paths[0]))
        return _of_stacks(stacks, output, facts)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(stacks)


def _of_stacks(path, output, facts=None, unit=None):
    """Makes a flame graph from folded stacks and returns a message about it. `facts` are
    those of the recording from which the stacks come."""
    flames = _read(path)
    flame = flames[0]
    if not flame.total:
        raise _Refused("it has no stacks")
    if facts is None:
        title = "stdin" if path == "-" else os.path.basename(path)
        facts = _flame_page.Facts(
            title, [f"Ocular {_ocular.__version__}"], unit or _unit(path, flame)
        )
    size = _flame_file.write(output, _flame_file.text_of(flames, facts, output))
    figures = _flame_page.Figures(flame.total, facts.unit)
    return f"{output}: {size / 1e3:.0f} kB, {figures.amount(flame.total)}"


def _parser(verb="convert"):
    parser = argparse.ArgumentParser(
        prog=f"ocular {verb}", allow_abbrev=False, description=DESCRIPTION
    )
    add = parser.add_argument
    add(
        "files",
        metavar="FILE",
        nargs="+",
        help="recordings; or stacks, packed by gzip or not; -: stacks from stdin",
    )
    add(
        "-o",
        "--output",
        metavar="FILE",
        help="its ending says what it is, as that of --output does (default: beside "
        "it, .json of a recording, .html of stacks)",
    )
    add(
        "--unit",
        choices=("us", "samples"),
        help="what the numbers are: microseconds, which Ocular's .folded have, or samples",
    )
    return parser


def _name_beside(file, records):
    if records:
        return file.removesuffix(_recording_file.ENDING) + ".json"
    name = file.removesuffix(".gz").removesuffix(_settings.STACKS).removesuffix(".folded")
    # The path is, for example, x.html instead of x.html.folded.
    return name if _settings.page_ending(name) else name + ".html"


def _output(parser, options, records):
    name = options.output
    if name is None and (options.files == ["-"] or len(options.files) > 1):
        parser.error("name the file that is to be written: -o FILE")
    if name is None:
        name = _name_beside(options.files[0], records)
    if name.removesuffix(".gz").endswith(_recording_file.ENDING):
        parser.error("a recording is made by a trace; name a timeline or a profile")
    if not records and not _settings.page_ending(name):
        parser.error(f"{name}: its name has to end in .html or .svg")
    if len(options.files) > 1 and _settings.has_stacks(name):
        parser.error(f"{name}: several recordings make a timeline: .json or .pftrace")
    if os.path.lexists(name):
        parser.error(f"{name}: it exists; give another name with --output")
    return name


def _check_kinds(parser, files, verb):
    """Returns True if the files are recordings, and False if the only file is stacks."""
    others = [file for file in files if not _recording_file.is_one(file)]
    if others and (len(files) > 1 or verb == "merge"):
        parser.error(
            f"{others[0]}: this is no recording. One timeline is made of the recordings "
            "that --output x.ocular leaves"
        )
    return not others


def main(arguments, verb="convert"):
    parser = _parser(verb)
    options = parser.parse_args(arguments)
    records = _check_kinds(parser, options.files, verb)
    output = _output(parser, options, records)
    file = options.files[0]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        if records:
            print(_of_recordings(options.files, output))
        else:
            print(_of_stacks(file, output, unit=options.unit))
    except _Refused as error:
        print(f"ocular {verb}: {file}: {error}", file=sys.stderr)
        return 2
    except ValueError as error:  # the error's text names the recording
        print(f"ocular {verb}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = os.fsdecode(error.filename or output)
        print(f"ocular {verb}: {where}: {error.strerror}", file=sys.stderr)
        return 1
    return 0
