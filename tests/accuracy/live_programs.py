# SPDX-License-Identifier: MIT
"""The programs of the live part of `make accuracy`: who runs, in which kinds of
rounds, and what share of a round's time each function is to have.

A `Part` is one function with the line that calls it. Its cost is measured before
tracing starts; how often the line stands in a round follows from cost and share.
So a round's calls are known, and a program only counts its rounds. A `Kind` is
one kind of round, a `Track` a thread and when it runs which kind."""

import select
import time
import types
import zlib
from _thread import allocate_lock

from subjects import *  # noqa: F403
from subjects import NUMBERS, RANGE, SHUFFLED, small, tiny

PHASE = 20.0  # s
BURST, CYCLE = 0.2, 2.0  # s of work, of work and rest


class Part:
    """`share`: wanted of a round's time; or `times`: the line stands so often in
    a round. `calls`: how often the line runs the function itself. `stubs`: what
    it calls, name -> times; its own cost is timed with empty ones in their
    place. `levels`: it calls itself, nothing else, and once a call at most, so that
    each of its calls can be timed. `waits`: the driver times each call, most of
    which is off the CPU. `in_c`: the part of the line that runs in C. `timed` less
    `around` is what is timed where that is not the line itself."""

    def __init__(
        self,
        name,
        call,
        share=0.0,
        *,
        times=None,
        calls=1,
        stubs=None,
        levels=False,
        waits=False,
        in_c=None,
        timed=None,
        around="None",
    ):
        self.name, self.call, self.share, self.times = name, call, share, times
        self.calls, self.stubs, self.levels = calls, stubs or {}, levels
        self.waits, self.in_c = waits, in_c
        self.timed, self.around = timed or call, around


class Kind:
    def __init__(self, name, parts, milliseconds=10.0):
        self.name, self.parts, self.milliseconds = name, parts, milliseconds


class Track:
    """A thread. `pick(seconds since the start, seconds in all)` says which kind
    runs now."""

    def __init__(self, kinds, pick=None):
        self.kinds = kinds
        self.pick = pick or (lambda now, whole: 0)


class Program:
    """`contends`: more than one thread wants the interpreter, so that means
    are not judged. `coroutines`: the rounds are run by asyncio. `phases(seconds
    in all)`: when one kind follows another for long."""

    def __init__(
        self, name, about, tracks, *, contends=False, phases=None, coroutines=False
    ):
        self.name, self.about, self.tracks = name, about, tracks
        self.contends, self.coroutines = contends, coroutines
        self.phases = phases or (lambda whole: [])


# --- Functions that tests/accuracy/subjects.py does not have -----------------------

BLOCK = bytes(range(256)) * 40
TABLE_UPPER = bytes(255 - n for n in range(256))
NAMES = [f"name{n}" for n in range(120)]
LOCK_HELD = allocate_lock()
LOCK_HELD.acquire()


def summing():
    return sum(SHUFFLED)


def checking():
    return zlib.crc32(BLOCK)


def translating():
    return BLOCK.translate(TABLE_UPPER)


def splitting():
    return ",".join(NAMES).split(",")


def mixed():
    """About half of it in C."""
    total = 0
    for number in NUMBERS:
        total += number * 3 - total % 7
    for number in NUMBERS:
        total += number * 3 - total % 7
    return sum(SHUFFLED) + total


def nap():
    time.sleep(0.005)


def locked():
    LOCK_HELD.acquire(True, 0.01)


def selecting():
    select.select([], [], [], 0.004)


def leaf(x, y):
    return x + y


def adds(n):
    total = 0
    for i in range(n):
        total = leaf(total, i) % 99 + i * 3
    return total


def smalls(n):
    total = 0
    for i in range(n):
        total += small(i) % 99 - i * 3
    return total


def ticks(n):
    total = 0
    for i in range(n):
        tiny()
        total += i * 3 - total % 7
    return total


def over_ticks(x):
    y = 0
    for i in range(15):
        y += ticks(2) * i - y % 3
    return y + x


def descend(n):
    x = n * 3 + 1
    y = x * x - n
    x = (y ^ x) + (n << 3)
    y = y * 5 - x % 7
    if n:
        return descend(n - 1)
    return x + y


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def climb(node):
    total = 0
    for i in RANGE:
        total += i * 3 - total % 7
    if node:
        total += climb(node[0])
        total += climb(node[1])
    return total & 63


def tree(depth):
    return (tree(depth - 1), tree(depth - 1)) if depth else ()


TREE = tree(7)


@types.coroutine
def give_way():
    yield


async def steps(n):
    x = n
    for i in range(12):
        x += i * n - x % 3
    await give_way()
    for i in range(12):
        x += i * n - x % 3
    return x


async def no_steps(n):
    await give_way()


def finish(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        pass


def spread_over(template, count):
    """So many functions, each with code of its own."""
    names = {"EIGHT": EIGHT}
    for n in range(count):
        exec(compile(template.format(n=n, odd=2 * n + 1), __file__, "exec"), names)
    return {name: value for name, value in names.items() if name.startswith("tail_")}


TAIL, EIGHT = 2000, range(8)
globals().update(
    spread_over(
        """
def tail_{n:04}(x):
    y = x * 3 + {odd}
    for i in EIGHT:
        y = (y * 5 ^ i) & 0xfff
    return y
""",
        TAIL,
    )
)


# --- The programs -------------------------------------------------------------------


def plain(name, argument, share):
    return Part(name, f"{name}({argument})", share)


def steady():
    return Program(
        "steady",
        "twelve functions, always the same",
        [
            Track(
                [
                    Kind(
                        "work",
                        [
                            plain("nested", 10, 0.24),
                            plain("long_loop", 2000, 0.17),
                            plain("branches", "NUMBERS", 0.13),
                            plain("arithmetic", 7, 0.10),
                            plain("comprehension", "NUMBERS", 0.08),
                            plain("for_range", 20, 0.07),
                            plain("mapping", "WORDS", 0.06),
                            plain("attributes", "POINT", 0.05),
                            plain("floats", 7.5, 0.04),
                            plain("for_list", "NUMBERS", 0.03),
                            plain("searching", "NUMBERS", 0.02),
                            plain("while_loop", 20, 0.01),
                        ],
                    )
                ]
            )
        ],
    )


def phases():
    kinds = [
        Kind(
            "first",
            [
                plain("nested", 10, 0.34),
                plain("branches", "NUMBERS", 0.30),
                plain("arithmetic", 7, 0.26),
                plain("for_range", 20, 0.10),
            ],
        ),
        Kind(
            "second",
            [
                plain("mapping", "WORDS", 0.34),
                plain("strings", "WORDS", 0.30),
                plain("formatting", 7, 0.26),
                plain("for_range", 20, 0.10),
            ],
        ),
        Kind(
            "third",
            [
                plain("floats", 7.5, 0.34),
                plain("comprehension", "NUMBERS", 0.30),
                plain("attributes", "POINT", 0.26),
                plain("for_range", 20, 0.10),
            ],
        ),
    ]

    def length(whole):
        return min(PHASE, whole / 3)

    return Program(
        "phases",
        "three sets of functions, 20 s each",
        [Track(kinds, lambda now, whole: int(now / length(whole)) % 3)],
        phases=lambda whole: [
            n * length(whole) for n in range(1, round(whole / length(whole)))
        ],
    )


def bursts():
    kinds = [
        Kind(
            "burst",
            [
                plain("nested", 10, 0.5),
                plain("branches", "NUMBERS", 0.3),
                plain("arithmetic", 7, 0.2),
            ],
        ),
        Kind(
            "rest",
            [
                Part("long_loop", "long_loop(2000)", times=4),
                Part("nap", "nap()", times=1, waits=True),
            ],
        ),
    ]
    return Program(
        "bursts",
        "0.2 s of work every 2 s, a little in between",
        [Track(kinds, lambda now, whole: int(now % CYCLE >= BURST))],
    )


def tail():
    whole = sum(1 / n for n in range(1, TAIL + 1))
    return Program(
        "tail",
        "2 000 functions, the n-th 1/n as often as the first",
        [
            Track(
                [
                    Kind(
                        "work",
                        [
                            Part(f"tail_{n:04}", f"tail_{n:04}(7)", 1 / (n + 1) / whole)
                            for n in range(TAIL)
                        ],
                        milliseconds=40.0,
                    )
                ]
            )
        ],
    )


def leaves():
    return Program(
        "leaves",
        "calls and calls of tiny functions",
        [
            Track(
                [
                    Kind(
                        "work",
                        [
                            Part("adds", "adds(20)", 0.25, stubs={"leaf": 20}),
                            Part("smalls", "smalls(10)", 0.25, stubs={"small": 10}),
                            Part("over_ticks", "over_ticks(7)", 0.40, stubs={"ticks": 15}),
                            Part("ticks", "ticks(2)", 0.10, stubs={"tiny": 2}),
                        ],
                    )
                ]
            )
        ],
    )


def in_c():
    return Program(
        "c",
        "much of the time in C functions",
        [
            Track(
                [
                    Kind(
                        "work",
                        [
                            Part(
                                "sorting",
                                "sorting(SHUFFLED)",
                                0.30,
                                in_c="sorted(SHUFFLED)",
                            ),
                            Part("checking", "checking()", 0.20, in_c="zlib.crc32(BLOCK)"),
                            Part(
                                "translating",
                                "translating()",
                                0.14,
                                in_c="BLOCK.translate(TABLE_UPPER)",
                            ),
                            Part(
                                "splitting",
                                "splitting()",
                                0.10,
                                in_c='",".join(NAMES).split(",")',
                            ),
                            Part("mixed", "mixed()", 0.08, in_c="sum(SHUFFLED)"),
                            Part("summing", "summing()", 0.06, in_c="sum(SHUFFLED)"),
                            plain("nested", 10, 0.08),
                            plain("attributes", "POINT", 0.04),
                        ],
                    )
                ]
            )
        ],
    )


def waiting():
    return Program(
        "waiting",
        "waits nine tenths of the time",
        [
            Track(
                [
                    Kind(
                        "work",
                        [
                            Part("nap", "nap()", times=2, waits=True),
                            Part("locked", "locked()", times=1, waits=True),
                            Part("selecting", "selecting()", times=1, waits=True),
                            Part("nested", "nested(10)", times=400),
                            Part("mapping", "mapping(WORDS)", times=2000),
                        ],
                    )
                ]
            )
        ],
    )


def recursion():
    return Program(
        "recursion",
        "400 frames deep, and trees",
        [
            Track(
                [
                    Kind(
                        "work",
                        [
                            Part("descend", "descend(400)", 0.40, calls=401, levels=True),
                            Part("climb", "climb(TREE)", 0.30, calls=255),
                            Part("fibonacci", "fibonacci(12)", 0.15, calls=465),
                            plain("branches", "NUMBERS", 0.15),
                        ],
                    )
                ]
            )
        ],
    )


def threads():
    shared = [plain("attributes", "POINT", 0.2)]
    return Program(
        "threads",
        "four threads that all want to run",
        [
            Track(
                [
                    Kind(
                        "one",
                        [plain("nested", 10, 0.5), plain("branches", "NUMBERS", 0.3)]
                        + shared,
                    )
                ]
            ),
            Track(
                [
                    Kind(
                        "two",
                        [plain("mapping", "WORDS", 0.5), plain("strings", "WORDS", 0.3)]
                        + shared,
                    )
                ]
            ),
            Track(
                [
                    Kind(
                        "three",
                        [plain("floats", 7.5, 0.4), plain("arithmetic", 7, 0.4)] + shared,
                    )
                ]
            ),
            Track(
                [
                    Kind(
                        "four",
                        [
                            plain("for_range", 20, 0.4),
                            plain("comprehension", "NUMBERS", 0.4),
                        ]
                        + shared,
                    )
                ]
            ),
        ],
        contends=True,
    )


def coroutines():
    return Program(
        "asyncio",
        "coroutines that work and give way",
        [
            Track(
                [
                    Kind(
                        "work",
                        [
                            plain("nested", 10, 0.25),
                            plain("branches", "NUMBERS", 0.15),
                            plain("mapping", "WORDS", 0.10),
                            plain("strings", "WORDS", 0.07),
                            # Two calls: to where it gives way, and from there.
                            Part(
                                "steps",
                                "await steps(7)",
                                0.25,
                                calls=2,
                                timed="finish(steps(7))",
                                around="finish(no_steps(7))",
                            ),
                        ],
                    )
                ]
            )
        ],
        coroutines=True,
    )


PROGRAMS = {
    make().name: make
    for make in (
        steady,
        phases,
        bursts,
        tail,
        leaves,
        in_c,
        waiting,
        recursion,
        threads,
        coroutines,
    )
}
