# SPDX-License-Identifier: MIT
"""`make bench` measures the cost of Ocular, in one run on one machine.

Every figure is a median over rounds. In each round all configurations run once, one after
the other (A B C A B C ...), so that a slow time of the machine affects all of them.
"""

import argparse
import contextlib
import cProfile
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import apart  # noqa: E402
import budget  # noqa: E402
import extensions  # noqa: E402
import idle  # noqa: E402
import ocular  # noqa: E402
import programs  # noqa: E402
import timeline  # noqa: E402
import viewer  # noqa: E402
from figures.record import figure, machine  # noqa: E402

EVENTS = sys.monitoring.events
BRANCH = getattr(EVENTS, "BRANCH_LEFT", 0) or EVENTS.BRANCH
FLOOR_TOOL = 5
ROUNDS = 15
# Rounds of a probe. A round has two events, and the ring has room for all events.
COUNT = 20_000
TARGET_NS, TARGET_TIMELINE_NS, TARGET_DARK = 12, 16, 1.02
# In the configuration FLOOR, the callback is an empty METH_FASTCALL function.
FLOOR = extensions.load("bench", "floor")


# --- Configurations: context managers around one timed run --------------------


@contextlib.contextmanager
def untraced(probe):
    yield


@contextlib.contextmanager
def floor(probe):
    monitoring = sys.monitoring
    bits = [1 << bit for bit in range(32) if probe.events >> bit & 1]
    monitoring.use_tool_id(FLOOR_TOOL, "floor")
    for bit in bits:
        monitoring.register_callback(FLOOR_TOOL, bit, FLOOR.nothing)
    # C_RETURN cannot be set: CPython sends this event for each CALL.
    monitoring.set_events(FLOOR_TOOL, probe.events & EVENTS.RAISE)
    monitoring.set_local_events(
        FLOOR_TOOL, probe.code, probe.events & ~EVENTS.RAISE & ~EVENTS.C_RETURN
    )
    try:
        yield
    finally:
        monitoring.set_events(FLOOR_TOOL, 0)
        monitoring.set_local_events(FLOOR_TOOL, probe.code, 0)
        for bit in bits:
            monitoring.register_callback(FLOOR_TOOL, bit, None)
        monitoring.free_tool_id(FLOOR_TOOL)


@contextlib.contextmanager
def traced(probe, timeline=False):
    with tempfile.TemporaryDirectory() as folder:
        ocular.start_tracing(
            mode=probe.mode,
            events=probe.chosen,
            deinstrument_threshold=0,
            perfetto=timeline,
            quiet=True,
            include_only=[probe.code.co_qualname],
            output=os.path.join(folder, "trace.json"),
        )
        try:
            yield
        finally:
            final = ocular.stop_tracing()
    if final["lost"]:
        raise SystemExit("events were lost: the figures would be wrong")


def traced_with_timeline(probe):
    return traced(probe, timeline=True)


@contextlib.contextmanager
def profiled(probe):
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()


CONFIGURATIONS = {
    "untraced": untraced,
    "floor": floor,
    "Ocular": traced,
    "Ocular, timeline": traced_with_timeline,
    "cProfile": profiled,
}


class Probe:
    """A probe has a function to run, the code with the events, the kinds of events, and
    their number in each round. `chosen` has Ocular's names of the events, or None for a
    mode."""

    def __init__(self, name, run, code, events, mode=None, chosen=None, each=2):
        self.name, self.run, self.code, self.events = name, run, code, events
        self.mode, self.chosen = mode, chosen
        self.each = self.count_steps() if mode == "precise" else each

    def count_steps(self):
        with ocular.tracing(
            mode=self.mode,
            deinstrument_threshold=0,
            perfetto=False,
            quiet=True,
            include_only=[self.code.co_qualname],
        ):
            before = ocular.snapshot()["events"]
            self.run(1_000)
            return round((ocular.snapshot()["events"] - before) / 1_000)


PROBES = [
    Probe(
        "calls (enter + leave)",
        programs.calls,
        programs.leaf.__code__,
        EVENTS.PY_START | EVENTS.PY_RETURN,
    ),
    Probe(
        "loops (branch + jump)",
        programs.loops,
        programs.loops.__code__,
        BRANCH | EVENTS.JUMP,
    ),
    Probe(
        "steps (instruction)",
        programs.steps,
        programs.steps.__code__,
        EVENTS.INSTRUCTION,
        mode="precise",
    ),
    Probe("lines", programs.loops, programs.loops.__code__, EVENTS.LINE, chosen=["line"]),
    Probe(
        "C calls (call + return)",
        programs.c_calls,
        programs.c_calls.__code__,
        EVENTS.CALL | EVENTS.C_RETURN,
        chosen=["c_call"],
    ),
    Probe(
        "exceptions (raise)",
        programs.exceptions,
        programs.exceptions.__code__,
        EVENTS.RAISE,
        chosen=["exception"],
        each=1,
    ),
]


# --- ns per event ---------------------------------------------------------------


def timed(probe, configuration, count=COUNT):
    with configuration(probe):
        probe.run(50)  # The hooks of the first events are slower than usual.
        # This clock excludes time in which other programs had the CPU.
        begin = time.thread_time_ns()
        probe.run(count)
        return time.thread_time_ns() - begin


def ns_per_event(probe, rounds):
    times = {name: [] for name in CONFIGURATIONS}
    for _ in range(rounds):
        for name, configuration in CONFIGURATIONS.items():
            times[name].append(timed(probe, configuration))
    bare = statistics.median(times["untraced"])
    return {
        name: (statistics.median(list_) - bare) / (probe.each * COUNT)
        for name, list_ in times.items()
        if name != "untraced"
    }


def show_ns(rounds):
    print("\nns per event, above the untraced program")
    print(f"{'':24}{'floor':>8}{'Ocular':>9}{'':>8}{'timeline':>10}{'':>8}{'cProfile':>10}")
    for probe in PROBES:
        ns = ns_per_event(probe, rounds)
        base, own, line = ns["floor"], ns["Ocular"], ns["Ocular, timeline"]
        # cProfile has no event for an iteration of a loop.
        other = f"{ns['cProfile']:10.1f}" if "calls" in probe.name else f"{'-':>10}"
        print(
            f"{probe.name:24}{base:8.1f}{own:9.1f}{own - base:+8.1f}"
            f"{line:10.1f}{line - base:+8.1f}{other}"
        )
        print(f"{'  x floor':24}{1:8.2f}{own / base:9.2f}{'':8}{line / base:10.2f}")
        name = "bench/" + probe.name.partition(" ")[0]
        figure(f"{name}/ns", own, unit="ns an event")
        figure(f"{name}/times_floor", own / base, unit="x")
        figure(f"{name}/timeline_ns", line, unit="ns an event")
        figure(f"{name}/timeline_times_floor", line / base, unit="x")
    print(
        f"targets: floor {TARGET_NS:+} ns without a timeline, "
        f"{TARGET_TIMELINE_NS:+} ns with one"
    )


# --- Machine instructions per hook --------------------------------------------


def own_cost(dump, function):
    """Reads from callgrind's file how many instructions a function executes without its
    callees."""
    number = names_of(dump).get(function, "")
    total, inside, called = 0, False, False
    for line in dump.splitlines():
        if line.startswith("fn="):
            inside = line.partition(")")[0] == number
        elif line.startswith("calls="):
            called = True
        elif line[:1] in tuple("0123456789+-*"):
            if inside and not called:
                total += int(line.split()[1])
            called = False
    return total


def names_of(dump):
    """Returns the text "fn=(number" before the lines of each function, by its name."""
    return {
        name: f"fn=({number}" for number, name in re.findall(r"fn=\((\d+)\) (\S+)", dump)
    }


def instructions(probe_number, name, count, function):
    """Returns the machine instructions of one of Ocular's callbacks in a run of `count`
    rounds, by callgrind. Instructions that count the hits are left out, because any thread
    can execute them."""
    with tempfile.NamedTemporaryFile() as file:
        command = f"valgrind --tool=callgrind --callgrind-out-file={file.name}".split()
        command += [sys.executable, os.path.abspath(__file__), "--run"]
        command += [str(probe_number), name, str(count)]
        done = subprocess.run(command, capture_output=True, text=True)
        with open(file.name) as dumped:
            dump = dumped.read()
    if done.returncode or not dump:
        raise RuntimeError(done.stderr[-2000:])
    return own_cost(dump, function)


def show_instructions():
    print("\ninstructions per hook (callgrind), from its first to its last")
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return
    events = [(0, "enter"), (0, "leave"), (1, "branch"), (1, "jump"), (2, "step")]
    for number, event in events:
        few, many = 1_000, 6_000
        function = f"on_{event}_fast"
        grown = instructions(number, "Ocular", many, function) - instructions(
            number, "Ocular", few, function
        )
        each = PROBES[number].each if event == "step" else 1
        per = grown / (many - few) / each
        print(f"{event:24}{per:9.0f}")
        figure(f"bench/{event}/instructions", per)


# --- Whole programs -------------------------------------------------------------


def clock(function, size):
    begin = time.perf_counter()
    function(size)
    return time.perf_counter() - begin


def ratio(function, size, rounds, **settings):
    """Returns the run time when traced, divided by the run time when untraced. The traced
    time is taken after the hooks of all hot functions were removed."""
    bare, under = [], []
    function(size)
    for _ in range(rounds):
        bare.append(clock(function, size))
        with ocular.tracing(perfetto=False, quiet=True, **settings):
            if settings["deinstrument_threshold"]:
                function(size)  # In this run Ocular removes the hooks.
                function(size)  # In this run CPython specialises the code again.
            under.append(clock(function, size))
    return statistics.median(under) / statistics.median(bare)


def show_ratios(rounds):
    print("\nrun time, traced / untraced")
    print(f"{'':24}{'threshold 0':>12}{'500, dark':>12}{'500, serving':>14}")
    for name, function, size in (
        ("call-heavy", programs.call_heavy, 22),
        ("loop-heavy", programs.loop_heavy, 300_000),
    ):
        full = ratio(function, size, max(3, rounds // 3), deinstrument_threshold=0)
        dark = ratio(function, size, rounds, deinstrument_threshold=500)
        served = ratio(function, size, rounds, deinstrument_threshold=500, serve=True)
        print(f"{name:24}{full:12.2f}{dark:12.3f}{served:14.3f}")
        figure(f"bench/{name}/threshold_0", full, unit="x untraced")
        figure(f"bench/{name}/dark", dark, unit="x untraced")
        figure(f"bench/{name}/dark_served", served, unit="x untraced")
    print(f"target: {TARGET_DARK} once dark")
    for name, function, size in (
        ("precise, call-heavy", programs.call_heavy, 16),
        ("precise, loop-heavy", programs.loop_heavy, 30_000),
    ):
        full = ratio(
            function, size, max(3, rounds // 3), mode="precise", deinstrument_threshold=0
        )
        dark = ratio(function, size, rounds, mode="precise", deinstrument_threshold=500)
        print(f"{name:24}{full:12.2f}{dark:12.3f}")


# --- Forks ---------------------------------------------------------------------


def fork_ms(forks):
    """Returns two medians over `forks` forks in ms. The first is the time of os.fork(),
    and the second also includes waitpid(). The child process ends at once."""
    itself, both = [], []
    for _ in range(forks):
        begin = time.perf_counter()
        pid = os.fork()
        if not pid:
            os._exit(0)
        itself.append(time.perf_counter() - begin)
        os.waitpid(pid, 0)
        both.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(itself), 1e3 * statistics.median(both)


def show_forks(rounds):
    kinds = {"untraced": None, "traced": {}, "serving": {"serve": True}}
    ms = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, settings in kinds.items():
            traced = (
                contextlib.nullcontext()
                if settings is None
                else ocular.tracing(perfetto=False, quiet=True, **settings)
            )
            with traced:
                ms[name].append(fork_ms(20))
    print("\nms per fork of a program with one thread")
    print(f"{'':24}" + "".join(f"{name:>12}" for name in kinds))
    for row, title in enumerate(("os.fork()", "and waitpid()")):
        medians = [statistics.median(pair[row] for pair in ms[name]) for name in kinds]
        print(f"{title:24}" + "".join(f"{value:12.2f}" for value in medians))
        if row:
            for name, value in zip(kinds, medians):
                figure(f"bench/fork/{name}", value, unit="ms")


# --- New code -------------------------------------------------------------------

CODE_OBJECTS = 5_000
FUNCTION = """def one(a=1):
    b = [a, 1]
    for c in b:
        a += c * 2
    if a > 5:
        return str(a)
    return b
"""
IMPORTS = (
    "argparse asyncio concurrent.futures configparser csv ctypes "
    "dataclasses decimal difflib email.message fractions html.parser "
    "http.server inspect json logging.config multiprocessing pathlib "
    "pickle pydoc sqlite3 statistics tarfile tempfile typing "
    "unittest.mock urllib.request uuid xml.dom.minidom xmlrpc.client "
    "zipfile"
).split()
TARGET_CODE_US, TARGET_CODE_BYTES, TARGET_IMPORT = 10, 2000, 1.10


def new_functions():
    space = {}
    exec(compile(FUNCTION, "<made>", "exec"), space)
    code = space["one"].__code__
    return [
        type(new_functions)(code.replace(co_firstlineno=n + 1), space, "one", (1,))
        for n in range(CODE_OBJECTS)
    ]


def us_a_call(functions):
    begin = time.perf_counter_ns()
    for function in functions:
        function()
    return (time.perf_counter_ns() - begin) / 1000 / len(functions)


def bytes_held():
    """Returns the bytes of memory that Ocular uses, without the rows of the last two
    snapshots."""
    ocular.snapshot()
    snapshot = ocular.snapshot()
    return snapshot["memory_bytes"] - 2 * 256 * snapshot["functions_total"]


def new_code(mode):
    """Runs one round. Returns (us untraced, us traced, bytes) for the first calls of new
    code objects, and the same for their second calls."""
    functions = new_functions()
    bare = [us_a_call(functions) for _ in range(2)]
    functions, seen = new_functions(), []
    with ocular.tracing(mode=mode, perfetto=False, quiet=True, include_only=["<made>"]):
        empty = bytes_held()
        for _ in range(2):
            us = us_a_call(functions)
            seen.append((us, (bytes_held() - empty) / CODE_OBJECTS))
    return [(bare[n], *seen[n]) for n in range(2)]


def show_code(rounds):
    print("\na code object, above the untraced program (the second call comes on top)")
    print(f"{'':24}{'1st call, us':>14}{'2nd, us':>10}{'1st, bytes':>12}{'2nd, bytes':>12}")
    for mode in "adaptive", "precise":
        try:
            taken = [new_code(mode) for _ in range(rounds)]
        except (NotImplementedError, ValueError) as error:
            print(f"{mode:24}  {error}")
            continue
        us = [
            statistics.median(t[n][1] for t in taken)
            - statistics.median(t[n][0] for t in taken)
            for n in range(2)
        ]
        held = [statistics.median(t[n][2] for t in taken) for n in range(2)]
        print(f"{mode:24}{us[0]:14.2f}{us[1]:10.2f}{held[0]:12.0f}{held[1]:12.0f}")
        figure(f"bench/new_code/{mode}/us", us[0], unit="us")
        figure(f"bench/new_code/{mode}/bytes", held[0], unit="bytes")
    print(f"targets: {TARGET_CODE_US} us, {TARGET_CODE_BYTES} bytes")


def import_seconds(settings):
    """Returns the CPU time that a new process needs for imports, including Ocular's
    threads."""
    program = "import time\n"
    if settings is not None:
        program += (
            f"import ocular\nocular.start_tracing(perfetto=False, quiet=True, {settings})\n"
        )
    program += (
        "begin = time.process_time()\n"
        f"import {', '.join(IMPORTS)}\n"
        "print(time.process_time() - begin)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def show_imports(rounds):
    configurations = {
        "untraced": None,
        "traced": "",
        "serving": "serve=True",
        "precise": "mode='precise'",
    }
    times = {name: [] for name in configurations}
    for name in list(configurations):
        try:  # this run writes the .pyc files if they are missing
            import_seconds(configurations[name])
        except subprocess.CalledProcessError:
            del configurations[name]
    for _ in range(rounds):
        for name, settings in configurations.items():
            times[name].append(import_seconds(settings))
    bare = times["untraced"]
    print(f"\nimporting {len(IMPORTS)} packages of the standard library, CPU time")
    print(f"{'':24}{'median, ms':>12}{'x':>8}{'least, ms':>12}{'x':>8}")
    for name in configurations:
        middle, least = statistics.median(times[name]), min(times[name])
        print(
            f"{name:24}{middle * 1e3:12.1f}"
            f"{middle / statistics.median(bare):8.3f}"
            f"{least * 1e3:12.1f}{least / min(bare):8.3f}"
        )
        if name != "untraced":
            figure(f"bench/imports/{name}", least / min(bare), unit="x untraced")
    print(f"target: {TARGET_IMPORT}")


ROWS = {
    "hooks": show_ns,
    "apart": lambda rounds: apart.show(rounds, FLOOR.nothing),
    "instructions": lambda _: show_instructions(),
    "idle": lambda _: idle.show(),
    "ratios": show_ratios,
    "code": show_code,
    "imports": show_imports,
    "forks": show_forks,
    "timeline": lambda _: timeline.show(),
}
BY_CALLGRIND = {"instructions", "idle"}


def main():
    if sys.argv[1:2] == ["--budget"]:
        return budget.main(sys.argv[2:])
    if sys.argv[1:2] == ["--viewer"]:
        return viewer.main(sys.argv[2:])
    more = "--budget --help and --viewer --help show other measurements"
    parser = argparse.ArgumentParser(description=__doc__, epilog=more)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--no-callgrind", action="store_true")
    parser.add_argument("--only", nargs="+", choices=ROWS, help="nothing but these rows")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        number, name, count = options.run
        probe = PROBES[int(number)]
        with CONFIGURATIONS[name](probe):
            probe.run(int(count))
            os._exit(0)  # os._exit() ends the process without work for the hooks.
    print(machine())
    for name in options.only or ROWS:
        if not (options.no_callgrind and name in BY_CALLGRIND):
            ROWS[name](options.rounds)
    return 0 if options.only else viewer.main([])


if __name__ == "__main__":
    sys.exit(main())
