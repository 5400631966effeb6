# SPDX-License-Identifier: MIT
"""`ocular convert`: a flame graph out of folded stacks, which Ocular has written or any
tool that has a line for each stack. No process is traced."""

import argparse
import contextlib
import gzip
import os
import re
import signal
import sys
import zlib

from ocular import _flame_file, _flame_page, _ocular, _settings, _stacks

PLACE = re.compile(r" \(.+:\d+\)$")
DESCRIPTION = """\
Make a flame graph, .html or .svg, out of folded stacks: Ocular's .folded, those of py-spy
(--format raw), of perf by stackcollapse-perf.pl, of any tool that has a line for each
stack, with a number at its end."""


class _Refused(Exception):
    """Its text is for the user."""


@contextlib.contextmanager
def _lines(path):
    """The lines of a file, unpacked."""
    with contextlib.ExitStack() as opened:
        file = sys.stdin.buffer
        if path != "-":
            file = opened.enter_context(open(path, "rb"))
        packed = file.peek(2)[:2] == b"\x1f\x8b"
        yield gzip.GzipFile(fileobj=file) if packed else file


def _read(path):
    try:
        with _lines(path) as lines:
            return _stacks.read(lines)
    except _stacks.BadStacks as error:
        raise _Refused(str(error)) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _Refused(f"it cannot be unpacked: {error}") from None


def _unit(path, flame):
    """Ocular's files have microseconds, and others the number of samples."""
    ours = path.removesuffix(".gz").endswith(_settings.STACKS)
    return "us" if ours and any(map(PLACE.search, flame.names)) else "samples"


def _convert(path, output, unit):
    """Makes the file, and says so in words."""
    flame = _read(path)
    if not flame.total:
        raise _Refused("it has no stacks")
    title = "stdin" if path == "-" else os.path.basename(path)
    facts = _flame_page.Facts(
        title, [f"Ocular {_ocular.__version__}"], unit or _unit(path, flame)
    )
    size = _flame_file.write(output, _flame_file.text_of(flame, facts, output))
    figures = _flame_page.Figures(flame.total, facts.unit)
    return f"{output}: {size / 1e3:.0f} kB, {figures.amount(flame.total)}"


def _parser():
    parser = argparse.ArgumentParser(
        prog="ocular convert", allow_abbrev=False, description=DESCRIPTION
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the stacks, packed by gzip or not; -: stdin")
    add(
        "-o",
        "--output",
        metavar="FILE",
        help=".html: a page in one file; .svg: a picture (default: beside it, .html)",
    )
    add(
        "--unit",
        choices=("us", "samples"),
        help="what the numbers are: microseconds, which Ocular's .folded have, or samples",
    )
    return parser


def _output(parser, options):
    name = options.output
    if name is None and options.file == "-":
        parser.error("name the file that is to be written: -o FILE")
    if name is None:
        name = options.file.removesuffix(".gz").removesuffix(_settings.STACKS)
        if not _settings.page_ending(name):  # unless it is x.html.folded
            name += ".html"
    if not _settings.page_ending(name):
        parser.error(f"{name}: its name has to end in .html or .svg")
    if os.path.lexists(name):
        parser.error(f"{name}: it exists; give another name with --output")
    return name


def main(arguments):
    parser = _parser()
    options = parser.parse_args(arguments)
    output = _output(parser, options)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        print(_convert(options.file, output, options.unit))
    except _Refused as error:
        print(f"ocular convert: {options.file}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = error.filename or output
        print(f"ocular convert: {where}: {error.strerror}", file=sys.stderr)
        return 1
    return 0
