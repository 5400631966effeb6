# SPDX-License-Identifier: MIT
"""Makes forks of every kind, while all other parts of the stress test run. The main thread
forks children that end like a program. Other threads fork children that end in another
way."""

import contextlib
import multiprocessing.process
import os
import shutil
import signal
import subprocess
import time
import traceback

import extensions
import ocular

SLOW = 30  # seconds after which a child counts as hung


def calls():
    """Makes some calls that can be traced."""

    def one(i):
        return i + 1

    return sum(one(i) for i in range(200))


def trace(party, serve):
    """Starts a trace in the child itself."""
    ocular.start_tracing(
        serve=serve,
        quiet=True,
        timeline_limit=1 << 20,
        output=party.folder / f"child{os.getpid()}.json",
    )
    calls()
    snapshot = ocular.snapshot()
    assert snapshot["pid"] == os.getpid(), snapshot["pid"]
    rows = [
        row for row in snapshot["functions"] if row["name"].endswith("calls.<locals>.one")
    ]
    assert rows[0]["calls"] == 200, rows


def stop(party):
    ocular.stop_tracing()
    (party.folder / f"child{os.getpid()}.json").unlink()


# --- Actions of a child, and their ends: (function, its wait status) ----------


def just_ends(party):
    calls()


def traces_and_stops(party):
    if ocular.is_tracing():  # the child is perhaps traced, if its parent served
        ocular.stop_tracing()
    trace(party, serve=os.getpid() % 2 == 0)
    stop(party)


def forks_again(party):
    pid = os.fork()
    if pid == 0:
        calls()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def is_killed(party):
    calls()
    os.kill(os.getpid(), signal.SIGKILL)


def is_terminated(party):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    calls()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SLOW)


DEEDS = [(deed, 0) for deed in (just_ends, traces_and_stops, forks_again)]
DEEDS += [(is_killed, signal.SIGKILL), (is_terminated, signal.SIGTERM)]


def in_child(party, deed):
    """Runs the function `deed` in the child, and returns the exit status. The child
    writes messages for its parent into a file."""
    try:
        deed(party)
        return 0
    except BaseException:
        path = party.folder / f"trouble-{os.getpid()}"
        path.write_text(f"child, {deed.__name__}: {traceback.format_exc()}")
        return 3


def expect(party, pid, name, status, tidy=False):
    """Waits for a child, and checks how it has ended. If `tidy` is true, the child must
    leave nothing of Ocular behind."""
    limit = time.monotonic() + SLOW
    while True:
        done, got = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > limit:
            where = backtrace(pid)
            # Older versions of AddressSanitizer do not hold the locks of their allocator
            # across a fork. If a child hangs at such a lock, this is not Ocular's fault.
            if "__sanitizer::Mutex::Lock" in where:
                party.count("children stuck in the sanitizer")
            else:
                party.fail(f"child, {name}: hangs\n{where}")
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return
        time.sleep(0.003)
    for left in (
        f"{os.environ['OCULAR_DIR']}/{pid}.sock",
        party.folder / f"child{pid}.json",
    ):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(left)
            if tidy:
                party.fail(f"child, {name}: left {left}")
    if got != status:
        words = f"wait status {got}, not {status}"
        with contextlib.suppress(OSError):
            words += "\n" + (party.folder / f"trouble-{pid}").read_text()
        party.fail(f"child, {name}: {words}")
    party.count("children")


def backtrace(pid):
    """Returns a backtrace of the process's C stacks, if gdb is installed."""
    if not shutil.which("gdb"):
        return "(no gdb for a backtrace)"
    environment = dict(os.environ)
    environment.pop("LD_PRELOAD", None)
    return subprocess.run(
        ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 40"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=120,
    ).stdout


def fork_and_leave(party, dice):
    """Forks children that end by os._exit() or by a signal. Any thread may call this
    function."""
    while party.going(dice.random() * 0.2):
        deed, status = dice.choice(DEEDS)
        pid = os.fork()
        if pid == 0:
            os._exit(in_child(party, deed))
        expect(party, pid, deed.__name__, status)


def fork_and_return(party, dice):
    """Forks a child that ends like a program, and so runs its atexit functions. Only the
    main thread forks such children. Returns False in the child, which must then return from
    main()."""
    deed, status = dice.choice(DEEDS[:3])
    leave_traced = deed is just_ends and dice.random() < 0.5
    pid = os.fork()
    if pid:
        expect(party, pid, f"{deed.__name__}, returns", status, tidy=True)
        return True
    # Otherwise the child would wait at its exit for its parent's children.
    multiprocessing.process._children.clear()
    status = in_child(party, deed)
    if status:
        os._exit(status)
    if leave_traced and not ocular.is_tracing():
        ocular.start_tracing(perfetto=False, quiet=True)
        calls()
    return False


def fork_raw(party, dice):
    """Forks in C code, so that Python does not notice the fork."""
    raw = extensions.load("stress", "rawfork")
    while party.going(0.2):
        expect(party, raw.fork(), "raw fork", 0)


PARTS = [("fork", fork_and_leave), ("raw fork", fork_raw)]
