# SPDX-License-Identifier: MIT
"""The programs on which the cost of each hook is measured at start
(python/hooks/calibrate.c). What a hook costs depends on what runs around it, so there
are many, of what programs are made of, and the cost taken is the middle one.
"""

from types import CodeType, FunctionType

NUMBERS = tuple(range(24))
PAIR = (3, 4)
PAIRS = (PAIR,) * 24
WORDS = ["left", "right", "top"] * 8
TABLE = dict.fromkeys(NUMBERS, 5)


class Box:
    def __init__(self, width):
        self.width = width
        self.height = 2

    def area(self, scale):
        return self.width * self.height


BOX = Box(3)

# --- What is called: to do nothing is as typical as to do a little -------------------


def nothing(x):
    pass


def given(x):
    return x


def summed(x):
    y = x + 3
    y = y - x
    return y + 4


def sized(x):
    return len(WORDS) - x


def picked(x):
    return PAIR[1] + x


def kept(x):
    BOX.height = x
    return BOX.width


def looked_up(x):
    return TABLE[x]


def unpacked(x):
    a, b = PAIR
    return a + b


def decided(x):
    if x < 3:
        return 1
    if x > 15:
        return 2
    return 3


def repeated(x):
    for each in PAIR:
        x = each
    return x


def asked(x):
    return isinstance(x, int) and x is not None


def guarded(x):
    try:
        return x + 2
    except TypeError:
        return None


def checked(x):
    return x in PAIR or x == 7


def call(probe, numbers):
    for x in numbers:
        probe(x)


def call_base(probe, numbers):
    for x in numbers:
        pass


def call_and_more(probe, numbers):
    last = 0
    for x in numbers:
        y = probe(x)
        last = x + last - 1


def call_and_more_base(probe, numbers):
    last = 0
    for x in numbers:
        y = x
        last = x + last - 1


# --- What is resumed ------------------------------------------------------------------


def yields(numbers):
    for x in numbers:
        yield x


def yields_sums(numbers):
    last = 0
    for x in numbers:
        last = (x + last) & 31
        yield last


def yields_lengths(numbers):
    for x in numbers:
        yield len(PAIR)


def yields_attributes(numbers):
    for x in numbers:
        BOX.height = x
        yield BOX.width


def yields_on(numbers):
    n = len(numbers)
    while n:
        n -= 1
        yield


def resume(probe, numbers):
    for x in probe(numbers):
        pass


def resume_and_more(probe, numbers):
    last = 0
    for x in probe(numbers):
        last = last - 1


def resume_and_more_base(probe, numbers):
    last = 0
    for x in numbers:
        last = last - 1


# --- Loops ----------------------------------------------------------------------------


def empty_loop(probe, numbers):
    for x in numbers:
        pass


def adding_loop(probe, numbers):
    last = 0
    for x in numbers:
        last = x + last - 1


def allocating_loop(probe, numbers):
    for x in numbers:
        y = x * 1.5


def attribute_loop(probe, numbers):
    for x in numbers:
        BOX.height = x


def length_loop(probe, numbers):
    for word in WORDS:
        y = len(word)


def unpacking_loop(probe, numbers):
    for a, b in PAIRS:
        y = a


def subscript_loop(probe, numbers):
    for x in numbers:
        y = TABLE[x]


def calling_loop(probe, numbers):
    for word in WORDS:
        y = word.isupper()


def list_loop(probe, numbers):
    [-x for x in numbers]


def range_loop(probe, numbers):
    for i in range(len(numbers)):
        y = numbers[i]


def deciding_loop(probe, numbers):
    y = 0
    for x in numbers:
        if x > 40:
            y = 1


def alternating_loop(probe, numbers):
    y = 0
    for x in numbers:
        if x & 1:
            y += 1
        else:
            y -= 1


def filtering_loop(probe, numbers):
    [x for x in numbers if x is not None]


def finding_loop(probe, numbers):
    for word in WORDS:
        if word == "bottom":
            break


def skipping_loop(probe, numbers):
    y = 0
    for x in numbers:
        if x is None:
            continue
        y = x + y
        if y > 100:
            y = 0


def counting_loop(probe, numbers):
    n = len(numbers)
    while True:
        n -= 1
        if n < 0:
            return


def near_loop(probe, numbers):
    n = len(numbers)
    while n:
        n -= 1


# The same beyond the small integers that any version keeps.


def far_near_loop(probe, numbers):
    n = len(numbers)
    if n is None:
        n.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
        n.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
    while n:
        n -= 1


def far_empty_loop(probe, n):
    if n is None:
        n.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
        n.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
    for x in n:
        pass


def far_deciding_loop(probe, n):
    y = 0
    if n is None:
        n.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
        n.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a
    for x in n:
        if x > 40:
            y = 1


CALLED = (
    nothing,
    given,
    summed,
    sized,
    picked,
    kept,
    looked_up,
    unpacked,
    decided,
    repeated,
    asked,
    guarded,
    checked,
)
RESUMED = (yields, yields_sums, yields_lengths, yields_attributes, yields_on)
LOOPS = (
    adding_loop,
    allocating_loop,
    attribute_loop,
    length_loop,
    unpacking_loop,
    subscript_loop,
    calling_loop,
    list_loop,
    range_loop,
)
BRANCHING = (alternating_loop, filtering_loop, finding_loop, skipping_loop, counting_loop)
FAR = (
    (near_loop, far_near_loop),
    (empty_loop, far_empty_loop),
    (deciding_loop, far_deciding_loop),
)


def make():
    return lambda: None


def copy(function):
    """Of its own code: specialised for itself, with events of its own. Made as
    `def` makes a function: calls of others 3.13 does not specialise."""
    consts = tuple(
        function.__code__.replace() if isinstance(each, CodeType) else each
        for each in make.__code__.co_consts
    )
    return FunctionType(make.__code__.replace(co_consts=consts), globals())()


def row(kind, probe, run, base):
    return (kind, *map(copy, (run, run, base, probe, probe)), NUMBERS)


def calls():
    for place, probe in enumerate(CALLED):
        yield (
            row("call", probe, call_and_more, call_and_more_base)
            if place % 2
            else row("call", probe, call, call_base)
        )


def resumptions():
    for place, probe in enumerate(RESUMED):
        yield (
            row("resume", probe, resume_and_more, resume_and_more_base)
            if place % 2
            else row("resume", probe, resume, call_base)
        )


def loop(run):
    return row("loop", nothing, run, call_base)


def table():
    """[(kind, run, run with hooks, base, probe, probe with hooks, argument)]: what
    a probe takes is run(probe, argument) less base(probe, argument). Of a loop the
    probe is the run itself; before a far one stands the same near by.

    The kinds are mixed: a slow phase of the machine is to spoil some of each."""
    kinds = [
        [[each] for each in calls()],
        [[each] for each in resumptions()],
        [[loop(each)] for each in LOOPS],
        [[loop(each)] for each in BRANCHING],
        [[loop(near), row("far loop", nothing, far, call_base)] for near, far in FAR],
    ]
    mixed = [
        ((place + 0.5) / len(groups), group)
        for groups in kinds
        for place, group in enumerate(groups)
    ]
    mixed.sort(key=lambda pair: pair[0])
    return [each for _, group in mixed for each in group]
