# SPDX-License-Identifier: MIT
"""Tests Ocular together with other tools. Another tool sees the same events as without
Ocular, and Ocular's counts are right, too. tests/e2e/beside.py contains these other tools.
tests/e2e/test_beside.py tests other tools that are started as programs."""

import profile
import subprocess
import sys
import threading

import ocular
import pytest
from e2e import beside
from e2e.counting import EXACT, entries, helper, row
from e2e.load import CALLS
from e2e.program import PYTHON, ROOT, wait_until
from ocular import _settings
from ocular.demo import pure

monitoring = sys.monitoring

SETTINGS = [dict(deinstrument_threshold=threshold) for threshold in (0, 1)]
if "precise" in _settings.MODES:
    SETTINGS.append(dict(mode="precise", deinstrument_threshold=0))

# T and t start and stop the tool, O and o start and stop Ocular, and w runs the load.
ORDERS = {
    "one after the other": "TwtwOwowTwtw",
    "before ours, ended after": "TwOwowtw",
    "during ours, ended after": "OwTwowtw",
    "during ours, then before, ended during": "OwTwtwowTwOwtwow",
}

OPCODES = {"MonitorInstructions", "MonitorLocal", "SetTraceOpcodes"}
ONCE = {"MonitorOnce", "MonitorRestarts"}
BRANCHES = {"Monitor", "MonitorLast", "MonitorLocal"} | ONCE
LINES = {"MonitorOnceLines", "CoverageSysmonBranches"}


def is_known(tool, order, settings):
    """Returns True for an event that CPython itself reports wrongly as soon as there is a
    second tool, whichever tool it is.

    gh-157900: a tool's INSTRUCTION events (opcode events of sys.settrace) end if a second
    tool sets events for the same code. gh-155992, from 3.13 on: whether the line of a
    RESUME is reported depends on whether any tool has an event there. From 3.14 on, the
    source offset of a BRANCH_LEFT event is the offset of the branch. If any tool has set
    INSTRUCTION, the offset is that of the next instruction (NOT_TAKEN).
    """
    if sys.version_info >= (3, 14) and "mode" in settings and tool in BRANCHES:
        return True
    if "TwO" in order and tool in OPCODES | ONCE:
        return True
    return sys.version_info >= (3, 13) and tool in ONCE | LINES


@pytest.fixture(autouse=True)
def clean():
    yield
    ocular.stop_tracing()
    sys.settrace(None)
    sys.setprofile(None)
    for tool in filter(monitoring.get_tool, range(6)):
        monitoring.set_events(tool, 0)  # Removes the events of a test that failed.
        monitoring.free_tool_id(tool)


class Ours:
    """Gives Ocular the same interface as the other tools. Compares Ocular's counts of each
    trace with the true counts."""

    def __init__(self, load, **settings):
        self.load = load
        if settings != SETTINGS[0]:  # SETTINGS[0] also traces the tests
            settings["include_only"] = [load.path]
        self.settings = {**EXACT, **settings}

    def start(self):
        self.before = self.load.times
        ocular.start_tracing(**self.settings)

    def stop(self):
        check(ocular.stop_tracing(), self.load, self.load.times - self.before)


def check(final, load, times):
    rows = {r["name"]: r for r in final["functions"] if r["file"] == load.path}
    for name, calls in CALLS.items():
        seen, exact = entries(rows[name]), rows[name]["calls_exact"]
        assert seen == calls * times if exact else 0 < seen <= calls * times, name
        if final["threshold"] == 0:
            assert exact


def play(order, tool, ours=None):
    """Executes an order of ORDERS. Returns the events that the tool has seen."""
    steps = {"T": tool.start, "t": tool.stop, "w": tool.load}
    if ours:
        steps.update({"O": ours.start, "o": ours.stop})
    for step in order:
        steps.get(step, int)()
    return tool.seen()


def seen_alone(make, order, directory):
    load = beside.Load(directory)
    alone = play(order, make(load))
    assert alone
    return alone


def check_beside(make, order, directory, alone, **settings):
    """Checks that the tool sees the same events as without Ocular, or the same events as if
    another tool took Ocular's place."""
    load = beside.Load(directory)
    together = play(order, make(load), Ours(load, **settings))
    if together != alone and is_known(make.__name__, order, settings):
        load = beside.Load(directory)
        alone = play(order, make(load), beside.StandIn(load, **settings))
    assert together == alone, (order, settings)


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("make", beside.tools(), ids=lambda make: make.__name__)
@pytest.mark.filterwarnings("ignore::coverage.exceptions.CoverageWarning")
def test_a_tool(make, order, tmp_path):
    alone = seen_alone(make, order, tmp_path)
    for settings in SETTINGS:
        check_beside(make, order, tmp_path, alone, **settings)


@pytest.mark.parametrize(
    "pair",
    [
        ("Coverage", "CProfile"),
        ("SetTrace", "SetProfile"),
        ("CoverageSysmon", "MonitorLast"),
    ],
    ids="+".join,
)
def test_two_tools(pair, tmp_path):
    """Two other tools and Ocular together use nearly all ids of sys.monitoring."""
    makes = [getattr(beside, name) for name in pair]

    class Both:
        def __init__(self, load):
            self.load = load
            self.tools = [make(load) for make in makes]

        def start(self):
            for tool in self.tools:
                tool.start()

        def stop(self):
            for tool in self.tools:
                tool.stop()

        def seen(self):
            return [tool.seen() for tool in self.tools]

    for order in ORDERS.values():
        alone = seen_alone(Both, order, tmp_path)
        check_beside(Both, order, tmp_path, alone, deinstrument_threshold=0)


# --- Disabled sites -----------------------------------------------------------------


def test_starting_and_stopping_fires_nothing_of_others(tmp_path):
    """Events that another tool has disabled stay disabled. Its other events continue."""
    load = beside.Load(tmp_path)
    once, every = beside.MonitorOnce(load), beside.MonitorLast(load)
    once.names = [name for name in once.names if name != "INSTRUCTION"]
    once.start()
    play("wOwow", once, Ours(load))  # Because of gh-155992, a line can be reported late.
    every.names = ["RAISE", "PY_UNWIND", "CALL"]
    every.start()
    load()
    expected = list(every.notes)
    assert len(expected) > 100
    once.notes.clear()
    for settings in SETTINGS * 2:
        ours = Ours(load, **settings)
        ours.start()
        every.notes.clear()
        load()
        assert every.notes == expected
        ours.stop()
        every.notes.clear()
        load()
        assert every.notes == expected
    places = {note[0] for note in once.notes} & set(beside.PLACES)
    assert not places
    monitoring.restart_events()
    load()
    assert {note[0] for note in once.notes} >= {"LINE", "CALL", "JUMP", "PY_START"}
    once.stop()
    every.stop()


# --- A viewer that arms all the time ------------------------------------------

RUNS = 4  # The governor wakes up four times a second.

REARMING = """
import sys
sys.path.insert(0, sys.argv[1])
from e2e.client import Client, Ended
try:
    with Client(sys.argv[2]) as client:
        while True:
            client.rearm()
except (Ended, OSError):
    pass
"""


@pytest.fixture
def rearming():
    """Returns a function that starts a viewer. Again and again, the viewer requests hooks
    for all functions."""
    viewers = []

    def start():
        viewers.append(
            subprocess.Popen(
                [PYTHON, "-c", REARMING, ROOT / "tests", ocular._ocular.socket_path()]
            )
        )

    yield start
    ocular.stop_tracing()
    for viewer in viewers:
        try:
            assert viewer.wait(20) == 0
        finally:
            viewer.kill()


@pytest.mark.parametrize(
    "name", "CoverageSysmon CProfile SetTrace SetProfile MonitorLast MonitorOnce".split()
)
def test_beside_a_viewers_arming(name, tmp_path, rearming):
    """The tool's events are right while the governor switches Ocular's events on and off,
    both during runs of the load and between them."""

    def tool_for(load):
        tool = getattr(beside, name)(load)
        if name in ONCE:
            tool.names = [n for n in tool.names if n not in ("INSTRUCTION", "LINE")]
        return tool

    load = beside.Load(tmp_path)
    alone = play("T" + RUNS * "w" + "t", tool_for(load))
    load = beside.Load(tmp_path)
    tool = tool_for(load)
    ocular.start_tracing(
        **{**EXACT, "deinstrument_threshold": 2}, serve=True, include_only=[load.path]
    )
    tool.start()
    rearming()
    for _ in range(RUNS):
        load()
        wait_until(lambda: row(ocular.snapshot(), "arms")["dark_sites"] == 0)
    tool.stop()
    check(ocular.stop_tracing(), load, RUNS)
    assert tool.seen() == alone


# --- Threads ------------------------------------------------------------------------


def in_thread(load, start, go, times):
    """Starts a thread that waits for `go` and then runs the load."""

    def run():
        start.set()
        go.wait()
        for _ in range(times):
            load.names["work"]()

    thread = threading.Thread(target=run, name="beside")
    thread.start()
    start.wait()
    return thread


@pytest.mark.parametrize("make", [beside.TraceAllThreads, beside.ProfileAllThreads])
@pytest.mark.parametrize("order", ["TOwot", "OTwto", "OTwot"])
def test_tools_for_all_threads(make, order, tmp_path):
    """The events of a thread that is already running when the tools start are right. The
    main thread also runs the load."""

    def play_in_two(load, tool, ours):
        start, go = threading.Event(), threading.Event()
        thread = in_thread(load, start, go, 2)

        def work():
            go.set()
            load()
            thread.join()

        steps = {"T": tool.start, "t": tool.stop, "w": work}
        if ours:
            steps.update({"O": ours.start, "o": ours.stop})
        for step in order:
            steps.get(step, int)()
        return tool.seen()

    load = beside.Load(tmp_path)
    alone = play_in_two(load, make(load), None)
    assert set(alone) == {"beside", "MainThread"}
    for settings in SETTINGS:
        load = beside.Load(tmp_path)
        ours = Ours(load, **settings)

        def stop(ours=ours, load=load):
            check(ocular.stop_tracing(), load, 3)

        ours.stop = stop
        assert play_in_two(load, make(load), ours) == alone, settings


def test_two_threads_meet_new_code_under_settrace():
    """Two threads call new code at the same time. The trace function lets the other thread
    run at a certain moment: CPython has read the set of tools, but has not yet called
    Ocular's discovery tool. Then the first of the two calls is reported after the
    second."""
    inside, other_is_done = threading.Event(), threading.Event()

    def note(frame, event, argument):
        if frame.f_code.co_name == "new" and threading.current_thread().name == "slow":
            inside.set()
            other_is_done.wait()

    for threshold in 0, 500:
        names = {}
        exec("def new(n):\n    while n:\n        n -= 1\n", names)
        new = names["new"]

        def slow(new=new):
            sys.settrace(note)
            new(3)
            sys.settrace(None)
            new(3)

        inside.clear(), other_is_done.clear()
        ocular.start_tracing(**{**EXACT, "deinstrument_threshold": threshold})
        thread = threading.Thread(target=slow, name="slow")
        thread.start()
        inside.wait()
        new(3)
        other_is_done.set()
        thread.join()
        seen = row(ocular.stop_tracing(), "new")
        assert seen["calls"] == 3 and seen["calls_exact"]
    sys.settrace(None)


# --- Profile functions --------------------------------------------------------


def test_what_runs_inside_anothers_callback_is_invisible():
    events = monitoring.events

    def on_start(code, offset):
        if code is helper.__code__:
            pure.ackermann(1, 1)

    monitoring.use_tool_id(5, "nosy")
    try:
        monitoring.register_callback(5, events.PY_START, on_start)
        monitoring.set_events(5, events.PY_START)
        ocular.start_tracing(**EXACT)
        helper(3)
        final = ocular.stop_tracing()
    finally:
        monitoring.set_events(5, 0)
        monitoring.register_callback(5, events.PY_START, None)
        monitoring.free_tool_id(5)
    assert row(final, "helper")["calls"] == 1
    assert row(final, "ackermann") is None


SETS_A_PROFILE = """
import sys
def sets_a_profile():
    events = []
    sys.setprofile(lambda frame, event, argument: events.append(event))
    len(())
    sys.setprofile(None)
    return events
"""


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_profile_function_sees_no_end_without_a_beginning(settings):
    """A profile function must not see the end of the call that set the profile function, so
    this call must not be instrumented."""

    def first_run():
        names = {}
        exec(compile(SETS_A_PROFILE, "/made/sets.py", "exec"), names)
        return names["sets_a_profile"]()

    alone = first_run()
    ocular.start_tracing(perfetto=False, quiet=True, **settings)
    beside_us = first_run()
    # Profile.runcall() fails if its events come in the wrong order.
    profile.Profile().runcall(pure.CASES["recursion"])
    ocular.stop_tracing()
    assert beside_us == alone == ["c_call", "c_return", "c_call"]
