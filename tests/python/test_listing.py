# SPDX-License-Identifier: MIT
"""Compares the listing of the function that a viewer shows
(tracer/session/listing_requests.c) with dis, ast and the sampler's own sums."""

import argparse
import ast
import ctypes
import dis
import inspect
import os
import shlex
import sys
import textwrap
import threading
import types
from pathlib import Path

import ocular
import pytest
from e2e import client
from e2e.client import Client, Refused
from e2e.program import SLOW, wait_until
from e2e.threads import in_threads

NO_SUCH = 2  # errno in the answer if the function does not exist
TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def viewer(sockets):
    """Yields a viewer of a trace with a large budget."""
    with ocular.tracing(
        serve=True, quiet=True, perfetto=False, overhead_budget=1, deinstrument_threshold=50
    ):
        with connect() as connection:
            connection.rate(0.2)
            yield connection


def connect():
    return Client(ocular._ocular.socket_path(), timeout=SLOW)


def ids(viewer, *names):
    """Waits until a snapshot has functions with all these names, and returns their ids."""

    def found(snapshot):
        rows = {row["name"]: row["id"] for row in snapshot["functions"]}
        return [rows[name] for name in names if name in rows]

    return found(viewer.wait_for(lambda s: len(found(s)) == len(names), SLOW))


def detail_in_words(viewer, function):
    """Waits until the function's listing has its operand text, and returns the listing."""

    def listing():
        answer = viewer.detail(function)
        return answer["words"] and answer

    return wait_until(listing, SLOW, "words")


# --- Comparison with dis ------------------------------------------------------


def everything(rows, **options):
    """A function whose instructions have operands of each kind."""
    global made
    total = 0
    for row in rows:
        if row is None or row in (3, 4) or not row < 100:
            total += len(str(row)) * 2.5
        else:
            total -= os.path.join("a", 'b"\n\x1b[31m').count("\u202e") // 7
    made = [total, b"\x00by'tes", 1 << 100, (1, (2.0, ("x", (None,)))), ..., 2j]

    def inner(extra=total):
        return total + extra

    made[0] = sorted((x for x in made[:1]), key=lambda x: -x, **options)
    first, *rest = made
    return f"{first!r:>10}{inner()}{-total}"


def expected_words(instruction):
    """Returns an operand as dis writes it, or None if the listing has no text for it."""
    if instruction.arg is None or instruction.opcode in dis.hasjrel:
        return None
    words = instruction.argrepr.removesuffix(" + NULL|self")
    words = words.removesuffix(" + NULL").removeprefix("NULL|self + ")
    words = words.removeprefix("NULL + ")
    return (
        words.removeprefix("bool(").removesuffix(")")
        if words.startswith("bool(")
        else words
    )


def instructions(code):
    return [
        each
        for each in dis.get_instructions(code)
        if each.opname != "EXTENDED_ARG" and each.opname != "CACHE"
    ]


def check_against_dis(listing, code):
    wanted = instructions(code)
    assert [row["offset"] for row in listing["rows"]] == [i.offset for i in wanted]
    line = None
    at = {i.offset: i for i in wanted}
    for row, instruction in zip(listing["rows"], wanted):
        assert row["opcode"] == instruction.opname
        assert row["argument"] == instruction.arg
        line = instruction.positions.lineno
        assert row["line"] == line
        if instruction.opcode in dis.hasjrel:
            # The target of a jump is the instruction itself, and not an EXTENDED_ARG before
            # the instruction.
            target = instruction.argval
            while target not in at:
                target += 2
            assert row["target"] == target
            continue
        assert row["target"] is None
        value = instruction.argval
        if instruction.opcode in (*dis.hasname, *dis.haslocal, *dis.hasfree):
            if isinstance(value, tuple):
                value = ", ".join(value)
            assert row["words"] == value
        elif instruction.opcode in dis.hascompare or instruction.opname in ("BINARY_OP",):
            assert row["words"] == expected_words(instruction)
        elif instruction.opname in ("IS_OP", "CONTAINS_OP"):
            assert row["words"] in ("is", "is not", "in", "not in")
        elif instruction.opcode in dis.hasconst:
            assert row["words"]
            assert row["words"].isprintable()
            if type(value) in (float, bool, type(None)) or (
                type(value) is int and abs(value) < 1 << 63
            ):
                assert row["words"] == repr(value)
        else:
            assert row["words"] is None or row["opcode"].startswith("CALL_INTR")


def test_rows_are_those_of_dis(viewer):
    everything([1, None, 500])
    (function,) = ids(viewer, "everything")
    listing = detail_in_words(viewer, function)
    assert listing["id"] == function
    assert listing["name"] == "everything"
    assert listing["file"] == __file__
    assert listing["line"] == everything.__code__.co_firstlineno
    assert listing["precise"] is False
    assert listing["instructions"] == len(listing["rows"])
    check_against_dis(listing, everything.__code__)
    words = [row["words"] for row in listing["rows"]]
    assert "'b\"\\n\\x1b[31m'" in words
    assert "'\\u202e'" in words
    assert repr(b"\x00by'tes") in words
    assert "(1, (2.0, ('x', …)))" in words or "(1, (2.0, ('x', (…))))" in words
    assert any(word and word.startswith("<code ") for word in words)


def source_callees(function):
    """Reads from the source which names are called in each line."""
    first = function.__code__.co_firstlineno
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            line = node.func.end_lineno + first - 1
            found.setdefault(line, set()).add(ast.unparse(node.func))
    return found


def called():
    nested = str(len(sorted(range(max(3, abs(-4))), key=lambda x: x)))
    path = os.path.join(os.path.dirname("a/b"), nested.upper().lower())
    words = [word.strip() for word in path.split("/") if word.startswith("0")]
    sums = sum(x * 2 for x in range(3)), any(y for y in [0])
    with open(os.devnull) as stream:
        stream.read(len(path) if words else int("3"))
    (lambda: None)()
    local = dict
    return local(a=list(local()), **local(b=os.getcwd().encode("utf-8"))), sums


@pytest.mark.parametrize(
    "function",
    [called, everything, textwrap.TextWrapper._wrap_chunks, inspect.getmodule]
    + [argparse.HelpFormatter._format_usage],
)
def test_callees_are_named_as_in_the_source(viewer, function):
    """The listing can leave out a callee's name, but a name in it must not be wrong."""
    listing = listing_of(viewer, function, function.__code__)
    written = source_callees(function)
    named = 0
    for row in listing["rows"]:
        if not row["callee"]:
            continue
        assert row["opcode"].startswith("CALL")
        there = {
            text
            for line, texts in written.items()
            for text in texts
            if abs(line - row["line"]) <= 2
        }
        if row["callee"].startswith("."):
            there = {text[-len(row["callee"]) :] for text in there}
        assert row["callee"] in there, (row, there)
        named += 1
    calls = sum(len(texts) for texts in written.values())
    assert named >= calls * 0.6


def listing_of(viewer, function, code):
    """Copies the function with the file name of this test, which the filter accepts.
    Returns the listing of the copy."""
    if code.co_filename == __file__:
        function([1]) if function is everything else function()
    else:
        copy = code.replace(co_filename=__file__, co_name="copy", co_qualname="copy")
        try:
            exec_copy(copy)
        except Exception:  # the test needs only the call of copy()
            pass
        code = copy
    return detail_in_words(viewer, ids(viewer, code.co_qualname)[0])


def exec_copy(code):
    arguments = [None] * code.co_argcount
    types.FunctionType(code, vars(inspect) | vars(textwrap))(*arguments)


# --- Numbers of hits, samples and cycles --------------------------------------


def spin(over):
    """Spends half of its time in one C function and half in bytecode."""
    data = list(range(40000, 0, -1)) + list(range(30000))
    while not over:
        sorted(data)
        for i in range(20000):
            i * i


def samples(listing):
    return sum(row["samples"] for row in listing["rows"])


def test_samples_and_those_in_c(viewer):
    over = []
    thread = threading.Thread(target=spin, args=(over,))
    thread.start()
    try:
        (function,) = ids(viewer, "spin")
        wait_until(lambda: samples(viewer.detail(function)) > 60, SLOW)
    finally:
        over.append(True)
        thread.join()
    listing = detail_in_words(viewer, function)
    by_callee = {row["callee"]: row for row in listing["rows"] if row["callee"]}
    total = samples(listing)
    sort = by_callee["sorted"]
    assert sort["c_samples"] > total / 10
    assert sort["c_samples"] >= 0.9 * sort["samples"]
    for row in listing["rows"]:
        assert row["c_samples"] <= row["samples"]
        if not row["opcode"].startswith("CALL"):
            assert row["c_samples"] == 0
    assert sum(row["samples"] - row["c_samples"] for row in listing["rows"]) > total / 10


def loop(n):
    total = 0
    for i in range(n):
        total += i
    return total


def lengthen(n, text):
    for _ in range(n):
        longer = text + "x"
    return longer


def test_hits_sites_and_what_they_became(viewer):
    # The text is long, so that each addition takes longer than a hook.
    text = "x" * 200_000
    lengthen(30, text)
    (function,) = ids(viewer, "lengthen")
    viewer.wait_for(lambda s: client.function(s, "lengthen")["specialized_sites"], SLOW)

    def jump_and_add():
        rows = viewer.detail(function)["rows"]
        return [
            next(row for row in rows if row["opcode"] == opcode)
            for opcode in ("JUMP_BACKWARD", "BINARY_OP")
        ]

    # If a budget is set, jumps have hooks only while a viewer shows the code.
    wait_until(lambda: jump_and_add()[0]["armed"], SLOW)
    lengthen(1, text)  # The first call after the hooks were installed is not timed.
    before = jump_and_add()[0]["hits"]
    lengthen(30, text)
    jump, add = jump_and_add()
    assert (jump["hits"], jump["hits_exact"], jump["armed"]) == (before + 30, False, True)
    assert add["hits"] == before + 30
    assert add["live"] == "BINARY_OP_ADD_UNICODE"
    assert add["specializable"] is True
    assert add["armed"] is None
    assert add["cycles"] > 0

    def dark():  # perhaps a slice has just installed hooks again
        lengthen(1000, text)
        rows = viewer.detail(function)["rows"]
        jump = next(row for row in rows if row["opcode"] == "JUMP_BACKWARD")
        return jump["armed"] is False and jump

    jump = wait_until(dark, SLOW)
    assert jump["hits_exact"] is False
    assert jump["hits"] >= 50


def test_precise_mode(sockets):
    with ocular.tracing(serve=True, quiet=True, perfetto=False, mode="precise"):
        loop(7)
        with Client(ocular._ocular.socket_path()) as viewer:
            listing = detail_in_words(viewer, ids(viewer, "loop")[0])
    assert listing["precise"] is True
    add = next(row for row in listing["rows"] if row["opcode"] == "BINARY_OP")
    assert (add["hits"], add["hits_exact"], add["armed"]) == (7, True, True)


# --- Missing functions, and too many requests ---------------------------------


@pytest.mark.parametrize("function", [0, 2**31, 2**32 - 1, 2**32, 2**64 - 1])
def test_an_id_that_never_was(viewer, function):
    viewer.snapshot()
    with pytest.raises(Refused) as refused:
        viewer.detail(function)
    assert refused.value.args == (NO_SUCH, "there is no function with that id")


def test_a_function_that_has_gone(viewer):
    space = {}
    exec("def short_lived():\n    return 1\n", space)
    space["short_lived"]()
    (function,) = ids(viewer, "short_lived")
    assert viewer.detail(function)["rows"]
    space.clear()
    with pytest.raises(Refused) as refused:
        viewer.detail(function)
    assert refused.value.args == (
        NO_SUCH,
        "this function is gone: its code object has been freed",
    )
    loop(1)
    assert viewer.detail(ids(viewer, "loop")[0])["rows"]  # The viewer still gets listings.


def build_huge(count=2500):
    """Makes a function of 10 000 instructions. Each of these instructions has its own
    operand text."""
    space = {}
    lines = "".join(f"    v{i} = u.a{i} + {i + 1000}\n" for i in range(count))
    exec(f"def huge(u):\n{lines}", space)
    return space["huge"]


@pytest.mark.once
def test_ten_thousand_instructions(viewer):
    function = build_huge()

    class Anything:
        def __getattr__(self, name):
            return 1

    function(Anything())
    (number,) = ids(viewer, "huge")
    listing = detail_in_words(viewer, number)
    assert listing["instructions"] > 10000
    check_against_dis(listing, function.__code__)


@pytest.mark.once
def test_one_viewer_that_asks_a_thousand_times_a_second(viewer):
    """Only the newest request of a viewer is answered. Another viewer gets its listings as
    usual."""
    loop(3)
    everything([1])
    one, other = ids(viewer, "loop", "everything")
    sent = 0
    with connect() as calm:
        calm.snapshot()
        for _ in range(5):
            for _ in range(50):
                sent += 1
                viewer.send(client.DETAIL, one.to_bytes(8, "little"), sent)
            calm.detail(other)
    newest, made = 0, []
    while newest < sent:
        kind, request, listing = viewer.receive()
        if kind == client.LISTING:
            assert request > newest
            newest = request
            made.append(listing["at_s"])
    assert_five_a_second(made)


PERIOD = 0.2  # least number of seconds between two listings of a function


def assert_five_a_second(made):
    """Checks that each listing was made at least PERIOD seconds after the one before."""
    assert all(after - before > 0.99 * PERIOD for before, after in zip(made, made[1:])), (
        made
    )


@pytest.mark.once
def test_who_asks_again_at_once_gets_a_newer_one(viewer):
    """The listing that a viewer gets was made after the viewer's request."""
    loop(3)
    (one,) = ids(viewer, "loop")
    made = []

    def asks():
        with connect() as mine:
            made.append([mine.detail(one)["at_s"] for _ in range(8)])

    in_threads(*[asks] * 4)
    assert len(made) == 4
    for at in made:
        assert_five_a_second(at)


ASK = """
import sys
sys.path.insert(0, sys.argv[1])
from e2e.client import Client

with Client(sys.argv[2]) as viewer:
    for _ in range(3):
        listing = viewer.detail(int(sys.argv[3]))
        print(len(listing["rows"]), int(listing["words"]))
"""


def test_the_interpreter_is_held_by_c_code(viewer, tmp_path):
    """Only operand text needs the GIL. A C function holds the GIL while it runs another
    process. This other process asks for a listing."""
    loop(3)
    (function,) = ids(viewer, "loop")
    asker = [sys.executable, "-c", ASK, TESTS, ocular._ocular.socket_path(), function]
    command = f"timeout 60 {shlex.join(map(str, asker))} >{tmp_path}/answers"
    assert ctypes.PyDLL(None).system(command.encode()) == 0
    answers = (tmp_path / "answers").read_text().split()
    rows, words = answers[::2], answers[1::2]
    assert len(rows) == 3 and "0" not in rows
    assert words == ["0"] * 3
