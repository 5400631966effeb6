# SPDX-License-Identifier: MIT
"""Many viewers and bad ones at once: a viewer that behaves gets all that it asks for,
no count is wrong, and nothing is left of them."""

import json

import pytest
from e2e.client import Client
from e2e.crowd import Program, bad_viewers, many_viewers, take_frames
from e2e.program import top, wait_until

pytestmark = pytest.mark.once

SNAPSHOTS = 3


def check_a_viewer(program):
    """One that behaves, in a process of its own."""
    done = top("-p", program.pid, "--json", "-d", 0.5, "-n", SNAPSHOTS)
    assert done.status == 0 and done.err == ""
    seen = [json.loads(line) for line in done.out.splitlines()]
    assert len(seen) == SNAPSHOTS
    assert not any(snapshot["lost"] for snapshot in seen)
    uptimes = [snapshot["uptime_s"] for snapshot in seen]
    assert uptimes == sorted(set(uptimes))


def test_bad_viewers(tmp_path, sockets):
    with Program(tmp_path) as program:
        before = program.sockets()
        with bad_viewers(program.path):
            wait_until(lambda: program.sockets() > before + 4)
            check_a_viewer(program)
        # Nothing is left of them, and others are let in.
        wait_until(lambda: program.sockets() == before)
        with Client(program.path) as viewer:
            assert viewer.snapshot()["functions"]
        rounds, calls, lost = program.end()
    assert 0 < calls <= rounds and lost == 0  # a floor, once it is dark


def test_a_hundred_viewers(tmp_path, sockets):
    with Program(tmp_path) as program, many_viewers(program.path, 99) as viewers:
        for number in range(1, 3):
            for viewer in viewers:
                take_frames(viewer, number)
        check_a_viewer(program)
        assert program.end()[2] == 0
    # None is shown a snapshot twice.
    assert all(len(set(viewer.frames)) == 2 for viewer in viewers)
