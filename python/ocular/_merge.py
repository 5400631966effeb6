# SPDX-License-Identifier: MIT
"""`ocular merge` puts timelines of several processes into one file. The events of each
process are shifted to its start time. The command reads Ocular's files event by event,
and traces no process."""

import argparse
import contextlib
import gzip
import json
import os
import re
import sys
import zlib

TAIL = b"\n]}\n"
TIME = re.compile(rb'"ts":(\d+)\.(\d\d\d)')
PID = re.compile(rb'"pid":(\d+)')
# contains the pid and a task's number
LINK = re.compile(rb'"bind_id":"0x[0-9a-f]+([0-9a-f]{8})"')
PROFILE = b'{"ph":"P",'
START = re.compile(rb'"startTime":0')  # time in a profile, in whole microseconds
# Field numbers of Perfetto's protobuf (formats/pftrace_fields.h).
PACKET, SEQUENCE, TRACK, PROCESS, PID_FIELD = 1, 10, 60, 3, 1


class Refused(Exception):
    """Holds an error message for the user."""


def _format(path):
    stem = path.removesuffix(".gz")
    for ending in ".folded", ".pstats", ".pb", ".speedscope.json":
        if stem.endswith(ending):
            raise Refused(f"{path}: that is a profile, not a timeline")
    return "pftrace" if stem.endswith(".pftrace") else "json"


def _open(path, mode):
    if path.endswith(".gz"):
        return gzip.open(path, mode, **({"compresslevel": 6} if "x" in mode else {}))
    return open(path, mode)


# --- JSON ---------------------------------------------------------------------


def _head(file, path):
    """Reads and returns the file's data about its trace. The next read then returns the
    file's first event."""
    line = file.readline()
    try:
        if not line.endswith(b'"traceEvents":[\n'):
            raise ValueError
        other = json.loads(line[: -len(b',"traceEvents":[\n')] + b"}")["otherData"]
        other["start_unix_ns"] + other["lost_events"]
    except (ValueError, KeyError, TypeError):
        raise Refused(f"{path}: this is no timeline that Ocular has written") from None
    return other


def _copy_json(file, path, out, first, shift_ns, pid):
    """Copies the file's events. Each copy is `shift_ns` later and has the process id
    `pid`, unless `pid` is None. Returns the new value of `first`, for the next file."""

    def later(match):
        ns = int(match[1]) * 1000 + int(match[2]) + shift_ns
        return b'"ts":%d.%03d' % divmod(ns, 1000)

    line = b""
    for line in file:
        if line == b"]}\n":
            return first
        event = line.rstrip(b",\n")
        event = TIME.sub(later, event, count=1)
        if event.startswith(PROFILE):
            event = START.sub(b'"startTime":%d' % (shift_ns // 1000), event, count=1)
        if pid is not None:
            event = PID.sub(b'"pid":%d' % pid, event, count=1)
            event = LINK.sub(rb'"bind_id":"0x%x\1"' % pid, event, count=1)
        out.write(event if first else b",\n" + event)
        first = False
    raise Refused(f"{path}: it is not whole")


def _pid_of(path):
    with _open(path, "rb") as file:
        _head(file, path)
        match = PID.search(file.readline())
    return int(match[1]) if match else 0


def _merge_json(paths, out):
    heads, pids = [], {}
    for path in paths:
        with _open(path, "rb") as file:
            heads.append(_head(file, path))
        pids.setdefault(_pid_of(path), []).append(path)
    taken = set(pids)
    base = min(head["start_unix_ns"] for head in heads)
    other = {
        **heads[0],
        "start_unix_ns": base,
        "lost_events": sum(head["lost_events"] for head in heads),
        "forgotten_events": sum(head.get("forgotten_events", 0) for head in heads),
        "merged": [{"file": os.path.basename(p), **h} for p, h in zip(paths, heads)],
    }
    text = json.dumps({"displayTimeUnit": "ns", "otherData": other}, separators=(",", ":"))
    out.write(text[:-1].encode() + b',"traceEvents":[\n')
    first = True
    for path, head in zip(paths, heads):
        pid = None
        # true if an earlier file has this process id
        if path not in (owners := pids[_pid_of(path)])[:1]:
            pid = max(taken) + 1
            taken.add(pid)
            owners.remove(path)
            pids.setdefault(pid, []).append(path)
        with _open(path, "rb") as file:
            _head(file, path)
            first = _copy_json(file, path, out, first, head["start_unix_ns"] - base, pid)
    out.write(TAIL)


# --- Perfetto's protobuf ------------------------------------------------------


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _put_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data):
    """Yields (number, offset of the tag, offset of the value, offset of the end) for each
    field."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = _varint(data, at)
        value = at
        if tag & 7 == 0:
            at = _varint(data, at)[1]
        elif tag & 7 == 1:
            at += 8
        elif tag & 7 == 2:
            size, value = _varint(data, at)
            at = value + size
        else:
            raise ValueError
        if at > len(data):
            raise ValueError
        yield tag >> 3, begin, value, at


def _packets(file, path):
    while tag := file.read(1):
        size, shift, byte = 0, 0, 128
        while byte > 127:
            more = file.read(1)
            if not more:
                raise Refused(f"{path}: it is not whole")
            byte = more[0]
            size |= (byte & 127) << shift
            shift += 7
        packet = file.read(size)
        if tag[0] != PACKET << 3 | 2 or len(packet) < size:
            raise Refused(f"{path}: it is not whole, or no timeline of Ocular's")
        yield packet


def _process_of(packet):
    """Returns the pid that a track's packet holds, or None."""
    for number, _, value, end in _fields(packet):
        if number != TRACK:
            continue
        track = packet[value:end]
        for inside, _, begin, stop in _fields(track):
            if inside == PROCESS:
                for field, _, at, _ in _fields(track[begin:stop]):
                    if field == PID_FIELD:
                        return _varint(track[begin:stop], at)[0]
    return None


def _renumber(packet, offset):
    """Adds `offset` to the packet's sequence number, so that the sequences of different
    files have different numbers. Returns the packet and the new number."""
    for number, begin, value, end in _fields(packet):
        if number == SEQUENCE:
            sequence = _varint(packet, value)[0] + offset
            packet = packet[:begin] + b"\x50" + _put_varint(sequence) + packet[end:]
            return packet, sequence
    return packet, 0


def _merge_pftrace(paths, out):
    offset, whose = 0, {}
    for path in paths:
        newest, known = offset, False
        with _open(path, "rb") as file:
            for packet in _packets(file, path):
                try:
                    pid = None if known else _process_of(packet)
                    packet, sequence = _renumber(packet, offset)
                except (ValueError, IndexError):
                    raise Refused(f"{path}: this is no timeline of Ocular's") from None
                if pid is not None:
                    known = True
                    if pid in whose:
                        raise Refused(
                            f"{whose[pid]} and {path} are both of process {pid}: only "
                            "JSON timelines of such can be merged"
                        )
                    whose[pid] = path
                newest = max(newest, sequence)
                out.write(b"\x0a" + _put_varint(len(packet)) + packet)
        offset = newest


# --- The command --------------------------------------------------------------


def merge(paths, output):
    """Merges several timelines into one file. Writes the complete file or nothing."""
    formats = {_format(path) for path in [*paths, output]}
    if len(formats) > 1:
        raise Refused("the files must all be JSON, or all .pftrace, and the new one, too")
    if os.path.exists(output):
        raise Refused(f"{output}: it exists; give another name with --output")
    temporary = f"{output}.{os.getpid()}.part" + (".gz" if output.endswith(".gz") else "")
    try:
        with _open(temporary, "xb") as out:
            (_merge_json if formats == {"json"} else _merge_pftrace)(paths, out)
        try:
            os.link(temporary, output)
        except PermissionError:  # this file system has no hard links
            os.rename(temporary, output)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="ocular merge",
        allow_abbrev=False,
        description="Put the timelines of several processes into one, each at its time.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON, or all .pftrace")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        merge(options.files, options.output)
    except Refused as error:
        print(f"ocular merge: {error}", file=sys.stderr)
        return 2
    except (OSError, EOFError, zlib.error) as error:
        print(f"ocular merge: {error}", file=sys.stderr)
        return 1
    return 0
