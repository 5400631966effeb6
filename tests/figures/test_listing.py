# SPDX-License-Identifier: MIT
"""Measures how long a viewer waits for the listing of a function."""

import time

import ocular
from e2e.client import Client, function


def loop(n):
    return sum(i for i in range(n))


def test_listing(sockets, figure):
    """If a viewer asks again at once, it waits for a fifth of a second. The viewer does not
    wait until the collector thread wakes up for another reason."""
    waits = []
    with ocular.tracing(serve=True, quiet=True, perfetto=False, overhead_budget=1):
        with Client(ocular._ocular.socket_path()) as viewer:
            loop(3)
            one = function(viewer.wait_for(lambda s: function(s, "loop")), "loop")["id"]
            viewer.rate(60)
            for _ in range(11):
                asked = time.monotonic()
                viewer.detail(one)
                waits.append(time.monotonic() - asked)
    figure("first", waits[0], better="lower", unit="s")
    figure("again", sorted(waits[1:])[5], better="nearer", goal=0.2, unit="s")
