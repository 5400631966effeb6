# SPDX-License-Identifier: MIT
"""Tests the end of a trace. There are a report and a returned snapshot, and nothing of
Ocular is left behind. A trace also ends at the end of the program, no matter how the
program ends."""

import os
import sys
import types

import ocular
import pytest
from e2e.counting import EXACT, helper, row
from e2e.program import files, leftovers, script, threads, wait_until
from ocular.demo import pure

monitoring = sys.monitoring


# --- Report -------------------------------------------------------------------


def test_report_is_on_stderr(capfd, tmp_path):
    ocular.start_tracing(output=tmp_path / "x.json")
    for _ in range(300):
        helper(300)
    ocular.stop_tracing()
    out, err = capfd.readouterr()
    assert out == ""
    assert "helper" in err and "counting.py" in err
    assert "JUMP_BACKWARD" in err and "cycles" in err
    assert "BINARY_OP -> BINARY_OP_SUBTRACT_INT" in " ".join(err.split())
    assert str(tmp_path / "x.json") in err
    assert "offset" in err and "line" in err


def test_a_failed_start_leaves_quiet_alone(capfd):
    ocular.start_tracing(perfetto=False, quiet=True)
    with pytest.raises(RuntimeError):
        ocular.start_tracing(perfetto=False, quiet=False)
    ocular.stop_tracing()
    assert capfd.readouterr() == ("", "")


# --- The returned snapshot, and the state after it ----------------------------


def test_nothing_is_left(sockets):
    ocular.start_tracing(serve=True, quiet=True)
    for case in pure.CASES.values():
        case()
    wait_until(lambda: len(threads()) >= 3)  # Ocular's threads set their own names
    ocular.stop_tracing()
    assert leftovers() == []
    codes = [
        function.__code__
        for function in vars(pure).values()
        if isinstance(function, types.FunctionType)
    ]
    assert len(codes) > 20
    for tool in (3, 4, 5):
        assert monitoring.get_tool(tool) is None
        # get_events() works only if the tool id is in use.
        monitoring.use_tool_id(tool, "test")
        try:
            assert monitoring.get_events(tool) == 0
            assert not [code for code in codes if monitoring.get_local_events(tool, code)]
        finally:
            monitoring.free_tool_id(tool)
    assert os.listdir(sockets) == []


def test_no_event_of_ours_fires_afterwards():
    """After stop_tracing() no event of Ocular fires. Before 3.14 free_tool_id() does not
    remove the id's local events."""
    generator = (n for n in range(3))
    ocular.start_tracing(**EXACT)
    next(generator)
    pure.CASES["recursion"]()
    helper(3)
    ocular.stop_tracing()
    fired = []
    try:
        for tool in (3, 4, 5):
            monitoring.use_tool_id(tool, "test")
            for name, event in vars(monitoring.events).items():
                if event and event.bit_count() == 1 and name != "BRANCH":
                    monitoring.register_callback(
                        tool, event, lambda *args: fired.append(args)
                    )
            if sys.version_info < (3, 14):
                monitoring.register_callback(
                    tool, monitoring.events.BRANCH, lambda *a: fired.append(a)
                )
            assert monitoring.get_events(tool) == 0
            assert monitoring.get_local_events(tool, helper.__code__) == 0
        pure.CASES["recursion"]()
        pure.CASES["exceptions"]()
        helper(3)
        list(generator)
    finally:
        for tool in (3, 4, 5):
            for name, event in vars(monitoring.events).items():
                if event and event.bit_count() == 1:
                    monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)
    assert fired == []


def test_again_and_again(sockets):
    def once():
        ocular.start_tracing(
            serve=True, quiet=True, perfetto=False, deinstrument_threshold=0
        )
        pure.CASES["recursion"]()
        final = ocular.stop_tracing()
        return row(final, "fibonacci")["calls"]

    tasks = len(os.listdir("/proc/self/task"))
    calls = [once()]
    assert leftovers() == []
    open_files = sorted(files())
    calls += [once() for _ in range(5)]
    assert len(set(calls)) == 1
    assert leftovers() == []
    assert sorted(files()) == open_files
    assert len(os.listdir("/proc/self/task")) == tasks


# --- The end of the interpreter -----------------------------------------------

PRELUDE = """
import atexit, ocular, os, sys, threading, time
def work(n):
    while n:
        n -= 1
ocular.start_tracing(serve=True, output="trace.json")
work(1000)
print("out")
"""

ENDINGS = {
    "falls off the end": ("", 0, ""),
    "sys.exit(3)": ("sys.exit(3)", 3, ""),
    "unhandled exception": ("raise LookupError('lost')", 1, "LookupError: lost"),
    "keyboard interrupt": ("raise KeyboardInterrupt", -2, "KeyboardInterrupt"),
    "daemon threads": (
        "threading.Thread(target=lambda: [work(50) for _ in iter(int, 1)],"
        " daemon=True).start(); time.sleep(0.1)",
        0,
        "",
    ),
    "a thread that outlives main": (
        "threading.Thread(target=lambda: (time.sleep(0.2), work(10))).start()",
        0,
        "",
    ),
    "atexit of the program's own": (
        "atexit.register(lambda: work(5)); atexit.register(ocular.snapshot)",
        0,
        "",
    ),
    "stopped at exit by itself": ("atexit.register(ocular.stop_tracing)", 0, ""),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_the_end(tmp_path, sockets, name):
    ending, status, words = ENDINGS[name]
    # A `status` of -2 means that SIGINT has ended the process after its cleanup.
    done = script(tmp_path, PRELUDE + ending)
    assert done.status == status, done.err
    assert done.out == "out\n"
    assert words in done.err and "Fatal" not in done.err
    # The report contains this line.
    assert f"timeline: {tmp_path}/trace.json" in done.err
    assert (tmp_path / "trace.json").stat().st_size > 500
    assert os.listdir(sockets) == []


def test_at_exit_nothing_was_ever_traced(tmp_path):
    done = script(tmp_path, "import ocular")
    assert (done.status, done.out, done.err) == (0, "", "")
    assert os.listdir(tmp_path) == ["program.py"]


def test_closed_streams_at_the_end(tmp_path):
    done = script(tmp_path, PRELUDE + "sys.stdout.flush(); os.close(2)")
    assert done.status in (0, 120)
    assert (tmp_path / "trace.json").exists()


def test_start_at_exit(tmp_path):
    """A trace starts after Ocular's own atexit function, and the process still ends."""
    done = script(
        tmp_path,
        """
        import atexit
        def late():
            ocular.start_tracing(quiet=True, perfetto=False)
        atexit.register(late)
        import ocular
        """,
    )
    assert done.status == 0 and "Fatal" not in done.err, done
