# SPDX-License-Identifier: MIT
"""Idle serving costs no instruction, by the figures that `make bench` shows."""

import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "bench"))


@pytest.mark.timeout(600)
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_idle_serving_costs_nothing():
    import bench

    def a_round(kind):
        many, few = (
            bench.idle_instructions(kind, "call-heavy", rounds) for rounds in (60, 10)
        )
        return (many - few) / 50

    without = a_round("without")
    assert without > 1000
    for kind in "serving", "after a look":
        assert a_round(kind) <= bench.TARGET_IDLE * without, kind
