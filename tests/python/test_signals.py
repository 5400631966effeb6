# SPDX-License-Identifier: MIT
"""A traced program gets the same signals as an untraced program. Every test program runs
both traced and untraced, and must end with the same status and output."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from e2e.program import PYTHON, SLOW, start, wait_until, write

START = """
import ocular
ocular.start_tracing(serve=True, quiet=True, output="trace.json")
"""

# Each test program is started in each of these ways, and must have the same result.
WAYS = {
    "untraced": ("", []),
    "serving": (START, []),
    "-m ocular": ("", ["-m", "ocular", "--serve", "--quiet"]),
}

PRELUDE = """
import os, select, signal, sys, threading, time
def work(n=1000):
    while n:
        n -= 1
def run_for(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        work(20)
def ready():
    print("ready", flush=True)
def ready_soon():
    "Prints when the caller waits, because CPython misses a signal that comes earlier."
    threading.Timer(0.3, ready).start()
def forever():
    while True:
        work()
"""

# Each entry has a program and the signals that it gets, one each time it prints "ready".
PROGRAMS = {
    "ctrl-c, computing": ("ready()\nforever()", [signal.SIGINT]),
    "ctrl-c, asleep": ("ready_soon()\ntime.sleep(60)", [signal.SIGINT]),
    "ctrl-c, caught": (
        """
for n in range(2):
    try:
        if n == 0:
            ready()
        forever()
    except KeyboardInterrupt:
        print("caught", threading.current_thread().name, flush=True)
        ready()
sys.exit(7)
""",
        [signal.SIGINT, signal.SIGINT],
    ),
    "terminated": ("ready()\nforever()", [signal.SIGTERM]),
    "a handler exits": (
        """
def handler(number, frame):
    print(signal.Signals(number).name, threading.current_thread().name)
    sys.exit(3)
signal.signal(signal.SIGTERM, handler)
threading.Thread(target=forever, daemon=True).start()
ready()
forever()
""",
        [signal.SIGTERM],
    ),
    "a handler raises": (
        """
def handler(number, frame):
    raise ValueError(frame.f_code.co_name in ("forever", "work"))
signal.signal(signal.SIGUSR1, handler)
ready()
forever()
""",
        [signal.SIGUSR1],
    ),
    "ignored": (
        """
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(4))
ready()
time.sleep(0.1)
ready()
forever()
""",
        [signal.SIGINT, signal.SIGUSR1],
    ),
    "waited for, all of them": (
        """
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
got, pending = [], set()
def run():
    for _ in range(10):
        run_for(0.01)
        pending.update(signal.sigpending() - {signal.SIGTERM})
    os.kill(os.getpid(), signal.SIGUSR1)
thread = threading.Thread(target=run)
thread.start()
run_for(0.04)
ready()
while len(got) < 2:
    got.append(int(signal.sigwait(signal.valid_signals())))
    run_for(0.04)
thread.join()
print(sorted(got), pending, signal.sigpending())
""",
        [signal.SIGTERM],
    ),
    "blocked for a while": (
        """
def run():
    for _ in range(5):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        print(before)
        run_for(0.01)
        print(signal.sigpending())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
        run_for(0.01)
run()
thread = threading.Thread(target=run)
thread.start()
thread.join()
""",
        [],
    ),
    "a wake-up descriptor": (
        """
read, write = os.pipe()
os.set_blocking(write, False)
signal.set_wakeup_fd(write)
signal.signal(signal.SIGUSR1, lambda *_: None)
ready()
select.select([read], [], [])
print(os.read(read, 10))
""",
        [signal.SIGUSR1],
    ),
    "asyncio": (
        """
import asyncio
async def main():
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    ready()
    await over.wait()
    print("over")
asyncio.run(main())
""",
        [signal.SIGTERM],
    ),
    "timers": (
        """
def tick(number, frame):
    ticks.append(threading.current_thread() is threading.main_thread())
    if len(ticks) == 20:
        signal.setitimer(kind, 0)
for kind, number in ((signal.ITIMER_REAL, signal.SIGALRM),
                     (signal.ITIMER_PROF, signal.SIGPROF)):
    ticks = []
    signal.signal(number, tick)
    signal.setitimer(kind, 0.002, 0.002)
    while len(ticks) < 20:
        work(50)
    print(all(ticks)) # perhaps one more was on its way
""",
        [],
    ),
    "children": (
        """
seen = []
def reap(number, frame):
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            seen.append(os.waitstatus_to_exitcode(status))
    except ChildProcessError:
        pass
signal.signal(signal.SIGCHLD, reap)
for status in range(5):
    os.spawnv(os.P_NOWAIT, sys.executable,
              [sys.executable, "-Sc", f"import os; os._exit({status})"])
while len(seen) < 5:
    time.sleep(0.01)
print(sorted(seen))
""",
        [],
    ),
    "system calls go on": (
        """
signal.signal(signal.SIGUSR1, lambda *_: None)
read, write = os.pipe()
def disturb():
    for _ in range(50):
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.001)
    os.write(write, b"x")
threading.Thread(target=disturb).start()
print(os.read(read, 1))
""",
        [],
    ),
}


def begin(path, *options):
    return start([PYTHON, *options, path], cwd=path.parent)


def come_to_rest(pid):
    """Waits until the process sleeps, or has used some CPU time."""

    def used():
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        return stat[0], int(stat[11]) + int(stat[12])  # state, CPU time in ticks

    time.sleep(0.1)
    _, before = used()
    wait_until(lambda: used()[0] == "S" or used()[1] >= before + 3)


def end(process, signals):
    """Sends the signals. Returns the status, stdout, and the last line on stderr."""
    said = [""]
    try:
        for number in signals:
            while said[-1] != "ready\n":
                said.append(process.stdout.readline())
                assert said[-1], process.stderr.read()
            said.append("")
            come_to_rest(process.pid)
            process.send_signal(number)
        out, err = process.communicate(timeout=SLOW)
    except BaseException:
        process.kill()
        raise
    return process.returncode, "".join(said) + out, err.splitlines()[-1:]


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_untraced(tmp_path, sockets, name):
    body, signals = PROGRAMS[name]
    runs = [
        begin(write(tmp_path, before + PRELUDE + body, f"{number}.py"), *options)
        for number, (before, options) in enumerate(WAYS.values())
    ]
    # All runs get their signals at once, so that none computes until its turn.
    with ThreadPoolExecutor(len(runs)) as pool:
        bare, *traced = pool.map(end, runs, [signals] * len(runs))
    assert traced == [bare] * 2


def test_ctrl_c_to_the_whole_group(tmp_path, sockets):
    """Sends Ctrl-C to the program, its child and its subprocess, as a terminal does."""
    body = (
        PRELUDE
        + """
import subprocess
from_child, to_parent = os.pipe()
pid = os.fork()
if not pid:
    try:
        os.write(to_parent, b"x")
        time.sleep(60)
    except KeyboardInterrupt:
        os._exit(5)
other = subprocess.Popen(
    [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
os.read(from_child, 1), other.stdout.readline()
try:
    print(pid, other.pid)
    ready()
    time.sleep(60)
except KeyboardInterrupt:
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), other.wait())
"""
    )
    done = []
    for before in ("", START):
        path = write(tmp_path, before + body)
        with start([PYTHON, path], cwd=tmp_path, start_new_session=True) as process:
            others = map(int, process.stdout.readline().split())
            assert process.stdout.readline() == "ready\n"
            for pid in process.pid, *others:
                # Python misses a signal that comes just before the system call.
                come_to_rest(pid)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=SLOW)
        done.append((process.returncode, out, err))
    assert done[0] == done[1] == (0, "5 -2\n", "")


def test_the_trace_of_an_interrupted_program_is_written(tmp_path, sockets):
    path = write(tmp_path, START + PRELUDE + "ready()\nforever()")
    status, _, _ = end(begin(path), [signal.SIGINT])
    assert status == -signal.SIGINT
    assert "trace.json" in os.listdir(tmp_path) and os.listdir(sockets) == []


def test_a_signal_that_another_thread_took(tmp_path, sockets):
    """A signal for the main thread can arrive at a sampled thread instead. If this
    happened, nothing would wake the main thread, which waits for a lock."""
    path = write(
        tmp_path,
        START
        + PRELUDE
        + """
calls = 0
def handler(number, frame):
    global calls
    calls += 1
    raise InterruptedError
signal.signal(signal.SIGTERM, handler)
def asleep(thread):
    return open(f"/proc/self/task/{thread.native_id}/stat").read().split()[2] == "S"
def take():
    while not asleep(main):
        work()
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    while calls < 1:
        work()
main = threading.current_thread()
waits = threading.Lock()
waits.acquire()
threading.Thread(target=take).start()
try:
    waits.acquire()
except InterruptedError:
    print("woken")
time.sleep(1)
print(calls)
""",
    )
    with start([PYTHON, path], cwd=tmp_path) as process:
        out, err = process.communicate(timeout=SLOW)
    assert (process.returncode, out, err) == (0, "woken\n1\n", "")
