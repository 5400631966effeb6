# SPDX-License-Identifier: MIT
"""What a hook costs is measured at start: what may come in between there, and what
is left of it."""

import subprocess
from pathlib import Path

from e2e.program import PYTHON, SLOW, write

TESTS = Path(__file__).resolve().parents[1]

# What is put into `meddle` happens inside the next program that hooks are timed
# on.
PRELUDE = """
import os, sys, time
import ocular
from ocular import _probes

meddle = []
made = _probes.table

def meddling(run):
    def hooked_run(probe, numbers):
        if meddle:
            meddle.pop()()
        run(probe, numbers)
    return hooked_run

def table():
    return [(kind, run, meddling(hooked_run) if kind == "call" else hooked_run, *rest)
            for kind, run, hooked_run, *rest in made()]

_probes.table = table

def f(x):
    return x

def work():
    for x in range(300):
        f(x)

def start():
    ocular.start_tracing(perfetto=False, deinstrument_threshold=20,
                         overhead_budget=0.5, quiet=True)

def calls(name):
    return sum(row["calls"] for row in ocular.snapshot()["functions"]
               if row["name"] == name)
"""


def answer(tmp_path, source):
    done = subprocess.run(
        [PYTHON, write(tmp_path, PRELUDE + source)],
        cwd=tmp_path,
        timeout=2 * SLOW,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def test_a_fork_at_start(tmp_path):
    words = answer(
        tmp_path,
        """
def fork():
    child = os.fork()
    if child:
        print(os.waitpid(child, 0)[1], flush=True)

meddle.append(fork)
parent = os.getpid()
try:
    start()
except RuntimeError as error:
    os._exit(0 if os.getpid() != parent and "cannot be measured" in str(error)
             else 1)
if os.getpid() != parent:
    os._exit(2)
work()
print(calls("f") > 0)
""",
    )
    assert words == ["0", "True"]


def test_a_fork_at_start_of_who_serves(tmp_path):
    """The start that kept the doorman from arming is not there in the child, whose
    viewers are to see something."""
    words = answer(
        tmp_path,
        f"sys.path.insert(0, {str(TESTS)!r})"
        + """
import warnings
from e2e.client import Client

def fork():
    child = os.fork()
    if child:
        print(os.waitpid(child, 0)[1], flush=True)

def look():
    path = os.path.join(os.environ["OCULAR_DIR"], f"{os.getpid()}.sock")
    end = time.monotonic() + 20
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.01)
    with Client(path) as viewer:
        return viewer.snapshot()["pid"]

# That there are threads: they are not ended in the midst of a start.
warnings.simplefilter("ignore", DeprecationWarning)
ocular.serve()
meddle.append(fork)
parent = os.getpid()
try:
    start()
except RuntimeError:
    os._exit(0 if os.getpid() != parent and look() == os.getpid() else 1)
print(os.getpid() == parent)
""",
    )
    assert words == ["0", "True"]


def test_nothing_of_it_is_told(tmp_path):
    words = answer(
        tmp_path,
        """
start()
work()
rows = ocular.snapshot()["functions"]
print(sum(row["file"] in ("<ocular>", _probes.__file__) for row in rows))
""",
    )
    assert words == ["0"]


def test_its_programs_go_with_the_trace(tmp_path):
    """And are no leak: a hundred sessions take no more memory than ten."""
    words = answer(
        tmp_path,
        """
import gc
def kib():
    return int(open("/proc/self/statm").read().split()[1]) * 4
def session():
    start()
    work()
    ocular.stop_tracing()
for _ in range(20):
    session()
gc.collect()
before = kib()
for _ in range(100):
    session()
gc.collect()
print(kib() - before)
""",
    )
    assert int(words[0]) < 1500
