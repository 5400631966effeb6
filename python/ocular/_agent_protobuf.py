# SPDX-License-Identifier: MIT
"""Writes messages of protobuf, and the tables of strings and frames that pprof's and
OpenTelemetry's profiles have in common."""

import functools
import struct


@functools.lru_cache(4096)  # most are keys, lengths and small numbers
def varint(value):
    if 0 <= value < 128:
        return bytes((value,))
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(field, value):
    """Returns a field with a whole number, or nothing for 0, which is the default."""
    return varint(field << 3) + varint(value) if value else b""


def part(field, content):
    """Returns a field with a message, a text or bytes."""
    if isinstance(content, str):
        content = content.encode("utf-8", "replace")
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field, values):
    return part(field, b"".join(map(varint, values)))


def fixed(field, value):
    """Returns a field with 8 bytes: a whole number or a float."""
    return varint(field << 3 | 1) + struct.pack(
        "<d" if isinstance(value, float) else "<Q", value
    )


def parts(field, contents):
    return b"".join(part(field, content) for content in contents)


class Tables:
    """Numbers strings from 0 on, where 0 is "", and frames from 1 on. A frame is a tuple
    of a function's name, file and first line."""

    def __init__(self):
        self.strings, self.frames = {"": 0}, {}

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def frame(self, frame):
        return self.frames.setdefault(frame, len(self.frames) + 1)

    def value_type(self, kind, unit):
        return number(1, self.string(kind)) + number(2, self.string(unit))
