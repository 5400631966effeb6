# SPDX-License-Identifier: MIT
"""Runs one module of CPython's test suite once, either traced or untraced. `python -m test`
runs the module in a separate process. The result has the outcome of each test and the end
of the process."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

TRACE = "trace.json"

# Maps a mode to the options of `python -m ocular` and to a factor. If a traced run takes
# more than this factor times the time of an untraced run, it counts as hung.
SERVING = ["--serve"]
EVENTS = "--events=c_call,exception,line,branch"  # all that are not in another mode
TIMELINE = [f"--output={{scratch}}/{TRACE}", "--timeline-limit=1048576"]
MODES = {
    "adaptive": ([*SERVING, *TIMELINE], 10),
    "precise": (["--mode=precise", *SERVING, "--no-perfetto"], 60),
    "threshold0": (["--threshold=0", *SERVING, *TIMELINE], 30),
    "reference": (["--events=reference", "--threshold=0", *SERVING, "--no-perfetto"], 30),
    # In this mode samples may use the whole budget, so each timer tick sends a signal.
    "sampled": (["--budget=1", EVENTS, *SERVING, "--no-perfetto"], 10),
}
MOST_MEMORY = 4 << 30  # Bytes. A run that uses more memory is ended.
GRACE = 3  # Seconds in which the processes that a run has started must end.
LEAST_LIMIT = 120  # Seconds. No run has a shorter time limit.

# Exit statuses of regrtest after a complete run. The statuses mean success, a failed test,
# a changed environment, no tests (a skipped module), or a failed rerun.
REGULAR_EXITS = {0, 2, 3, 4, 5}

RESULT = re.compile(r"^Result: ", re.M)  # regrtest prints "Result: " in its last line


@dataclass
class Run:
    """The results of one run. compare.py judges them."""

    module: str
    mode: str  # The mode is "untraced" or one of MODES.
    seconds: float = 0.0
    # "exit N", "crash: ...", "crash at exit: ..." (after all tests had run) or "hang:
    # ..." (the run was ended because it took too much time or memory)
    end: str = "exit 0"
    tests: dict = field(default_factory=dict)  # Maps a test's id to its Outcome.
    # Kinds and texts of problems that were found after the run.
    notes: list = field(default_factory=list)
    output: str = ""

    def ran_all(self):
        return self.end.startswith(("exit", "crash at exit"))


@dataclass
class Outcome:
    """The outcome of one test, with its message."""

    status: str  # "ok", "skipped", "failure", "error" or another status
    words: str = ""


def limit(mode, untraced_seconds):
    """Returns how many seconds a traced run may take before it counts as hung."""
    return LEAST_LIMIT + MODES[mode][1] * untraced_seconds


def command(module, mode, scratch, extra):
    test = ["-m", "test", "-v", "--randseed=1", f"--tempdir={scratch}"]
    test += [f"--junit-xml={scratch}/junit.xml", *extra, module]
    if mode == "untraced":
        return [sys.executable, *test]
    options = [word.format(scratch=scratch) for word in MODES[mode][0]]
    return [sys.executable, "-m", "ocular", "--quiet", *options, *test]


def run_module(module, mode, seconds, extra=()):
    """Runs the module for at most `seconds`. `extra` are further options for regrtest."""
    scratch = Path(tempfile.mkdtemp(prefix="rt-"))
    words = command(module, mode, scratch, extra)
    try:
        return _run_in(scratch, Run(module, mode), words, seconds)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run_in(scratch, run, words, seconds):
    sockets = scratch / "s"
    sockets.mkdir(mode=0o700)
    os.utime(sockets, (0, 0))
    # The output is not buffered, so that it contains the last lines before a crash at exit.
    environment = dict(
        os.environ, OCULAR_DIR=str(sockets), TMPDIR=str(scratch), PYTHONUNBUFFERED="1"
    )
    began = time.monotonic()
    with open(scratch / "output", "w+b") as output:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=scratch,
            env=environment,
            start_new_session=True,
        )
        RUNNING.add(process.pid)
        trouble = _wait(process, began + seconds)
        run.seconds = time.monotonic() - began
        if trouble:
            run.end = f"hang: {trouble} after {run.seconds:.0f} s"
            _say_where(process, output)
            kill_session(process.pid)
            process.wait()
        else:
            run.end = _end(process.returncode)
        left = _end_session(process.pid)
        RUNNING.discard(process.pid)
        output.seek(0)
        run.output = output.read().decode("utf-8", "replace")
    if RESULT.search(run.output):
        run.end = run.end.replace("crash:", "crash at exit:")
    run.tests = read_tests(scratch / "junit.xml", run.output)
    if left:
        run.notes.append(("left a process", left))
    if run.mode != "untraced":
        _note_tracing(run, sockets / f"{process.pid}.sock", scratch / TRACE)
    return run


RUNNING = set()  # leaders of the sessions that regrtest.py must end at its own end


def _wait(process, deadline):
    """Waits until the process ends. Returns None, or the reason why the caller must end
    it."""
    page = os.sysconf("SC_PAGESIZE")
    while process.poll() is None:
        if time.monotonic() > deadline:
            return "still running"
        with contextlib.suppress(OSError, IndexError):
            words = Path(f"/proc/{process.pid}/statm").read_text().split()
            if int(words[1]) * page > MOST_MEMORY:
                return f"more than {MOST_MEMORY >> 30} GB"
        time.sleep(0.02)
    return None


def _end(status):
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"crash: {signal.Signals(-status).name}"
    if status not in REGULAR_EXITS:
        return f"crash: exit {status}"
    return f"exit {status}"


def _say_where(process, output):
    """Makes a process that hangs print its stacks. faulthandler prints the Python stack, by
    the handler of SIGABRT that regrtest installs. gdb, if it is installed, prints the C
    stack."""
    if shutil.which("gdb"):
        command = ["gdb", "-p", str(process.pid), "-batch", "-ex"]
        command.append("thread apply all backtrace 30")
        none = subprocess.DEVNULL
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, stdin=none, stdout=output, stderr=none, timeout=60)
    process.send_signal(signal.SIGABRT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    process.returncode = None


def _session(leader):
    """Returns the command lines of the processes that still run in a session, by pid."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            words = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(words[3]) == leader and words[0] not in "ZX":
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(entry.name)] = line.decode("utf-8", "replace")
    return found


def _end_session(leader):
    """Waits a short time, and then ends the processes that a run has left behind. Returns
    the command lines of these processes."""
    deadline = time.monotonic() + GRACE
    while (left := _session(leader)) and time.monotonic() < deadline:
        time.sleep(0.1)
    kill_session(leader)
    return "; ".join(left.values())


def kill_session(leader):
    for pid in _session(leader):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _note_tracing(run, socket, trace):
    """Adds a note if the run was not traced, or if Ocular has left something behind."""
    if not run.end.startswith("exit"):
        return  # a crash is reported in any case, so no note is needed
    if socket.exists():
        run.notes.append(("left its socket", socket.name))
    if TIMELINE[0] in MODES[run.mode][0]:
        try:
            json.loads(trace.read_bytes())
        except (OSError, ValueError) as error:
            run.notes.append(("timeline", f"{type(error).__name__}: {error}"))
    if socket.parent.stat().st_mtime == 0:
        run.notes.append(("was not traced", "there never was a socket"))


# --- The outcome of each test -------------------------------------------------

ADDRESS = re.compile(r"0x[0-9a-f]{4,}")
# unittest prints such a line above a traceback, also for failures of subtests and of
# setUpClass. regrtest's XML does not contain those failures.
HEADER = re.compile(
    r"^(ERROR|FAIL|UNEXPECTED SUCCESS): ([^\s(]+) \(([\w.<>]+)\)(.*)$", re.M
)
HEADER_STATUS = {
    "ERROR": "error",
    "FAIL": "failure",
    "UNEXPECTED SUCCESS": "unexpected success",
}
WORST_FIRST = "error,failure,unexpected success,expected failure,skipped,ok".split(",")


def _put(tests, name, outcome):
    """Stores the outcome of a test. If several tests have the same id, keeps the worst
    outcome."""
    name = ADDRESS.sub("0x", name)
    known = tests.get(name)
    if known is None or WORST_FIRST.index(outcome.status) < WORST_FIRST.index(known.status):
        tests[name] = outcome


def _outcome(case):
    """Returns the outcome of the test in a <testcase> element."""
    tags = dict(error="error", failure="failure", skipped="skipped")
    tags |= dict(output="expected failure", outcome="unexpected success")
    for tag, status in tags.items():
        found = case.find(tag)
        if found is not None:
            return Outcome(status, found.text or "")
    return Outcome("ok")


def read_tests(junit, output):
    """Reads the Outcome of each test, by its id, from the XML and from the output."""
    tests = {}
    with contextlib.suppress(OSError, ElementTree.ParseError):
        for case in ElementTree.parse(junit).iter("testcase"):
            if name := case.get("name"):
                _put(tests, name, _outcome(case))
    for match in HEADER.finditer(output):
        word, name, place, rest = match.groups()
        if not place.endswith("." + name):
            place = f"{place}.{name}"
        block = output[match.end() :].split("\n=====")[0]
        block = block.split("\n" + "-" * 70 + "\nRan ")[0]
        _put(tests, place, Outcome(HEADER_STATUS[word], f"{rest}\n{block}"))
    return tests
