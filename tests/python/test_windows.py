# SPDX-License-Identifier: MIT
"""Tests which functions keep their hooks with a budget. Also tests new code while tracing
exceeds its budget, and that the program does not notice the signal of the CPU timers.
tests/tracer/test_control.c tests the control's decisions in virtual time."""

import signal
import time

import ocular
import pytest
from e2e.counting import row, traced
from e2e.program import script

# Each test program works until a condition holds, and prints its snapshots.
PRELUDE = """
import faulthandler, json, os, signal, sys, threading, time
import ocular
SIGNALS = sorted(signal.valid_signals())
def row(name):
    rows = [r for r in ocular.snapshot()["functions"] if r["name"] == name]
    return rows[0] if rows else None
def sampler():
    return ocular.snapshot()["sampler"]
def burn(s=0.05):
    end = time.thread_time() + s
    while time.thread_time() < end:
        pass
def burn_until(condition):
    limit = time.monotonic() + 50
    while not condition():
        assert time.monotonic() < limit, sampler()
        burn()
def trace(**settings):
    ocular.start_tracing(**{"serve": True, "quiet": True, "perfetto": False, **settings})
def say(*answer):
    print(json.dumps(answer), flush=True)
"""


def answer(tmp_path, body, **env):
    return script(tmp_path, PRELUDE + body, env=env).answer


# --- Hits within a second -----------------------------------------------------


def tick():
    return 1


def spin():
    return 2


def both(ticks):
    """Calls `tick` twenty times a second, and `spin` between these calls. Returns the
    number of calls of `spin`."""
    spins = 0
    for _ in range(ticks):
        tick()
        until = time.monotonic() + 0.05
        while time.monotonic() < until:
            spin()
            spins += 1
    return spins


def test_hits_count_within_a_window(sockets):
    # tick() is called more often than the threshold in the whole run, but not in a second.
    ticks = 45
    spins, final = traced(
        both, ticks, serve=True, deinstrument_threshold=30, include_only=["test_windows"]
    )
    calm, hot = row(final, "tick"), row(final, "spin")
    assert (calm["calls"], calm["calls_exact"]) == (ticks, True)
    assert calm["state"] == "armed"
    assert hot["calls_exact"] is False
    assert 30 <= hot["calls"] < spins


def test_without_a_budget_hits_count_for_good():
    def program():
        for _ in range(120):
            tick()
            time.sleep(0.02)

    _, final = traced(program, deinstrument_threshold=50, include_only=["test_windows"])
    calm = row(final, "tick")
    assert (calm["calls"], calm["calls_exact"], calm["state"]) == (50, False, "dark")


# --- New code while the budget is overdrawn -----------------------------------

# New code always exceeds such a small budget.
NEW = """
trace(overhead_budget=0.0001, include_only=["<made>"])
number = 0
def make(body="pass"):
    global number
    number += 1
    space = {}
    exec(compile(f"def f{number}():\\n    {body}", "<made>", "exec"), space)
    return space[f"f{number}"]
def make_debt(): # until Ocular ignores a new function
    def is_put_off():
        for _ in range(200):
            f = make()
            f()
        return row(f.__name__) is None
    burn_until(is_put_off)
"""


def test_what_is_called_once_while_overdrawn(tmp_path, sockets):
    before, after, rows, later, twice = answer(
        tmp_path,
        NEW
        + """
make_debt()
kept = [make() for _ in range(2000)]
for f in kept:
    f()
names = {f.__name__ for f in kept}
def rows():
    return [r for r in ocular.snapshot()["functions"] if r["name"] in names]
seen = rows()
before = ocular.snapshot()["memory_bytes"]
for _ in range(8000):
    make()()
after = ocular.snapshot()["memory_bytes"]
burn(1.5) # the governor wakes up meanwhile
f = make()
make_debt()
f()
f() # now Ocular knows f, with or without hooks
say(before, after, len(seen), len(rows()), row(f.__name__)["calls"])
""",
    )
    assert after < before + (1 << 20)
    # Code that has a row was made while the budget had room.
    assert rows < 200 and later == rows
    assert twice == 2


def test_a_later_session_knows_nothing_of_it(tmp_path, sockets):
    calls = answer(
        tmp_path,
        NEW
        + """
make_debt()
kept = [make() for _ in range(100)]
for f in kept:
    f()
ocular.stop_tracing()
trace(serve=False, include_only=["<made>"])
for f in kept:
    f()
say(*[row(f.__name__)["calls"] for f in kept])
""",
    )
    assert calls == [1] * 100


def test_what_runs_for_long_is_found(tmp_path, sockets):
    found = answer(
        tmp_path,
        NEW
        + """
make_debt()
long = make("while not done(): pass")
long.__globals__["done"] = lambda: bool(stop)
stop = []
thread = threading.Thread(target=long)
thread.start()
burn_until(lambda: (row(long.__name__) or {"samples": 0})["samples"])
stop.append(1)
thread.join()
found = row(long.__name__)
say(found["calls"], found["samples"], found["state"])
""",
    )
    assert found[0] == 1 and found[1] > 0


# --- The signal --------------------------------------------------------------

SAMPLED = """
trace()
burn_until(lambda: sampler()["samples"] > 3)
say(sampler()["signal"], sampler()["samples"])
"""


@pytest.mark.parametrize(
    "word, number",
    [("none", None), ("RTMIN+5", signal.SIGRTMIN + 5), ("sigurg", signal.SIGURG)],
)
def test_a_signal_is_chosen(tmp_path, sockets, word, number):
    used, samples = answer(tmp_path, SAMPLED, OCULAR_SIGNAL=word)
    assert used == number
    assert samples > 3


@pytest.mark.parametrize("word", ["SIGNOPE", "kill", "0", "999", "RTMIN+99"])
def test_what_is_no_signal(monkeypatch, word):
    monkeypatch.setenv("OCULAR_SIGNAL", word)
    with pytest.raises(ValueError, match=r"OCULAR_SIGNAL=.*give a number or a name"):
        ocular.start_tracing(quiet=True)
    assert not ocular.is_tracing()


def test_a_signal_that_is_taken(monkeypatch):
    monkeypatch.setenv("OCULAR_SIGNAL", "USR2")
    before = signal.signal(signal.SIGUSR2, lambda *_: None)
    try:
        with pytest.raises(RuntimeError, match="a handler for it.*choose another one"):
            ocular.start_tracing(quiet=True)
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert not ocular.is_tracing()


def test_a_program_that_wants_the_signal_later(tmp_path, sockets):
    first, second, more, caught = answer(
        tmp_path,
        """
trace()
burn_until(lambda: sampler()["samples"] > 3)
first = sampler()["signal"]
caught = []
signal.signal(first, lambda number, frame: caught.append(number))
def is_another():
    return sampler()["signal"] not in (first, None)
burn_until(is_another)
before = sampler()["samples"]
burn_until(lambda: sampler()["samples"] > before + 3)
# Perhaps one signal was already on its way.
del caught[:]
for _ in range(3):
    os.kill(os.getpid(), first)
    burn(0.01)
burn(0.5)
say(first, sampler()["signal"], sampler()["samples"] - before, caught)
""",
    )
    assert second not in (first, None)
    assert more > 3
    assert caught == [first] * 3


def test_a_thread_that_blocks_all_signals(tmp_path, sockets):
    share, samples, used = answer(
        tmp_path,
        """
trace(include_only=["program.py"])
stop = []
def blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    while not stop:
        burn(0.01)
thread = threading.Thread(target=blocked)
thread.start()
tid = thread.native_id
def mine():
    return [t for t in ocular.snapshot()["threads"] if t["tid"] == tid][0]
burn_until(lambda: (row("blocked")["total_share"] or 0) > 0.01 and mine()["cpu_share"])
say(row("blocked")["total_share"], mine()["samples"], sampler()["signal"])
stop.append(1)
thread.join()
""",
    )
    assert share > 0.01 and samples > 0
    assert used is not None
