# SPDX-License-Identifier: MIT
"""Tests that Ocular counts iterations of loops correctly. Ocular counts iterations at other
sites than FOR_ITER, because CPython specialises FOR_ITER again at once."""

import collections
import contextlib
import dis
import re
import sys

import ocular
import pytest
from e2e import client
from e2e.counting import EXACT, entries

ROW = re.compile(
    r" +\[\d+\] offset (\d+) +line *\d* +(\S+)(?: -> \S+)?(?: +(>=)?(\d+) hits)?"
)
# CPython fires no INSTRUCTION event for these opcodes.
# CPython also fires no INSTRUCTION event for instructions before RESUME
UNSEEN = {"RESUME", "END_FOR", "POP_ITER"}


# --- Loops of every shape -----------------------------------------------------


def plain(items):
    for _ in items:
        pass


def with_else(items):
    for item in items:
        if item > 90:
            break
    else:
        return 1
    return 2


def nested(items):
    total = 0
    for item in items:
        for _ in range(item):
            total += 1
    return total


def raises(items):
    total = 0
    for item in items:
        total += 6 // (item - 7)
    return total


def catches(items):
    for item in items:
        try:
            6 // (item - 7)
        except ZeroDivisionError:
            pass


def unpacks(pairs):
    for one, (two, *_) in pairs:
        pass


def generator(items):
    for item in items:
        yield item


def from_generator(items):
    total = 0
    for item in generator(items):
        total += item
    return total


def comprehension(items):
    return [item for item in items if item & 1]


def while_loop(items):
    while items:
        items = items[1:]
    return items


LISTS = [[], [1], list(range(7)), list(range(95, 100)), list(range(30))]
PAIRS = [[], [(1, (2, 3))] * 5]
SHAPES = [plain, with_else, nested, raises, catches, unpacks, generator, from_generator]
SHAPES += [comprehension, while_loop]


def run(function):
    for items in PAIRS if function is unpacks else LISTS:
        with contextlib.suppress(ZeroDivisionError):
            result = function(items)
            if function is generator:
                list(result)


def executed(function):
    """Counts with INSTRUCTION events of a separate tool how often each instruction ran.
    Returns these numbers by offset."""
    counts = collections.Counter()
    monitoring = sys.monitoring
    monitoring.use_tool_id(0, "truth")
    monitoring.register_callback(
        0, monitoring.events.INSTRUCTION, lambda code, offset: counts.update((offset,))
    )
    monitoring.set_local_events(0, function.__code__, monitoring.events.INSTRUCTION)
    try:
        run(function)
    finally:
        monitoring.set_local_events(0, function.__code__, 0)
        monitoring.register_callback(0, monitoring.events.INSTRUCTION, None)
        monitoring.free_tool_id(0)
    return counts


def reported(function, threshold, capsys):
    """Reads the report, and returns for each site the offset, the opcode, True if the
    number of hits is a lower bound, and the number of hits."""
    capsys.readouterr()
    with ocular.tracing(
        perfetto=False, deinstrument_threshold=threshold, include_only=["test_loops"]
    ):
        run(function)
    text = capsys.readouterr().err.partition(f"  {function.__name__} ")[2]
    rows = []
    for line in text.partition("\n#")[0].splitlines():
        match = ROW.match(line)
        if match and match[4]:
            rows.append((int(match[1]), match[2], bool(match[3]), int(match[4])))
    return rows


@pytest.mark.parametrize("threshold", [0, 3, 500])
@pytest.mark.parametrize("function", SHAPES, ids=lambda f: f.__name__)
def test_hits_are_those_of_cpython(function, threshold, capsys):
    run(function)
    truth = executed(function)
    rows = reported(function, threshold, capsys)
    assert rows
    start = min(
        each.offset for each in dis.get_instructions(function) if each.opname == "RESUME"
    )
    for offset, opcode, is_floor, hits in rows:
        if offset < start or opcode in UNSEEN:
            continue
        assert hits <= truth[offset] if is_floor else hits == truth[offset], (
            offset,
            opcode,
            hits,
            truth[offset],
        )


# Ocular has hooks at these opcodes, in addition to its hooks for exceptions.
FIRES = tuple("JUMP_BACKWARD JUMP_FORWARD POP_JUMP".split())
FIRES += tuple("RETURN_VALUE RETURN_CONST YIELD_VALUE".split())


def first_hits(truth, offset, taken):
    """Returns how many events a FOR_ITER has. Ocular removes the hook of a FOR_ITER at its
    first event. From 3.14 on, each of the two branches of FOR_ITER has such a hook."""
    if hasattr(sys.monitoring.events, "BRANCH_LEFT"):
        return (truth[taken] > 0) + (truth[offset] > truth[taken])
    return truth[offset] > 0


@pytest.mark.parametrize("function", SHAPES, ids=lambda f: f.__name__)
def test_every_jump_and_branch_is_an_event_and_no_for_iter(function):
    run(function)
    truth = executed(function)
    offsets = [each.offset for each in dis.get_instructions(function)]
    following = dict(zip(offsets, offsets[1:]))
    expected = 0
    for each in dis.get_instructions(function):
        if each.opname.startswith(FIRES) and "INTERRUPT" not in each.opname:
            expected += truth[each.offset]
        elif each.opname == "FOR_ITER":
            expected += first_hits(truth, each.offset, following[each.offset])
    with ocular.tracing(**EXACT, include_only=[function.__name__], exclude=["/lib/"]):
        run(function)
        final = ocular.snapshot()
    (row,) = final["functions"]
    assert row["name"] == function.__name__
    assert final["events"] == entries(row) + expected


# --- FOR_ITER is specialised while its loop is armed ----------------------------


def loop_opcodes(function):
    # Uses the offsets of the original code. In code with hooks, dis of 3.12 does not know
    # the length of INSTRUMENTED_CALL, and takes its cache for instructions.
    adaptive = function.__code__._co_code_adaptive
    names = [
        dis._all_opname[adaptive[each.offset]] for each in dis.get_instructions(function)
    ]
    return [name for name in names if "FOR_ITER" in name or "JUMP_BACKWARD" in name]


def over_range(count):
    for _ in range(count):
        pass


def over_list(count):
    for _ in [0] * count:
        pass


def over_tuple(count):
    for _ in (0,) * count:
        pass


def over_generator(count):
    for _ in generator(range(count)):
        pass


KINDS = [
    (over_range, "FOR_ITER_RANGE"),
    (over_list, "FOR_ITER_LIST"),
    (over_tuple, "FOR_ITER_TUPLE"),
    (over_generator, "FOR_ITER_GEN"),
]


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("function, special", KINDS)
def test_for_iter_is_specialised_while_its_jump_is_armed(function, special, warm):
    # Makes a function with a new code object that has not run yet.
    fresh = type(function)(function.__code__.replace(), globals())
    if warm:
        for _ in range(20):
            fresh(20)
        assert special in loop_opcodes(fresh)
    with ocular.tracing(**EXACT, include_only=["test_loops"]):
        for _ in range(20):
            fresh(20)
        armed = loop_opcodes(fresh)
        rows = [
            row
            for row in ocular.snapshot()["functions"]
            if row["name"] == function.__name__
        ]
    assert special in armed and "INSTRUMENTED_JUMP_BACKWARD" in armed, armed
    # FOR_ITER has lost its hook, but does not count as a dark site.
    assert rows[0]["state"] == "armed" and rows[0]["dark_sites"] == 0


@pytest.mark.parametrize("function, special", KINDS)
def test_for_iter_is_specialised_again_after_rearming(function, special, sockets):
    with ocular.tracing(
        perfetto=False,
        quiet=True,
        serve=True,
        include_only=["test_loops"],
        overhead_budget=0.5,
        deinstrument_threshold=1000,
    ):
        for _ in range(30):
            function(100)
        dark = loop_opcodes(function)
        with client.Client(ocular._ocular.socket_path()) as viewer:
            viewer.rearm()
            viewer.wait_for(
                lambda _: "INSTRUMENTED_JUMP_BACKWARD" in loop_opcodes(function)
            )
        for _ in range(9):
            function(100)
        armed = loop_opcodes(function)
    assert dark[0] == special
    assert dark[1] in ("JUMP_BACKWARD", "JUMP_BACKWARD_NO_JIT"), dark
    assert armed == [special, "INSTRUMENTED_JUMP_BACKWARD"]
