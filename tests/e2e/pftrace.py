# SPDX-License-Identifier: MIT
"""Reads Perfetto's protobuf, as far as Ocular writes it, and says the same in
JSON's words: both files of a timeline are equal documents. Unknown fields fail."""

import re
import struct
from collections import defaultdict

# Message: field number, name and type of each. A "*" marks what may come again.
TABLE = """
Trace: 1 packet* Packet
Packet: 6 clocks Clocks, 8 time uint, 10 sequence uint, 11 event Event,
    12 interned Interned, 13 flags uint, 59 defaults Defaults, 60 track Track
Clocks: 1 clock* Clock, 2 primary uint
Clock: 1 id uint, 2 time uint, 3 incremental bool
Defaults: 58 clock uint, 11 event EventDefaults
EventDefaults: 11 track uint
Track: 1 uuid uint, 3 process Owner, 4 thread Owner
Owner: 1 pid uint, 2 tid uint, 3 sort_index uint, 5 name text, 6 name text
Interned: 1 category* Named, 2 name* Named, 3 note* Named, 4 place* Named,
    29 text* Named
Named: 1 iid uint, 2 name text, 3 function text, 4 line uint
Event: 3 category uint, 4 note* Note, 9 type uint, 10 name_iid uint, 23 name text,
    34 place uint
Note: 1 name_iid uint, 2 value bool, 3 value uint, 5 value double, 6 value text,
    7 value pointer, 10 name text, 17 text uint
"""
MESSAGES = {
    kind: {int(n): (name, of) for n, name, of in map(str.split, fields.split(","))}
    for kind, fields in re.findall(r"^(\w+):((?:.|\n +)+)", TABLE, re.M)
}
VARINTS = {"uint": int, "bool": bool, "pointer": hex}
STATE_CLEARED = 1
BEGIN, END, INSTANT = 1, 2, 3


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            assert value < 1 << 64
            return value, at


def message(kind, data):
    out, at, fields = {}, 0, MESSAGES[kind]
    while at < len(data):
        tag, at = varint(data, at)
        name, is_of = fields[tag >> 3]
        if is_of in VARINTS:
            assert tag & 7 == 0
            value, at = varint(data, at)
            value = VARINTS[is_of](value)
        elif is_of == "double":
            assert tag & 7 == 1
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        else:
            assert tag & 7 == 2
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size
            value = value.decode() if is_of == "text" else message(is_of, value)
        if name.endswith("*"):
            out.setdefault(name[:-1], []).append(value)
        else:
            assert name not in out, f"{kind}.{name} comes twice"
            out[name] = value
    return out


class Sequence:
    """What packets of one sequence may refer to."""

    def __init__(self):
        self.known = {kind[:-1]: {} for kind, _ in MESSAGES["Interned"].values()}
        self.codes = {}  # name's iid -> code_ptr, which comes once
        self.clocks, self.defaults = {}, None

    def take(self, packet):
        for kind, entries in packet.get("interned", {}).items():
            for entry in entries:
                assert self.known[kind].setdefault(entry["iid"], entry) is entry
        self.defaults = packet.get("defaults", self.defaults)
        for clock in packet.get("clocks", {}).get("clock", ()):
            if clock.get("incremental"):
                assert clock["id"] not in self.clocks, "a clock is set back"
                self.clocks[clock["id"]] = clock["time"]

    def ns(self, packet):
        self.clocks[self.defaults["clock"]] += packet["time"]
        return self.clocks[self.defaults["clock"]]

    def args(self, event):
        args = {}
        for note in event.get("note", ()):
            name = note.get("name") or self.known["note"][note["name_iid"]]["name"]
            text = self.known["text"].get(note.get("text"), {}).get("name")
            args[name] = note.get("value", text)
        if event["type"] == BEGIN:
            place = self.known["place"][event["place"]]
            args |= {"file": place["name"], "line": place["line"]}
            code = self.codes.setdefault(event["name_iid"], args.get("code_ptr"))
            args["code_ptr"] = code
        return args


def words(sequence, event, stack):
    """An event as JSON has it, but for its thread and time."""
    args = sequence.args(event)
    if event["type"] == END:
        return {"ph": "E", "name": stack.pop(), **({"args": args} if args else {})}
    name = event.get("name") or sequence.known["name"][event["name_iid"]]["name"]
    if event["type"] == BEGIN:
        stack.append(name)
        return {"ph": "B", "cat": "python", "name": name, "args": args}
    assert event["type"] == INSTANT
    category = sequence.known["category"].get(event.get("category"), {"name": "loop"})
    if "category" not in event:
        args["offset"] = int(re.match(r"loop @(\d+): ", name)[1])
    return {"ph": "i", "s": "t", "cat": category["name"], "name": name, "args": args}


def document(data):
    """The document that trace.check() takes."""
    sequences, tracks, stacks, events = {}, {}, defaultdict(list), []
    for packet in message("Trace", data)["packet"]:
        if packet.get("flags") == STATE_CLEARED:
            sequences[packet["sequence"]] = Sequence()
        sequence = sequences[packet["sequence"]]
        sequence.take(packet)
        if "track" in packet:
            track = packet["track"]
            kind = "thread" if "thread" in track else "process"
            of = track[kind]
            ids = {"pid": of["pid"], "tid": of.get("tid", of["pid"])}
            tracks[track["uuid"]] = ids
            for key in ("name", "sort_index") if kind == "thread" else ("name",):
                named = {"name": f"{kind}_{key}", "args": {key: of[key]}}
                events.append({"ph": "M", **ids, **named})
        if "event" in packet:
            uuid = sequence.defaults["event"]["track"]
            event = words(sequence, packet["event"], stacks[uuid])
            events.append({**event, **tracks[uuid], "ts": sequence.ns(packet) / 1000})
    other = events.pop(1)
    assert other["name"] == "about this trace"
    return {"displayTimeUnit": "ns", "otherData": other["args"], "traceEvents": events}
