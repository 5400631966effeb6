# SPDX-License-Identifier: MIT
"""Runs a coroutine while it is traced, and takes snapshots of asyncio's tasks."""

import asyncio
import time

import ocular

QUIET = dict(perfetto=False, quiet=True)


def run_traced(main):
    ocular.start_tracing(**QUIET, overhead_budget=0.01)
    try:
        asyncio.run(main)
    finally:
        ocular.stop_tracing()


async def whole(condition):
    """Takes snapshots until a snapshot meets the condition. Returns the number of
    tasks and the task groups by coroutine."""
    due = time.monotonic() + 60
    while time.monotonic() < due:
        tasks = ocular.snapshot()["tasks"]
        groups = {group["coroutine"].split(".")[-1]: group for group in tasks["groups"]}
        if tasks["total"] is not None and condition(groups):
            return tasks["total"], groups
        await asyncio.sleep(0.1)
    raise AssertionError(tasks)
