# SPDX-License-Identifier: MIT
"""Contains the functions whose cycles are compared with ground truth. The functions are of
many kinds. Each function does the same work on every call. SUBJECTS has for each function
the line that runs it, and the names of the functions that it calls. A caller's work must
not depend on the results of its callees, because the caller is also timed with empty
functions instead of its callees."""

NUMBERS = list(range(20))
TABLE = {"alpha": 5, "beta": 4}
# CPython keeps a copy of each small integer, so this line allocates no integers
SHUFFLED = [n * 79 % 199 for n in range(200)]
# --- Straight lines and loops ---------------------------------------------------


def arithmetic(x):
    y = x * 3 + 1
    z = y * y - x
    y = (z ^ y) + (x << 3)
    z = z * 5 - y % 7
    y = (z ^ y) + (x << 3)
    z = z * 5 - y % 7
    y = (z ^ y) + (x << 3)
    z = z * 5 - y % 7
    return y + z


def while_loop(n):
    while n:
        n -= 1


def long_loop(n):
    total = 0
    for i in range(n):
        if i & 3:
            total += i
        else:
            total ^= i
    return total


# --- Strings, attributes, C functions -----------------------------------------


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y
        self.sum = self.x + self.y
        self.product = self.x * self.y
        self.difference = self.sum - self.product
        self.x = self.difference + self.product - self.y
        self.y = self.sum - self.x


RANGE = range(4)


# --- Calls -------------------------------------------------------------------------


def tiny():
    return 1


def many_tiny():
    """The hooks of the callees cost more time than the function's own work."""
    total = 0
    for _ in range(50):
        total += tiny()
    return total


def spread(*numbers, **named):
    total = 0
    for number in numbers:
        total += number
    for number in numbers:
        total += number
    return total + named["last"] + named["first"]


def key_of(number):
    for _ in RANGE:
        number += 1
    return number - 4


def from_c(numbers):
    """Python code calls C code, which calls Python code."""
    return sorted(numbers, key=key_of)


# --- Exceptions, generators, coroutines -----------------------------------------------


def handles(table):
    try:
        return table["none"]
    except KeyError:
        return 0


def raises(n):
    for i in range(20):
        n += i
    raise ValueError(n)


def yields(n):
    for i in range(n):
        x = i * 3 + 1
        y = x * x - i
        x = (y ^ x) + (i << 3)
        y = y * 5 - x % 7
        x = (y ^ x) + (i << 3)
        y = y * 5 - x % 7
        yield (x + y) & 7


def consumes(n):
    total = 0
    for number in yields(n):
        total = (total * 3 + number) & 63
    return total


async def answers(x):
    for i in range(10):
        x += i
    return x & 7


async def awaits(n):
    total = 0
    for i in range(n):
        await answers(i)
        total = (total + i * 3) & 63
    return total


# --- The line that runs each function -----------------------------------------


class Subject:
    """A row of the table. The line `call` is between two marks, and calls the function
    `calls` times. `around` is the work of the line that is not the function's own work.
    This work includes entering the function `entries` times. `entered` says whether the
    function is entered by a call or by a resumption. A coroutine's frame begins by a
    resumption. To time a function's own work, the line is run without its callees. Either
    empty functions replace the callees and are entered `stubs` times, or the callees'
    results replace the calls (the line `stand_in`)."""

    def __init__(
        self,
        name,
        call,
        *,
        calls=1,
        around=None,
        entered="call",
        entries=1,
        stubs=None,
        stand_in=None,
        times=600,
    ):
        self.name, self.call, self.calls = name, call, calls
        self.around, self.stubs = around or "empty()", stubs or {}
        self.entered, self.entries = entered, entries
        self.stand_in, self.times = stand_in or call, times
        self.calls_others = bool(stubs or stand_in)


SUBJECTS = [
    Subject("arithmetic", "arithmetic(7)"),
    Subject("while_loop", "while_loop(20)"),
    Subject("long_loop", "long_loop(2_000)", times=100),
    Subject("tiny", "tiny()"),
    Subject("many_tiny", "many_tiny()", stand_in="many_ones()", times=200),
    Subject("Point.__init__", "Point(1, 2)", around="Stub(1, 2)"),
    Subject(
        "spread",
        "spread(1, 2, 3, 4, first=5, last=6)",
        around="spread_nothing(1, 2, 3, 4, first=5, last=6)",
    ),
    Subject("key_of", "key_of(7)"),
    Subject("from_c", "from_c(SHUFFLED)", stubs={"key_of": 200}, times=60),
    Subject("handles", "handles(TABLE)"),
    Subject(
        "raises",
        "try: raises(7)\nexcept ValueError: pass",
        around="try: empty(); raise ERROR\nexcept ValueError: pass",
    ),
    Subject(
        "yields",
        "for _ in yields(30): pass",
        calls=31,
        around="for _ in yield_nothing(30): pass",
        entered="resumption",
        entries=31,
        times=60,
    ),
    Subject("consumes", "consumes(30)", stubs={"yields": 31}, times=60),
    Subject(
        "answers", "run(answers(7))", around="run(answer_nothing(7))", entered="resumption"
    ),
    Subject(
        "awaits",
        "run(awaits(20))",
        around="run(answer_nothing(7))",
        entered="resumption",
        stubs={"answers": 20},
        stand_in="run(awaits(20))",
        times=100,
    ),
]
