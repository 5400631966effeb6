# SPDX-License-Identifier: MIT
"""Contains the programs that the benchmark runs. The programs are either so small that
every event is known, or they are generated at random."""

from types import SimpleNamespace


def leaf():
    pass


def calls(count):
    """A round of leaf() has two events, enter and leave."""
    while count:
        count -= 1
        leaf()


def loops(count):
    """A round of this program has two events, the branch of the condition and the jump
    back."""
    while count:
        count -= 1


def c_calls(count):
    """A round of this program has two events, the call of len() and its return."""
    while count:
        count -= 1
        len("abc")


def exceptions(count):
    """A round of this program has one event, the exception."""
    while count:
        count -= 1
        try:
            raise ValueError
        except ValueError:
            pass


def steps(count):
    """A round of this program has about forty instructions, of which only few can be
    specialised."""
    x = 2.5
    while count:
        count -= 1
        x
        -x
        [x]
        x
        -x
        [x]
        x
        -x
        [x]
        x
        -x
        [x]
        x
        -x
        [x]


# --- Whole programs, for the ratio of traced to untraced ----------------------


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


def fibonacci(number):
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


def call_heavy(size):
    """Does almost nothing except calls of Python functions."""
    total = fibonacci(size)
    one = Vector(1, 2)
    for _ in range(total):
        one = one.plus(Vector(1, 1))
        total += one.dot(one)
    return total


def loop_heavy(size):
    """Does almost nothing except loops and branches."""
    sieve = [True] * size
    for number in range(2, size):
        if sieve[number]:
            position = number * number
            while position < size:
                sieve[position] = False
                position += number
    total = 0
    for number in range(size):
        if number & 1:
            total += number
        else:
            total -= 1
    return total


# --- Generated functions ------------------------------------------------------

# Functions are generated from these statements. Each statement contains a number that
# varies.
STATEMENTS = (
    "x = table['k{}']",
    "s = 'a{}' + s[:3]",
    "l = [q * {} for q in t]",
    "x = x * 1.{} + 1",
    "one.v{} = x",
    "x = one.v{}",
    "t = t[1:] + ({},)",
    "x = len(s) + {}",
    "x = max(x, {})",
    "s = str({})",
    "x = abs(x - {})",
    "u = isinstance(x, int) or {}",
    "d = {{1: {}}}",
    "x = sum(t) + {}",
    "s = s.replace('a', 'b{}')",
    "x = int(x) % 97 + {}",
)


def made_up(count, draw):
    """Returns `count` functions. Nearly all of these functions are different."""
    names = {
        "one": SimpleNamespace(**{f"v{n}": n for n in range(100)}),
        "table": {f"k{n}": n for n in range(100)},
    }
    for number in range(count):
        lines = [
            draw.choice(STATEMENTS).format(draw.randrange(100))
            for _ in range(draw.randrange(1, 5))
        ]
        exec(
            f"def f{number}():\n    x = 3; s = 'abc'; t = (1, 2, 3)\n    "
            + "\n    ".join(lines),
            names,
        )
    return [names[f"f{number}"] for number in range(count)]
