# SPDX-License-Identifier: MIT
"""Contains loops over numbers, and a function whose argument types keep changing."""


def sieve(limit):
    """Counts the primes below limit."""
    composite = bytearray(limit)
    count = 0
    for number in range(2, limit):
        if composite[number]:
            continue
        count += 1
        for multiple in range(number * number, limit, number):
            composite[multiple] = 1
    return count


def collatz(number):
    """Counts the steps until the Collatz sequence reaches 1."""
    steps = 0
    while number != 1:
        if number % 2:
            number = 3 * number + 1
        else:
            number //= 2
        steps += 1
    return steps


def longest_collatz(limit):
    best = steps = 0
    for number in range(1, limit):
        length = collatz(number)
        if length > steps:
            best, steps = number, length
    return best


def escape_time(real, imaginary, limit=60):
    """Counts the iterations until z*z + c leaves the circle of radius 2."""
    x = y = 0.0
    for step in range(limit):
        xx, yy = x * x, y * y
        if xx + yy > 4.0:
            return step
        x, y = xx - yy + real, 2.0 * x * y + imaginary
    return limit


def mandelbrot(width, height):
    """Counts the iterations of all points in a picture of the Mandelbrot set."""
    total = 0
    for row in range(height):
        imaginary = 2.0 * row / height - 1.0
        for column in range(width):
            total += escape_time(3.0 * column / width - 2.0, imaginary)
    return total


def simpson(function, low, high, intervals=64):
    """Integrates by Simpson's rule. Calls the function intervals + 1 times."""
    width = (high - low) / intervals
    total = function(low) + function(high)
    for index in range(1, intervals):
        total += function(low + index * width) * (4.0 if index % 2 else 2.0)
    return total * width / 3.0


def cubic(x):
    return (2.0 * x - 3.0) * x * x + 5.0


def fibonacci(number):
    if number < 2:
        return number
    return fibonacci(number - 1) + fibonacci(number - 2)


def blend(values):
    """Adds up the values, and counts the values that are equal to the first value. CPython
    specialises the bytecode for the type of the values, and deoptimises the bytecode when a
    value of another type comes."""
    total = first = values[0]
    equals = 0
    for value in values[1:]:
        total = total + value
        if value == first:
            equals += 1
    return total, equals


# blend() gets one of these inputs at a time. After PHASE rounds the next input comes.
PHASE = 16
DIETS = (
    tuple(range(40)),
    tuple(index / 8 for index in range(40)),
    tuple("abcdefgh" * 5),
)


def feed_blend(number, times):
    """Does one round with one of the inputs."""
    diet = DIETS[number // PHASE % len(DIETS)]
    for _ in range(times):
        blend(diet)
    return type(diet[0]).__name__
