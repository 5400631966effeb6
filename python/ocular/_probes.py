# SPDX-License-Identifier: MIT
"""The programs on which the cost of each kind of hook is measured at start
(python/hooks/calibrate.c)."""

from types import CodeType, FunctionType

NUMBERS = tuple(range(24))


def nothing(x):
    pass


def instructions(x):
    # None has a specialised form, since the event makes CPython run the generic one.
    # Some are slow: part of the hook's work overlaps with theirs.
    x
    [x]
    -x
    x
    [x]
    -x


def numbers_of(numbers):
    for x in numbers:
        yield x


def idle(probe, numbers):
    for x in numbers:
        pass


def call(probe, numbers):
    for x in numbers:
        probe(x)


def resume(probe, numbers):
    for x in probe(numbers):
        pass


def loop(probe, numbers):
    n = len(numbers)
    while n:
        n -= 1


def far_loop(probe, numbers):
    n = len(numbers)
    if n is None:
        n.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
        n.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
    while n:
        n -= 1


def make():
    return lambda: None


def copy(function):
    """A copy of the function with code of its own, which is specialised alone and has
    its own events. Made as `def` makes a function: 3.13 does not specialise calls of
    other functions."""
    consts = tuple(
        function.__code__.replace() if isinstance(each, CodeType) else each
        for each in make.__code__.co_consts
    )
    return FunctionType(make.__code__.replace(co_consts=consts), globals())()


def table():
    """[(base, run, callee, run with hooks, callee with hooks, argument)], in the order
    of calibrate.c: what a callee takes is run(callee, argument) less
    base(callee, argument)."""
    return [
        (*map(copy, (idle, run, callee, run, callee)), NUMBERS)
        for run, callee in (
            (call, nothing),
            (resume, numbers_of),
            (loop, nothing),
            (far_loop, nothing),
            (call, instructions),
        )
    ]
