# SPDX-License-Identifier: MIT
"""Tests that in mode="precise" the hits and cycles of every instruction are right. The
tests compare Ocular's hits with the hits that a separate tool counts by INSTRUCTION events
in Python."""

import cProfile
import dis
import sys
import types
from collections import Counter

import ocular
import pytest
from e2e import client, trace
from e2e.counting import row, traced
from e2e.program import SLOW, wait_until
from e2e.threads import in_threads

monitoring = sys.monitoring
INSTRUCTION = monitoring.events.INSTRUCTION
PRECISE = dict(mode="precise", perfetto=False, quiet=True)
EXACT = dict(PRECISE, deinstrument_threshold=0)


# --- Code that is traced ------------------------------------------------------


def loops(n):
    total = 0
    for outer in range(n):
        if outer % 3 == 0:
            continue
        while total % 5:
            total += 1
        total += outer
    return [total for _ in range(n)]


def catches(n):
    done = 0
    for number in range(n):
        try:
            if number % 2:
                raise ValueError(number)
            done += 1
        except ValueError as error:
            done -= error.args[0]
        finally:
            done += 10
    return done


def raises(n):
    if n:
        return raises(n - 1)
    raise KeyError(n)


def unwinds(n):
    for depth in range(n):
        try:
            raises(depth)
        except KeyError:
            pass


def inner(n):
    for number in range(n):
        try:
            yield number
        except ValueError:
            yield -1


def outer(n):
    yield from inner(n)
    yield n


def generators(n):
    list(outer(n))
    thrown = outer(n)
    next(thrown)
    thrown.throw(ValueError)
    thrown.close()
    never = outer(n)
    next(never)
    return sum(outer(n))


def recursive(n):
    return 1 if n < 2 else recursive(n - 1) + recursive(n - 2)


async def waits(n):
    return n


async def awaits(n):
    return [await waits(number) for number in range(n)]


def coroutines(n):
    try:
        awaits(n).send(None)
    except StopIteration as stop:
        return stop.value


def _long():
    """Makes a function with large offsets, and with jumps and constants that need
    EXTENDED_ARG."""
    lines = ["def long(n):", "    total = 0", "    while n:", "        n -= 1"]
    lines += [f"        total += {1000 + number}" for number in range(300)]
    namespace = {}
    exec("\n".join([*lines, "    return total"]), namespace)
    return namespace["long"]


long = _long()
HAND_MADE = [loops, catches, unwinds, generators, recursive, coroutines, long]


def codes_of(*functions):
    """Returns the functions' code objects and all nested code objects."""
    found = []
    todo = [function.__code__ for function in functions]
    while todo:
        code = todo.pop()
        if code not in found:
            found.append(code)
            todo += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return found


HERE = codes_of(*HAND_MADE, raises, inner, outer, waits, awaits)


# --- Counting -----------------------------------------------------------------


def count(codes, function, *arguments):
    """Counts by sys.monitoring how often each instruction ran. Returns these numbers by
    code object and offset."""
    counts = {code: Counter() for code in codes}

    def on_instruction(code, offset):
        counts[code][offset] += 1

    monitoring.use_tool_id(1, "counter")
    monitoring.register_callback(1, INSTRUCTION, on_instruction)
    try:
        for code in codes:
            monitoring.set_local_events(1, code, INSTRUCTION)
        function(*arguments)
    finally:
        for code in codes:
            monitoring.set_local_events(1, code, 0)
        monitoring.register_callback(1, INSTRUCTION, None)
        monitoring.free_tool_id(1)
    return counts


def details(codes):
    """Returns the rows of the instructions with an event, by code object and offset."""
    silent = "RESUME", "END_FOR"
    return {
        code: {
            row["offset"]: row
            for row in ocular._ocular.detail(code) or ()
            if row["site"] and row["opcode"] not in silent
        }
        for code in codes
    }


def compare(wanted, threshold=0, disabled_lines=False):
    """Compares Ocular's rows with the hits that a separate tool has counted.
    `disabled_lines` is true if another tool has returned DISABLE from its LINE events. If a
    line's LINE event is disabled, CPython skips one INSTRUCTION event of the first
    instruction of the line."""
    steps = 0
    for code, rows in details(wanted).items():
        assert rows or not wanted[code], f"{code.co_qualname} is not known"
        for offset, mine in rows.items():
            want = wanted[code][offset]
            where = f"{code.co_qualname} {offset} {mine['opcode']}"
            steps += want
            if threshold:
                assert mine["hits"] == min(want, threshold), where
                assert mine["dark"] == (want >= threshold), where
                assert mine["exact"] == (want < threshold), where
            elif disabled_lines:
                assert want - 1 <= mine["hits"] <= want, where
            else:
                assert (mine["hits"], mine["exact"]) == (want, True), where
                assert not mine["dark"], where
    return steps


@pytest.fixture
def tracing():
    def start(**settings):
        ocular.start_tracing(**{**EXACT, **settings})

    yield start
    ocular.stop_tracing()
    sys.settrace(None)
    sys.setprofile(None)


@pytest.mark.parametrize("function", HAND_MADE)
def test_hits_of_every_instruction(tracing, function):
    wanted = count(HERE, function, 12)
    tracing()
    function(12)
    assert compare(wanted) > 50


@pytest.mark.parametrize("threshold", [1, 2, 7])
@pytest.mark.parametrize("function", HAND_MADE)
def test_each_goes_dark_by_itself(tracing, function, threshold):
    """Each instruction loses its hook separately. The hits of an instruction are exact
    until they reach the threshold."""
    wanted = count(HERE, lambda: (function(12), function(3)))
    tracing(deinstrument_threshold=threshold)
    function(12), function(3)
    compare(wanted, threshold)


def straight(n):
    return -n


def test_sites_and_state(tracing):
    tracing(deinstrument_threshold=5)
    straight(1)
    mine = row(ocular.snapshot(), "straight")
    fires = len(list(details([straight.__code__])[straight.__code__]))
    # RESUME is both an instruction and the start of a call. A return has one site for the
    # instruction and one for the return.
    assert mine["sites"] == fires + 2
    assert mine["dark_sites"] == 0 and mine["state"] == "armed"
    for _ in range(4):
        straight(1)
    mine = row(ocular.snapshot(), "straight")
    assert mine["dark_sites"] > 0 and mine["state"] in ("partial", "dark")
    straight(1), straight(1)
    after = ocular.snapshot()
    mine = row(after, "straight")
    assert mine["dark_sites"] == mine["sites"] and mine["state"] == "dark"
    assert mine["calls"] == 5 and not mine["calls_exact"]
    events = after["events"]
    repeat = [straight(1) for _ in range(100)]
    assert len(repeat) == 100
    rows = details([straight.__code__])[straight.__code__].values()
    assert all(r["hits"] == 5 and r["dark"] for r in rows)
    # The test's own function has made further events.
    assert ocular.snapshot()["events"] > events


def test_rearm_arms_the_instructions(tracing, sockets):
    tracing(deinstrument_threshold=5, serve=True)

    def rows():
        return details([straight.__code__])[straight.__code__].values()

    for _ in range(20):
        straight(1)
    assert all(r["hits"] == 5 and r["dark"] for r in rows())
    with client.Client(ocular._ocular.socket_path()) as viewer:
        viewer.rearm(row(ocular.snapshot(), "straight")["id"])
    wait_until(lambda: not any(r["dark"] for r in rows()))
    straight(1)
    assert all(r["hits"] == 6 and not r["exact"] for r in rows())
    for _ in range(20):
        straight(1)
    assert all(r["hits"] == 10 and r["dark"] for r in rows())
    # A request to arm all functions also works in precise mode.
    with client.Client(ocular._ocular.socket_path()) as viewer:
        viewer.rearm()
    wait_until(lambda: not any(r["dark"] for r in rows()))
    for _ in range(20):
        straight(1)
    assert all(r["hits"] == 15 and r["dark"] for r in rows())


# --- Other tools --------------------------------------------------------------


class Tool:
    """Another tool, which uses sys.monitoring with the id 1."""

    def __init__(self, names, callback, local=()):
        events = monitoring.events
        self.events = [getattr(events, name) for name in names]
        self.callback = callback
        self.local = local

    def __enter__(self):
        monitoring.use_tool_id(1, "other")
        for event in self.events:
            monitoring.register_callback(1, event, self.callback)
        for code in self.local:
            monitoring.set_local_events(1, code, sum(self.events))
        if not self.local:
            monitoring.set_events(1, sum(self.events))

    def __exit__(self, *_):
        for code in self.local:
            monitoring.set_local_events(1, code, 0)
        monitoring.set_events(1, 0)
        for event in self.events:
            monitoring.register_callback(1, event, None)
        monitoring.free_tool_id(1)


class Hooked:
    """Another tool, which uses sys.setprofile or sys.settrace."""

    def __init__(self, setter, opcodes=False):
        self.setter = setter
        self.opcodes = opcodes

    def call(self, frame, event, argument):
        if self.opcodes:
            frame.f_trace_opcodes = True
        return self.call

    def __enter__(self):
        self.setter(self.call)

    def __exit__(self, *_):
        self.setter(None)


def nothing(*_):
    pass


def disable(*_):
    return monitoring.DISABLE


OTHERS = {
    "lines": lambda: Tool(["LINE"], nothing),
    "coverage": lambda: Tool(["PY_START", "LINE"], disable),
    "instructions": lambda: Tool(["INSTRUCTION"], nothing, local=HERE),
    "everything": lambda: Tool(
        ["PY_START", "PY_RETURN", "LINE", "JUMP", "BRANCH", "INSTRUCTION", "CALL"],
        nothing,
        local=HERE,
    ),
    "setprofile": lambda: Hooked(sys.setprofile),
    "settrace, opcodes": lambda: Hooked(sys.settrace, opcodes=True),
    "cProfile": cProfile.Profile,
}


def interrupted(n, other):
    """Another tool starts and stops while this function runs."""
    total = 0
    for number in range(n):
        if number == n // 3:
            other.__enter__()
        if number == 2 * n // 3:
            other.__exit__(None, None, None)
        total += loops(3) and catches(2)
        total += sum(outer(2))
    return total


@pytest.mark.parametrize("name", OTHERS)
def test_another_tool_in_the_middle(tracing, name):
    """CPython loses a tool's INSTRUCTION events when the code gets a second tool
    (gh-157900), so Ocular has two tools from the start."""

    class Nobody(Tool):
        def __init__(self):
            pass

        __enter__ = __exit__ = nothing

    codes = [*HERE, interrupted.__code__]
    wanted = count(codes, interrupted, 12, Nobody())
    tracing()
    interrupted(12, OTHERS[name]())
    compare(wanted, disabled_lines=name == "coverage")


# --- Threads -----------------------------------------------------------------


def test_threads(tracing):
    def work():
        for _ in range(20):
            for function in HAND_MADE[:5]:
                function(6)

    wanted = count(HERE, work)
    tracing()
    in_threads(*[work] * 4)
    compare({code: Counter({o: 4 * n for o, n in c.items()}) for code, c in wanted.items()})


# --- Cycles -------------------------------------------------------------------

# A loop over MANY takes 50 us. On a busy machine, Ocular can drop times above 100 us.
MANY = range(5_000)


def mixture(x):
    """A function whose instructions have no specialised forms."""
    (x, x, x)
    -x
    {x: x}
    x is x
    [x, x]
    f"{x}"
    (x, x, x)
    -x
    {x: x}
    x is x
    [x, x]
    f"{x}"


def test_every_instruction_that_ran_has_cycles(tracing):
    """Every instruction that ran has cycles. An interruption can make a measured time
    invalid, so the functions run until all of their instructions have cycles."""
    codes = codes_of(loops, recursive, long, mixture, outer, inner)

    def untimed():
        for function in (loops, recursive, long, mixture, generators):
            function(6)
        found = []
        for code in codes:
            for mine in details([code])[code].values():
                raised = mine["opcode"] in ("RERAISE", "CLEANUP_THROW")
                if mine["hits"] and mine["cycles"] is None and not raised:
                    found.append((code.co_qualname, mine))
                assert mine["hits"] or mine["cycles"] is None, mine
        return found

    tracing()
    wait_until(lambda: not untimed(), SLOW)


def uneven(numbers, n):
    light = 0
    for number in range(n):
        if number % 10 == 0:
            light = number
        sum(numbers)
    return light


def test_the_time_of_dark_neighbours_is_nobodys(tracing):
    """The cheap branch keeps its hook to the end, while the calls next to it lose their
    hooks. The time of these calls must not count as time of the branch. There are nine
    calls between two branches. The mean over hundreds of runs hides an interruption by
    another program."""
    tracing(deinstrument_threshold=250)
    uneven(MANY, 2000)
    rows = details([uneven.__code__])[uneven.__code__].values()
    heavy = [r["cycles"] for r in rows if r["opcode"] == "CALL" and r["hits"] == 250]
    assert heavy and heavy[0] > 5000
    armed = [r for r in rows if r["hits"] == 200 and not r["dark"]]
    assert len(armed) >= 1
    for mine in armed:
        assert mine["cycles"] is None or mine["cycles"] < heavy[0], mine
    # When the next instructions have lost their hooks, the cycles of the last instruction
    # before them can no longer be measured.
    last = [r["cycles"] for r in armed]
    assert None not in last  # these hits came while all instructions had hooks


# --- Messages about precise mode ----------------------------------------------


def test_a_turn_has_all_its_instructions(tmp_path):
    def turns(n):
        while n:
            n -= 1

    wanted = count([turns.__code__], turns, 50)[turns.__code__]
    path = tmp_path / "t.json"
    traced(turns, 50, mode="precise", perfetto=True, output=path, include_only=["turns"])
    loop = [e["args"]["uOps"] for e in trace.read(path).loops]
    (jumps,) = [
        wanted[i.offset] for i in dis.get_instructions(turns) if i.opname == "JUMP_BACKWARD"
    ]
    size = sum(1 for hits in wanted.values() if hits >= jumps)
    assert loop == [size] * jumps
