# SPDX-License-Identifier: MIT
"""Implements a viewer in Python from docs/protocol.md. The viewer reads the members of
a snapshot from that document, so the document cannot become outdated."""

import os
import re
import socket
import struct
import time
from pathlib import Path

from e2e.program import SLOW

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"
VERSION = 1
MAGIC = b"Oc"
HELLO, SNAPSHOT, REPLY, ERROR, END, NOTICE, LISTING, STACKS = range(1, 9)
CHANGES, RECORDING = 9, 10
ANSWERS = REPLY, LISTING, STACKS, RECORDING
RATE, DETAIL, REARM, BUDGET, EXPORT_PATH, CANCEL, FLAME, EXPORT = range(16, 24)
NOW, FOLLOW, HANDOUT = range(24, 27)
LATENCIES = 32
TIMELINE, SAMPLED = range(2)  # a HANDOUT message contains one of these numbers
PROFILES = ".folded", ".speedscope.json", ".pstats", ".pb"
NULL_U64 = (1 << 64) - 1
NULL_TEXT = (1 << 32) - 1
STATES = {0: "armed", 1: "partial", 2: "dark"}

FIELD = re.compile(
    r"(?:group \*(?P<group>\w+)\*: |(?P<none>no group again: ))?"
    r"(?P<name>[\w.+]+) (?:(?P<many>list of|optional) \*(?P<list>\w+)\*"
    r"|(?P<type>u64|f64|text|bool|state))"
    r"(?: \(1\))?"
)


def schema():
    """Reads the document, and returns for each record's name a list of its fields. A field
    is a tuple of group, name, type and, for a list, the record of the list's elements."""
    section = PAGE.read_text().split("\n## Records\n")[1].split("\n## ")[0]
    records = {}
    for name, body in re.findall(r"\*\*(\w+)\*\*: (.*?)\.\n", section + "\n", re.S):
        group = None
        for part in re.split(r"[,;] ", " ".join(body.split())):
            field = FIELD.fullmatch(part)
            assert field, f"docs/protocol.md, {name}: {part!r}"
            if field["group"] or field["none"]:
                group = field["group"]
            records.setdefault(name, []).append(
                (group, field["name"], field["type"] or field["many"], field["list"])
            )
    return records


class Reader:
    """Reads values from a payload."""

    def __init__(self, data, records):
        self.data = data
        self.at = 0
        self.records = records

    def take(self, form):
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        size = self.take("I")
        if size == NULL_TEXT:
            return None
        assert self.at + size <= len(self.data)
        value = self.data[self.at : self.at + size]
        self.at += size
        return value.decode("utf-8", "replace")

    def u64(self):
        value = self.take("Q")
        return None if value == NULL_U64 else value

    def f64(self):
        value = self.take("d")
        return None if value != value else value

    def bool(self):
        return {0: False, 1: True}.get(self.take("B"))

    def state(self):
        return STATES.get(self.take("B"))

    def record(self, name):
        size = self.take("I")
        end = self.at + size
        assert end <= len(self.data)
        result = {}
        for group, field, kind, element in self.records[name]:
            if self.at == end:
                value = [] if kind == "list of" else None
            elif element:
                value = [self.record(element) for _ in range(self.take("I"))]
                if kind == "optional":
                    value = value[0] if value else None
            else:
                value = getattr(self, kind)()
            home = result.setdefault(group, {}) if group else result
            home[field] = value
        assert self.at <= end
        self.at = end
        return result


def pack_text(text):
    if text is None:
        return struct.pack("<I", NULL_TEXT)
    data = text.encode()
    return struct.pack("<I", len(data)) + data


class Ended(Exception):
    """Is raised if the process has closed the connection."""


class Refused(Exception):
    """Is raised for an ERROR message, with the errno and the text of the message."""


class Client:
    """The connection of a viewer, which sends HELLO at once, unless `hello` is false."""

    def __init__(self, path, timeout=SLOW, hello=True):
        self.records = schema()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))
        self.last_request = 0
        self.snapshots = []
        self.buffer = b""
        self.files = []  # file descriptors that the process has sent
        self.peer = None
        if hello:
            self.send(HELLO, self.hello())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()
        for file in self.files:
            os.close(file)
        self.files.clear()

    @staticmethod
    def hello(version=VERSION):
        return struct.pack("<IQ", version, 4711) + pack_text("test")

    def send(self, kind, payload=b"", request=0, files=()):
        """Sends a message. The descriptors in `files` are sent with the message."""
        frame = MAGIC + struct.pack("<HII", kind, len(payload), request) + payload
        if files:
            sent = socket.send_fds(self.socket, [frame], files)
            frame = frame[sent:]
        self.socket.sendall(frame)

    def read(self, size):
        while len(self.buffer) < size:
            try:
                data, files, _, _ = socket.recv_fds(self.socket, 1 << 16, 16)
                self.files += files
            except ConnectionResetError:
                data = b""
            if not data:
                raise Ended
            self.buffer += data
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def receive(self):
        """Waits for the next message, and returns (type, request number, content)."""
        head = self.read(12)
        assert head[:2] == MAGIC
        kind, size, request = struct.unpack("<HII", head[2:])
        reader = Reader(self.read(size), self.records)
        if kind == HELLO:
            value = (reader.take("I"), reader.take("Q"), reader.text())
            self.peer = value
        elif kind == SNAPSHOT:
            value = reader.record("snapshot")
        elif kind == CHANGES:
            value = (reader.record("changes"), reader.record("snapshot"))
        elif kind == REPLY:
            value = (reader.take("Q"), reader.take("d"), reader.text())
        elif kind == ERROR:
            value = (reader.take("Q"), reader.text())
        elif kind == NOTICE:
            value = reader.text()
        elif kind == LISTING:
            value = reader.record("listing")
        elif kind == STACKS:
            value = reader.record("stacks")
        elif kind == RECORDING:
            value = (reader.take("Q"), reader.take("d"), self.files.pop(0))
            # seconds that are missing at the end of a timeline that several viewers get
            reader.text()
        else:
            value = None
        if kind in range(HELLO, RECORDING + 1):
            assert reader.at == size
        return kind, request, value

    def snapshot(self):
        """Returns the next snapshot."""
        while True:
            kind, _, value = self.receive()
            if kind == SNAPSHOT:
                return value
            if kind == ERROR:
                raise Refused(*value)

    def ask(self, kind, payload=b"", files=()):
        """Sends a request and waits for the answer. Returns the content of the answer,
        which is (number, value, text) for a REPLY, or raises Refused."""
        self.last_request += 1
        self.send(kind, payload, self.last_request, files)
        while True:
            answer, request, value = self.receive()
            if answer == SNAPSHOT:
                self.snapshots.append(value)
            elif request == self.last_request and answer == ERROR:
                raise Refused(*value)
            elif request == self.last_request and answer in ANSWERS:
                return value

    def rate(self, seconds):
        return self.ask(RATE, struct.pack("<d", seconds))

    def rearm(self, function=0):
        return self.ask(REARM, struct.pack("<Q", function))

    def detail(self, function):
        """Returns the function's listing."""
        return self.ask(DETAIL, struct.pack("<Q", function))

    def hand_out(self, kind=TIMELINE):
        """Returns (bytes, seconds, descriptor) of the process's recording."""
        return self.ask(HANDOUT, struct.pack("<Q", kind))

    def export(self, path):
        """Makes a file from the process's recording, as a viewer does if its user presses
        e. Replaces an existing file."""
        from ocular import _ocular

        stacks = str(path).removesuffix(".gz").endswith(PROFILES)
        _, _, file = self.hand_out(SAMPLED if stacks else TIMELINE)
        Path(path).unlink(missing_ok=True)
        try:
            _, _, wrong, _ = _ocular.convert(
                (f"/proc/self/fd/{file}".encode(),), os.fsencode(path)
            )
        finally:
            os.close(file)
        assert not wrong, wrong

    def wait_for(self, condition, seconds=SLOW):
        """Takes snapshots until condition(snapshot) is true, and returns the last one."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            snapshot = self.snapshot()
            if condition(snapshot):
                return snapshot
        raise AssertionError("timed out")


def function(snapshot, name):
    """Returns the function with this qualified name, or None."""
    rows = [row for row in snapshot["functions"] if row["name"] == name]
    assert len(rows) < 2, f"{len(rows)} functions are called {name}"
    return rows[0] if rows else None
