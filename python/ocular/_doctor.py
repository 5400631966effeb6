# SPDX-License-Identifier: MIT
"""`ocular doctor` prints what works on this machine, and why the rest does not. It does
not examine the machine, but traces itself, attaches to a program of its own, and runs
ocular-top. The reasons are therefore the messages that users get."""

import contextlib
import fcntl
import json
import locale
import os
import platform
import select
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
import termios
import textwrap
import time
import warnings

import ocular
from ocular import _commands, _ocular, _pth

USAGE = "usage: ocular doctor [--json]"
LINES, COLUMNS = 24, 80
# A program that waits in a system call, as most programs do most of the time.
SLEEPER = "import sys; print(flush=True); sys.stdin.read()"
FIRST_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of the kernel
ENVIRONMENT = (
    "TERM LANG LC_ALL LC_CTYPE NO_COLOR XDG_RUNTIME_DIR OCULAR_DIR OCULAR_SIGNAL "
    "OCULAR_SERVE PYTHON_JIT PYTHON_DISABLE_REMOTE_DEBUG"
).split()


def _row(name, what, why=None, matters=True):
    """Returns a row of the table. `why` is the reason if something does not work."""
    state = "ok" if not why else "FAILED" if matters else "limited"
    return dict(name=name, state=state, what=what, why=why or None)


# --- A trace of this process --------------------------------------------------


def _start(**settings):
    """Starts a trace. Returns None or the reason why it did not start."""
    try:
        ocular.start_tracing(perfetto=False, quiet=True, overhead_budget=1.0, **settings)
    except Exception as error:
        return str(error)
    return None


def _try(**settings):
    """Returns None or the reason why a trace with these settings does not start."""
    why = _start(**settings)
    ocular.stop_tracing()
    return why


def _is_timed(sampler):
    """Returns True if this thread has a CPU timer. `untimed` also counts threads that have
    ended, and threads that got their timers late. Therefore the kernel's list of timers
    decides."""
    if not sampler["untimed"]:
        return True
    blocked = sampler["signal"] in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return not blocked and f"tid.{os.getpid()}\n" in _read("/proc/self/timers")


def _trial():
    """Traces some work of the standard library, because Ocular does not trace its own code.
    Returns the reasons by setting, the snapshot, and the folder of the sockets."""
    wanted = dict(serve=True, native=True, events="adaptive,reference")
    whys = {name: _try(**{name: value}) for name, value in wanted.items()}
    whys["trace"] = _start(**{name: wanted[name] for name in wanted if not whys[name]})
    if whys["trace"]:
        return whys, None, None
    end, enough = time.process_time() + 2, False
    while not enough and time.process_time() < end:
        textwrap.wrap("some work " * 1000)
        found = ocular.snapshot()
        enough = found["sampler"]["samples"] >= 3 and _is_timed(found["sampler"])
    found["timed"] = _is_timed(found["sampler"])
    path = _ocular.socket_path()
    ocular.stop_tracing()
    return whys, found, path and os.path.dirname(path)


def _faults(found, warned):
    """Yields the faults of this CPython that users of Ocular may notice."""
    yield from dict.fromkeys(str(warning.message) for warning in warned)
    if sys.version_info < (3, 13, 3):
        yield "hooks of lines are slow in long functions before 3.13.3 (gh-127953)"
    if found and found["objects"]["trouble"]:
        yield found["objects"]["trouble"]


def _interpreter(found, warned):
    jit = getattr(sys, "_jit", None)
    # The variable is empty if CPython was built by other means than configure.
    tail = "--with-tail-call-interp" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    parts = [
        "GIL",
        "tail calls" if tail else "no tail calls",
        "JIT on" if jit and jit.is_enabled() else "no JIT",
    ]
    what = f"CPython {platform.python_version()} ({', '.join(parts)}) {sys.executable}"
    return _row("interpreter", what, "; ".join(_faults(found, warned)), matters=False)


def _traced(whys, found):
    if found is None:
        yield _row("tracing", "no trace starts", whys["trace"])
        return
    share = found["overhead"]["hooks"]
    yield _row("tracing", f"{found['events']} events, hooks took {share:.1%}")
    hz, sampler = found["tsc_hz"], found["sampler"]
    why = "the CPU has no invariant TSC, or the kernel distrusts it: a hook costs more"
    fallback = hz == 1e9
    yield _row(
        "clock",
        "CLOCK_MONOTONIC_RAW" if fallback else f"time stamp counter, {hz / 1e9:.3f} GHz",
        why if fallback else None,
        matters=False,
    )
    why = sampler["trouble"]
    number = sampler["signal"]
    if not why and not found["timed"]:
        why = "the kernel refuses a timer (pending signals): raise the limit `ulimit -i`"
        if number in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
            why = f"the parent process has blocked the signal {_signal(number)}: choose "
            why += "another one by OCULAR_SIGNAL"
    what = f"{sampler['samples']} samples by "
    timed = number and found["timed"]
    what += f"CPU timers, signal {_signal(number)}" if timed else "the wall clock"
    yield _row("samples", what, why)


def _signal(number):
    beyond = signal.SIGRTMAX - number
    return f"RTMAX-{beyond}" if 0 <= beyond < 32 else signal.Signals(number).name


def _sockets(whys, folder):
    if not folder:
        return _row("sockets", "viewers cannot connect", whys["serve"] or whys["trace"])
    free = os.statvfs(folder)
    return _row("sockets", f"{folder}, {free.f_bavail * free.f_frsize >> 20} MiB free")


# --- ocular-top ---------------------------------------------------------------


def _reason(done):
    lines = done.strip().splitlines() or ["it ended without a message"]
    return lines[-1].removeprefix("ocular-top: ")


def _attach(viewer):
    """Attaches to a program of our own, as `ocular attach` does."""
    program = [sys.executable, "-c", SLEEPER]
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    environment = os.environ | {"OCULAR_SERVE": "0"}
    with subprocess.Popen(program, env=environment, **pipes) as other:
        other.stdout.readline()
        package = os.path.dirname(os.path.dirname(os.path.abspath(ocular.__file__)))
        command = [viewer, "--attach-only", "--pid", str(other.pid), "--package", package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20)
            why = done.returncode and _reason(done.stderr)
        except subprocess.TimeoutExpired:
            why = "the program did not answer for 20 s"
    what = "works with a program of yours" if not why else "does not work"
    return _row("attaching", what, why, matters=False)


def _run_on_terminal(viewer):
    """Runs ocular-top on a terminal of our own, with the user's TERM, and presses q.
    Returns None, or the reason why ocular-top refuses the terminal."""
    try:
        ours, its = os.openpty()
    except OSError as error:
        return f"no terminal can be made: {error}"
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with tempfile.TemporaryDirectory() as empty, open(ours, "r+b", 0) as terminal:
        environment = os.environ | {"OCULAR_DIR": empty}
        said = dict(stdin=its, stdout=its, stderr=subprocess.PIPE, text=True)
        process = subprocess.Popen([viewer], env=environment, **said)
        os.close(its)
        end = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < end:
            try:
                terminal.write(b"q")
                if select.select([terminal], [], [], 0.2)[0]:
                    terminal.read(65536)
            except OSError:  # ocular-top has closed the terminal
                time.sleep(0.05)
        if process.poll() is None:
            process.kill()
        said = process.communicate()[1]
    return _reason(said) if process.returncode else None


def _terminal(viewer):
    parts = [os.environ.get("TERM") or "no TERM"]
    try:
        import curses

        curses.setupterm(fd=2)
        parts.append(f"{max(curses.tigetnum('colors'), 0)} colours")
    except Exception:  # CPython was built without curses, or does not know the terminal
        pass
    if "NO_COLOR" in os.environ:
        parts[1:] = ["NO_COLOR"]
    parts.append(locale.nl_langinfo(locale.CODESET))
    size = shutil.get_terminal_size()
    parts.append(
        f"{size.columns}x{size.lines}" if os.isatty(1) else "stdout is no terminal"
    )
    why, utf8 = _run_on_terminal(viewer), "UTF-8" in parts
    if not why and not utf8:
        why = "the locale is not UTF-8, so ocular-top draws in ASCII: set LANG=C.UTF-8"
    return _row("terminal", ", ".join(parts), why, matters=utf8)


def _programs(viewer):
    done = subprocess.run([viewer, "--list"], capture_output=True, text=True)
    pids = [line.split()[0] for line in done.stdout.splitlines()]
    pids = [pid for pid in pids if pid != str(os.getpid())]
    what = f"{len(pids)} serve now" + (f": {', '.join(pids)}" if pids else "")
    enabled = "; all of this environment serve" if _pth.find(_commands.NAME) else ""
    return _row("programs", what + enabled, done.returncode and _reason(done.stderr))


def _with_viewer():
    viewer = _commands.viewer()
    if viewer is None:
        yield _row("ocular-top", "not found", _commands.NO_VIEWER)
        return
    try:
        done = subprocess.run([viewer, "--version"], capture_output=True, text=True)
    except OSError as error:
        yield _row("ocular-top", f"cannot run {viewer}", str(error))
        return
    version = done.stdout.split()[-1:]
    same = version == [ocular.__version__]
    why = None if same else f"its version is not {ocular.__version__}: install both anew"
    if done.returncode:
        why = _reason(done.stderr)
    yield _row("ocular-top", f"{' '.join(version)} {viewer}", why)
    yield _attach(viewer)
    yield _terminal(viewer)
    yield _programs(viewer)


# --- The machine --------------------------------------------------------------


def _read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def _machine():
    what = f"Linux {platform.release()} {platform.machine()}"
    tested = platform.machine() == "x86_64"
    yield _row("kernel", what, None if tested else "tested on x86-64 only", matters=False)
    status = dict(line.split(":\t", 1) for line in _read("/proc/self/status").splitlines())
    first = os.path.realpath("/proc/self/ns/pid").endswith(FIRST_PID_NAMESPACE)
    scope = _read("/proc/sys/kernel/yama/ptrace_scope") or "none"
    filters = "no seccomp filter" if status.get("Seccomp") == "0" else "a seccomp filter"
    where = "no container" if first else "a container"
    yield _row("limits", f"{where}, {filters}, ptrace_scope {scope}")


def examine():
    """Returns the rows of the table."""
    with contextlib.suppress(locale.Error):  # the row of the terminal tells it
        locale.setlocale(locale.LC_CTYPE, "")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        whys, found, folder = _trial()
    rows = [
        _interpreter(found, warned),
        *_traced(whys, found),
        *_machine(),
        _sockets(whys, folder),
    ]
    what = "not found" if whys["native"] else "C functions below Python functions"
    rows.append(_row("native stacks", what, whys["native"], matters=False))
    why = ocular._namesake()
    if why:
        rows.append(_row("packages", "another project is called ocular", why, False))
    return rows + list(_with_viewer())


def _draw(rows):
    """Returns the table as lines, which fit a screen: the reasons are cut if need be."""
    bad = sum(row["state"] != "ok" for row in rows)
    most = max(1, (LINES - 2 - len(rows)) // (bad or 1))
    yield f"Ocular {ocular.__version__} in {os.path.dirname(ocular.__file__)}"[:COLUMNS]
    for row in rows:
        line = f"{row['state']:8}{row['name']:14}{row['what']}"
        yield line[:COLUMNS]
        if row["why"]:
            yield from textwrap.wrap(
                row["why"],
                COLUMNS,
                initial_indent=" " * 22,
                subsequent_indent=" " * 22,
                max_lines=most,
            )


def main(arguments):
    if arguments not in ([], ["--json"]):
        print(USAGE, file=sys.stderr)
        return 2
    rows = examine()
    failed = any(row["state"] == "FAILED" for row in rows)
    if arguments:
        variables = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        found = dict(version=ocular.__version__, ok=not failed, rows=rows)
        print(json.dumps(found | dict(environment=variables), indent=2))
    else:
        print(*_draw(rows), sep="\n")
    return int(failed)
