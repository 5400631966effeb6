# SPDX-License-Identifier: MIT
"""Contains the programs with which the cost of each kind of hook is measured at start
(python/hooks/calibrate.c)."""

from types import CodeType, FunctionType

NUMBERS = tuple(range(24))


def nothing(x):
    pass


def instructions(x):
    # No instruction in this code has a specialised form, because CPython runs the generic
    # form if INSTRUCTION events are on. Some of the instructions are slow, because the CPU
    # does part of a hook's work in parallel with slow instructions.
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
    """Returns a copy of the function. The copy has a new code object, which has its own
    events and is specialised separately. The bytecode of a `def` statement makes the copy
    of the function, because CPython 3.13 does not specialise calls of functions that were
    made otherwise."""
    consts = tuple(
        function.__code__.replace() if isinstance(each, CodeType) else each
        for each in make.__code__.co_consts
    )
    return FunctionType(make.__code__.replace(co_consts=consts), globals())()


def table():
    """Returns rows (base, run, callee, run with hooks, callee with hooks, argument) in
    the order of calibrate.c. The time of a callee is the time of run(callee, argument)
    less the time of base(callee, argument)."""
    return [
        (*map(copy, (idle, run, callee, run, callee)), NUMBERS)
        for run, callee in (
            (call, nothing),
            (resume, numbers_of),
            (loop, nothing),
            (far_loop, nothing),
            (loop, nothing),
            (call, instructions),
        )
    ]
