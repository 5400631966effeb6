# SPDX-License-Identifier: MIT
"""Tests marks and spans, which are events that the program writes into the timeline."""

import asyncio
import functools
import threading
import time

import ocular
import pytest
from e2e import trace
from e2e.counting import recorded
from e2e.threads import in_threads

pytestmark = pytest.mark.once


@pytest.fixture(params=["trace.json", "trace.pftrace.gz"])
def record(request, tmp_path):
    """Returns record(function), which traces the function and returns the Trace."""

    def record(function, **settings):
        return recorded(tmp_path / request.param, function, **settings)[0]

    return record


def said(timeline):
    return [mark for mark in timeline.marks if mark["cat"] == "mark"]


def test_marks_have_their_place_and_arguments(record):
    args = dict(n=-3, big=2**62, x=0.5, yes=True, none=None, text='\u00e9"')
    args["many"] = [1, {"a": 2}]

    def program():
        before.append(time.perf_counter())
        inner()
        ocular.mark("last")

    def inner():
        ocular.mark("here", **args)

    before = []
    timeline = record(program)
    here, last = said(timeline)
    assert (here["name"], here["args"]) == ("here", args)
    assert last["name"] == "last" and not last.get("args")
    (call,) = timeline.of("inner")
    assert call.begin <= here["ts"] <= call.end <= last["ts"]


class Odd:
    def __repr__(self):
        raise RuntimeError


class Plain:
    def __repr__(self):
        return "a Plain"


@pytest.mark.parametrize(
    "name, args, wanted",
    [
        ("", {}, None),
        ("n" * 300, {}, None),
        ("\udcff\n\0", {}, None),
        ("name", {"name": 1, "args": 2, "self": 3}, {"name": 1, "args": 2, "self": 3}),
        ("odd", {"a": Odd(), "b": Plain()}, {"a": "<Odd>", "b": "a Plain"}),
        ("nan", {"a": float("nan")}, {"a": "nan"}),
        ("keys", {"a": {(1, 2): 3}}, {"a": "{(1, 2): 3}"}),
        ("long", {"a": "x" * 5000}, {"a": "'" + "x" * 199}),
    ],
    ids=lambda value: value[:8] if isinstance(value, str) else "",
)
def test_odd_texts(record, name, args, wanted):
    (mark,) = said(record(lambda: ocular.mark(name, **args)))
    shown = name.encode(errors="replace").decode().replace("\0", "?")[:200]
    assert mark["name"] == shown
    assert mark.get("args") == wanted or (not wanted and not mark.get("args"))


def test_very_many_arguments(record):
    args = {f"argument_{n}": "x" * 100 for n in range(50)}
    (mark,) = said(record(lambda: ocular.mark("many", **args)))
    (text,) = mark["args"].values()
    assert text.startswith('{"argument_0"')


def test_spans_of_tasks_overlap(record):
    """Each span begins and ends with its block, even if other tasks run within it."""

    async def request(number):
        with ocular.span("request", number=number):
            await asyncio.sleep(0.01 * (3 - number))

    async def main():
        await asyncio.gather(*(request(number) for number in range(3)))

    timeline = record(lambda: asyncio.run(main()))
    spans = sorted(timeline.spans.values(), key=lambda span: span[0]["args"]["number"])
    assert [begin["args"] for begin, _ in spans] == [{"number": n} for n in range(3)]
    begins, ends = ([event["ts"] for event in some] for some in zip(*spans, strict=True))
    assert max(begins) < min(ends) and ends == sorted(ends, reverse=True)
    for begin, end in spans:
        assert end["ts"] - begin["ts"] >= 1e4 * (3 - begin["args"]["number"]) - 1e3


def test_spans_of_one_object_nest(record):
    def program():
        again = ocular.span("again")
        with again, again:
            with pytest.raises(KeyError), again:
                raise KeyError

    timeline = record(program)
    assert len(timeline.spans) == 3
    assert all(end for _, end in timeline.spans.values())


def test_on_every_thread_and_open_at_the_end(record):
    def work(number):
        ocular.mark("began", number=number)
        ocular.span("never ended").__enter__()

    def program():
        in_threads(*(functools.partial(work, n) for n in range(4)))

    timeline = record(program)
    marks = said(timeline)
    assert sorted(mark["args"]["number"] for mark in marks) == list(range(4))
    assert len({mark["tid"] for mark in marks}) == 4
    assert [end for _, end in timeline.spans.values()] == [None] * 4


def test_an_end_elsewhere_is_no_end(record):
    def program():
        span = ocular.span("wanders")
        span.__enter__()
        thread = threading.Thread(target=span.__exit__, args=[None] * 3)
        thread.start()
        thread.join()

    ((_, end),) = record(program).spans.values()
    assert end is None


def test_the_oldest_are_forgotten_with_their_texts(record):
    """If the beginning of a span was forgotten, its end is left out, too. If some of
    the text of a mark was forgotten, the file does not contain the mark."""

    def program():
        with ocular.span("outer"):
            for n in range(30000):
                with ocular.span(f"one of {n}", padding="x" * (n % 90)):
                    pass

    timeline = record(program, timeline_limit=1 << 20, timeline_spill=False)
    assert timeline.other["forgotten_events"] > 0
    assert 100 < len(timeline.spans) < 29000
    begins = [begin["name"] for begin, _ in timeline.spans.values()]
    assert begins[-1] == "one of 29999" and "outer" not in begins
    assert sum(name == "(lost)" for name in begins) <= 1
    assert sum(end is None for _, end in timeline.spans.values()) <= 1


def test_dark_code_marks_on(record):
    def work():
        ocular.mark("work")

    def program():
        for _ in range(500):
            work()

    assert len(said(record(program, deinstrument_threshold=5))) == 500


def test_without_a_timeline_nothing_happens(tmp_path):
    ocular.mark("nobody")
    span = ocular.span("nobody", a=Odd())
    with span:
        ocular.start_tracing(quiet=True, perfetto=False)
        ocular.mark("nobody")
        with span:
            pass
        ocular.stop_tracing()
        ocular.start_tracing(quiet=True, output=tmp_path / "t.json")
    ocular.stop_tracing()
    timeline = trace.read(tmp_path / "t.json")
    assert not said(timeline) and not timeline.spans


@pytest.mark.parametrize("name", [None, 3, b"bytes"])
def test_a_name_is_a_text(name):
    with pytest.raises(TypeError, match="name must be a str, not"):
        ocular.mark(name)
    with pytest.raises(TypeError, match="name must be a str, not"):
        ocular.span(name)
    with pytest.raises(TypeError):
        ocular.mark()
