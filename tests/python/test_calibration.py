# SPDX-License-Identifier: MIT
"""What a hook costs is measured at start and again in the midst of the traced
program, on its thread: what may come in between there, and who may see it."""

import subprocess
import sys
from pathlib import Path

import pytest
from e2e.program import PYTHON, SLOW, write

TESTS = Path(__file__).resolve().parents[1]

# What is put into `meddle` happens inside the next program that hooks are timed
# on.
PRELUDE = """
import functools, json, os, signal, sys, threading, time, traceback, types
import ocular
from ocular import _ocular, _probes

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
    return [(kind, run, meddling(hooked_run) if kind == "call" else hooked_run, *rest)
            for kind, run, hooked_run, *rest in made()]

_probes.table = table

def f(x):
    return x

def work(seconds=0.02):
    "New functions all the time, within the budget: their hooks go in and come out."
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        new = types.FunctionType(f.__code__.replace(), {})
        for x in range(30):
            new(x)
        sum(range(10_000))

def start(**more):
    ocular.start_tracing(perfetto=False, deinstrument_threshold=20,
                         overhead_budget=0.5, quiet=True, **more)

def timed_again(times=1, seconds=80):
    "Works until hooks have been timed so many times more."
    before, end = _ocular.hooks_timed(), time.monotonic() + seconds
    while _ocular.hooks_timed() < before + times and time.monotonic() < end:
        work()
    return _ocular.hooks_timed() - before

def meddled(what, seconds=80):
    "Works until it has happened inside."
    meddle.append(what)
    end = time.monotonic() + seconds
    while meddle and time.monotonic() < end:
        work()
    assert not meddle

class Ring(Exception):
    pass

def calls(name):
    reported = ocular.snapshot()
    return sum(row["calls"] for row in reported["functions"] + reported["retired"]
               if row["name"] == name)
"""


def answer(tmp_path, source, python=PYTHON):
    done = subprocess.run(
        [python, write(tmp_path, PRELUDE + source)],
        cwd=tmp_path,
        timeout=2 * SLOW,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def test_they_are_timed_again_and_again(tmp_path):
    times, still = answer(
        tmp_path,
        """
start()
print(timed_again(5))
ocular.stop_tracing()
work()
print(_ocular.hooks_timed())
""",
    )
    assert int(times) >= 5 and still == "0"


def test_no_more_often_than_the_budget_allows(tmp_path):
    """Ten a second at most, and no more than a 20th of it: of next to nothing, seldom."""
    often, seconds, slow = answer(
        tmp_path,
        """
def begin(budget):
    ocular.start_tracing(perfetto=False, deinstrument_threshold=20,
                         overhead_budget=budget, quiet=True)

def is_quiet():
    before = _ocular.hooks_timed()
    work(2)
    return before > 0 and _ocular.hooks_timed() == before

begin(0.5)
work(0.5) # the first, at once
before, began = _ocular.hooks_timed(), time.monotonic()
work(1)
print(_ocular.hooks_timed() - before, time.monotonic() - began)
ocular.stop_tracing()
begin(0.00001)
print(any(is_quiet() for _ in range(20))) # once the governor has said so
""",
    )
    assert int(often) <= 10 * float(seconds) + 1
    assert slow == "True"


def test_an_exception_gets_through(tmp_path):
    """As if it had been raised by the program's next instruction."""
    words = answer(
        tmp_path,
        """
def handler(*_):
    raise Ring

signal.signal(signal.SIGUSR1, handler)
start()
for _ in range(5):
    try:
        meddled(lambda: signal.raise_signal(signal.SIGUSR1))
    except Ring as error:
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        print(names[-1], "hooked_run" in names)
print(timed_again(3))
""",
    )
    assert words[:-1] == ["handler", "False"] * 5 and int(words[-1]) >= 3


@pytest.mark.parametrize("error", ["MemoryError", "RecursionError"])
def test_only_our_own_lack_of_room_is_swallowed(tmp_path, error):
    words = answer(
        tmp_path,
        f"""
def handler(*_):
    raise {error}

signal.signal(signal.SIGUSR1, handler)
fail = compiled("def fail(): raise {error}")["fail"]
start()
try:
    meddled(lambda: signal.raise_signal(signal.SIGUSR1))
except {error}:
    print("through")
timed_again()
meddled(fail)
print(len(meddle), timed_again(3))
""",
    )
    assert words[:2] == ["through", "0"] and int(words[2]) >= 3


def test_no_room_on_the_stack(tmp_path):
    """The deepest frame calls functions whose windows begin and end there: there is
    no room for a program and its callee."""
    words = answer(
        tmp_path,
        """
def down(n, seconds):
    return down(n - 1, seconds) if n else bottom(seconds)

def bottom(seconds):
    before = _ocular.hooks_timed()
    work(seconds)
    return _ocular.hooks_timed() - before

def deepest():
    low, high = 10, sys.getrecursionlimit()
    while high - low > 1:
        middle = (low + high) // 2
        try:
            down(middle, 0.001)
            low = middle
        except RecursionError:
            high = middle
    return low

start()
timed_again()
print(down(deepest(), 1))
print(timed_again(3))
""",
    )
    assert words[0] == "0" and int(words[1]) >= 3


BETWEEN = """
signal.signal(signal.SIGUSR1, handler)
start()
# Not by a function of the program's, which would have an event.
meddled(functools.partial(signal.raise_signal, signal.SIGUSR1))
print(timed_again())
"""


def test_what_comes_in_between_is_the_programs(tmp_path):
    """Its calls are counted and in the timeline, and its time is its own: not the
    caller's, nor the callee's."""
    words = answer(
        tmp_path,
        """
inside = []

def handler(*_):
    n, begin = 0, time.monotonic()
    for _ in range(10):
        busy = types.FunctionType(
            f.__code__.replace(co_name="busy", co_qualname="busy"), {})
        for _ in range(10):
            n += busy(1)
    time.sleep(1)
    inside.append(time.monotonic() - begin)
    print(n == calls("busy"))

def start():
    ocular.start_tracing(deinstrument_threshold=20, quiet=True,
                         overhead_budget=0.5, output="trace.json",
                         timeline_limit=1 << 30) # nothing is forgotten

began = time.monotonic()
"""
        + BETWEEN
        + """
reported = ocular.snapshot()
elsewhere = time.monotonic() - began - inside[0]
seconds = {}
for row in reported["functions"] + reported["retired"]:
    own = (row["total_cycles"] or 0) / reported["tsc_hz"]
    seconds[row["name"]] = seconds.get(row["name"], 0) + own
print(seconds["handler"] >= 0.99, seconds["f"] < elsewhere)
ocular.stop_tracing()
events = json.load(open("trace.json"))["traceEvents"]
print(any(each["name"] == "handler" and each["ph"] == "B" for each in events))
""",
    )
    assert words == ["True", "1", "True", "True", "True"]


def test_what_fires_no_event_there_is_none_of_our_cost(tmp_path):
    """A handler that is not traced; a garbage collection is such a one, too."""
    words = answer(
        tmp_path,
        """
inside = []

def handler(*_):
    begin = time.thread_time()
    while time.thread_time() < begin + 0.5:
        pass
    inside.append(time.thread_time() - begin)

def start():
    ocular.start_tracing(perfetto=False, deinstrument_threshold=20, quiet=True,
                         overhead_budget=0.5, exclude=["handler"])

began = time.process_time()
"""
        + BETWEEN
        + """
mean = ocular.snapshot()["overhead"]["mean"]
used = time.process_time() - began
print(mean / (1 + mean) * used < used - 0.5 * inside[0])
""",
    )
    assert words == ["1", "True"]


def test_tracing_may_end_and_begin_there(tmp_path):
    words = answer(
        tmp_path,
        """
def handler(*_):
    for perfetto in True, False:
        ocular.stop_tracing()
        ocular.start_tracing(perfetto=perfetto, deinstrument_threshold=20,
                             overhead_budget=0.5, quiet=True)

signal.signal(signal.SIGUSR1, handler)
start()
for _ in range(10):
    meddled(lambda: signal.raise_signal(signal.SIGUSR1))
    print(timed_again(2) >= 2, calls("f") > 0)
meddled(ocular.stop_tracing)
work()
print(ocular.is_tracing())
""",
    )
    assert words == ["True"] * 20 + ["False"]


def test_another_thread_may_end_it_there(tmp_path):
    words = answer(
        tmp_path,
        """
def end():
    thread = threading.Thread(target=ocular.stop_tracing)
    thread.start()
    thread.join()

for _ in range(5):
    start()
    meddled(end)
    work(0.01)
start()
print(timed_again(3))
""",
    )
    assert int(words[0]) >= 3


def test_a_fork_there(tmp_path):
    words = answer(
        tmp_path,
        """
def fork():
    child = os.fork()
    if child == 0:
        work(0.01)
        start()
        again = timed_again(2)
        os._exit(0 if again >= 2 else 1)
    print(os.waitpid(child, 0)[1])

start()
for _ in range(3):
    meddled(fork)
    print(timed_again(2) >= 2)
""",
    )
    assert words == ["0", "True"] * 3


def test_a_fork_without_an_event_there(tmp_path):
    # os.fork itself is what comes in: no hook of ours sees it.
    words = answer(
        tmp_path,
        """
start()
parent = os.getpid()
meddled(os.fork)
if os.getpid() != parent:
    work()
    start()
    os._exit(0 if timed_again(2) >= 2 and calls("f") > 0 else 1)
print(os.wait()[1], timed_again(2) >= 2)
""",
    )
    assert words == ["0", "True"]


def test_other_threads_have_their_turns_there(tmp_path):
    words = answer(
        tmp_path,
        """
sys.setswitchinterval(1e-5)
stop = []

def other(x):
    return x

def run():
    while not stop:
        other(1)

threads = [threading.Thread(target=run) for _ in range(4)]
start()
for thread in threads:
    thread.start()
for _ in range(5):
    meddled(lambda: time.sleep(0.05))
print(timed_again(20))
stop.append(1)
for thread in threads:
    thread.join()
print(calls("other") > 0)
""",
    )
    assert int(words[0]) >= 20 and words[1] == "True"


def test_a_fork_while_they_are_timed_at_start(tmp_path):
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
print(timed_again(2) >= 2)
""",
    )
    assert words == ["0", "True"]


def test_a_fork_at_start_of_who_serves(tmp_path):
    """The start that kept activation waiting is not there in the child, whose
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


def test_greenlets_there(tmp_path):
    pytest.importorskip("greenlet")
    words = answer(
        tmp_path,
        """
import greenlet

main = greenlet.getcurrent()

def beside():
    while True:
        work(0.01)
        main.switch()

start()
one = greenlet.greenlet(beside)

def away():
    there = greenlet.getcurrent()
    one.switch()

for _ in range(5):
    meddled(away)
print(timed_again(5) >= 5, calls("f") > 0)

# One that is left inside, and comes back much later.
def inside():
    meddled(main.switch)
left = greenlet.greenlet(inside)
left.switch()
work()
before = calls("f")
work()
print(calls("f") > before)
left.switch()
print(timed_again(5) >= 5)
""",
        sys.executable,
    )
    assert words == ["True"] * 4


def test_not_between_an_await_and_what_it_awaits(tmp_path):
    """CPython lets no signal come in there (bpo-30039)."""
    words = answer(
        tmp_path,
        """
def work_of_generators(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        new = types.FunctionType(yields.__code__.replace(), {})
        for _ in range(30):
            for x in new():
                pass

def yields():
    yield 1

start(include_only=["yields"])
work_of_generators(2)
print(_ocular.hooks_timed(), calls("yields") > 1000)
""",
    )
    assert words == ["0", "True"]


# What sees the code that runs, and so would see ours.
WATCHES = {
    "a profile function": ("sys.setprofile(watch)", "sys.setprofile(None)"),
    "a trace function": ("sys.settrace(watch)", "sys.settrace(None)"),
    "another tool": (
        """
m = sys.monitoring
m.use_tool_id(1, "other")
m.register_callback(1, m.events.PY_START, watch)
m.set_events(1, m.events.PY_START)
""",
        """
m.set_events(1, 0)
m.free_tool_id(1)
""",
    ),
}


@pytest.mark.parametrize("name", WATCHES)
def test_nobody_is_shown_it(tmp_path, name):
    begin, end = WATCHES[name]
    words = answer(
        tmp_path,
        f"""
seen = []
def watch(first, *rest):
    code = getattr(first, "f_code", first)
    if code.co_filename == _probes.__file__:
        seen.append(code)

start()
timed_again()
{begin}
work(1)
{end}
print(len(seen), timed_again(3) >= 3)
""",
    )
    assert words == ["0", "True"]


def test_nothing_of_it_is_told(tmp_path):
    words = answer(
        tmp_path,
        """
start()
timed_again(5)
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
""",
    )
    assert int(words[0]) < 1500
