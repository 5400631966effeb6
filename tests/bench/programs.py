# SPDX-License-Identifier: MIT
"""What the benchmark runs: small enough to know every event of."""


def leaf():
    pass


def calls(count):
    """Two events a round on leaf(): enter and leave."""
    while count:
        count -= 1
        leaf()


def loops(count):
    """Two events a round: the branch of the condition and the jump back."""
    while count:
        count -= 1


def steps(count):
    """Some forty instructions a round, few of which can be specialised."""
    x = 2.5
    while count:
        count -= 1
        x; -x; [x]; x; -x; [x]; x; -x; [x]; x; -x; [x]; x; -x; [x]


# --- Whole programs, for traced / untraced ------------------------------------


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
    """Nearly nothing but calls of Python functions."""
    total = fibonacci(size)
    one = Vector(1, 2)
    for _ in range(total):
        one = one.plus(Vector(1, 1))
        total += one.dot(one)
    return total


def loop_heavy(size):
    """Nearly nothing but loops and branches."""
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


def fail(depth):
    if depth == 0:
        raise KeyError(depth)
    fail(depth - 1)


def exception_heavy(size):
    """Nearly nothing but exceptions, each through four frames."""
    for _ in range(size):
        try:
            fail(3)
        except KeyError:
            pass
