# SPDX-License-Identifier: MIT
"""Writes a measured figure down, for tests/figures/figures.py to compare with the
baseline. Called by the tests beside this file and by the measuring programs
(tests/accuracy, tests/bench, tests/soak, tests/regrtest)."""

import json
import math
import os

BETTER = ("lower", "higher", "nearer")


def recording():
    """Whether `make figures` runs this. A target that is missed is a figure then, and
    no reason to end with a status."""
    return bool(os.environ.get("OCULAR_FIGURES"))


def figure(name, value, better="lower", unit="", goal=None, spread=None):
    """Appends one figure to the file $OCULAR_FIGURES; does nothing without one.

    name: unique, with its instrument in front ("bench/call"). value: a number, NaN or
    None if nothing could be measured. better: which way is an improvement; "nearer"
    is to `goal`. unit: as shown in the table. spread: by how much two runs differ, if
    that is known; else the baseline has what it saw.
    """
    assert better in BETTER and (better == "nearer") == (goal is not None), (better, goal)
    path = os.environ.get("OCULAR_FIGURES")
    if not path:
        return
    value = math.nan if value is None else float(value)
    line = {"name": name, "value": value, "better": better, "unit": unit}
    line.update(goal=goal, spread=spread)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
