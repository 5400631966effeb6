# SPDX-License-Identifier: MIT
"""Contains single-threaded cases that make the same calls on every run. The tests compare
the counts of Ocular with those of cProfile. CASES maps a name to a callable without
arguments that returns a comparable value."""

from contextlib import contextmanager
from functools import reduce

from . import archive, numeric, streams
from .expressions import ExpressionError, evaluate

# --- Recursion ----------------------------------------------------------------


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def is_even(number):
    return True if number == 0 else is_odd(number - 1)


def is_odd(number):
    return False if number == 0 else is_even(number - 1)


def permutations(items):
    if not items:
        return [[]]
    return [
        [item, *rest]
        for index, item in enumerate(items)
        for rest in permutations(items[:index] + items[index + 1 :])
    ]


def recursion():
    return (
        numeric.fibonacci(14),
        ackermann(2, 5),
        is_even(51),
        len(permutations(list(range(5)))),
    )


# --- Generators and coroutines ------------------------------------------------


def countdown(number):
    try:
        while number:
            number -= 1
            yield number
    finally:
        number = None


def stubborn():
    """A generator that catches the exceptions of throw() and continues."""
    answer = "ready"
    while True:
        try:
            answer = yield answer
        except KeyError as error:
            answer = f"caught {error}"


def thrown_into():
    generator = stubborn()
    said = [next(generator)]
    for index in range(20):
        said.append(generator.send(index))
        said.append(generator.throw(KeyError(index)))
    generator.close()
    return said


def abandoned():
    """Uses generators that are abandoned, closed or never started."""
    for number in countdown(10):
        if number == 5:
            break
    closed = countdown(3)
    next(closed)
    closed.close()
    countdown(3)
    return number


async def double(number):
    return number * 2


async def doubles(count):
    total = 0
    for number in range(count):
        total += await double(number)
    return total


def drive(coroutine):
    """Runs a coroutine that never waits."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def generators():
    tree = [1, [2, [3, 4], 5], [[6]], 7]
    return (
        streams.summarise(7, 300),
        list(streams.leaves(tree)),
        sum(square * square for square in countdown(50)),
        thrown_into(),
        abandoned(),
        drive(doubles(30)),
    )


# --- Exceptions ---------------------------------------------------------------


def fail_below(depth):
    if depth == 0:
        raise LookupError("the bottom")
    fail_below(depth - 1)


def clean_up(depth, log):
    try:
        if depth:
            clean_up(depth - 1, log)
        else:
            raise ValueError("deep")
    except ValueError:
        log.append(depth)
        if depth < 5:
            raise
    finally:
        log.append(-depth)


@contextmanager
def swallowing(kind):
    try:
        yield
    except kind:
        pass


def fragile(count):
    for number in range(count):
        if number == 3:
            raise OSError(number)
        yield number


def returns_in_finally():
    for number in range(5):
        try:
            fail_below(number)
        except LookupError:
            continue
        finally:
            number += 1
    return number


def exceptions():
    caught = 0
    for depth in range(12):
        try:
            fail_below(depth)
        except LookupError:
            caught += 1
    log = []
    clean_up(8, log)
    with swallowing(OSError):
        for number in fragile(9):
            caught += number
    for text in ("1 +", "(2", "3 ) 4", "mass", "5 / (2 - 2)"):
        try:
            evaluate(text, {})
        except ExpressionError:
            caught += 1
    return caught, log, returns_in_finally()


# --- Classes ------------------------------------------------------------------


class Vector:
    made = 0

    def __new__(cls, *parts):
        cls.made += 1
        return super().__new__(cls)

    def __init__(self, *parts):
        self.parts = parts

    @classmethod
    def unit(cls, size, index):
        return cls(*(1 if part == index else 0 for part in range(size)))

    @staticmethod
    def same_size(left, right):
        return len(left.parts) == len(right.parts)

    @property
    def square(self):
        return self @ self

    def __add__(self, other):
        if not self.same_size(self, other):
            return NotImplemented
        return Vector(*map(sum, zip(self.parts, other.parts)))

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.parts, other.parts))

    def __eq__(self, other):
        return self.parts == other.parts

    def __call__(self, index):
        return self.parts[index]

    def __getattr__(self, name):
        if name in "xyz":
            return self("xyz".index(name))
        raise AttributeError(name)


class Loud(Vector):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.heard = [str(part).upper() for part in parts]


def classes():
    total = Vector(0, 0, 0)
    for index in range(12):
        total = total + Vector.unit(3, index % 3)
    return (
        total.square,
        total == Vector(4, 4, 4),
        total.x + total.y + total.z,
        hasattr(total, "w"),
        Loud(1, 2).heard,
    )


# --- Python called from C -----------------------------------------------------


def add(left, right):
    return left + right


def callbacks():
    noise = streams.Noise(3)
    numbers = [noise.number(100) for _ in range(60)]
    return (
        sorted(numbers, key=lambda number: -number)[:3],
        reduce(add, numbers),
        list(map(numeric.collatz, range(1, 9))),
        max(numbers, key=numeric.cubic),
        archive.unpack(
            archive.pack([{"text": "one", "value": 2}, {"text": "two", "value": 1}])
        ),
    )


# --- Loops and parsing --------------------------------------------------------


def loops():
    return (
        numeric.sieve(2000),
        numeric.longest_collatz(80),
        numeric.mandelbrot(16, 8),
        numeric.simpson(numeric.cubic, 0.0, 2.0),
        [numeric.feed_blend(number, 60) for number in (0, 16, 32, 48)],
    )


def parsing():
    texts = ("1 + 2 * 3", "(1 + 2) * (3 + four)", "((((5))))", "100 / 7 / 2")
    return [evaluate(text, {"four": 4}) for text in texts for _ in range(10)]


CASES = {
    "recursion": recursion,
    "generators": generators,
    "exceptions": exceptions,
    "classes": classes,
    "callbacks": callbacks,
    "loops": loops,
    "parsing": parsing,
}
