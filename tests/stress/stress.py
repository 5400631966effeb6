# SPDX-License-Identifier: MIT
"""`make stress` runs threads, code that is made and freed, forks, starts and stops of
tracing, snapshots, viewers and other tools at the same time, and then checks for leaks.

The test itself runs in a separate process. The main process watches it, and distinguishes
a crash and a hang from a normal end. If the test fails, the message says how to run the
same test again.
"""

import argparse
import faulthandler
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import party as parties  # noqa: E402
from figures.record import figure, recording  # noqa: E402

# The test counts as hung if it takes this many seconds more than the chosen time.
PATIENCE = 120


# PYTHONMALLOC gives each object an allocation of its own, so that a sanitizer notices
# when an object is freed. ASAN_OPTIONS leaves out leaks of the interpreter.
SANITIZED = {
    "PYTHONMALLOC": "malloc",
    "ASAN_OPTIONS": "detect_leaks=0:handle_segv=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "die_after_fork=0:report_signal_unsafe=0:"
    "exitcode=0:second_deadlock_stack=1",
}

# --- The test itself ----------------------------------------------------------


def parts(party):
    import children
    import control
    import viewers
    import work

    found = list(work.PARTS)
    if party.tracing:
        found += control.PARTS + viewers.PARTS + children.PARTS
    return found


def round_of(party, seconds):
    """Runs all parts for `seconds`, while the main thread forks. Returns False in a forked
    child."""
    import children

    party.over.clear()
    troop = parties.Troop(party, parts(party))
    troop.start()
    dice = party.dice("main")
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if party.tracing and not children.fork_and_return(party, dice):
            return False
        time.sleep(0.2)
    party.over.set()
    if stuck := troop.join(PATIENCE / 2):
        faulthandler.dump_traceback()
        party.fail(f"{', '.join(stuck)}: still running\n{children.backtrace(os.getpid())}")
    return not stuck


def look_around(party, before):
    """Checks for leaks when all parts of the test have ended."""
    import control
    import watch

    if not control.wait_until_idle():
        party.fail("tracing does not stop")
    code = party.counts["code"]
    after = watch.settled(before, code)
    found = watch.complaints(before, after, code)
    if "LD_PRELOAD" in os.environ:  # a sanitizer keeps freed memory
        found = [trouble for trouble in found if "memory" not in trouble]
    for trouble in found + watch.leftovers():
        party.fail(trouble)


def inner(options):
    """Runs the test in the process that is being watched."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    party = parties.Party(options.seed, options.folder)
    party.tracing = not options.untraced
    return rounds(party, options)


def rounds(party, options):
    """Runs two rounds, and checks what the second round has left behind. Returns the exit
    status."""
    import control
    import watch

    mother = os.getpid()
    # Memory that is allocated only once and then kept (arenas, stacks, caches) is not a
    # leak. Memory that is allocated only once is allocated in the first round.
    went_on = round_of(party, options.seconds / 4)
    if os.getpid() != mother:
        return 0
    if went_on and control.wait_until_idle():
        before = watch.Held.now()
        went_on = round_of(party, options.seconds)
        if os.getpid() != mother:
            return 0
        if went_on:
            look_around(party, before)
    Path(options.report).write_text(json.dumps(party.counts))
    if threading.active_count() > 1:
        os._exit(1)  # a normal exit would wait for threads that hang
    return 0


# --- The process that watches the test ----------------------------------------


def outer(options):
    """Runs the process of the test, and prints the result. Returns the exit status."""
    scratch = Path(tempfile.mkdtemp(prefix="st-"))
    try:
        troubles, counts = watch_over(options, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for what, number in sorted(counts.items()):
        print(f"  {number:8} {what}")
    for trouble, times in Counter(troubles).most_common(20):
        print(f"stress: {trouble}" + (f" ({times} times)" if times > 1 else ""))
    figure("stress/troubles", len(troubles))
    if troubles:
        print(
            f"stress: FAILED, {len(troubles)} troubles; run it again with "
            f"make PYTHON={sys.executable} stress "
            f"ARGS='--seed {options.seed} --seconds {options.seconds:g}'"
        )
        return 0 if recording() else 1
    print(f"stress: ok, {options.seconds:g} s, seed {options.seed}")
    return 0


def command(options, scratch, report):
    """Returns the command for the process of the test."""
    words = [sys.executable, "-W", "ignore::DeprecationWarning", __file__, "--inner"]
    words += ["--seed", options.seed, "--report", str(report)]
    words += ["--seconds", str(options.seconds), "--folder", str(scratch)]
    words += ["--untraced"] if options.untraced else []
    return words


def watch_over(options, scratch):
    """Starts the test's process. Returns the failures and the report of the test."""
    import children

    (scratch / "s").mkdir(mode=0o700)
    report = scratch / "report.json"
    environment = dict(os.environ, OCULAR_DIR=str(scratch / "s"))
    if options.preload:
        environment.update(SANITIZED, LD_PRELOAD=options.preload)
    troubles = []
    with open(scratch / "output", "w+b") as output:
        process = subprocess.Popen(
            command(options, scratch, report),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=scratch,
            start_new_session=True,
        )
        try:
            status = process.wait(1.25 * options.seconds + PATIENCE)
        except subprocess.TimeoutExpired:
            troubles.append(f"hangs\n{children.backtrace(process.pid)}")
            # The signal makes the process print its Python stacks.
            process.send_signal(signal.SIGUSR1)
            time.sleep(1)
            os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        output.seek(0)
        words = output.read().decode("utf-8", "replace")
    if status:
        name = signal.Signals(-status).name if status < 0 else status
        troubles.append(f"ended with {name}")
    if words:
        troubles.append(f"printed:\n{words[-80000:]}")
    if (scratch / "troubles").exists():
        found = (scratch / "troubles").read_text()
        troubles += found.split(parties.TROUBLE_ENDS)[:-1]
    if not report.exists():
        return troubles or ["ended too soon"], {}
    return troubles, json.loads(report.read_text())


def parse():
    parser = argparse.ArgumentParser(prog="make stress ARGS=...", description=__doc__)
    add = parser.add_argument
    add("--seconds", type=float, default=60, help="default %(default)s")
    seed = str(int.from_bytes(os.urandom(4)))
    add("--seed", default=seed, help="of every choice that is made; random")
    more = "only the work, for comparison: is it CPython that crashes?"
    add("--untraced", action="store_true", help=more)
    add("--preload", help="a sanitizer's runtime, for an extension built with it")
    for name in "--report", "--folder":
        add(name, help=argparse.SUPPRESS)
    add("--inner", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    if options.inner:
        return inner(options)
    print(
        f"stress: CPython {platform.python_version()}, "
        f"{options.seconds:g} s, seed {options.seed}",
        flush=True,
    )
    return outer(options)


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
