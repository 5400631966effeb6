# SPDX-License-Identifier: MIT
"""Records a measured figure. tests/figures/figures.py compares the figure with the
baseline. The tests in this folder and the measuring programs (tests/accuracy, tests/bench,
tests/stress, tests/regrtest) use this module."""

import datetime
import json
import math
import os
import platform
from pathlib import Path

BETTER = ("lower", "higher", "nearer")


def recording():
    """Returns True if `make figures` has started this program. In this case, a missed
    target does not change the exit status."""
    return bool(os.environ.get("OCULAR_FIGURES"))


def figure(name, value, better="lower", unit="", goal=None, spread=None):
    """Appends one figure to the file that $OCULAR_FIGURES names. Does nothing if the
    variable is not set.

    `name` is unique, and begins with the name of the measuring program ("bench/call").
    `value` is a number, NaN, or None if nothing could be measured. `better` is the
    direction of an improvement. "nearer" means nearer to `goal`. The table shows `unit`
    after the value. `spread` is the difference between two runs, if it is known. If it is
    not given, the baseline uses the spread of earlier runs.
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


def machine():
    """Returns the machine, the interpreter and the date, for the head of a table."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return (
        f"{os.cpu_count()} CPUs, {model}, Linux {platform.release().split('-')[0]}, "
        f"CPython {platform.python_version()}, {datetime.date.today()}"
    )
