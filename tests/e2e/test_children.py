# SPDX-License-Identifier: MIT
"""Tests a hint of the viewer, which says that Python children of the watched process
are not traced."""

import re
import time

from e2e.program import Running, top

# seconds; the viewer ignores children that are younger than this (tui/model/children.c)
YOUNG_S = 3

# Of three children, one serves and two do not. Each line on stdin ends one of the two
# children that do not serve.
PROGRAM = """
import subprocess, sys, ocular
def start(begin):
    source = begin + "; import sys; print(flush=True); sys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout.readline() == b"\\n"
    return child
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
serving = start("import ocular; ocular.serve()")
silent = [start("pass"), start("pass")]
print("ready", flush=True)
for _ in sys.stdin:
    silent.pop().communicate()
    print("ended", flush=True)
assert serving.poll() is None
serving.communicate()
ocular.stop_tracing()
print("{}")
"""


def hint(pid):
    """Returns the viewer's hint about the children, or None."""
    screen = top("-p", pid, "--once", "--size", "180x20").out
    found = re.search(r"\d+ Python \w+ \w+ not traced", screen)
    return found and found[0]


def test_children_that_do_not_serve_are_named(tmp_path, sockets):
    with Running(tmp_path, PROGRAM) as program:
        time.sleep(YOUNG_S)
        said = [hint(program.pid)]
        for _ in range(2):
            program.process.stdin.write("\n")
            program.process.stdin.flush()
            assert program.process.stdout.readline() == "ended\n"
            said.append(hint(program.pid))
        program.end()
    two, one = "2 Python children are not traced", "1 Python child is not traced"
    assert said == [two, one, None]
