# SPDX-License-Identifier: MIT
"""`make bench ARGS=--viewer` measures the cost of an open viewer in the viewer's process
and in the traced process, and the speed of the viewer. The traced programs have 100, 1 000
and 10 000 functions. If a row has a target, the benchmark compares the row with the target.
If a row misses its target, the benchmark fails."""

import argparse
import contextlib
import fcntl
import math
import os
import pty
import select
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

from e2e import client
from figures.record import figure, recording

TOP = os.environ.get("OCULAR_TOP", "ocular-top")
FIRST, KEY = "connecting to the first frame, ms", "a key to the screen, ms"
VIEWER = "ocular-top at 1 Hz, % of a core"
EACH_FURTHER = "each further viewer, % of a core"
# In rows that begin with these words, the numbers must not exceed these values.
TARGETS = {FIRST: 50, KEY: 16, VIEWER: 1, EACH_FURTHER: 0.1}
FURTHER = 20  # number of further viewers that are connected
TRIES = 15
# Each view has two lists of keys. The first keys open the view from the main screen. The
# second keys are pressed in the view, and are timed. Each timed key changes the screen,
# even if the program does little. The flame view perhaps has no other frame to select, so
# "?" opens and closes the help.
VIEWS = {
    "main": (b"", (b"j", b"k", b"I", b"I") * 10),
    "annotate": (b"\r", (b"j", b"k") * 10),
    "callers": (b"c", (b"j", b"k") * 10),
    "opcodes": (b"o", (b"j", b"k") * 10),
    "threads": (b"t", (b"j", b"k") * 10),
    "flame": (b"f", (b"?", b"?") * 10),
}
OURS = "ocular-server", "ocular-collect"
PROGRAM = """
import sys, threading, time
import ocular
functions, threads = map(int, sys.argv[1:])
source = "".join(f"def function_{n}(value):\\n    return value + {n}\\n"
                 for n in range(functions))
module = {}
exec(compile(source, "/srv/app/of_the_benchmark/module.py", "exec"), module)
ours = [module[f"function_{n}"] for n in range(functions)]
def wait():
    threading.Event().wait()
for n in range(threads):
    threading.Thread(target=wait, daemon=True, name=f"worker {n}").start()
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
for function in ours:
    for n in range(3):
        function(n)
print(ocular._ocular.socket_path(), flush=True)
while True:
    for n in range(0, functions, 7):
        ours[n](n)
    time.sleep(0.02)
"""


@contextlib.contextmanager
def program(functions, threads):
    with tempfile.TemporaryDirectory(prefix="oc-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(functions), str(threads)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OCULAR_DIR": folder},
        )
        try:
            yield process.pid, process.stdout.readline().strip(), folder
        finally:
            process.kill()
            process.communicate()


def cpu_s(pid, *names):
    """Returns the CPU seconds of all threads of a process. If names are given, counts only
    threads with these names."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            if not names or (task / "comm").read_text().strip() in names:
                total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


# --- A terminal for ocular-top ------------------------------------------------


class Terminal:
    """Runs ocular-top in a terminal of 150x40."""

    def __init__(self, pid, folder):
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm-256color", OCULAR_DIR=folder)
            os.execv(TOP, [TOP, "-p", str(pid)])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 150, 0, 0))

    def read(self, seconds):
        """Returns the output until no more comes for 3 ms, or until this time is over. Also
        returns the time at which the output began."""
        data, began = b"", None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            wait = 0.003 if data else end - time.monotonic()
            if not select.select([self.fd], [], [], max(wait, 0))[0]:
                break
            began = began or time.monotonic()
            data += os.read(self.fd, 1 << 16)
        return data, began

    def first_frame_ms(self):
        """Returns the time from the start of ocular-top to its first frame. In this time
        ocular-top is executed, finds the process, connects, gets a snapshot and draws
        it."""
        self.until(b"function_")
        return (time.monotonic() - self.started) * 1e3

    def until(self, text):
        data = b""
        while text not in data:
            data += self.read(10)[0]

    def settle(self):
        while self.read(0.05)[0]:
            pass

    def connecting_ms(self):
        """Presses the key that goes back to the list of processes. Then returns the time
        that ocular-top takes from the list to the first frame. In this time ocular-top
        connects, gets a snapshot and draws the snapshot."""
        self.settle()
        os.write(self.fd, b"p")
        self.until(b"which process")
        self.settle()
        begin = time.monotonic()
        os.write(self.fd, b"\r")
        self.until(b"function_")
        return (time.monotonic() - begin) * 1e3

    def keys_ms(self, view):
        opening, keys = VIEWS[view]
        if opening:
            os.write(self.fd, opening)
            # after this time, the data for which the view has asked has arrived
            time.sleep(2.5)
        taken = [self.key_ms(key) for key in keys]
        if opening:
            os.write(self.fd, b"\x1b")
        self.settle()
        return taken

    def key_ms(self, key):
        self.settle()
        begin = time.monotonic()
        os.write(self.fd, key)
        began = self.read(10)[1]
        return (began - begin) * 1e3 if began else float("nan")

    def close(self):
        os.write(self.fd, b"q")
        while True:
            try:
                if not os.read(self.fd, 1 << 16):
                    break
            except OSError:
                break
        os.waitpid(self.pid, 0)
        os.close(self.fd)


# --- Figures ------------------------------------------------------------------


def first_snapshot_ms(path):
    """Returns the time from connecting to the last byte of the first snapshot, and the size
    of the snapshot."""
    begin = time.monotonic()
    with client.Client(path) as viewer:
        while True:
            kind, size, _ = struct.unpack("<HII", viewer.read(12)[2:])
            viewer.read(size)
            if kind == client.SNAPSHOT:
                return (time.monotonic() - begin) * 1e3, size


def process_share(pid, seconds, *names):
    """Returns the CPU time of threads divided by the wall-clock time."""
    begin, before = time.monotonic(), cpu_s(pid, *names)
    time.sleep(seconds)
    return (cpu_s(pid, *names) - before) / (time.monotonic() - begin)


def read_all(viewers):
    sockets = [viewer.socket for viewer in viewers]
    room = bytearray(1 << 20)
    while sockets:
        for one in select.select(sockets, [], [])[0]:
            if not one.recv_into(room):
                sockets.remove(one)


def further_share(pid, path, seconds, further):
    """Returns two costs in the traced process: the cost of building and sending snapshots
    to one viewer at 1 Hz, and the cost of one more viewer. The second cost is the mean over
    `further` viewers that only read."""
    built = process_share(pid, seconds, "ocular-collect")
    sent = process_share(pid, seconds, "ocular-server")
    one = process_share(pid, seconds, *OURS)
    more = [client.Client(path) for _ in range(further)]
    reader = threading.Thread(target=read_all, args=(more,))
    reader.start()
    time.sleep(3)  # after this time, all viewers get their snapshots at the same moments
    many = process_share(pid, seconds, *OURS)
    for viewer in more:
        viewer.socket.shutdown(socket.SHUT_RDWR)
    reader.join()
    return built, sent, (many - one) / further


def measure(functions, options):
    threads, seconds = options.threads, options.seconds
    with program(functions, threads) as (pid, path, folder):
        time.sleep(2)
        first, size = min(first_snapshot_ms(path) for _ in range(TRIES))
        terminals, spent = [], []
        for _ in range(TRIES):
            before = cpu_s(pid, *OURS)
            terminal = Terminal(pid, folder)
            terminals.append(terminal.first_frame_ms())
            spent.append(cpu_s(pid, *OURS) - before + cpu_s(terminal.pid))
            terminal.close()
        terminal = Terminal(pid, folder)
        terminal.first_frame_ms()
        connecting = [terminal.connecting_ms() for _ in range(TRIES)]
        before = cpu_s(terminal.pid)
        keys = {view: terminal.keys_ms(view) for view in VIEWS}
        main, *others = keys.values()
        pressed = (cpu_s(terminal.pid) - before) / sum(map(len, keys.values()))
        ours = process_share(terminal.pid, seconds)
        built, sent, more = further_share(pid, path, seconds, FURTHER)
        terminal.close()
    return {
        "snapshot, kB": size / 1e3,
        "connecting to the first snapshot, ms": first,
        f"{FIRST}, median of {TRIES}": statistics.median(connecting),
        "ocular-top: start to first frame, ms": min(terminals),
        "... CPU of both sides for that, ms": min(spent) * 1e3,
        f"{KEY}, main, median": statistics.median(main),
        f"{KEY}, main, worst": worst(main),
        f"{KEY}, slowest view, median": worst(map(statistics.median, others)),
        f"{KEY}, slowest view, worst": worst(map(worst, others)),
        "CPU of ocular-top for a key, ms": pressed * 1e3,
        VIEWER: ours * 100,
        # the process builds one snapshot a second
        "building a snapshot, ms of CPU": built * 1e3,
        "encoding and sending it, ms of CPU": sent * 1e3,
        EACH_FURTHER: more * 100,
    }


def worst(times):
    """Returns the longest time. If no answer came, the longest time is NaN, which counts as
    the worst."""
    times = list(times)
    return float("nan") if any(map(math.isnan, times)) else max(times)


def record(functions, row):
    """Records the figures for `make figures`, for a program with this number of
    functions."""
    for name, value in row.items():
        what, unit, *more = name.removeprefix("... ").split(", ")
        more = [each for each in more if not each.startswith("median of")]
        path = "/".join(["viewer", str(functions), what, *more])
        figure(path.replace(":", "").replace(" ", "_"), value, unit=unit)


def verdict(name, values):
    """Compares the numbers of a row with the row's target. Returns "", or "ok" or "MISS"
    together with the target."""
    limit = next((TARGETS[start] for start in TARGETS if name.startswith(start)), None)
    if limit is None:
        return ""
    held = all(value <= limit for value in values)  # if a value is NaN, the row is a miss
    return f"{limit:>7g}  {'ok' if held else 'MISS'}"


def main(arguments):
    parser = argparse.ArgumentParser(prog="bench.py --viewer", description=__doc__)
    parser.add_argument("--threads", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--functions", type=int, nargs="*", default=[100, 1000, 10_000])
    options = parser.parse_args(arguments)
    results = [measure(count, options) for count in options.functions]
    print(f"\na viewer, {options.threads} threads")
    print(
        f"{'functions':44}"
        + "".join(f"{n:>10}" for n in options.functions)
        + f"{'target':>9}"
    )
    for count, row in zip(options.functions, results):
        record(count, row)
    missed = 0
    for name in results[0]:
        judged = verdict(name, [one[name] for one in results])
        missed += "MISS" in judged
        print(
            f"{name:44}" + "".join(f"{one[name]:10.3g}" for one in results) + f"  {judged}"
        )
    print(f"{missed} of the targets missed" if missed else "all targets held")
    return 1 if missed and not recording() else 0
