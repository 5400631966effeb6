# SPDX-License-Identifier: MIT
"""Tests the counts of exceptions by type and function. The programs count them, too."""

import asyncio
import csv
import gc
import sqlite3
import sys
import weakref
import zlib

import ocular
import pytest
from e2e.counting import EXACT, row, traced
from e2e.program import PYTHON, run, wait_until, write

BUDGET = dict(perfetto=False, quiet=True, overhead_budget=0.01)
SETTINGS = [EXACT, BUDGET, {**EXACT, "mode": "precise"}]
LATEST_S = 60


class Mine(Exception):
    pass


MINE = f"{__name__}.Mine"


def kind(snapshot, type, function):
    """Returns the row of an exception type in a function, or None if there is none."""
    rows = [
        one
        for one in snapshot["exceptions"]
        if one["type"] == type and one["function"] == function
    ]
    assert len(rows) <= 1
    return rows[0] if rows else None


def counts(snapshot, type, function):
    found = kind(snapshot, type, function)
    return found and (found["raised"], found["passed"])


def fresh(times):
    for _ in range(times):
        try:
            raise Mine
        except Mine:
            pass


def in_c(times):
    for _ in range(times):
        try:
            int("x")
        except ValueError:
            pass


def deep(n):
    if n:
        deep(n - 1)
    else:
        raise KeyError(n)


def through(times):
    for _ in range(times):
        try:
            deep(3)
        except KeyError:
            pass


def swallowed(times):
    for _ in range(times):
        hasattr(fresh, "nothing")  # C code catches the exception.
        {}.get("nothing")


def again(times):
    """Raises one exception again in the same function, and then in another one."""
    for _ in range(times):
        try:
            try:
                deep(0)
            except KeyError:
                raise
            finally:
                pass
        except KeyError:
            pass


@pytest.mark.parametrize("settings", SETTINGS)
def test_exceptions_are_counted_by_type_and_function(settings):
    def body():
        fresh(700)
        in_c(30)
        through(50)
        swallowed(10)

    _, final = traced(body, **{"deinstrument_threshold": 500, **settings})
    assert counts(final, MINE, "fresh") == (700, 0)
    assert counts(final, "ValueError", "in_c") == (30, 0)
    assert counts(final, "KeyError", "deep") == (50, 150)
    assert counts(final, "KeyError", "through") == (0, 50)
    assert kind(final, "AttributeError", "swallowed") is None
    first = fresh.__code__.co_firstlineno
    assert kind(final, MINE, "fresh")["line"] == first + 3
    assert kind(final, MINE, "fresh")["file"] == __file__
    assert kind(final, MINE, "fresh")["id"] == row(final, "fresh")["id"]
    assert kind(final, "KeyError", "through")["line"] is None
    assert 0 <= kind(final, MINE, "fresh")["age_s"] < final["uptime_s"]
    for name, raised in ("fresh", 700), ("in_c", 30), ("deep", 50), ("through", 0):
        assert row(final, name)["raised"] == raised, name
        assert row(final, name)["raised_estimated"] is False
    totals = final["exception_totals"]
    assert totals["exact"] and totals["raised"] >= 780 and totals["passed"] >= 200


def test_an_exception_that_is_raised_again_passes():
    _, final = traced(again, 20)
    assert counts(final, "KeyError", "deep") == (20, 0)
    assert counts(final, "KeyError", "again") == (0, 20)


# The program counts in a separate process, because generators and threads of other tests
# could end in this process.
FLOW = """
import ocular

class Ends:
    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration

def ends():
    for _ in range(100):
        list(Ends())
        for _ in Ends():
            pass

def cancelled_by_trio():
    try:
        raise type("Cancelled", (BaseException,), {"__module__": "trio"})
    except BaseException:
        pass

for body in ends, cancelled_by_trio:
    ocular.start_tracing(deinstrument_threshold=0, perfetto=False, quiet=True)
    body()
    final = ocular.stop_tracing()
    raised = [one["raised"] for one in final["functions"] if one["name"] == "Ends.__next__"]
    print(final["exception_totals"]["control"], raised)
"""


async def cancelled():
    task = asyncio.ensure_future(asyncio.sleep(60))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass


def test_control_flow_counts_apart():
    done = run([PYTHON, "-c", FLOW])
    assert done.out.splitlines() == ["200 [0]", "1 []"], done.err
    _, final = traced(lambda: asyncio.run(cancelled()))
    types = {one["type"] for one in final["exceptions"]}
    assert not types & {"StopIteration", "CancelledError", "GeneratorExit"}
    assert final["exception_totals"]["control"] >= 1


def makes_a_type(raise_it):
    class Local(Exception):
        pass

    gone = weakref.ref(Local)
    try:
        raise Local
    except Local:
        pass
    return gone


def test_types_and_code_are_not_kept_alive():
    """If types with the same name are in functions with the same name, they share one row,
    even if they have the addresses of freed types."""
    made = []

    def body():
        for _ in range(8):
            made.append(makes_a_type(True))
            gc.collect()
        for i in range(300):
            exec(
                f"try: raise type('Own{i % 3}', (Exception,), {{}})\nexcept Exception: pass"
            )

    _, final = traced(body)
    assert all(one() is None for one in made)
    assert counts(final, f"{__name__}.makes_a_type.<locals>.Local", "makes_a_type") == (
        8,
        0,
    )
    assert [counts(final, f"{__name__}.Own{i}", "<module>") for i in range(3)] == [
        (100, 0)
    ] * 3


def raise_all(types):
    for one in types:
        try:
            raise one
        except one:
            pass


def test_a_type_has_the_name_that_a_traceback_shows():
    main = type("Mine", (Exception,), {"__module__": "__main__"})
    cancelled = type("CancelledError", (Exception,), {"__module__": "package.jobs"})
    types = [sqlite3.Error, csv.Error, zlib.error, main, cancelled, KeyError, Mine]

    _, final = traced(raise_all, types)
    names = "sqlite3.Error _csv.Error zlib.error Mine package.jobs.CancelledError KeyError"
    assert {
        one["type"] for one in final["exceptions"] if one["function"] == "raise_all"
    } == {*names.split(), MINE}


def test_more_kinds_than_there_is_room_for():
    types = [type(f"Type{i}", (Exception,), {}) for i in range(400)]

    _, final = traced(raise_all, types)
    assert len(final["exceptions"]) == 256
    assert final["exceptions"][-1]["type"] == "(others)"
    assert final["exceptions"][-1]["function"] is None
    assert final["exception_totals"]["raised"] == row(final, "raise_all")["raised"] == 400


def same_names():
    return [type("Twin", (Exception,), {}) for _ in range(2)]


def many_names():
    return [type(f"Type{i}", (Exception,), {}) for i in range(400)]


@pytest.mark.parametrize("make, times", [(same_names, 2000), (many_names, 10)])
def test_a_known_type_costs_no_more_than_other_types(make, times):
    """Ocular counts up to 20 000 exceptions at once. The first one of a type counts as 20.
    If each exception counted as 20, these exceptions would exceed the limit."""
    types = make()

    def body():
        for _ in range(times):
            for one in types:
                try:
                    raise one
                except one:
                    pass

    _, final = traced(body, **BUDGET, deinstrument_threshold=500)
    assert final["exception_totals"]["exact"]
    assert row(final, "body")["raised"] == times * len(types)


def test_code_that_is_not_traced_has_no_function():
    _, final = traced(through, 10, exclude=["deep"])
    assert counts(final, "KeyError", None) == (10, 30)
    assert counts(final, "KeyError", "through") == (0, 10)


def test_the_exception_stays_as_it_is():
    """The hook keeps no reference to an exception, its traceback or its type."""
    error = Mine("text")
    before = sys.getrefcount(error), sys.getrefcount(Mine)

    def body():
        try:
            raise error from None
        except Mine as caught:
            assert caught is error and caught.args == ("text",)
            assert caught.__traceback__.tb_next is None

    traced(body)
    error.__traceback__ = None
    assert (sys.getrefcount(error), sys.getrefcount(Mine)) == before


MILLIONS = """
import time, ocular

def hot():
    n = 0
    while time.thread_time() < 3:
        for _ in range(1000):
            try:
                raise KeyError
            except KeyError:
                n += 1
    return n

ocular.start_tracing(perfetto=False, quiet=True, overhead_budget=0.01)
n = hot()
final = ocular.stop_tracing()
one = [one for one in final["exceptions"] if one["function"] == "hot"][0]
row = [row for row in final["functions"] if row["name"] == "hot"][0]
print(n, one["raised"], one["error"], row["raised"], row["raised_estimated"],
      final["exception_totals"]["exact"])
"""


def test_too_many_exceptions_are_estimated(tmp_path):
    """The program counts its own exceptions. The estimate is wrong by at most four times
    the error that Ocular gives."""
    done = run([PYTHON, write(tmp_path, MILLIONS)], cwd=tmp_path)
    assert done.status == 0, done.err
    true, found, error, raised, estimated, exact = done.out.split()
    assert (estimated, exact) == ("True", "False")
    assert abs(int(true) / int(found) - 1) < 4 * float(error) < 4
    assert int(raised) == pytest.approx(int(found), rel=0.01)


def test_events_of_a_tool_that_has_taken_the_id_stay():
    """At the limit of 20 000 exceptions, Ocular switches its event off, but not the events
    of another tool."""
    raised = sys.monitoring.events.RAISE
    ocular.start_tracing(**BUDGET)
    try:
        fresh(10)  # later calls run no new code, which would need the id
        sys.monitoring.free_tool_id(4)
        sys.monitoring.use_tool_id(4, "other")
        sys.monitoring.set_events(4, raised)
        fresh(50000)
        assert sys.monitoring.get_events(4) == raised
    finally:
        ocular.stop_tracing()
        sys.monitoring.set_events(4, 0)
        sys.monitoring.free_tool_id(4)


def test_the_event_is_lost():
    """If another tool takes Ocular's tool id, the numbers of exceptions are unknown."""
    ocular.start_tracing(perfetto=False, quiet=True)
    try:
        fresh(10)
        sys.monitoring.free_tool_id(4)
        wait_until(
            lambda: ocular.snapshot()["exception_totals"]["raised"] is None, LATEST_S
        )
        assert row(ocular.snapshot(), "fresh")["raised"] is None
    finally:
        ocular.stop_tracing()
