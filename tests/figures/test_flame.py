# SPDX-License-Identifier: MIT
"""The shares of the stacks that a process sends."""

import time

import pytest
from e2e.client import Client
from e2e.stacks import PATHS, WORK, running, tree, watch

SAMPLES = 600


@pytest.mark.timeout(200)
def test_flame(tmp_path, sockets, figure):
    with running(tmp_path) as path, Client(path) as viewer:
        began = time.monotonic()
        # The shares are of the last seconds: the window has to be full.
        stacks = watch(
            viewer,
            lambda stacks: stacks["samples"] >= SAMPLES and time.monotonic() > began + 10,
        )
        snapshot = viewer.snapshot()
    totals = tree(stacks)
    work = totals[WORK]
    for path, part in PATHS.items():
        off = abs(totals[(*WORK, *path)] / work - part)
        figure(f"{path[0]}_off", 100 * off, unit="points")
    rows = {row["name"]: row for row in snapshot["functions"]}
    spinning = sum(share for path, share in totals.items() if path[-1:] == ("spin",))
    ratio = spinning / rows["spin"]["cpu_share"]
    figure("share_over_the_functions", ratio, "nearer", goal=1, unit="x")
