# SPDX-License-Identifier: MIT
"""While the timeline is written at stop, stderr shows the progress. Ctrl-C ends the
writing, and the exit status is the same as without Ocular."""

import io
import os
import signal
import sys

import ocular
import pytest
from e2e import trace
from e2e.program import PYTHON, SLOW, run, script, start, write
from ocular import _progress, _settings

# --- The line on stderr -------------------------------------------------------


class Stream(io.StringIO):
    terminal = False

    def isatty(self):
        return self.terminal


@pytest.fixture
def redirect(monkeypatch):
    """Returns a function that redirects stderr to a file. The returned function must be
    called inside the test, because pytest sets sys.stderr when the test begins."""

    def redirect(terminal):
        stream = Stream()
        stream.terminal = terminal
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return redirect


@pytest.fixture
def clock(monkeypatch):
    """Returns a function that moves a fake clock forward. Between its calls, the fake clock
    stands still."""
    now = [1000.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])

    def go_on(s):
        now[0] += s

    return go_on


@pytest.mark.parametrize("terminal", [False, True])
def test_nothing_is_said_within_a_second(redirect, clock, terminal):
    stream = redirect(terminal)
    progress = _progress.Progress(ocular._say)
    clock(0.9)
    progress(0.99, 90_000_000)
    progress.end()
    assert stream.getvalue() == ""


def test_one_line_where_stderr_is_no_terminal(redirect, clock):
    stream = redirect(False)
    progress = _progress.Progress(ocular._say)
    for second in range(1, 9):
        clock(1)
        progress(second / 9, second * 10_000_000)
    progress.end()
    assert stream.getvalue() == "ocular: writing the timeline: 11%, 10.0 MB\n"


def test_a_terminal_s_line_is_written_over(redirect, clock):
    stream = redirect(True)
    progress = _progress.Progress(ocular._say)
    clock(1)
    progress(0.05, 4_000_000)
    clock(0.1)
    progress(0.1, 8_000_000)  # too early for the next line of progress
    clock(0.2)
    progress(0.2, 16_000_000)
    progress.end()
    assert stream.getvalue() == (
        "\rocular: writing the timeline: 5%, 4.0 MB"
        "\rocular: writing the timeline: 20%, 16.0 MB"
        "\n"
    )


@pytest.mark.parametrize("broken", [None, object(), "closed"])
def test_a_program_without_stderr(monkeypatch, clock, broken):
    if broken == "closed":
        broken = io.StringIO()
        broken.close()
    monkeypatch.setattr(sys, "stderr", broken)
    progress = _progress.Progress(ocular._say)
    clock(2)
    progress(0.5, 1)
    progress.end()


def test_quiet_is_the_setting_of_the_trace_that_is_stopped(monkeypatch, capfd):
    """stop() reads `quiet` only after it has got the trace, because the activation thread
    might still be starting the trace."""

    class Extension:
        @staticmethod
        def stop(*_):
            monkeypatch.setitem(ocular._kept, "running", _settings.Settings(quiet=True))
            return {}, "a report", None, None, None

    monkeypatch.setitem(ocular._kept, "running", _settings.Settings())
    monkeypatch.setattr(ocular, "_ocular", Extension)
    ocular.stop_tracing()
    monkeypatch.undo()
    assert capfd.readouterr() == ("", "")


# --- The progress of a program's output ---------------------------------------

# Makes the class Progress print its line at once, without the usual delay.
EAGER = """
import ocular
from ocular import _progress
_progress.PATIENCE_S = 0
def called():
    pass
def work():
    for _ in range(1000):
        called()
"""

# Makes the writing of the timeline last until it is interrupted.
ENDLESS = (
    EAGER
    + """
import time
say = _progress.Progress.__call__
def wait(self, part, size):
    say(self, part, size)
    for _ in range(6000):  # A signal right before a sleep is noticed after it.
        time.sleep(0.1)
_progress.Progress.__call__ = wait
"""
)

LINE = "ocular: writing the timeline: "
INTERRUPTED = "ocular: interrupted: no timeline was written"


def traced(*options):
    return [PYTHON, "-m", "ocular", "--threshold", "0", *options]


def check_interrupted(folder, err, output="ocular_trace"):
    """Checks that the recording is kept with all events, and the last line names it."""
    (recording,) = folder.glob(f"{output}.*.ocular")
    said = f"{INTERRUPTED}; what was recorded is there: ocular convert {recording}\n"
    assert err.endswith(said)
    assert sorted(os.listdir(folder)) == sorted(["program.py", recording.name])
    done = run([PYTHON, "-m", "ocular", "convert", recording, "-o", folder / "x.json"])
    assert (done.status, done.err) == (0, "")
    assert trace.read(folder / "x.json").names()["called"] % 1000 == 0


def test_it_is_said_on_stderr(tmp_path):
    path = write(tmp_path, EAGER + "work()\n")
    done = run([*traced(), path], cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert done.err.count(LINE) == 1 and done.err.startswith(LINE)
    assert "\r" not in done.err
    assert trace.read(tmp_path / "ocular_trace.json").names()["called"] == 1000
    (tmp_path / "ocular_trace.json").unlink()
    done = run([*traced("--quiet"), path], cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert (tmp_path / "ocular_trace.json").exists()


def interrupt_the_writing(process):
    """Waits until the writing begins, interrupts it, and returns stderr."""
    said = ""
    try:
        while LINE not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
        process.wait(timeout=SLOW)
        assert process.stdout.read() == ""
    finally:
        process.kill()
        process.communicate()
    return said


def test_a_second_interrupt_ends_it(tmp_path):
    source = ENDLESS + "import os, signal\nwork()\nos.kill(os.getpid(), signal.SIGINT)\n"
    process = start([*traced(), write(tmp_path, source)], cwd=tmp_path)
    err = interrupt_the_writing(process)
    assert process.returncode == -signal.SIGINT
    # stderr has only the traceback of the first interrupt. The report can name a
    # TracebackException.
    assert err.count("Traceback (most recent call last)") == 1
    assert err.index("KeyboardInterrupt") < err.index(LINE) < err.index(INTERRUPTED)
    assert "\n#1  " in err  # This line shows that the report was printed.
    assert "timeline: /" not in err
    check_interrupted(tmp_path, err[: err.index("\n", err.index(INTERRUPTED)) + 1])


# The program ends in one of several ways. If its writing of the timeline is
# interrupted, the exit status is still the status of the program.
ENDINGS = {"sys.exit": "import sys; sys.exit(3)", "an interrupt": "raise KeyboardInterrupt"}

AT_EXIT = """
import atexit, os, signal
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
"""


@pytest.mark.parametrize("name", ENDINGS)
def test_the_status_is_the_programs(tmp_path, name):
    """The exit status is the same as for plain Python that is interrupted during its
    atexit functions."""
    plain = script(tmp_path, AT_EXIT + ENDINGS[name])
    process = start(
        [*traced(), write(tmp_path, ENDLESS + "work()\n" + ENDINGS[name])], cwd=tmp_path
    )
    err = interrupt_the_writing(process)
    assert process.returncode == plain.status, err
    check_interrupted(tmp_path, err)


# The interrupt comes during stop_tracing(), before the first event is written. A thread
# sends the interrupt as soon as the main thread has released the GIL.
WATCHED = """
import os, signal, threading
def watch():
    while ocular.is_tracing():
        pass
    os.kill(os.getpid(), signal.SIGINT)
watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
"""


def test_quiet_can_be_interrupted(tmp_path):
    """With quiet=True Ocular shows no progress. Only the writer checks for signals."""
    source = EAGER + WATCHED + "for _ in range(100):\n    work()\n"
    path = write(tmp_path, source)
    options = "--quiet", "--exclude", "watch", "--output", "x.pftrace"
    done = run([*traced(*options), path], cwd=tmp_path)
    assert (done.status, done.out) == (0, "") and done.err.startswith(INTERRUPTED)
    check_interrupted(tmp_path, done.err, "x")


def test_stop_tracing_raises_it_once_all_is_over(tmp_path):
    done = script(
        tmp_path,
        EAGER
        + """
ocular.start_tracing(deinstrument_threshold=0, quiet=True, output="t.json",
                     exclude=["watch"])
"""
        + WATCHED
        + """
try:
    for _ in range(100):
        work()
    ocular.stop_tracing()
except KeyboardInterrupt:
    print("interrupted", ocular.is_tracing(), os.path.exists("t.json"))
watcher.join()
ocular.start_tracing(deinstrument_threshold=0, quiet=True, output="t.json")
work()
print(ocular.stop_tracing()["mode"], os.path.exists("t.json"))
os.unlink("t.json")
""",
    )
    assert done.status == 0
    assert done.out == "interrupted False False\nadaptive True\n"
    assert done.err.startswith(INTERRUPTED)
    check_interrupted(tmp_path, done.err, "t")


def test_handlers_run_while_it_is_written(tmp_path):
    """A signal handler that raises nothing does not end the writing. It may use Ocular."""
    done = script(
        tmp_path,
        EAGER
        + """
import os, signal, sys
def handler(number, frame):
    said.append((ocular.is_tracing(), ocular.stop_tracing()))
    try:
        ocular.start_tracing()
    except RuntimeError as error:
        said.append(str(error))
said = []
signal.signal(signal.SIGUSR1, handler)
call = _progress.Progress.__call__
def interrupt(self, part, size):
    if not said:
        os.kill(os.getpid(), signal.SIGUSR1)
    return call(self, part, size)
_progress.Progress.__call__ = interrupt
ocular.start_tracing(deinstrument_threshold=0, output="t.json")
work()
assert ocular.stop_tracing()
print(said, os.path.exists("t.json"))
""",
    )
    assert done.status == 0, done.err
    assert done.out == (
        "[(False, None), 'Ocular is still stopping in another thread'] True\n"
    )
