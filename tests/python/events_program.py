# SPDX-License-Identifier: MIT
"""A program with each kind of jump. test_events.py counts its lines and branches."""


def loop(n):
    t = 0
    for i in range(n):
        if i % 3 == 0:
            t += 1
        elif i % 5:
            t += 2
        else:
            continue
    while t > 0:
        t -= 1
    return t


def numbers(n):
    for i in range(n):
        yield i
        if i == 7:
            return


# fmt: off
def one(x): return x
# fmt: on


def raising(n):
    for i in range(n):
        try:
            if i % 2:
                raise ValueError(i)
        except ValueError:
            pass
        finally:
            i += 1


def nested(n):
    if n:
        return nested(n - 1) + 1
    return 0


def several(n):
    odd = [
        i
        for i in range(n)
        if i % 2
    ]  # fmt: skip
    total = sum(
        x * 2
        for x in odd)  # fmt: skip
    match n:
        case 1:
            return odd
        case _:
            return total, (lambda: 5)()


def run():
    for k in range(30):
        loop(100)
        list(numbers(10)), list(numbers(3))
        one(k)
        raising(20)
        nested(30)
        several(20)
