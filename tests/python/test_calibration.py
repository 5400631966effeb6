# SPDX-License-Identifier: MIT
"""Tests that the cost of a hook is measured when tracing starts. These tests interrupt
the measurement, and check that nothing of it stays behind."""

from pathlib import Path

from e2e.program import SLOW, script

TESTS = Path(__file__).resolve().parents[1]

# A function in `meddle` runs inside the next timing of hooks.
PRELUDE = """
import os, sys, threading, time, types
import ocular
from ocular import _probes
meddle = []
made = _probes.table
def compiled(source, **names):
    "As if it stood there."
    exec(compile(source, _probes.__file__, "exec"), names)
    return names
meddling = compiled('''
def meddling(run):
    def hooked_run(probe, numbers):
        if meddle:
            meddle.pop()()
        run(probe, numbers)
    return hooked_run
''', meddle=meddle)["meddling"]
def table():
    return [(base, run, callee, meddling(hooked) if run.__name__ == "call" else hooked,
             *rest) for base, run, callee, hooked, *rest in made()]
_probes.table = table
def f(x):
    return x
def work(seconds=0.02):
    "Makes new functions all the time, so that hooks are installed and removed."
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        new = types.FunctionType(f.__code__.replace(), {})
        for x in range(30):
            new(x)
        sum(range(10_000))
def start(**more):
    ocular.start_tracing(perfetto=False, deinstrument_threshold=20,
                         overhead_budget=0.5, quiet=True, **more)
def calls(name):
    reported = ocular.snapshot()
    return sum(row["calls"] for row in reported["functions"] + reported["retired"]
               if row["name"] == name)
"""


def answer(tmp_path, source):
    done = script(tmp_path, PRELUDE + source, timeout=2 * SLOW)
    assert (done.status, done.err) == (0, "")
    return done.out.split()


def test_a_fork_there(tmp_path):
    """A process that serves can fork during a start. The child's activation must not wait
    for this start, because the start exists only in the parent."""
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
# A fork in the middle of a start does not end Ocular's threads, so CPython warns.
warnings.simplefilter("ignore", DeprecationWarning)
ocular.serve()
meddle.append(fork)
parent = os.getpid()
try:
    start()
except RuntimeError as error:
    if os.getpid() == parent or "cannot be measured" not in str(error):
        os._exit(1)
    os._exit(0 if look() == os.getpid() else 2)
print(os.getpid() == parent)
""",
    )
    assert words == ["0", "True"]


def test_its_programs_go_with_it(tmp_path):
    """The timed programs are freed, so a hundred traces take no more memory than ten
    traces. No snapshot contains these programs."""
    words = answer(
        tmp_path,
        """
import gc
def kib():
    return int(open("/proc/self/statm").read().split()[1]) * 4
def session():
    start()
    work(0.003)
    ocular.stop_tracing()
for _ in range(20):
    session()
gc.collect()
before = kib()
for _ in range(100):
    session()
gc.collect()
print(kib() - before)
start()
work()
rows = ocular.snapshot()["functions"]
print(calls("f") > 0,
      sum(row["file"] in ("<ocular>", _probes.__file__) for row in rows))
""",
    )
    assert int(words[0]) < 1500 and words[1:] == ["True", "0"]
