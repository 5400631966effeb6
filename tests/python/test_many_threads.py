# SPDX-License-Identifier: MIT
"""Tests programs with many threads. Each thread is listed under its name, also if the
thread is new or has changed its name. Threads that have ended are marked."""

import threading

import ocular
import pytest
from e2e.program import SLOW, wait_until

MANY = 48


@pytest.fixture
def crowd():
    before = threading.stack_size(1 << 18)
    leave = threading.Event()
    threads = [
        threading.Thread(target=leave.wait, name=f"crowd {number}")
        for number in range(MANY)
    ]
    for thread in threads:
        thread.start()
    ocular.start_tracing(quiet=True, perfetto=False, overhead_budget=0.05)
    yield threads
    leave.set()
    for thread in threads:
        thread.join()
    ocular.stop_tracing()
    threading.stack_size(before)


def names():
    return {
        thread["name"] for thread in ocular.snapshot()["threads"] if not thread["ended"]
    }


def listed(wanted):
    """Waits until the names of the living threads in the list are these names."""
    wait_until(lambda: wanted(names()), SLOW)


@pytest.mark.timeout(300)
def test_names_come_and_go(crowd):
    listed({thread.name for thread in crowd}.issubset)
    leave = threading.Event()
    last = threading.Thread(target=leave.wait, name="the last one")
    last.start()
    try:
        listed(lambda names: "the last one" in names and "crowd 7" in names)
        for number, thread in enumerate(crowd):
            thread.name = f"renamed {number}"
        listed({thread.name for thread in crowd}.issubset)
    finally:
        leave.set()
        last.join()
    listed(lambda names: "the last one" not in names and "renamed 7" in names)
