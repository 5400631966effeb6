# SPDX-License-Identifier: MIT
"""What a call of a greenlet is charged with where it is parked and resumed."""

import greenlet
from e2e.counting import row, traced


def paused():
    greenlet.getcurrent().parent.switch()


def pauses(times):
    for _ in range(times):
        paused()


def test_resumed_call(figure):
    """The time of a question to the kernel is in no function's time. At a switch it
    would be taken off twice, also off the resumed function, which would have none
    left."""

    def take_turns():
        child = greenlet.greenlet(pauses)
        child.switch(40)
        while not child.dead:
            sum(range(30000))  # 300 us: after such a span the kernel is asked
            child.switch()

    _, final = traced(take_turns)
    assert row(final, "paused")["calls"] == 40
    figure("least", row(final, "paused")["min_cycles"], better="higher", unit="cycles")
    figure("median", row(final, "paused")["p50_cycles"], better="higher", unit="cycles")
