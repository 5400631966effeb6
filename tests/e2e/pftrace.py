# SPDX-License-Identifier: MIT
"""Reads those messages and fields of Perfetto's protobuf that Ocular writes, and converts
them to the JSON format. After the conversion, the two files of one timeline are equal
documents. A field that is not in the tables is an error."""

import json
import re
import struct
from collections import defaultdict

# Lists the number, the name and the type of each field of each message of the protobuf. A
# "*" marks a repeated field.
TABLE = """
Trace: 1 packet* Packet
Packet: 6 clocks Clocks, 8 time uint, 10 sequence uint, 11 event Event,
    12 interned Interned, 13 flags uint, 58 clock uint, 59 defaults Defaults,
    60 track Track, 66 sample Sample
Clocks: 1 clock* Clock, 2 primary uint
Clock: 1 id uint, 2 time uint, 3 incremental bool
Defaults: 58 clock uint, 11 event EventDefaults
EventDefaults: 11 track uint
Track: 1 uuid uint, 2 name text, 3 process Owner, 4 thread Owner, 5 parent uint,
    8 counter Counter
Counter: 6 unit text
Owner: 1 pid uint, 2 tid uint, 3 sort_index uint, 5 name text, 6 name text
Interned: 1 category* Named, 2 name* Named, 3 note* Named, 4 place* Named,
    5 function* Named, 6 frame* Frame, 7 stack* Stack, 17 path* Named,
    19 mapping* Mapping, 29 text* Named
Frame: 1 iid uint, 2 name uint, 3 mapping uint, 4 pc uint
Stack: 1 iid uint, 2 frame* uint
Mapping: 1 iid uint, 7 path uint
Sample: 2 pid uint, 3 tid uint, 4 stack uint, 5 mode uint
Named: 1 iid uint, 2 name text, 3 function text, 4 line uint
Event: 3 category uint, 4 note* Note, 9 type uint, 10 name_iid uint, 11 track uint,
    22 said text, 23 name text, 34 place uint, 44 value double, 47 flow fixed
Note: 1 name_iid uint, 2 value bool, 3 value uint, 4 value int, 5 value double,
    6 value text, 7 value pointer, 9 value json, 10 name text, 17 text uint
"""
MESSAGES = {
    kind: {int(n): (name, of) for n, name, of in map(str.split, fields.split(","))}
    for kind, fields in re.findall(r"^(\w+):((?:.|\n +)+)", TABLE, re.M)
}
VARINTS = {
    "uint": int,
    "int": lambda value: value - (value >> 63 << 64),
    "bool": bool,
    "pointer": hex,
}
FIXED = {"double": "<d", "fixed": "<Q"}
TEXTS = {"text": bytes.decode, "json": json.loads}
STATE_CLEARED = 1
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
BOOT = 6  # Perfetto's number of the clock BOOTTIME


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            assert value < 1 << 64
            return value, at


def fields(data):
    """Yields (number, value) of each field of any protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        yield key >> 3, value


def message(kind, data):
    out, at, fields = {}, 0, MESSAGES[kind]
    while at < len(data):
        tag, at = varint(data, at)
        name, is_of = fields[tag >> 3]
        if is_of in VARINTS:
            assert tag & 7 == 0
            value, at = varint(data, at)
            value = VARINTS[is_of](value)
        elif is_of in FIXED:
            assert tag & 7 == 1
            (value,), at = struct.unpack_from(FIXED[is_of], data, at), at + 8
        else:
            assert tag & 7 == 2
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size
            value = TEXTS[is_of](value) if is_of in TEXTS else message(is_of, value)
        if name.endswith("*"):
            out.setdefault(name[:-1], []).append(value)
        else:
            assert name not in out, f"{kind}.{name} comes twice"
            out[name] = value
    return out


class Sequence:
    """The state of a sequence of packets. The sequence's packets refer to this state."""

    def __init__(self):
        self.known = {kind[:-1]: {} for kind, _ in MESSAGES["Interned"].values()}
        # maps a name's iid to its code_ptr, which the file contains only once
        self.codes = {}
        self.clocks, self.defaults, self.boot = {}, None, None

    def take(self, packet):
        for kind, entries in packet.get("interned", {}).items():
            for entry in entries:
                assert self.known[kind].setdefault(entry["iid"], entry) is entry
        self.defaults = packet.get("defaults", self.defaults)
        for clock in packet.get("clocks", {}).get("clock", ()):
            if clock["id"] == BOOT:
                self.boot = clock["time"]
            if clock.get("incremental"):
                assert clock["id"] not in self.clocks, "a clock is set back"
                self.clocks[clock["id"]] = clock["time"]

    def ns(self, packet):
        if "clock" in packet:
            assert packet["clock"] == BOOT
            return packet["time"] - self.boot
        self.clocks[self.defaults["clock"]] += packet["time"]
        return self.clocks[self.defaults["clock"]]

    def args(self, event):
        args = {}
        for note in event.get("note", ()):
            name = note.get("name") or self.known["note"][note["name_iid"]]["name"]
            text = self.known["text"].get(note.get("text"), {}).get("name")
            args[name] = note.get("value", text)
        if "place" in event:
            place = self.known["place"][event["place"]]
            args |= {"file": place["name"], "line": place["line"]}
            code = self.codes.setdefault(event["name_iid"], args.get("code_ptr"))
            args["code_ptr"] = code
        return args


def words(sequence, event, stack):
    """Returns an event in the form of the JSON format, without thread and time."""
    args = sequence.args(event)
    if event["type"] == END:
        name = stack.pop()
        # the name is None if the event ends a task's step
        named = {} if name is None else {"name": name}
        return {"ph": "E", **named, **({"args": args} if args else {})}
    name = event.get("name") or sequence.known["name"][event["name_iid"]]["name"]
    if event["type"] == BEGIN:
        stack.append(name)
        if "category" in event:
            args = {"line": args["line"]}
            return {"ph": "B", "cat": "instruction", "name": name, "args": args}
        return {"ph": "B", "cat": "python", "name": name, "args": args}
    assert event["type"] == INSTANT
    category = sequence.known["category"].get(event.get("category"), {"name": "loop"})
    if "category" not in event:
        args["offset"] = int(re.match(r"loop @(\d+): ", name)[1])
    return {"ph": "i", "s": "t", "cat": category["name"], "name": name, "args": args}


def about(sequence, event):
    args = sequence.args(event)
    rest = {"args": args} if args else {}
    return {"cat": event["said"], "name": event["name"], **rest}


# Maps the name of a track to the category of the slices in this track.
SLICES = {"dark functions": "dark", "waits (sampled)": "wait", "stalls": "stall"}


def sliced(sequence, event, track, names):
    """Converts the beginning or the end of a slice in a track of its own, for example of
    the time in which a function had no hooks. `names` has the names of the open slices."""
    ids = {"id2": {"local": hex(event["track"] & 0xFFFFFFFF)}}
    args = sequence.args(event)
    if event["type"] == BEGIN:
        names[event["track"]] = event["name"]
        return {"ph": "b", **about(sequence, event), **ids}
    rest = {"args": args} if args else {}
    name = names.pop(event["track"])
    return {"ph": "e", "cat": SLICES[track["name"]], "name": name, **ids, **rest}


def task(sequence, event, stack, flows):
    """Converts the event with which a step of an asyncio task begins. `flows` is the set of
    the tasks' flow numbers in earlier events."""
    stack.append(None)
    pid, number = divmod(event["flow"], 1 << 32)
    known = {"flow_in": True} if event["flow"] in flows else {}
    flows.add(event["flow"])
    link = {"bind_id": f"0x{pid:x}{number:08x}", "flow_out": True, **known}
    return {"ph": "B", **about(sequence, event), **link}


def counted(event, track, tracks, threads):
    of, name = track["parent"], track["name"]
    if of in threads:
        name += f" of {threads[of]} ({tracks[of]['tid']})"
    return {"ph": "C", "name": name, "args": {track["counter"]["unit"]: event["value"]}}


def said(sequence, event, names):
    """Converts a mark or a span of the program. `names` has each track's open spans."""
    args = sequence.args(event)
    rest = {"args": args} if args else {}
    if "track" not in event:
        return {"ph": "i", "s": "t", **about(sequence, event)}
    number, ends = event["track"] & 0x7FFFFFFF, event["type"] == END
    assert number != event["track"] & 0xFFFFFFFF and event["type"] in (BEGIN, END)
    name = names.pop(number) if ends else names.setdefault(number, event["name"])
    ids = {"cat": "span", "id2": {"local": hex(number)}, "name": name}
    return {"ph": "e" if ends else "b", **ids, **rest}


def packets(data):
    """Yields each packet with its sequence, whose state already includes the packet."""
    sequences = {}
    for packet in message("Trace", data)["packet"]:
        if packet.get("flags") == STATE_CLEARED:
            sequences[packet["sequence"]] = Sequence()
        sequence = sequences[packet["sequence"]]
        sequence.take(packet)
        yield packet, sequence


def samples(data):
    """Returns a tuple for each sample: ns since the start, tid, and the names of the frames
    from the outermost on."""
    found = []
    for packet, sequence in packets(data):
        if "sample" in packet:
            sample, known = packet["sample"], sequence.known
            frames = [known["frame"][n] for n in known["stack"][sample["stack"]]["frame"]]
            assert all(frame["mapping"] in known["mapping"] for frame in frames)
            names = [known["function"][frame["name"]]["name"] for frame in frames]
            found.append((sequence.ns(packet), sample["tid"], names))
    return found


def document(data):
    """Returns the document that trace.check() checks."""
    tracks, stacks, events = {}, defaultdict(list), []
    spans, slices, parents, threads, flows = {}, {}, {}, {}, set()
    for packet, sequence in packets(data):
        if "track" in packet:
            track = packet["track"]
            if "parent" in track:
                assert track["uuid"] not in parents
                assert track["name"] in ("spans", *SLICES) or "counter" in track
                parents[track["uuid"]] = track
                continue
            kind = "thread" if "thread" in track else "process"
            of = track[kind]
            ids = {"pid": of["pid"], "tid": of.get("tid", of["pid"])}
            tracks[track["uuid"]] = ids
            if kind == "thread":
                threads[track["uuid"]] = of["name"]
            for key in ("name", "sort_index") if kind == "thread" else ("name",):
                named = {"name": f"{kind}_{key}", "args": {key: of[key]}}
                events.append({"ph": "M", **ids, **named})
        if "event" in packet:
            uuid = sequence.defaults["event"]["track"]
            event = packet["event"]
            track = parents.get(event.get("track"), {})
            is_slice = track.get("name") in SLICES
            assert event["type"] == COUNTER or is_slice or track.get("parent", uuid) == uuid
            if "counter" in track:
                event = counted(event, track, tracks, threads)
            elif is_slice:
                event = sliced(sequence, event, track, slices)
            elif event.get("said") == "specialisation":
                event = {"ph": "i", "s": "p", **about(sequence, event)}
            elif event.get("said") == "task":
                event = task(sequence, event, stacks[uuid], flows)
            elif "track" in event or "said" in event:
                event = said(sequence, event, spans)
            else:
                event = words(sequence, event, stacks[uuid])
            events.append({**event, **tracks[uuid], "ts": sequence.ns(packet) / 1000})
    other = events.pop(1)
    assert other["name"] == "about this trace"
    return {"displayTimeUnit": "ns", "otherData": other["args"], "traceEvents": events}
