# SPDX-License-Identifier: MIT
"""The process hands its recording to a viewer, and the viewer makes the file. So the
process has no thread for exports, and its costs do not depend on the file."""

import os
import struct
import time
from pathlib import Path

import pytest
from e2e import client, trace
from e2e.client import Client
from e2e.program import TOP, Running, start, top
from ocular import _ocular

SERVED = """
import ocular, sys
def work():
    pass
ocular.serve()
print("ready", flush=True)
while not ocular.is_tracing():
    work()
for _ in range(1000):
    work()
print("worked", flush=True)
sys.stdin.read()
print("{}")
"""


def check_copy(file):
    """Checks that a viewer cannot change the recording that it has received."""
    assert os.pread(file, 8, 0) == b"ocular\r\n"
    with pytest.raises(OSError):
        os.pwrite(file, b"x", 0)
    with pytest.raises(OSError):
        os.ftruncate(file, 0)


def test_a_recording_in_memory(tmp_path, sockets):
    """The viewer gets a copy of the recording that never changes."""
    with Running(tmp_path, SERVED) as program:
        with Client(sockets / f"{program.pid}.sock") as viewer:
            assert program.process.stdout.readline() == "worked\n"
            for kind in client.TIMELINE, client.SAMPLED:
                size, seconds, file = viewer.hand_out(kind)
                assert seconds == 0
                assert size >= os.fstat(file).st_size > 4096
                check_copy(file)
                with pytest.raises(PermissionError):
                    os.truncate(f"/proc/self/fd/{file}", 0)
                os.close(file)
            viewer.export(tmp_path / "x.json")
            assert trace.read(tmp_path / "x.json").names()["work"] > 0
            viewer.export(tmp_path / "x.folded")
        program.end()


RECORDS = """
import ocular, sys
def work():
    pass
ocular.start_tracing(serve=True, quiet=True, deinstrument_threshold=0, output="t.json")
print("ready", flush=True)
for _ in range(int(sys.stdin.readline())):
    work()
print("worked", flush=True)
sys.stdin.read()
ocular.stop_tracing()
print("{}")
"""


def cpu_s(pid):
    """Returns the CPU time that all threads of a process have used."""
    used = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        used += int((task / "schedstat").read_text().split()[0])
    return used / 1e9


def names(pid):
    return sorted((t / "comm").read_text() for t in Path(f"/proc/{pid}/task").iterdir())


def test_the_viewer_pays(tmp_path, sockets):
    """The program sleeps while the viewer makes a large file. No thread begins in the
    program. The program uses only a small part of the CPU time that the viewer uses."""
    with Running(tmp_path, RECORDS) as program:
        program.process.stdin.write("60000\n")
        program.process.stdin.flush()
        assert program.process.stdout.readline() == "worked\n"
        pid = program.pid
        # the process has finished all work that it does for any viewer
        top("-p", pid, "--once")
        threads, before = names(pid), cpu_s(pid)
        keys = "e<Ctrl-U>x.json<Enter>"
        viewer = start([TOP, "-p", pid, "--once", "--size", "150x20", "--keys", keys])
        while viewer.poll() is None:
            assert names(pid) == threads
            time.sleep(0.001)
        said, _ = viewer.communicate()
        paid = cpu_s(pid) - before
        assert "Timeline written" in said
        assert (tmp_path / "x.json").stat().st_size > 5e6
        # The traced program used less than half of the CPU time that making the file takes.
        began = time.process_time()
        with Client(sockets / f"{pid}.sock") as own:
            own.export(tmp_path / "y.json")
        assert paid < (time.process_time() - began) / 2
        assert trace.read(tmp_path / "y.json").names()["work"] == 60_000
        assert trace.read(tmp_path / "x.json").names()["work"] == 60_000
        program.end()


HEADER = struct.Struct("<8s6QIIII")  # the header of a block; see recording_format.h
HEADER_SIZE = 160


def blocks(recording):
    """Yields the offset, kind, thread, sequence number and data of each block."""
    for at in range(4096, len(recording) - HEADER_SIZE, 256):
        head = HEADER.unpack_from(recording, at)
        magic, _, place, _, used, _, sequence, kind, _, thread, _ = head
        if (magic, place) == (b"Olrblock", at):
            begin = at + HEADER_SIZE
            yield at, kind, thread, sequence, recording[begin : begin + used]


def chunks(recording):
    """Maps the offset of each block of events to its thread, sequence number and data."""
    return {at: rest for at, kind, *rest in blocks(recording) if kind == 0}


def chunks_of_the_cut(recording):
    """Returns the blocks of events that are older than the newest list of threads."""
    (list_,) = [data for _, kind, _, _, data in blocks(recording) if kind == 5]
    first_later = dict(
        struct.unpack_from("<I4xQ", list_, at) for at in range(0, len(list_), 96)
    )
    return {
        at: (thread, sequence, data)
        for at, (thread, sequence, data) in chunks(recording).items()
        if sequence < first_later.get(thread, 0)
    }


def test_a_recording_in_a_file(tmp_path, sockets):
    """The viewer gets a descriptor of the file itself, which can only be read. The file
    keeps its contents for some seconds although the timeline is full."""
    limit = '"t.json", timeline_limit=1 << 20, timeline_spill=False'
    source = RECORDS.replace('"t.json"', limit)
    source = source.replace("range(int(sys.stdin.readline()))", "iter(int, 1)")
    with Running(tmp_path, source) as program:
        with Client(sockets / f"{program.pid}.sock") as viewer:
            viewer.rate(0.1)
            viewer.wait_for(lambda now: now["events"] > 500_000)  # the timeline is full
            while True:
                asked = time.monotonic()
                size, seconds, file = viewer.hand_out()
                first = os.pread(file, size, 0)
                now = viewer.snapshot()["events"]
                viewer.wait_for(lambda later, now=now: later["events"] > now + 60_000)
                later = os.pread(file, size, 0)
                check_copy(file)
                named = next(tmp_path.glob("t.*.ocular"))
                assert os.fstat(file).st_ino == named.stat().st_ino
                os.close(file)
                if time.monotonic() - asked < seconds:
                    break  # on a busy machine, reading can take longer than `seconds`
            cut, after = chunks_of_the_cut(first), chunks(later)
            assert seconds >= 10 and len(cut) > 5
            assert all(after.get(at) == [*chunk] for at, chunk in cut.items())
        program.process.kill()


def test_a_trace_that_ends_after_the_handout(tmp_path, sockets):
    """The viewer may still read the file for the promised time, although the program has
    removed its name and closed it."""
    with Running(tmp_path, RECORDS) as program:
        program.process.stdin.write("1000\n")
        program.process.stdin.flush()
        assert program.process.stdout.readline() == "worked\n"
        with Client(sockets / f"{program.pid}.sock") as viewer:
            _, seconds, file = viewer.hand_out()
        assert seconds > 0
        program.end()
        assert not list(tmp_path.glob("*.ocular")) and os.fstat(file).st_nlink == 0
        name = f"/proc/self/fd/{file}".encode()
        _ocular.convert((name,), os.fsencode(tmp_path / "x.json"))
        os.close(file)
    assert trace.read(tmp_path / "x.json").names()["work"] == 1000
