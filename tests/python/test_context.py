# SPDX-License-Identifier: MIT
"""Tests ocular.tracing() and @ocular.traced."""

import asyncio
import inspect

import ocular
import pytest
from e2e.counting import EXACT
from e2e.threads import in_threads


def test_with_ends_at_an_exception():
    with pytest.raises(KeyError):
        with ocular.tracing(**EXACT):
            raise KeyError
    assert not ocular.is_tracing()


def test_the_inner_one_does_nothing():
    with ocular.tracing(**EXACT):
        with ocular.tracing(mode="adaptive", perfetto=True, output="/no/such"):
            assert ocular.is_tracing()
        assert ocular.is_tracing()
        assert ocular.snapshot()["threshold"] == 0
    assert not ocular.is_tracing()
    ocular.start_tracing(**EXACT)
    with ocular.tracing():
        pass
    assert ocular.is_tracing()
    ocular.stop_tracing()


def test_stopped_inside():
    with ocular.tracing(**EXACT):
        ocular.stop_tracing()
        with ocular.tracing(**EXACT):
            assert ocular.is_tracing()
        assert not ocular.is_tracing()


def test_it_lists_nothing_but_the_block(monkeypatch):
    stop_tracing, ends = ocular.stop_tracing, []

    def work():
        return sum(range(10))

    def stop():
        ends.append(stop_tracing())

    monkeypatch.setattr(ocular, "stop_tracing", stop)

    with ocular.tracing(**EXACT):
        work()
    (end,) = ends
    seen = {function["name"] for function in end["functions"]}
    assert seen >= {work.__qualname__, stop.__qualname__}
    assert not [name for name in seen if "ContextManager" in name]


def test_a_block_again_and_as_a_decorator():
    block = ocular.tracing(**EXACT)
    for _ in range(2):
        with block:
            assert ocular.is_tracing()
        assert not ocular.is_tracing()

    @block
    def count(n):
        assert ocular.is_tracing()
        return n and count(n - 1)

    assert count(3) == 0
    assert not ocular.is_tracing()


@ocular.traced(**EXACT)
def decorated(a, b=2, *more, key=None):
    """Says so."""
    return ocular.is_tracing(), a, b, more, key


def test_traced_function():
    assert decorated(1, 3, 4, key=5) == (True, 1, 3, (4,), 5)
    assert not ocular.is_tracing()
    assert decorated.__name__ == "decorated" and decorated.__doc__ == "Says so."
    assert list(inspect.signature(decorated).parameters) == ["a", "b", "more", "key"]


def test_traced_without_arguments(capfd, tmp_path):
    @ocular.traced
    def plain():
        return ocular.is_tracing()

    assert plain() is True and not ocular.is_tracing()
    assert (tmp_path / "ocular_trace.json").exists()
    out, err = capfd.readouterr()
    assert out == "" and "plain" in err


def test_traced_coroutine_and_generators():
    """The trace lasts while the code runs, and not only while the object is made."""

    @ocular.traced(**EXACT)
    async def work(n):
        await asyncio.sleep(0)
        return ocular.is_tracing(), n

    @ocular.traced(**EXACT)
    async def numbers():
        yield ocular.is_tracing()

    @ocular.traced(**EXACT)
    def generate(n):
        for number in range(n):
            yield number, ocular.is_tracing()

    async def consume():
        return [value async for value in numbers()]

    assert inspect.iscoroutinefunction(work)
    assert asyncio.run(work(3)) == (True, 3)
    assert asyncio.run(consume()) == [True]
    assert not ocular.is_tracing()
    assert list(generate(3)) == [(0, True), (1, True), (2, True)]
    assert not ocular.is_tracing()


def test_traced_method_and_exception():
    class Thing:
        @ocular.traced(**EXACT)
        def fails(self):
            assert ocular.is_tracing()
            raise KeyError(self)

        @classmethod
        @ocular.traced(**EXACT)
        def whose(cls):
            return cls

    with pytest.raises(KeyError):
        Thing().fails()
    assert not ocular.is_tracing()
    assert Thing.whose() is Thing


def test_traced_recursion():
    @ocular.traced(**EXACT)
    def down(n):
        return down(n - 1) if n else ocular.snapshot()

    calls = [r["calls"] for r in down(5)["functions"] if r["name"].endswith("down")]
    assert calls == [6] and not ocular.is_tracing()


@pytest.mark.parametrize("wrong", [3, "name", ()])
def test_traced_of_no_function(wrong):
    with pytest.raises(TypeError, match="traced"):
        ocular.traced(wrong)


def test_traced_of_none_is_a_decorator():
    """traced(None) is the same as traced() with settings only."""
    for decorator in (ocular.traced(None, **EXACT), ocular.traced(**EXACT)):
        assert decorator(ocular.is_tracing)() is True
    assert not ocular.is_tracing()


def test_blocks_of_several_threads_share_a_trace():
    """The first block starts the trace, and the last block stops it. No block raises."""

    @ocular.traced(perfetto=False, quiet=True)
    def work():
        for _ in range(50):
            pass

    def run():
        for _ in range(15):
            work()

    in_threads(*[run] * 4)
    assert not ocular.is_tracing()


def test_a_block_leaves_somebody_elses_trace_alone():
    with ocular.tracing(perfetto=False, quiet=True):
        ocular.stop_tracing()
        ocular.start_tracing(perfetto=False, quiet=True)
    assert ocular.is_tracing()
    ocular.stop_tracing()
