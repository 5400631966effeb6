# SPDX-License-Identifier: MIT
"""Loops of common shapes; what an iteration of each fires is counted."""

NUMBERS = list(range(100_000))


def over_range(count):
    """for over a range"""
    for _ in range(count):
        pass


def over_list(count):
    """for over a list, with a sum"""
    total = 0
    for number in NUMBERS[:count]:
        total += number
    return total


def with_if(count):
    """for with an if"""
    total = 0
    for number in range(count):
        if number & 1:
            total += number
    return total


def with_if_else(count):
    """for with if and else"""
    total = 0
    for number in range(count):
        if number & 1:
            total += number
        else:
            total -= 1
    return total


def with_if_then_more(count):
    """for with an if in its middle"""
    total = 0
    for number in range(count):
        if number & 1:
            total += number
        total -= 1
    return total


def with_continue(count):
    """for with a continue"""
    total = 0
    for number in range(count):
        if number & 1:
            continue
        total += number
    return total


def nested(count):
    """for in a for, 10 times"""
    for _ in range(count // 10):
        for _ in range(10):
            pass


def while_condition(count):
    """while with a condition"""
    while count:
        count -= 1


def while_true(count):
    """while True with a break"""
    while True:
        count -= 1
        if not count:
            break


def comprehension(count):
    """comprehension with an if"""
    return [number for number in range(count) if number & 1]


SHAPES = [
    over_range,
    over_list,
    with_if,
    with_if_else,
    with_if_then_more,
    with_continue,
    nested,
    while_condition,
    while_true,
    comprehension,
]
