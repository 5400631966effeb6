# SPDX-License-Identifier: MIT
"""Contains other tools that watch a program. All of these tools have the same interface.
start() and stop() can be called any number of times. seen() returns what the tool reports
about the program's file, without the parts that differ from run to run."""

import cProfile
import shutil
import sys
import threading
from collections import Counter
from pathlib import Path

from e2e import load

monitoring = sys.monitoring


class Load:
    """A separate copy of load.py, whose code objects no tool has seen."""

    def __init__(self, directory):
        self.path = str(Path(directory, "load.py"))
        if not Path(self.path).exists():
            shutil.copy(load.__file__, self.path)
        code = compile(Path(self.path).read_text(), self.path, "exec")
        self.names = {"__name__": "load", "__file__": self.path}
        exec(code, self.names)
        self.expected = load.work()
        self.times = 0

    def __call__(self):
        self.times += 1
        assert self.names["work"]() == self.expected

    def holds(self, code):
        return code.co_filename == self.path

    def codes(self):
        """Returns all code objects of load.py."""
        todo = list(self.names.values())
        todo += [m for v in todo if isinstance(v, type) for m in vars(v).values()]
        return [v.__code__ for v in todo if hasattr(v, "__code__")]


class Tool:
    def __init__(self, load):
        self.load = load
        self.notes = []

    def seen(self):
        return self.notes


class CProfile(Tool):
    def __init__(self, load):
        super().__init__(load)
        self.profile = cProfile.Profile()

    def start(self):
        self.profile.enable()

    def stop(self):
        self.profile.disable()

    def seen(self):
        """Returns, for each function, the number of primitive calls, the number of all
        calls, and the number of calls by each caller."""
        self.profile.create_stats()
        found = {}
        for key, (primitive, calls, _, _, callers) in self.profile.stats.items():
            by = {
                caller: (counts if isinstance(counts, int) else counts[:2])
                for caller, counts in callers.items()
                if caller[0] == self.load.path
            }
            if key[0] == self.load.path:
                found[key] = primitive, calls, by
            elif by:
                found[key] = by
        return found


def described(argument):
    """Describes an argument of an event without addresses."""
    if isinstance(argument, tuple):
        return tuple(map(described, argument))
    if isinstance(argument, (int, str, bool, type(None))):
        return argument
    return getattr(argument, "__qualname__", None) or type(argument).__qualname__


class SetTrace(Tool):
    opcodes = False

    def note(self, frame, event, argument):
        code = frame.f_code
        if not self.load.holds(code):
            return None
        if self.opcodes:
            frame.f_trace_opcodes = True
        place = frame.f_lasti if event == "opcode" else frame.f_lineno
        self.notes.append((code.co_qualname, event, place, described(argument)))
        return self.note

    def start(self):
        sys.settrace(self.note)

    def stop(self):
        sys.settrace(None)


class SetTraceOpcodes(SetTrace):
    """As soon as one frame asks for the tracing of opcodes, the interpreter traces opcodes
    until it ends. So this class makes a frame ask for opcodes before the test begins."""

    opcodes = True

    def __init__(self, load):
        super().__init__(load)

        def ask(frame, event, argument):
            frame.f_trace_opcodes = True

        sys.settrace(ask)
        self.seen()
        sys.settrace(None)


class SetProfile(SetTrace):
    def start(self):
        sys.setprofile(self.note)

    def stop(self):
        sys.setprofile(None)


class TraceAllThreads(SetTrace):
    """Notes events separately for each thread, because the order of events on different
    threads is not fixed."""

    def note(self, frame, event, argument):
        if not self.load.holds(frame.f_code):
            return None
        self.notes.append(
            (
                threading.current_thread().name,
                (frame.f_code.co_qualname, event, frame.f_lineno, described(argument)),
            )
        )
        return self.note

    def start(self):
        threading.settrace_all_threads(self.note)

    def stop(self):
        threading.settrace_all_threads(None)

    def seen(self):
        return {
            name: [note for other, note in self.notes if other == name]
            for name in {name for name, _ in self.notes}
        }


class ProfileAllThreads(TraceAllThreads):
    def start(self):
        threading.setprofile_all_threads(self.note)

    def stop(self):
        threading.setprofile_all_threads(None)


# --- Tools of sys.monitoring ------------------------------------------------------

EVENTS = {
    name: bit
    for name, bit in vars(monitoring.events).items()
    if bit and bit.bit_count() == 1
}
if "BRANCH_LEFT" in EVENTS:
    EVENTS.pop("BRANCH", None)  # BRANCH is an alias of the new events.
# A tool can disable these events at single instructions.
PLACES = "PY_START PY_RESUME PY_RETURN PY_YIELD CALL LINE INSTRUCTION JUMP".split()
PLACES += [name for name in EVENTS if name.startswith("BRANCH")]
PLACES += ["STOP_ITERATION"]


class Monitor(Tool):
    """Notes all events in the order of their arrival. The events are set globally."""

    tool = 0
    local = False
    disables = False
    names = [name for name in EVENTS if name != "INSTRUCTION"]

    def callback(self, name):
        def note(code, *arguments):
            if self.load.holds(code):
                self.notes.append((name, code.co_qualname, *map(described, arguments)))
                if not self.disables:
                    return None
            return monitoring.DISABLE if name in PLACES else None

        return note

    def events(self):
        chosen = sum(EVENTS[name] for name in self.names)
        return chosen & ~(EVENTS["C_RETURN"] | EVENTS["C_RAISE"])

    def start(self):
        monitoring.use_tool_id(self.tool, "another tool")
        for name in self.names:
            monitoring.register_callback(self.tool, EVENTS[name], self.callback(name))
        self.arm(self.events())

    def arm(self, events):
        if not self.local:
            monitoring.set_events(self.tool, events)
            return
        for code in self.load.codes():
            monitoring.set_local_events(self.tool, code, events)

    def stop(self):
        self.arm(0)
        for name in self.names:
            monitoring.register_callback(self.tool, EVENTS[name], None)
        monitoring.free_tool_id(self.tool)


class MonitorInstructions(Monitor):
    names = ["INSTRUCTION"]
    tool = 2


class MonitorLast(Monitor):
    tool = 5


class MonitorLocal(Monitor):
    """Asks for events, including INSTRUCTION, only in the code of load.py."""

    local = True
    tool = 1
    names = PLACES


class MonitorOnce(Monitor):
    """Sees each location of the code once, like a coverage tool."""

    disables = True
    names = PLACES


class MonitorOnceLines(MonitorOnce):
    tool = 1
    names = ["PY_START", "LINE"]


class MonitorRestarts(MonitorOnce):
    """Sees each location again after each start, because it calls restart_events(), which
    affects all tools."""

    def start(self):
        super().start()
        monitoring.restart_events()

    def stop(self):
        monitoring.restart_events()
        super().stop()


class StandIn:
    """This tool in Python has the same events as Ocular, and takes Ocular's place. If
    another tool fails with this tool as well as with Ocular, CPython is the cause."""

    def __init__(self, load, deinstrument_threshold, mode="adaptive"):
        self.load = load
        self.threshold = deinstrument_threshold
        self.hits = Counter()
        self.known = set()
        names = "PY_START PY_RESUME PY_RETURN PY_YIELD JUMP"
        names += " BRANCH_LEFT BRANCH_RIGHT" if "BRANCH_LEFT" in EVENTS else " BRANCH"
        names += " INSTRUCTION" if mode == "precise" else ""
        self.names = names.split()

    def discover(self, code, offset):
        if self.load.holds(code) and code not in self.known:
            self.known.add(code)
            self.arm(code)
        return monitoring.DISABLE

    def arm(self, code):
        monitoring.set_local_events(4, code, sum(EVENTS[n] for n in self.names))

    def hit(self, code, offset, *_):
        self.hits[code, offset] += 1
        if 0 < self.threshold <= self.hits[code, offset]:
            return monitoring.DISABLE

    def start(self):
        monitoring.use_tool_id(3, "discovery")
        monitoring.use_tool_id(4, "tracer")
        for name in self.names:
            monitoring.register_callback(4, EVENTS[name], self.hit)
        for name in self.names[:2]:
            monitoring.register_callback(3, EVENTS[name], self.discover)
        for code in self.known:
            self.arm(code)
        monitoring.set_events(3, EVENTS["PY_START"] | EVENTS["PY_RESUME"])

    def stop(self):
        monitoring.set_events(3, 0)
        for code in self.known:
            monitoring.set_local_events(4, code, 0)
        for tool in 3, 4:
            for name in self.names:
                monitoring.register_callback(tool, EVENTS[name], None)
            monitoring.free_tool_id(tool)


# --- coverage.py --------------------------------------------------------------------


class Coverage(Tool):
    core = "ctrace"
    branch = False

    def __init__(self, load):
        super().__init__(load)
        import coverage

        self.coverage = coverage.Coverage(
            data_file=None, config_file=False, branch=self.branch, include=[load.path]
        )
        self.coverage.set_option("run:core", self.core)

    def start(self):
        self.coverage.start()

    def stop(self):
        self.coverage.stop()

    def seen(self):
        data = self.coverage.get_data()
        assert self.core in dict(self.coverage.sys_info())["core"].lower()
        return {
            "lines": sorted(data.lines(self.load.path) or []),
            "arcs": sorted(data.arcs(self.load.path) or []),
        }


class CoverageSysmon(Coverage):
    core = "sysmon"


class CoverageSysmonBranches(CoverageSysmon):
    branch = True  # sys.monitoring has branches since 3.14


def tools():
    found = []
    todo = [Tool]
    while todo:
        new = todo.pop().__subclasses__()
        todo += new
        found += new
    if sys.version_info < (3, 14):
        found.remove(CoverageSysmonBranches)
    return sorted(found, key=lambda tool: tool.__name__)


def calls(snapshot, path):
    """Returns the number of calls of each function of a file, by qualified name."""
    counts = Counter()
    for row in snapshot["functions"]:
        if row["file"] == path:
            counts[row["name"]] += row["calls"] + row["resumptions"]
    return dict(counts)
