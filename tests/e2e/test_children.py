# SPDX-License-Identifier: MIT
"""What the viewer says of a process's Python children that nobody traces."""

import subprocess

from e2e.program import TOP, Running, wait_until

PROGRAM = """
import select, subprocess, sys, ocular

ocular.start_tracing(serve=True, quiet=True, perfetto=False)
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"],
                         stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
print("ready", child.pid, flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    pass
child.communicate()
ocular.stop_tracing()
print("{}")
"""


def screen(pid):
    return subprocess.run(
        [TOP, "-p", str(pid), "--once", "--size", "180x20"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_spawned_child_is_named(tmp_path, sockets):
    with Running(tmp_path, PROGRAM) as program:
        wait_until(lambda: "1 Python child is not traced" in screen(program.pid), 60)
        program.end()
