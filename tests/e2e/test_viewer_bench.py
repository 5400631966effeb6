# SPDX-License-Identifier: MIT
"""The viewer part of `make bench` can tell right from wrong. What a viewer costs
stands in docs/overhead.md."""

import math
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "bench"))

import viewer


@pytest.mark.parametrize(
    "row, limit",
    [
        ("connecting to the first frame, ms, median of 15", 50),
        ("a key to the screen, ms, callers, worst", 16),
        ("ocular-top at 1 Hz, % of a core", 1),
        ("each further viewer, % of a core", 0.1),
    ],
)
def test_targets_are_judged(row, limit):
    assert viewer.verdict(row, [limit, limit / 2]).split() == [f"{limit:g}", "ok"]
    assert viewer.verdict(row, [limit / 2, limit * 1.001]).endswith("MISS")
    assert viewer.verdict(row, [float("nan"), 0]).endswith("MISS")


def test_what_has_no_target_is_not():
    assert viewer.verdict("snapshot, kB", [1e9]) == ""


def test_a_key_that_nothing_answers_is_the_worst():
    assert viewer.worst([1, 3, 2]) == 3
    assert math.isnan(viewer.worst([1, float("nan"), 2]))


def test_the_exit_status_says_it(monkeypatch, capsys):
    rows = {"snapshot, kB": 1, viewer.VIEWER: 0.5}
    monkeypatch.setattr(viewer, "measure", lambda *_: dict(rows))
    assert viewer.main(["--functions", "5", "7"]) == 0
    rows[viewer.VIEWER] = 1.5
    assert viewer.main(["--functions", "5", "7"]) == 1
    assert "1 of the targets missed" in capsys.readouterr().out
