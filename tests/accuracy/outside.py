# SPDX-License-Identifier: MIT
"""Contains code whose cycles are not measured. The filters of the trace exclude this code.
Some functions here replace a callee while the truth about the caller is measured."""


def empty():
    pass


def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value


# --- The same functions with results instead of calls -------------------------


class Stub:
    def __init__(self, x, y):
        pass


def spread_nothing(*numbers, **named):
    pass


ERROR = ValueError(1)
THIRTY = (None,) * 30


# In this copy of a function of subjects.py, results replace the calls. If
# a function does hardly anything else, the time of a call depends on the code around it.
# An empty call that is timed in other code takes up to twice as long.


def many_ones():
    total = 0
    for _ in range(50):
        total += 1
    return total


# The generator resumes 30 times in straight code, without a loop.
exec("def yield_nothing(n):\n" + "    yield n\n" * 30)


async def answer_nothing(x):
    return x


class Stubs:
    """The next functions (stubs) replace functions that do more than return a number."""

    Point = Stub
    yields = yield_nothing  # noqa: F821
    answers = answer_nothing

    def tiny():
        return 1

    def key_of(number):
        return number
