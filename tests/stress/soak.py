# SPDX-License-Identifier: MIT
"""`make soak` traces a program with mixed work for an hour (`--seconds N`) with a budget,
while viewers of many kinds connect and disconnect. At the end, memory must not have grown,
the overhead must be within the budget, and no function's numbers may be too old. In
addition, no event may be lost, and no descriptor and no thread may be left. `soak.py
program FOLDER` is the program, which runs until its stdin is closed."""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import ocular  # noqa: E402
import viewers  # noqa: E402
import watch  # noqa: E402
import work  # noqa: E402
from e2e import client  # noqa: E402
from figures.record import figure, recording  # noqa: E402
from party import TROUBLE_ENDS, Party, Troop  # noqa: E402

BUDGET = 0.01
# Largest age in seconds of the numbers of a function that runs several times a second. In a
# short run, the limit is SHORT_AGE times the length of the run.
MOST_AGE_S, SHORT_AGE = 30, 0.7
# From the first half to the second half of the run, memory may grow by this fraction or by
# this many KiB, whichever is larger.
MOST_GROWTH, MOST_KIB = 0.03, 2048
# In a run shorter than SHORT_S, the start matters most, and only large errors are found.
SHORT_S, SHORT_KIB, SHORT_OVER = 300, 8192, 4
# In ten seconds the overhead may be OVER times the allowed overhead. The overhead may be
# larger for the fraction MOST_OVER of the time.
OVER, MOST_OVER = 1.10, 0.10
# The overhead of the whole run may be at most this many times the allowed overhead.
MEAN_OVER = 1.05
SETTLE_S = 20  # seconds of the warm-up, in which functions first lose their hooks
PATIENCE_S = 60
LEAST_LOOKS = 5  # a short run continues until there are at least this many snapshots
VISITORS = 3
# Longest time in seconds between two viewers. The first snapshot for a viewer is expensive.
PAUSE_S = 12


# --- The program --------------------------------------------------------------

PHASE_S, IDLE_S = 20, 4  # at the end of each phase, only beat() works for IDLE_S seconds
FORK_S = 7


def beat(party, dice):
    """Runs all the time, about ten times a second."""
    while party.going(0.1):
        pulse()
        party.count("beats")


def pulse():
    total = 0
    for number in range(200):
        total += number * number
    return total


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def moved(self, dx, dy):
        return Point(self.x + dx, self.y + dy)


def walk(dice):
    point = Point(0, 0)
    for _ in range(300):
        point = point.moved(dice.random(), 1)


def parse(dice):
    json.loads(json.dumps([{"name": str(n), "value": dice.random()} for n in range(60)]))


def sieve(dice):
    numbers = [True] * 3000
    for step in range(2, 55):
        if numbers[step]:
            for multiple in range(step * step, 3000, step):
                numbers[multiple] = False


def search(dice):
    words = " ".join(str(dice.randrange(10_000)) for _ in range(300))
    re.findall(r"\b(\d)(\d)\2\1\b", words)


def climb(dice, depth=60):
    return depth and 1 + climb(dice, depth - 1)


KINDS = (walk, parse, sieve, search, climb)
WORKERS = 3


def kinds_at(seconds):
    """Returns the kinds of work that the workers do at a given time (s of the monotonic
    clock)."""
    return [KINDS[(int(seconds // PHASE_S) + n) % len(KINDS)] for n in range(WORKERS)]


def run_throughout(begin, end):
    """Returns the names of the functions that run all the time from `begin` to `end`. A
    kind of work runs for as many phases as there are workers, and then does not run for two
    phases."""
    if end - begin < PHASE_S and begin % PHASE_S > PHASE_S - IDLE_S - 1:
        return {"pulse"}  # only beat() works in a part of this time
    both = set(kinds_at(begin)) & set(kinds_at(end))
    return {"pulse", *(kind.__name__ for kind in both)}


def worker(number):
    """Returns a part of the program, which does another kind of work in each phase, and
    nothing at the end of a phase."""

    def working(party, dice):
        while party.going():
            now = time.monotonic()
            if now % PHASE_S > PHASE_S - IDLE_S:
                party.going(0.05)
                continue
            kinds_at(now)[number](dice)
            party.count("rounds")

    return working


def churn(party, dice):
    """Makes new functions, calls them often, and then frees them."""
    source = "def made(n):\n    while n:\n        n -= 1\n    return {0}\n"
    while party.going(0.1):
        space, made = {}, int(party.fresh(""))
        exec(compile(source.format(made), f"<made {made % 400}>", "exec"), space)
        for _ in range(3):
            space["made"](50)
        party.count("code objects")


def program(folder):
    ocular.start_tracing(
        serve=True, overhead_budget=BUDGET, quiet=True, timeline_limit=4 << 20
    )
    party = Party("soak", folder)
    time.sleep(1)  # after this time, all threads of Ocular run
    before = watch.Held.now()
    parts = [(f"worker {number}", worker(number)) for number in range(WORKERS)]
    parts += [("beat", beat), ("churn", churn), ("gather", work.gather)]
    troop = Troop(party, parts)
    troop.start()
    threading.Thread(target=lambda: (sys.stdin.read(), party.over.set())).start()
    print(ocular._ocular.socket_path(), flush=True)
    while party.going(FORK_S):
        pid = os.fork()
        if not pid:
            pulse()
            os._exit(0)
        if os.waitpid(pid, 0)[1]:
            party.fail("a child ended badly")
        party.count("forks")
    if stuck := troop.join(PATIENCE_S):
        party.fail(f"{stuck} do not end")
    code = party.counts["code objects"]
    left = watch.complaints(before, watch.settled(before, code, serving=True), code, True)
    final = ocular.stop_tracing()
    if final["lost"]:
        left.append(f"{final['lost']} events of {final['events']} are lost")
    after = watch.Held.now()
    for trouble in left + watch.complaints(after, after) + watch.leftovers():
        party.fail(trouble)
    print(json.dumps(party.counts), flush=True)


# --- Actions of the viewers ---------------------------------------------------


def asks(party, viewer, dice):
    rows = viewer.snapshot()["functions"]
    viewer.ask(client.BUDGET, client.struct.pack("<d", BUDGET))
    for row in dice.sample(rows, min(3, len(rows))):
        try:
            viewer.rearm(row["id"])
        except client.Refused:
            pass  # perhaps the function's code was freed


def says_nothing(party, viewer, dice):
    with client.Client(party.path, hello=False):
        party.going(dice.random() * 7)


def is_killed(party, viewer, dice):
    command = [viewers.TOP, "--pid", str(party.pid), "--batch", "-d", "1"]
    none = subprocess.DEVNULL
    top = subprocess.Popen(command, stdin=none, stdout=subprocess.PIPE, stderr=none)
    top.stdout.read(2000)
    top.kill()
    top.communicate()


WHIMS = (viewers.reads_for_a_while, viewers.reads_for_a_while, viewers.never_reads)
WHIMS += (viewers.vanishes_in_a_frame, viewers.look_once)
WHIMS += (says_nothing, asks, is_killed)


def visit(party, dice):
    while party.going(dice.random() * PAUSE_S):
        with client.Client(party.path) as viewer:
            dice.choice(WHIMS)(party, viewer, dice)
        party.count("viewers")


class Watcher:
    """A viewer that is connected all the time, and the numbers that it has received."""

    def __init__(self, settle_s):
        self.settle_s, self.began = settle_s, time.monotonic()
        self.memory = []  # Tuples of s and KiB.
        self.overhead = []  # Tuples of s and overhead.
        self.ages = []  # Ages of running functions' numbers, and the functions' names.
        # Missed targets. A busy machine can be the cause.
        self.misses = []

    def now(self):
        return time.monotonic() - self.began

    def watch(self, party, dice):
        with client.Client(party.path) as viewer:
            while party.going():
                before, snapshot = self.now(), viewer.snapshot()
                party.count("snapshots")
                if self.now() - before > PATIENCE_S / 2:
                    party.fail("no snapshot came for half a minute")
                self.memory.append((self.now(), own_kib(party.pid)))
                self.overhead.append((self.now(), snapshot["overhead"]))
                if self.now() > self.settle_s:
                    self.note_ages(party, snapshot["functions"])
                unknown, samples = (snapshot["sampler"][n] for n in ("unknown", "samples"))
                if samples and unknown > 0.05 * samples + 100:
                    self.misses.append(f"the sampler does not know {unknown} samples")

    def note_ages(self, party, functions):
        now = time.monotonic()
        names = run_throughout(now - min(self.now(), MOST_AGE_S), now)
        ages = {
            f["name"]: f["age_s"]
            for f in functions
            if f["name"] in names and os.path.basename(f["file"]) == "soak.py"
        }
        if ages.keys() != names:
            party.fail(f"{names - ages.keys()} runs and is not listed")
        self.ages += ((age, name) for name, age in ages.items())


def own_kib(pid):
    """Returns the process's own memory in KiB, without pages of files. With these pages (as
    in Pss), the memory would seem to grow if another process with the same Python ended."""
    fields = Path(f"/proc/{pid}/status").read_text()
    return sum(int(fields.split(name)[1].split()[0]) for name in ("RssAnon:", "VmSwap:"))


# --- The checks at the end ----------------------------------------------------


def check_memory(watcher, seconds):
    """Compares the memory of the second half with the memory of the first half. The first
    fifth of the run is left out, because the program then allocates what it keeps."""
    steady = [kib for at, kib in watcher.memory if at > seconds / 5]
    half = len(steady) // 2
    first, second = statistics.median(steady[:half]), statistics.median(steady[half:])
    most = max(MOST_KIB, MOST_GROWTH * first) if seconds >= SHORT_S else SHORT_KIB
    figure("soak/memory_growth", second - first, unit="KiB")
    words = f"memory {first / 1024:.1f} -> {second / 1024:.1f} MiB"
    if second - first > most:
        watcher.misses.append(words)
    return words


def check_overhead(watcher, seconds):
    """Compares the overhead in windows of ten seconds with the allowed overhead, and the
    overhead since the start with the budget."""
    begin = max(watcher.settle_s, seconds / 10)
    rows = [row for at, row in watcher.overhead if at > begin and row["measured"]]
    over = sum(row["measured"] > OVER * row["allowed"] for row in rows)
    measured, allowed, hooks, rearm, threads = (
        statistics.fmean(row[name] for row in rows)
        for name in ("measured", "allowed", "hooks", "rearm", "threads")
    )
    mean = rows[-1]["mean"]
    figure("soak/overhead", 100 * mean, unit="%")
    figure("soak/overhead_in_10_s", 100 * measured, unit="%")
    words = (
        f"overhead as reported {mean:.2%} of {BUDGET:.2%} (in ten seconds {measured:.2%} "
        f"of {allowed:.2%}, over by a tenth {over} times of {len(rows)}: "
        f"hooks {hooks:.2%}, re-arm {rearm:.2%}, threads {threads:.2%})"
    )
    most = MEAN_OVER if seconds >= SHORT_S else SHORT_OVER
    often = over > MOST_OVER * len(rows) and seconds >= SHORT_S
    if often or measured > allowed * most or mean > BUDGET * most:
        watcher.misses.append(words)
    return words


def check_ages(watcher, seconds):
    # No number can be older than the run is long, so the limit is smaller in a short run.
    age, name = max(watcher.ages)
    figure("soak/oldest_age", age, unit="s")
    if age > min(MOST_AGE_S, SHORT_AGE * seconds):
        watcher.misses.append(f"{name}() runs, and its numbers were {age:.0f} s old")
    return f"oldest {age:.0f} s"


def run(seconds, folder):
    """Returns troubles, missed targets, and texts for the last line of the output."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", __file__, "program", folder],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    party = Party(random.random(), folder)
    party.rate = 1
    party.pid, party.path = process.pid, process.stdout.readline().strip()
    watcher = Watcher(min(SETTLE_S, seconds / 2))
    parts = [(f"visitor {number}", visit) for number in range(VISITORS)]
    troop = Troop(party, [("watcher", watcher.watch), *parts])
    troop.start()
    while process.poll() is None and watcher.now() < seconds + PATIENCE_S:
        if watcher.now() > seconds and len(watcher.memory) >= LEAST_LOOKS:
            break
        time.sleep(0.5)
    party.over.set()
    if stuck := troop.join(PATIENCE_S):
        party.fail(f"viewers do not end: {stuck}")
    try:
        out, err = process.communicate("", timeout=2 * PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        party.fail("the program hangs at its end")
    if process.returncode or err:
        party.fail(f"the program ended with {process.returncode}: {err[-2000:]}")
    if party.counts["ocular-top runs"] > party.counts["ocular-top answered"]:
        party.fail("ocular-top got no answer")
    counts = Counter(json.loads(out or "{}"))
    for what in {"beats", "rounds", "code objects", "event loops", "forks"} - counts.keys():
        if seconds > FORK_S:
            party.fail(f"no {what}")
    for what, number in sorted((counts + party.counts).items()):
        print(f"  {number:8} {what}")
    figure("soak/snapshots", party.counts["snapshots"], "higher")
    checks = check_memory, check_overhead, check_ages
    if len(watcher.memory) < LEAST_LOOKS or not watcher.ages:
        party.fail("too few snapshots came")
        checks = ()
    words = [check(watcher, seconds) for check in checks]
    troubles = Path(folder, "troubles")
    found = troubles.read_text().split(TROUBLE_ENDS)[:-1] if troubles.exists() else []
    return found, watcher.misses, words


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory(prefix="so-") as folder:
        os.environ["OCULAR_DIR"] = folder
        os.chdir(folder)
        troubles, misses, words = run(seconds, folder)
    for trouble in [*troubles, *misses][:20]:
        print(f"soak: {trouble}")
    if not recording():
        troubles += misses
    state = f"FAILED, {len(troubles)} troubles" if troubles else "ok"
    print(f"soak: {state}, {seconds} s: {', '.join(words)}")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(program(sys.argv[2]) if sys.argv[1:2] == ["program"] else main())
