# SPDX-License-Identifier: MIT
"""`make soak` traces a program with mixed work for an hour (`--seconds N`) with a budget,
while viewers of all kinds connect and disconnect. At the end, three conditions are checked:
memory has not grown, the overhead is within the budget, and the numbers of no function are
too old. In addition, no event may be lost, and no descriptor and no thread may be left."""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import program  # noqa: E402
from e2e import client  # noqa: E402
from figures.record import figure, recording  # noqa: E402

TOP = os.environ["OCULAR_TOP"]
# The numbers of a function that runs several times a second may have at most this age in
# seconds.
MOST_AGE_S = 30
# In a short run, the largest age is this fraction of the run's length.
SHORT_AGE = 0.7
# From the first half to the second half, memory may grow by this much (a fraction of the
# memory, or KiB).
MOST_GROWTH = 0.03
MOST_KIB = 2048
# In a shorter run the start matters most, so these limits find only large errors.
SHORT_S = 300
SHORT_KIB = 8192
SHORT_OVER = 4
# The overhead of a window may be at most this many times the allowed overhead. For this
# fraction of the time it may be larger.
OVER = 1.10
MOST_OVER = 0.10
# The overhead of the whole run may be at most this many times the allowed overhead.
MEAN_OVER = 1.05
# seconds of the warm-up, in which functions go dark for the first time
SETTLE_S = 20
PATIENCE_S = 60
# A short run continues until there are at least this many snapshots.
LEAST_LOOKS = 5


class Soak:
    """The observations of the program over time."""

    def __init__(self, pid, path, settle_s=SETTLE_S):
        self.pid, self.path, self.settle_s = pid, path, settle_s
        self.over = threading.Event()
        self.troubles = []  # faults that must not happen on any machine
        # missed targets, which can also be missed because the machine is busy
        self.misses = []
        self.viewers = self.snapshots = 0
        self.memory = []  # [(s, KiB)]
        self.overhead = []  # overhead in each snapshot
        # [(s, age of the oldest numbers of a running function, the function's name)]
        self.ages = []
        self.lock = threading.Lock()
        self.began = time.monotonic()

    def now(self):
        return time.monotonic() - self.began

    def goes_on(self, seconds):
        missing = LEAST_LOOKS - len(self.memory)
        return self.now() < seconds or (missing > 0 and self.now() < seconds + PATIENCE_S)

    def fail(self, words):
        with self.lock:
            self.troubles.append(f"{self.now():.0f} s: {words}")

    def miss(self, words):
        with self.lock:
            self.misses.append(f"{self.now():.0f} s: {words}")

    def seen(self):
        with self.lock:
            self.snapshots += 1

    # --- Viewers of all kinds

    def visit(self, whim, dice):
        with self.lock:
            self.viewers += 1
        try:
            whim(self, dice)
        except (client.Ended, OSError) as error:
            if not self.over.is_set():
                self.fail(f"{whim.__name__}: {error!r}")
        except Exception as error:
            self.fail(f"{whim.__name__}: {error!r}")

    def go_on_visiting(self, number):
        dice = random.Random(number)
        while not self.over.wait(dice.random() * PAUSE_S):
            self.visit(dice.choice(WHIMS), dice)

    # --- The viewer that observes the program

    def note(self, snapshot):
        overhead = snapshot["overhead"]
        self.overhead.append(
            {
                "at": self.now(),
                "hz": snapshot["sampler"]["hz"],
                **{
                    key: overhead[key]
                    for key in ("mean", "measured", "allowed", "hooks", "rearm", "threads")
                },
            }
        )
        if self.now() > self.settle_s:
            self.note_ages(snapshot["functions"])
        if (
            snapshot["sampler"]["samples"]
            and snapshot["sampler"]["unknown"] > 0.05 * snapshot["sampler"]["samples"] + 100
        ):
            self.miss(
                f"the sampler does not know {snapshot['sampler']['unknown']} of its samples"
            )

    def note_ages(self, functions):
        now = time.monotonic()
        names = program.run_throughout(now - min(self.now(), MOST_AGE_S), now)
        runs = {
            f["name"]: f["age_s"]
            for f in functions
            if f["name"] in names and os.path.basename(f["file"]) == "program.py"
        }
        if runs.keys() != names:
            self.fail(f"{names - runs.keys()} runs and is not listed")
        self.ages += ((self.now(), age, name) for name, age in runs.items())

    def watch(self):
        """A viewer that is connected all the time."""
        with client.Client(self.path) as viewer:
            while not self.over.is_set():
                before = self.now()
                self.note(viewer.snapshot())
                self.seen()
                if self.now() - before > PATIENCE_S / 2:
                    self.fail("no snapshot came for half a minute")
                self.memory.append((self.now(), own_kib(self.pid)))


def own_kib(pid):
    """Returns the process's own memory in KiB, without pages of files. If pages of files
    counted (as in Pss), the memory would seem to grow when another process that runs the
    same Python ends."""
    fields = Path(f"/proc/{pid}/status").read_text()
    return sum(int(fields.split(name)[1].split()[0]) for name in ("RssAnon:", "VmSwap:"))


def count_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def count_threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


# --- Actions of the other viewers ---------------------------------------------


def reads_for_a_while(soak, dice):
    with client.Client(soak.path) as viewer:
        viewer.rate(dice.choice((1, 2)))
        for _ in range(dice.randrange(1, 12)):
            viewer.snapshot()
            soak.seen()


def never_reads(soak, dice):
    with client.Client(soak.path) as viewer:
        viewer.send(client.RATE, client.struct.pack("<d", 1), 1)
        soak.over.wait(dice.random() * 10)


def says_nothing(soak, dice):
    with client.Client(soak.path, hello=False):
        soak.over.wait(dice.random() * 7)


def hangs_up_in_the_middle(soak, dice):
    with client.Client(soak.path) as viewer:
        viewer.snapshot()
        viewer.socket.sendall(b"Oc\x10\x00\x08")


def asks(soak, dice):
    with client.Client(soak.path) as viewer:
        rows = viewer.snapshot()["functions"]
        soak.seen()
        viewer.ask(client.BUDGET, client.struct.pack("<d", program.BUDGET))
        for row in dice.sample(rows, min(3, len(rows))):
            try:
                viewer.rearm(row["id"])
            except client.Refused:
                pass  # the code of the function might have been freed


def is_killed(soak, dice):
    viewer = subprocess.Popen(
        [TOP, "--pid", str(soak.pid), "--batch", "-d", "1"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    viewer.stdout.read(2000)
    viewer.send_signal(signal.SIGKILL)
    viewer.communicate()


def looks_once(soak, dice):
    done = subprocess.run(
        [TOP, "--pid", str(soak.pid), "--once", "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    if done.returncode == 0:
        json.loads(done.stdout)
        soak.seen()
    elif not soak.over.is_set():
        soak.fail(f"ocular-top: {done.stderr.decode()}")


WHIMS = (
    reads_for_a_while,
    reads_for_a_while,
    never_reads,
    says_nothing,
    hangs_up_in_the_middle,
    asks,
    is_killed,
    looks_once,
)
VISITORS = 3
# longest time in seconds between two viewers; each first snapshot costs time
PAUSE_S = 12


# --- The checks at the end ----------------------------------------------------


def check_memory(soak, seconds):
    """Compares the memory of the second half with the memory of the first half, without the
    time in which the program makes everything that it makes only once."""
    steady = [point for point in soak.memory if point[0] > seconds / 5]
    half = len(steady) // 2
    if half < 2:
        soak.fail("too few looks at the memory")
        return "memory unknown"
    first = statistics.median(kib for _, kib in steady[:half])
    second = statistics.median(kib for _, kib in steady[half:])
    most = max(MOST_KIB, MOST_GROWTH * first)
    figure("soak/memory_growth", second - first, unit="KiB")
    if second - first > (most if seconds >= SHORT_S else SHORT_KIB):
        soak.miss(
            f"memory grows: {first:.0f} KiB in the first half, {second:.0f} in the second"
        )
    return f"memory {first / 1024:.1f} -> {second / 1024:.1f} MiB"


def check_overhead(soak, seconds):
    steady = [
        row
        for row in soak.overhead
        if row["at"] > max(soak.settle_s, seconds / 10) and None not in row.values()
    ]
    if not steady:
        soak.fail("no overhead is reported")
        return "overhead unknown"
    # Compares the overhead in windows of ten seconds with the allowed overhead.
    over = [row["measured"] for row in steady if row["measured"] > OVER * row["allowed"]]
    often = f"over by a tenth {len(over)} times of {len(steady)}"
    if len(over) > MOST_OVER * len(steady) and seconds >= SHORT_S:
        soak.miss(
            f"the overhead is over the budget {len(over)} times of "
            f"{len(steady)}: up to {max(over):.2%}"
        )
    measured = statistics.fmean(row["measured"] for row in steady)
    allowed = statistics.fmean(row["allowed"] for row in steady)
    if measured > allowed * (MEAN_OVER if seconds >= SHORT_S else SHORT_OVER):
        soak.miss(f"the mean overhead of ten seconds is {measured:.2%} of {allowed:.2%}")
    # Compares the overhead since the start with the budget.
    mean = steady[-1]["mean"]
    figure("soak/overhead", 100 * mean, unit="%")
    figure("soak/overhead_in_10_s", 100 * measured, unit="%")
    if mean > program.BUDGET * (MEAN_OVER if seconds >= SHORT_S else SHORT_OVER):
        soak.miss(f"the mean overhead is {mean:.2%} of {program.BUDGET:.2%}")
    parts = [
        statistics.fmean(row[part] for row in steady)
        for part in ("hooks", "rearm", "threads")
    ]
    return (
        f"overhead as reported {mean:.2%} of {program.BUDGET:.2%} ("
        f"in ten seconds {measured:.2%} of {allowed:.2%}, {often}: "
        f"hooks {parts[0]:.2%}, re-arm {parts[1]:.2%}, threads {parts[2]:.2%})"
    )


def check_ages(soak, seconds):
    # No number can be older than the run is long, so the limit is smaller in a short run.
    most = min(MOST_AGE_S, SHORT_AGE * seconds)
    old = max(soak.ages, key=lambda row: row[1], default=None)
    if old is None:
        soak.fail("no ages are reported")
        return "ages unknown"
    figure("soak/oldest_age", old[1], unit="s")
    if old[1] > most:
        soak.miss(f"{old[2]}() runs, and its numbers were {old[1]:.0f} s old")
    return f"oldest {old[1]:.0f} s"


def least(count, pid):
    """Counts the descriptors without files that are open for a short time only."""
    counts = []
    for _ in range(10):
        counts.append(count(pid))
        time.sleep(0.1)
    return min(counts)


def settled(count, pid, wanted):
    """Waits until this count is the same as before. Returns the last count that it has
    made."""
    limit = time.monotonic() + 15
    while (now := count(pid)) > wanted and time.monotonic() < limit:
        time.sleep(0.1)
    return now


def run(options, folder):
    """Returns (troubles, missed targets, texts for the last line of the output)."""
    seconds = options.seconds
    process = subprocess.Popen(
        [sys.executable, str(HERE / "program.py")],
        cwd=folder,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    path = process.stdout.readline().strip()
    if not path:
        return [f"it does not start: {process.communicate()[1]}"], [], []
    soak = Soak(process.pid, path, min(SETTLE_S, seconds / 2))
    time.sleep(1)
    files, threads = (least(count, process.pid) for count in (count_files, count_threads))
    watcher = threading.Thread(target=soak.visit, args=(lambda soak, _: soak.watch(), None))
    party = [watcher] + [
        threading.Thread(target=soak.go_on_visiting, args=(number,))
        for number in range(VISITORS)
    ]
    for thread in party:
        thread.start()
    try:
        while soak.goes_on(seconds) and process.poll() is None:
            time.sleep(0.5)
    finally:
        soak.over.set()
        for thread in party:
            thread.join(PATIENCE_S)
    if process.poll() is None:
        left = (
            settled(count_files, process.pid, files),
            settled(count_threads, process.pid, threads),
        )
        if left != (files, threads):
            soak.fail(
                f"{left[0]} descriptors and {left[1]} threads are left "
                f"of {files} and {threads}"
            )
    return finish(soak, process, seconds)


def finish(soak, process, seconds):
    try:
        out, err = process.communicate("", timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        out, err = process.communicate()
        soak.fail("the program hangs at its end")
    if process.returncode or err:
        soak.fail(f"the program ended with {process.returncode}: {err[-2000:]}")
        return soak.troubles, soak.misses, []
    reported = json.loads(out.splitlines()[-1])
    if reported["lost"]:
        soak.fail(f"{reported['lost']} events of {reported['events']} are lost")
    if reported["threads"] or os.path.exists(soak.path):
        soak.fail(f"left behind: {reported['threads']} {soak.path}")
    for what, number in sorted(reported["counts"].items()):
        print(f"  {number:8} {what}")
        if not number and seconds > program.FORK_S:
            soak.fail(f"no {what}")
    figure("soak/snapshots", soak.snapshots, "higher")
    words = [
        check_memory(soak, seconds),
        check_overhead(soak, seconds),
        check_ages(soak, seconds),
        f"{soak.snapshots} snapshots for {soak.viewers} viewers",
    ]
    return soak.troubles, soak.misses, words


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="so-") as folder:
        os.environ["OCULAR_DIR"] = folder
        troubles, misses, words = run(options, folder)
    for trouble in [*troubles, *misses][:20]:
        print(f"soak: {trouble}")
    if not recording():
        troubles += misses
    if troubles:
        print(
            f"soak: FAILED, {len(troubles)} troubles, {options.seconds} s: "
            f"{', '.join(words)}"
        )
        return 1
    print(f"soak: ok, {options.seconds} s: {', '.join(words)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
