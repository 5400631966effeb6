# SPDX-License-Identifier: MIT
"""`make demo` starts the workload in the background and opens ocular-top on it. When
ocular-top ends, this program stops the workload, shows its report and names its
timeline. If stdout is not a terminal, ocular-top prints three screens. The workload
never outlives this program."""

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1  # Value from <linux/prctl.h>.
START = 20  # Seconds in which the workload must begin to serve.
STOP = 30  # seconds in which the workload must write its timeline


class DemoError(Exception):
    """Holds an error message for the user."""


def sockets(pid):
    """Returns the paths of the sockets at which a process of this user may serve
    (docs/protocol.md)."""
    places = [f"/tmp/ocular-{os.getuid()}"]
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        places.insert(0, f"{runtime}/ocular")
    if own := os.environ.get("OCULAR_DIR"):
        places.insert(0, own)
    return [Path(place, f"{pid}.sock") for place in places]


class Workload:
    """Manages the traced process, which ends when the `with` block ends."""

    def __init__(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        for old in directory.glob("ocular_trace*.json*"):
            old.unlink()
        self.output = directory / "ocular_trace.json"
        self.log = directory / "demo.log"
        self.process = None

    def __enter__(self):
        prctl = ctypes.CDLL(None).prctl
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ocular.demo", "--serve"]
                + ["--output", str(self.output)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # The terminal's ^C does not reach the workload. The workload ends even if
                # this program is killed.
                start_new_session=True,
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
            )
        return self

    def __exit__(self, *error):
        end(self.process)

    def wait_for_socket(self):
        limit = time.monotonic() + START
        while not any(path.exists() for path in sockets(self.process.pid)):
            if self.process.poll() is not None:
                raise DemoError(f"the workload ended at once:\n{self.said()}")
            if time.monotonic() > limit:
                raise DemoError(
                    f"the workload did not serve within {START} s; "
                    f"its words are in {self.log}"
                )
            time.sleep(0.02)

    def stop(self):
        """Sends SIGTERM to the workload and waits until the report is written."""
        self.process.terminate()
        try:
            status = self.process.wait(STOP)
        except subprocess.TimeoutExpired:
            raise DemoError(
                f"the workload did not end within {STOP} s and was killed"
            ) from None
        if status:
            raise DemoError(f"the workload ended with status {status}:\n{self.said()}")

    def said(self):
        return self.log.read_text(errors="replace").rstrip()

    def timeline(self):
        """Returns the path of the written file. If a file of the usual name existed, the
        written file's name contains the pid."""
        with_pid = self.output.with_suffix(f".{self.process.pid}.json")
        for path in (with_pid, self.output):
            if path.exists():
                return path
        raise DemoError("the workload wrote no timeline")


def end(process, patience=5):
    """Ends a process by SIGTERM, or by SIGKILL if SIGTERM takes too long."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def viewer():
    # Also finds ocular-top in a virtual environment that is not activated.
    beside = os.path.dirname(sys.executable)
    program = (
        os.environ.get("OCULAR_TOP")
        or shutil.which("ocular-top")
        or shutil.which("ocular-top", path=beside)
    )
    if program is None:
        raise DemoError("ocular-top is not on PATH; `make demo` builds it")
    return program


def watch(command):
    """Runs the viewer, which handles ^C itself. The viewer also restores the terminal if a
    signal ends this program."""
    # SIGINT gets a handler instead of SIG_IGN, because a child would inherit SIG_IGN.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    process = subprocess.Popen(command)
    try:
        return process.wait()
    finally:
        end(process)
        signal.signal(signal.SIGINT, before)


def run(directory):
    screen = sys.stdout.isatty()
    command = [viewer()]
    with Workload(directory) as workload:
        workload.wait_for_socket()
        command += ["--pid", str(workload.process.pid)]
        if not screen:
            command += ["--batch", "-n", "3", "-d", "1"]
        status = watch(command)
        workload.stop()
    timeline = workload.timeline()
    if screen:
        print(workload.said())
    print(
        f"report: {workload.log}\n"
        f"timeline: {timeline} (open it at https://ui.perfetto.dev)",
        file=sys.stdout if screen else sys.stderr,
    )
    if status:
        raise DemoError(f"ocular-top ended with status {status}")


def leave(number, frame):
    sys.exit(128 + number)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m ocular.demo.live")
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path("ocular_demo"),
        help="for the log and the timeline (default: %(default)s)",
    )
    given = parser.parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    try:
        run(given.directory)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
