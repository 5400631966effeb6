# SPDX-License-Identifier: MIT
"""Smooths random readings and cuts them into chunks, in a chain of generators."""


class Noise:
    """Generates random numbers that are the same on every machine."""

    def __init__(self, seed):
        self.state = seed & 0x7FFFFFFF

    def number(self, limit):
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self.state >> 8) % limit


def readings(seed, count):
    noise = Noise(seed)
    for _ in range(count):
        yield noise.number(1000)


def moving_mean(values, width):
    window = []
    for value in values:
        window.append(value)
        if len(window) > width:
            del window[0]
        yield sum(window) / len(window)


def above(values, limit):
    return (value for value in values if value > limit)


def chunks(values, size):
    chunk = []
    for value in values:
        chunk.append(value)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def running_mean():
    """A generator-based coroutine. send() takes a number and returns the mean of all
    numbers so far."""
    total, count, mean = 0, 0, None
    while True:
        total += yield mean
        count += 1
        mean = total / count


def leaves(tree):
    """Yields the leaves of nested lists from left to right."""
    for branch in tree:
        if isinstance(branch, list):
            yield from leaves(branch)
        else:
            yield branch


def summarise(seed, count):
    """Returns the mean of the chunks' maxima in a smoothed stream of readings."""
    mean = running_mean()
    next(mean)
    result = 0.0
    smooth = moving_mean(readings(seed, count), 4)
    for chunk in chunks(above(smooth, 300), 16):
        result = mean.send(max(chunk))
    mean.close()
    return result
