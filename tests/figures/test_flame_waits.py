# SPDX-License-Identifier: MIT
"""Compares the waits in the flame graph with those that a thread measures itself."""

from python.test_flame_waits import NEAR, find_kinds, viewer  # noqa: F401


def test_parts_of_a_known_thread(viewer):  # noqa: F811
    find_kinds(viewer, lambda shown, true: abs(shown - true) < NEAR, 0.8)
