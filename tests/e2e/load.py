# SPDX-License-Identifier: MIT
"""The program that runs under two tools at once (test_coexist.py). The program is short,
does the same in every run, and causes events of every kind."""

# One call of work() calls each function this number of times. Each start and each
# resumption of a generator counts.
CALLS = dict(work=1, arms=20, fibonacci=67, squares=6 + 2, passing=7 + 3, careful=4)
CALLS |= {"Thing.__init__": 3, "Thing.__len__": 3, "pause.__await__": 4 * 2}
CALLS |= dict(deep=4 * 4, fail=2, key=5, one_line=3, awaiting=2 * 3, drive=2)


def arms(number):
    if number % 3 == 0:
        return "three"
    if number % 2:
        return "odd"
    return "even" if number else "none"


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def squares(limit):
    for number in range(limit):
        yield number * number


def passing(limit):
    try:
        yield from squares(limit)
    finally:
        yield -1


class Thing:
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


def fail(number):
    if number:
        raise KeyError(number)


def deep(number):
    if number:
        return deep(number - 1)
    raise ValueError


def careful(number):
    try:
        try:
            deep(3)
        except ValueError:
            if number % 2:
                fail(number)
        else:
            return None
    except KeyError as error:
        return error.args
    finally:
        number += 1


def key(item):
    return -item


def one_line(x): return x  # fmt: skip


class pause:
    def __await__(self):
        yield
        return 1


async def awaiting():
    return await pause() + await pause()


def drive(coroutine):
    while True:
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value


def work():
    found = [arms(number) for number in range(20)]
    found.append(fibonacci(8))
    found.append(list(passing(5)))
    left = passing(5)
    found += [next(left), left.throw(KeyError), len([left.close()])]
    found += [len(Thing(size)) for size in range(1, 4)]
    for number in range(4):
        found.append(careful(number))
    found.append(sorted([3, 1, 4, 1, 5], key=key))
    index = 30
    while index:
        index -= 1
        if index == 17:
            found.append(one_line(index))
            continue
    found += [one_line(1), one_line(2)]
    found += [drive(awaiting()), drive(awaiting())]
    return found
