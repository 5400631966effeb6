# SPDX-License-Identifier: MIT
"""What docs/comparison.md says of costs: the CPU time of service.py for the same
work alone and watched by each tool in a terminal, and the tool's own.

eval "$(make -s env)"; "$PYTHON" tests/comparison/cost.py
    [--py-spy py-spy] [--memray "python -m memray"] [--tachyon python3.15]

The configurations take turns; medians are reported, and the least: what else goes on
in a machine only ever adds. A tool that is not named is left
out. Ocular's interpreter and ocular-top are those of `make env`, and memray must be
of the same interpreter."""

import argparse
import contextlib
import fcntl
import os
import pty
import re
import shlex
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

SERVICE = str(Path(__file__).with_name("service.py"))
TOP = os.environ.get("OCULAR_TOP", "ocular-top")
IN_ALL = re.compile(r"in all \d+ rounds in ([\d.]+) s, ([\d.]+) s of CPU")
STARTING = 4  # seconds until a tool is taken to have started
LONGEST = 600


class Terminal:
    """A tool in a terminal of its own, whose output nobody looks at."""

    def __init__(self, command, columns, environment):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        with contextlib.suppress(OSError):
            while os.read(self.fd, 1 << 16):
                pass
        os.close(self.fd)

    def close(self):
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)  # what it has started, too
        os.waitpid(self.pid, 0)


def cpu_s(pid):
    """Of all its threads, ended ones too: its CPU clock (clock_getcpuclockid)."""
    return time.clock_gettime(~pid << 3 | 2)


def wait_for_end(truth, process):
    """What the last line says: wall and CPU seconds."""
    limit = time.monotonic() + LONGEST
    while time.monotonic() < limit:
        if found := IN_ALL.search(truth.read_text()):
            return [float(number) for number in found.groups()]
        if process is not None and process.poll() is not None:
            break
        time.sleep(0.02)
    sys.exit(f"{SERVICE} did not come to its end")


def measure(program, viewer, columns, rounds):
    """(CPU seconds of the program, its wall seconds, the viewer's share of a core).
    `program`: the command, without what service.py takes; None where the viewer
    starts it. `viewer`: of the program's pid, or None."""
    with tempfile.TemporaryDirectory(prefix="oc-") as folder:
        truth = Path(folder, "truth")
        truth.touch()
        environment = {**os.environ, "OCULAR_DIR": folder, "TERM": "xterm-256color"}
        work = [SERVICE, "--rounds", str(rounds), "--truth", str(truth)]
        process = terminal = share = None
        try:
            if program:
                process = subprocess.Popen(
                    program + work, cwd=folder, env=environment, stderr=subprocess.DEVNULL
                )
                time.sleep(0.5)
            if viewer:
                command = viewer + ([str(process.pid)] if process else work)
                terminal = Terminal(command, columns, environment)
                time.sleep(STARTING)
                began, before = time.monotonic(), cpu_s(terminal.pid)
            wall, cpu = wait_for_end(truth, process)
            if viewer and (passed := time.monotonic() - began) > 1:
                share = (cpu_s(terminal.pid) - before) / passed
            if process:
                process.wait(LONGEST)
        finally:
            if process:
                process.kill()
                process.wait()
            if terminal:
                terminal.close()
    return cpu, wall, share


def configurations(options):
    """name: (what it is compared with, program, viewer, columns)"""
    python = [os.environ.get("PYTHON", sys.executable)]
    ocular = [*python, "-m", "ocular", "--serve", "--quiet"]
    top = [TOP, "--pid"]
    found = {"alone": (None, python, None, 0), "Ocular": ("alone", ocular, top, 150)}
    for budget in options.budget:
        found[f"Ocular, budget {budget}"] = (
            "alone",
            [*ocular, "--budget", budget],
            top,
            150,
        )
    if options.py_spy:
        found["py-spy top"] = (
            "alone",
            python,
            [*shlex.split(options.py_spy), "top", "--pid"],
            120,
        )
    if options.memray:
        found["memray run --live"] = (
            "alone",
            None,
            [*shlex.split(options.memray), "run", "--live"],
            120,
        )
    if options.tachyon:
        newest = ["env", "-u", "PYTHONPATH", *shlex.split(options.tachyon)]
        live = [*newest, "-m", "profiling.sampling", "attach", "--live"]
        found["alone, 3.15"] = (None, newest, None, 0)
        found["Tachyon live"] = ("alone, 3.15", newest, live, 120)
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--py-spy", metavar="COMMAND")
    parser.add_argument("--memray", metavar="COMMAND")
    parser.add_argument("--tachyon", metavar="PYTHON3.15")
    parser.add_argument(
        "--budget",
        action="append",
        default=[],
        metavar="SHARE",
        help="Ocular with this one too",
    )
    parser.add_argument("--rounds", type=int, default=1500)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument(
        "--pause",
        type=float,
        default=0,
        metavar="SECONDS",
        help="after each, for others who want the CPU",
    )
    options = parser.parse_args()
    todo = configurations(options)
    results = {name: [] for name in todo}
    for _ in range(options.times):
        for name, (_, program, viewer, columns) in todo.items():
            results[name].append(measure(program, viewer, columns, options.rounds))
            time.sleep(options.pause)
            print(name, *results[name][-1], file=sys.stderr, flush=True)
    tell(todo, results)


def tell(todo, results):
    print(
        f"{'':24}{'CPU, s':>8}{'least':>8}{'more CPU':>10}{'least':>8}"
        f"{'more time':>11}{'viewer':>8}"
    )
    for name, (base, *_) in todo.items():
        cpu, wall = ([one[k] for one in results[name]] for k in (0, 1))
        line = f"{name:24}{statistics.median(cpu):8.2f}{min(cpu):8.2f}"
        if base:
            cpu_alone, wall_alone = ([one[k] for one in results[base]] for k in (0, 1))
            shares = [one[2] for one in results[name] if one[2] is not None]
            line += (
                f"{more(cpu, cpu_alone):10.1%}{min(cpu) / min(cpu_alone) - 1:8.1%}"
                f"{more(wall, wall_alone):11.1%}"
                f"{statistics.median(shares) if shares else float('nan'):8.2%}"
            )
        print(line)


def more(these, those):
    """The median of what a run takes more than the one of the same turn."""
    return statistics.median(a / b - 1 for a, b in zip(these, those))


if __name__ == "__main__":
    main()
