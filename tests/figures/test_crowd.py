# SPDX-License-Identifier: MIT
"""What a program notices of many viewers and of bad ones."""

import json
import time

import pytest
from e2e.client import Client
from e2e.crowd import Program, bad_viewers, many_viewers, take_frames
from e2e.program import top

SNAPSHOTS = 5


def waited(rounds):
    """The part of its time that it waited."""
    return sum(wait for _, wait, _ in rounds) / sum(wall for _, _, wall in rounds)


def take_the_quiet(program):
    """With one viewer: it is not alone before, either."""
    with Client(program.path) as viewer:
        viewer.snapshot()
        with program.measures("before"):
            pass


def note_rounds(figure, program):
    quiet, busy = program.rounds("before"), program.rounds("during")
    assert len(quiet) > 20 and len(busy) > 20
    more = 100 * (waited(busy) - waited(quiet))
    figure("more_waiting", more, unit="% of its time")
    figure("work_takes", min(busy)[0] / min(quiet)[0], unit="x")


def note_a_viewer(figure, program):
    """One that behaves, and asks for a snapshot a second."""
    done = top("-p", program.pid, "--json", "-d", 1, "-n", SNAPSHOTS)
    uptimes = [json.loads(line)["uptime_s"] for line in done.out.splitlines()]
    period = (uptimes[-1] - uptimes[0]) / (SNAPSHOTS - 1)
    figure("period_of_a_viewer", period, "nearer", unit="s", goal=1)


@pytest.mark.timeout(300)
def test_bad_viewers(tmp_path, sockets, figure):
    with Program(tmp_path) as program:
        take_the_quiet(program)
        with bad_viewers(program.path), program.measures("during"):
            ours, theirs = program.serving_s(), time.process_time()
            note_a_viewer(figure, program)
            ours, theirs = program.serving_s() - ours, time.process_time() - theirs
        program.end()
    figure("cost_of_ours_to_theirs", ours / theirs, unit="x")
    note_rounds(figure, program)


@pytest.mark.timeout(300)
def test_a_hundred_viewers(tmp_path, sockets, figure):
    with Program(tmp_path) as program:
        take_the_quiet(program)
        with many_viewers(program.path, 99) as viewers, program.measures("during"):
            for number in range(1, 5):
                for viewer in viewers:
                    take_frames(viewer, number)
            note_a_viewer(figure, program)
        program.end()
    # They came at different times, and fell into step: a snapshot is made for all.
    figure("snapshots_made_for_all", len({viewer.frames[3] for viewer in viewers}))
    note_rounds(figure, program)
