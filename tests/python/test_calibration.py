# SPDX-License-Identifier: MIT
"""What a hook costs is measured at start and again in the midst of the traced
program, on its thread: what may come in between there, and who may see it."""

import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.measured import measured
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
    "New functions all the time: their hooks go in and come out."
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        new = types.FunctionType(f.__code__.replace(), {})
        for x in range(30):
            new(x)

def start(**more):
    ocular.start_tracing(perfetto=False, deinstrument_threshold=20,
                         overhead_budget=0.5, quiet=True, **more)

def timed_again(times=1, seconds=20):
    "Works until hooks have been timed so many times more."
    before, end = _ocular.hooks_timed(), time.monotonic() + seconds
    while _ocular.hooks_timed() < before + times and time.monotonic() < end:
        work()
    return _ocular.hooks_timed() - before

def meddled(what, seconds=20):
    "Works until it has happened inside."
    meddle.append(what)
    end = time.monotonic() + seconds
    while meddle and time.monotonic() < end:
        work()
    assert not meddle

class Ring(Exception):
    pass

def calls(name):
    told = ocular.snapshot()
    return sum(row["calls"] for row in told["functions"] + told["retired"]
               if row["name"] == name)
"""


def answer(tmp_path, source, python=PYTHON):
    done = subprocess.run(
        [python, write(tmp_path, PRELUDE + source)],
        cwd=tmp_path,
        timeout=SLOW,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


@measured
def test_the_first_start_is_like_the_next(tmp_path):
    """Where there is a timeline, too: its lane has a ring from the start."""
    source = """
costs = []
for _ in range(6):
    ocular.start_tracing(quiet=True)
    costs.append(sum(_ocular.hook_cost()[:2]))
    ocular.stop_tracing()
print(costs[0] / min(costs[1:]))
"""
    # A start may meet a slow phase of the machine; not so many of them.
    assert min(float(answer(tmp_path, source)[0]) for _ in range(8)) < 1.25


@measured
def test_they_are_timed_again_and_again(tmp_path):
    times, still = answer(
        tmp_path,
        """
start()
print(timed_again(20))
ocular.stop_tracing()
work()
print(_ocular.hooks_timed())
""",
    )
    assert int(times) >= 20 and still == "0"


@measured
def test_no_more_often_than_the_budget_allows(tmp_path):
    """A 20th of it; some 25 us each, and ten a second at most. One that something
    came into may have to be paid for for five seconds."""
    counts = answer(
        tmp_path,
        """
for budget in 0.5, 0.001:
    ocular.start_tracing(perfetto=False, deinstrument_threshold=20,
                         overhead_budget=budget, quiet=True)
    work(0.5) # the first, at once, and the governor's word
    before, began = _ocular.hooks_timed(), time.monotonic()
    work(3)
    while _ocular.hooks_timed() == before and time.monotonic() < began + 20:
        work(0.1)
    print(_ocular.hooks_timed() - before)
    ocular.stop_tracing()
""",
    )
    assert 15 <= int(counts[0]) <= 31 and 1 <= int(counts[1]) <= 12


@measured
def test_costs_follow(tmp_path):
    """What the hooks' own span takes longer or shorter than at start, they do."""
    source = """
slow = []

def either():
    return compiled('''
def either(x):
    if slow:
        for _ in (1, 2, 3, 4, 5):
            pass
''', slow=slow)["either"]

_probes.table = lambda: [
    (kind, *runs, either(), either(), numbers) if kind == "call" else
    (kind, *runs, callee, hooked_callee, numbers)
    for kind, *runs, callee, hooked_callee, numbers in made()]

def cost():
    timed_again(1)
    return sum(_ocular.hook_cost()[:2])

slow.append(1)
start()
print(sum(_ocular.hook_cost()[:2]))
for _ in range(15):
    print(cost())
    slow.clear()
    print(cost())
    slow.append(1)
"""
    at_start, *costs = map(int, answer(tmp_path, source))
    longer, shorter = map(statistics.median, (costs[::2], costs[1::2]))
    # The callee's span is twice to three times as long with it, by turns: a phase
    # of the machine takes in both.
    assert longer > 1.5 * shorter, (at_start, costs)
    assert at_start / 4 < longer < 4 * at_start, (at_start, costs)


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


@measured
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
meddle.append(fail)
work(1)
print(len(meddle), timed_again(3))
""",
    )
    assert words[:2] == ["through", "0"] and int(words[2]) >= 3


@measured
def test_no_room_on_the_stack(tmp_path):
    """The deepest frame calls functions whose visits begin and end there."""
    words = answer(
        tmp_path,
        """
def down(n, seconds):
    return down(n - 1, seconds) if n else work(seconds)

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
down(deepest(), 2)
print("done", _ocular.hooks_timed())
print(timed_again(3))
""",
    )
    # At that depth there is no room for a program and its callee; down() itself
    # may have met one on the way.
    assert words[0] == "done" and int(words[1]) <= 1 and int(words[2]) >= 3


BETWEEN = """
signal.signal(signal.SIGUSR1, handler)
start()
# Not by a function of the program's, which would have an event.
meddled(functools.partial(signal.raise_signal, signal.SIGUSR1))
print(timed_again())
"""


@measured
def test_what_comes_in_between_is_the_programs(tmp_path):
    """Its calls are counted and in the timeline, and its time is its own: not the
    caller's, nor the callee's, nor our cost."""
    words = answer(
        tmp_path,
        """
def handler(*_):
    end = time.monotonic() + 1
    n = 0
    while time.monotonic() < end:
        busy = types.FunctionType(
            f.__code__.replace(co_name="busy", co_qualname="busy"), {})
        for _ in range(10):
            n += busy(1)
    print(n == calls("busy"))

def start():
    ocular.start_tracing(deinstrument_threshold=20, quiet=True,
                         overhead_budget=0.5, output="trace.json")
"""
        + BETWEEN
        + """
told = ocular.snapshot()
cycles = {}
for row in told["functions"] + told["retired"]:
    cycles[row["name"]] = cycles.get(row["name"], 0) + (row["total_cycles"] or 0)
print(cycles["handler"] / told["tsc_hz"], cycles["f"] / told["tsc_hz"])
ocular.stop_tracing()
events = json.load(open("trace.json"))["traceEvents"]
print(any(each["name"] == "handler" and each["ph"] == "B" for each in events))
""",
    )
    assert words[:2] == ["True", "1"]
    assert 0.2 < float(words[2]) < 1.2 and float(words[3]) < 0.5
    assert words[4] == "True"


@measured
def test_what_fires_no_event_there_is_none_of_our_cost(tmp_path):
    """A handler that is not traced; a garbage collection is such a one, too."""
    words = answer(
        tmp_path,
        """
def handler(*_):
    end = time.process_time() + 1
    while time.process_time() < end:
        pass

def start():
    ocular.start_tracing(perfetto=False, deinstrument_threshold=20, quiet=True,
                         overhead_budget=0.5, exclude=["handler"])
"""
        + BETWEEN
        + """
print(ocular.snapshot()["overhead"]["mean"])
""",
    )
    # Of 1 s and some: work() itself costs less than that.
    assert words[0] == "1" and float(words[1]) < 0.5


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
