# SPDX-License-Identifier: MIT
"""The settings exclude and include_only select code objects by path or qualified name.
Ocular decides once for each code object. For excluded code, each RESUME instruction calls a
hook only once. The time of excluded code counts as its caller's time."""

import time

import ocular
import pytest
from e2e.counting import EXACT, own_cycles, row, traced
from ocular.demo import pure, streams

pytestmark = pytest.mark.usefixtures("no_turns")


def names(snapshot):
    return {row["name"] for row in snapshot["functions"]}


slept = []  # seconds of each pause, by the program's own clock


def pause(seconds):
    """Waits in C code, so that Ocular subtracts no time for hooks."""
    begin = time.perf_counter()
    time.sleep(seconds)
    slept.append(time.perf_counter() - begin)


def caller():
    for _ in range(20):
        callee()


def callee():
    pause(0.001)


class Thing:
    def method(self):
        return [self.inner(n) for n in range(3)]

    def inner(self, n):
        return n


@pytest.mark.parametrize(
    "patterns, gone, kept",
    [
        (["callee"], {"callee"}, {"caller", "pause"}),
        (["Thing.method"], {"Thing.method"}, {"Thing.inner", "caller"}),
        (["Thing."], {"Thing.method", "Thing.inner"}, {"caller"}),
        (["test_filter.py"], {"caller", "callee", "Thing.inner"}, set()),
        (["tests/python/test_filter"], {"caller"}, set()),
        (["tests.python.test_filter"], {"caller"}, set()),
        (["nothing of the kind"], set(), {"caller", "callee", "Thing.inner"}),
        (["pause", "inner"], {"pause", "Thing.inner"}, {"caller"}),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
)
def test_exclude(patterns, gone, kept):
    def body():
        caller()
        Thing().method()

    _, final = traced(body, exclude=patterns)
    assert not gone & names(final)
    assert kept <= names(final)


@pytest.mark.parametrize(
    "include, exclude, wanted",
    [
        (["callee"], None, {"callee"}),
        (["Thing"], None, {"Thing.method", "Thing.inner"}),
        (["Thing"], ["inner"], {"Thing.method"}),
        (["ocular.demo.streams"], None, {"summarise", "Noise.numbers"}),
        (["ocular/demo/streams.py"], ["summarise"], {"Noise.numbers"}),
        (["callee"], ["callee"], set()),
        ([], None, None),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
)
def test_include_only(include, exclude, wanted):
    def body():
        caller()
        Thing().method()
        streams.summarise(7, 20)

    _, final = traced(body, include_only=include, exclude=exclude)
    if wanted is None:
        assert {"caller", "callee", "Thing.inner", "pause"} <= names(final)
    elif any("streams" in text for text in include):
        assert {row["file"] for row in final["functions"]} == {streams.__file__}
        assert "caller" not in names(final)
    else:
        assert names(final) == wanted


def test_tuples_and_generators_will_do():
    """include_only accepts a tuple and a generator. All traces here need include_only,
    because samples could find pytest's HookCaller."""
    _, final = traced(caller, include_only=("callee", "caller"))
    mine = {row["name"] for row in final["functions"] if row["file"] == __file__}
    assert mine == {"caller", "callee"}
    _, final = traced(caller, include_only=(n for n in ["callee"]))
    assert names(final) == {"callee"}


def test_excluded_code_costs_one_call_each():
    """Excluded code causes no further events, and keeps no hook."""
    quiet = pure.CASES["recursion"]
    quiet()
    ocular.start_tracing(**EXACT, exclude=["ocular.demo", __file__])

    def events():
        before = ocular.snapshot()["events"]
        for _ in range(3):
            quiet()
        return ocular.snapshot()["events"] - before

    # The test runner's own thread may run code meanwhile, but not each time.
    assert min(events() for _ in range(5)) == 0
    ocular.stop_tracing()


def seconds_of_caller(**settings):
    """Returns each function's own seconds, the caller's total, and the seconds of sleep."""
    slept.clear()
    _, final = traced(caller, **settings)
    hz = final["tsc_hz"]
    own = {
        each["name"]: own_cycles(each) / hz
        for each in final["functions"]
        if each["self_cycles"] is not None
    }
    return own, row(final, "caller")["total_cycles"] / hz, sum(slept)


def test_excluded_time_is_its_callers():
    own, _, pauses = seconds_of_caller(exclude=["callee", "pause"])
    assert own["caller"] > 0.95 * pauses
    own, total, pauses = seconds_of_caller()
    assert own["caller"] < 0.5 * pauses < 0.95 * pauses < total


def test_callers_beyond_excluded_code_are_seen_through():
    """If excluded code calls an accepted function, Ocular takes the nearest accepted
    function on the stack as its caller. The function's time is not the caller's own
    time."""
    own, total, pauses = seconds_of_caller(exclude=["callee"])
    assert own["caller"] < 0.5 * pauses < 0.95 * pauses < own["pause"]
    assert total > own["pause"]


def test_our_own_code_is_never_traced():
    def body():
        ocular.snapshot()
        ocular.is_tracing()
        with ocular.tracing():
            pass

    _, final = traced(body)
    files = {row["file"] for row in final["functions"]}
    home = ocular.__file__.rpartition("/")[0]
    assert not {file for file in files if file.rpartition("/")[0] == home}


def test_names_that_are_no_utf8():
    namespace = {}
    code = compile("def f(): pass", "odd\udc80name\n\t.py", "exec")
    exec(code, namespace)
    function = namespace["f"]
    function.__code__ = function.__code__.replace(co_qualname="é\udcff\x1b[31m")

    def body():
        function()

    _, final = traced(body)
    odd = [row for row in final["functions"] if "odd" in row["file"]]
    assert len(odd) == 1 and odd[0]["calls"] == 1
    assert odd[0]["name"].startswith("é")
    for pattern in ("é", "odd\udc80", "\udcff"):
        _, final = traced(body, exclude=[pattern])
        assert not [row for row in final["functions"] if "odd" in row["file"]]
