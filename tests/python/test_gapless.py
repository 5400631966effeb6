# SPDX-License-Identifier: MIT
"""At threshold 0 the timeline loses no event and forgets no event, even with little memory
and a busy program. timeline_spill=False changes this."""

import json
import os
import re
import resource
import threading

import ocular
import pytest
from e2e.program import PYTHON, run, write

pytestmark = pytest.mark.once  # The tests of this file do not depend on the interpreter.
MIB = 1 << 20
EVENTS = 120_000  # number of events of one thread; they take nearly 1 MB


def leaf(x):
    return x + 1


def work():
    for n in range(EVENTS // 2):
        leaf(n)


def work_twice():
    work()
    work()


class Timeline:
    """Searches the text of a timeline, because the reader in trace.py would take seconds
    for these files. Other tests check that files have the right form."""

    def __init__(self, path):
        text = path.read_bytes()
        head = text.partition(b',"traceEvents":[\n')[0]
        self.other = json.loads(head + b"}")["otherData"]
        self.calls = text.count(b'"name":"leaf","cat":"python"')
        self.has_gap = b'"name":"lost' in text or b'"name":"forgotten' in text
        last = text[text.rindex(b'"ph":"E"') :].partition(b"\n")[0]
        self.last_end = float(re.search(rb'"ts":([0-9.]+)', last)[1])
        assert text.count(b'"ph":"B"') == text.count(b'"ph":"E"') > 0
        assert text.endswith(b"}\n]}\n"), text[-9:]


def record(tmp_path, function, **settings):
    path = tmp_path / "trace.json"
    request = {"deinstrument_threshold": 0, "timeline_limit": MIB, "quiet": True}
    ocular.start_tracing(output=path, **{**request, **settings})
    try:
        function()
    finally:
        final = ocular.stop_tracing()
    timeline = Timeline(path)
    path.unlink()
    return timeline, final


def is_whole(timeline, final, calls):
    other = timeline.other
    lost = other["lost_events"], other["forgotten_events"], final["lost"]
    return lost == (0, 0, 0) and timeline.calls == calls and not timeline.has_gap


def test_a_busy_thread(tmp_path):
    """A busy thread makes 3 MB of events, although the memory for events is hardly larger
    than the limit."""
    before = []

    def body():
        before.append(ocular.snapshot()["memory_bytes"])
        for _ in range(3):
            work()

    timeline, final = record(tmp_path, body)
    assert is_whole(timeline, final, 3 * EVENTS // 2)
    assert final["memory_bytes"] < before[0] + 3 * MIB
    assert os.listdir(tmp_path) == []  # Ocular has removed its files.


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_threads_and_forks(tmp_path):
    """The collector thread ends before each fork, so a full ring of events is emptied
    without the collector thread."""

    def both():
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
        for thread in threads:
            thread.join()

    timeline, final = record(tmp_path, both)
    assert is_whole(timeline, final, 3 * EVENTS // 2)


def test_an_export_in_the_midst_of_it(tmp_path):
    """An export loses no events. Events are kept while an export writes them. Events that
    come while an export writes are kept, too."""
    inside = tmp_path / "inside.json"

    def body():
        work()
        thread = threading.Thread(target=ocular.export, args=(inside,))
        thread.start()
        work()
        thread.join()

    timeline, final = record(tmp_path, body)
    assert is_whole(timeline, final, EVENTS)
    early = Timeline(inside)
    assert early.other["lost_events"] == early.other["forgotten_events"] == 0
    assert EVENTS // 2 <= early.calls <= EVENTS


def test_a_file_that_may_not_grow(tmp_path, capfd):
    """A limit on the file's size has the same effect as a full disk. The file has the
    newest part of the timeline. One line on stderr says how much is missing, even with
    quiet=True."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
    request = {"deinstrument_threshold": 0, "timeline_limit": MIB, "quiet": True}
    ocular.start_tracing(**request, output=tmp_path / "at_stop.json")
    try:
        for _ in range(3):
            work()
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        ocular.export(tmp_path / "trace.json")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        ocular.stop_tracing()
    timeline = Timeline(tmp_path / "trace.json")
    assert timeline.other["lost_events"] == 0
    assert timeline.other["forgotten_events"] > 0
    assert timeline.last_end > 0.99 * timeline.other["covered_to_us"]
    lost = Timeline(tmp_path / "at_stop.json").other["forgotten_events"]
    assert capfd.readouterr().err == (
        f"ocular: {lost} events of the timeline are lost: the recording in {tmp_path} "
        "(timeline_spill) could not grow: File too large\n"
    )


def test_with_a_threshold_it_is_asked_for(tmp_path):
    settings = {"deinstrument_threshold": EVENTS * 10}
    timeline, final = record(tmp_path, work_twice, **settings)
    assert timeline.other["forgotten_events"] > 0 and timeline.has_gap
    timeline, final = record(tmp_path, work_twice, **settings, timeline_spill=tmp_path)
    assert timeline.other["forgotten_events"] == 0
    assert timeline.calls + timeline.other["lost_events"] >= EVENTS


def test_a_program_that_closes_it(tmp_path):
    """If the program closes the descriptor of the timeline's file, the events in the file
    are lost, and the loss is marked in the timeline and reported. All other events are in
    the timeline."""

    source = f"""
        import os
        def leaf(x): return x + 1
        def work():
            for n in range({EVENTS // 2}): leaf(n)
        work()
        os.closerange(3, 1024)
        work()
    """
    options = ["--threshold", "0", "--timeline-limit", MIB, "--quiet"]
    program = write(tmp_path, source)
    done = run([PYTHON, "-m", "ocular", *options, program], cwd=tmp_path)
    assert done.status == 0 and done.err.endswith("Bad file descriptor\n")
    timeline = Timeline(tmp_path / "ocular_trace.json")
    assert timeline.other["forgotten_events"] > EVENTS // 2
    assert 10_000 < timeline.calls < EVENTS


@pytest.mark.parametrize(
    "value, kind, words",
    [
        ("/nowhere", NotADirectoryError, "no directory"),
        (__file__, NotADirectoryError, "no directory"),
        (3, TypeError, "directory's path"),
        (True, TypeError, "directory's path"),
        ("a\0b", ValueError, "null"),
    ],
)
def test_a_folder_that_will_not_do(value, kind, words):
    with pytest.raises(kind, match=words) as raised:
        ocular.start_tracing(timeline_spill=value)
    assert "timeline_spill" in str(raised.value)
    assert not ocular.is_tracing()


def test_a_folder_where_no_file_can_be_made(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: True)
    with pytest.raises(RuntimeError, match="timeline_spill: no file can be made in /proc"):
        ocular.start_tracing(timeline_spill="/proc/self", output=tmp_path / "t.json")
    assert not ocular.is_tracing()
