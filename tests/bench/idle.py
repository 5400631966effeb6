# SPDX-License-Identifier: MIT
"""`make bench ARGS='--only idle'` measures how many machine instructions a program pays for
serving while no viewer is connected. It uses callgrind."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from figures.record import figure

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "idle_child.py")
PROGRAMS = ("call-heavy", "loop-heavy")
KINDS = ("without", "serving", "after a look")
TARGET = 1.001
FEW, MANY = 10, 100  # numbers of rounds


def instructions(kind, name, rounds):
    """Returns the machine instructions of a run. The run does not use Python's own
    allocator. With Python's own allocator, a call takes a few instructions more or less,
    depending on the addresses of objects in their pools. This difference is 0.2 % of a
    round. All of it is in _PyObject_Free, and depends on every earlier allocation."""
    with tempfile.TemporaryDirectory(prefix="oc-") as directory:
        command = "valgrind --tool=callgrind --callgrind-out-file=/dev/null".split()
        command += ["--toggle-collect=builtin_sorted", sys.executable, CHILD]
        settings = {"PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc"}
        settings |= {"OCULAR_DIR": directory, "OCULAR_SIGNAL": "none"}
        done = subprocess.run(
            [*command, kind, name, str(rounds)],
            capture_output=True,
            text=True,
            env={**os.environ, **settings},
        )
    match = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not match:
        raise RuntimeError(done.stderr[-2000:])
    return int(match.group(1))


def show():
    print("\nidle serving: instructions of a round (callgrind), over those without it")
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return
    print(f"{'':24}" + "".join(f"{kind:>16}" for kind in KINDS))
    for name in PROGRAMS:
        each = [
            (instructions(kind, name, MANY) - instructions(kind, name, FEW)) / (MANY - FEW)
            for kind in KINDS
        ]
        print(
            f"{name:24}{each[0]:16.0f}"
            + "".join(f"{one / each[0]:16.5f}" for one in each[1:])
        )
        for kind, one in list(zip(KINDS, each))[1:]:
            figure(
                f"idle/{name}/{kind}".replace(" ", "_"),
                one / each[0],
                unit="x",
                spread=0.001,
            )
    print(f"target: {TARGET}")
