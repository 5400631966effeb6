# SPDX-License-Identifier: MIT
"""A program can be killed, or can end in another way that leaves no time for writing. The
recording of such a program is left, and `ocular convert` makes the file that the program
would have written."""

import errno
import json
import os
import random
import re
import subprocess
import time
from pathlib import Path

import pytest
from e2e import trace, trace_processor
from e2e.program import PYTHON, SLOW, run, start, write
from ocular import _ocular

pytestmark = pytest.mark.once
LATE_S = 0.1  # Seconds of the timeline that may be missing at the end.
# Largest delay of a thread in seconds if more threads run than there are CPUs.
BUSY_S = 0.4
WORK = """
import ctypes, os, signal, struct, sys, threading, time
def leaf(n): return n
def work(n=20):
    for i in range(n): leaf(i)
def ready(): os.write(1, b"ready\\n")
"""
BEATS = """
def loop(beats):
    while True:
        work()
        if beats:
            os.write(1, struct.pack("<Q", time.time_ns()))
        time.sleep(0.002)
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=loop, args=(False,), daemon=True).start()
loop(True)
"""


def traced(folder, body, *options, arguments=(), output="t.json", **more):
    options = ["--output", output, "--quiet", *options]
    program = write(folder, WORK + body)
    command = [PYTHON, "-m", "ocular", *options, program, *arguments]
    return start(command, cwd=folder, **more)


def recordings(folder):
    return sorted(Path(folder).glob("*.ocular"))


def convert(recording, *arguments):
    return run([PYTHON, "-m", "ocular", "convert", recording, *arguments])


def make(recording, output):
    """Converts the recording, and checks that the conversion reports no error. Returns the
    file's size and the number of events."""
    size, events, wrong, _ = _ocular.convert((os.fsencode(recording),), os.fsencode(output))
    assert size == output.stat().st_size and wrong == ""
    return size, events


def converted(recording, output):
    make(recording, output)
    return trace.read(output)


# --- Programs that are killed at any moment -----------------------------------


def covered_to_ns(path):
    with open(path, "rb") as file:
        line = file.readline().removesuffix(b',"traceEvents":[\n')
    other = json.loads(line + b"}")["otherData"]
    return other["start_unix_ns"] + int(1000 * other["covered_to_us"])


def kill_at_random(folder):
    """Returns the ns between the last output and the newest event in the recording."""
    process = traced(
        folder, BEATS, *["--threshold", "0"], arguments=[random.choice((1, 8))], text=False
    )
    first = process.stdout.read(8)
    time.sleep(random.uniform(0.2, 0.7))
    process.kill()
    said, err = process.communicate(timeout=SLOW)
    assert err == b""
    said = first + said
    last = int.from_bytes(said[len(said) // 8 * 8 - 8 :][:8], "little")
    for name in "x.json", "x.pftrace":
        assert make(*recordings(folder), folder / name)[1] > 100
    return last - covered_to_ns(folder / "x.json")


COMPLAINTS = """
select name, value from stats where value > 0 and severity in ('error', 'data_loss')
"""


@pytest.mark.timeout(300)
def test_at_any_moment(tmp_path):
    files = []
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert kill_at_random(folder) / 1e9 < LATE_S + BUSY_S
        files.append(folder / "x.pftrace")
    if trace_processor.missing():
        pytest.skip("there is no trace processor that could check the files")
    with trace_processor.TraceProcessor() as processor:
        for file in files:
            assert processor.query(file, COMPLAINTS) == []


# --- Other ends of a program --------------------------------------------------

ENDS = {
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "a crash": "ctypes.string_at(0)",
    "os._exit": "os._exit(7)",
    "exec": "os.execv('/bin/true', ['true'])",
    "as init does it": "os.kill(os.getpid(), signal.SIGKILL)",
}


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("name", ["t.json", "t.ocular"])
def test_it_ends(tmp_path, how, name):
    body = f"work(2000)\ntime.sleep(0.6)\n{ENDS[how]}"
    process = traced(tmp_path, body, output=name)
    assert process.communicate(timeout=SLOW)[1] == ""
    assert process.returncode != 1
    (recording,) = recordings(tmp_path)
    assert recording.name == f"t.{process.pid}.ocular"
    assert converted(recording, tmp_path / "x.json").names()["leaf"] >= 500


def test_a_clean_end_leaves_what_was_asked_for(tmp_path):
    for name in "t.json", "t.ocular":
        process = traced(tmp_path, "work(2000)", output=name)
        process.communicate(timeout=SLOW)
        assert process.returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["program.py", "t.json", "t.ocular"]
    read = converted(tmp_path / "t.ocular", tmp_path / "x.json")
    names = read.names(), trace.read(tmp_path / "t.json").names()
    # if the program's folder has a new file, CPython lists the folder again
    for each in names:
        each.pop("FileFinder._fill_cache", None)
    assert names[0] == names[1]
    # An existing recording is never overwritten.
    process = traced(tmp_path, "work(2000)", output="t.ocular")
    assert process.communicate(timeout=SLOW)[1] == ""
    assert (tmp_path / f"t.{process.pid}.ocular").exists()


@pytest.mark.parametrize("kind", ["calls", "a mark", "a new thread"])
def test_after_it_did_nothing(tmp_path, kind):
    """While the program does nothing, no thread of Ocular wakes up. The program's next
    event wakes a thread of Ocular."""
    does = {
        "calls": "work()",
        "a mark": "ocular.mark('here')",
        "a new thread": "t = threading.Thread(target=work); t.start(); t.join()",
    }[kind]
    body = f"""
import ocular
work(2000)
time.sleep(3)
{does}
time.sleep({LATE_S + BUSY_S / 2})
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = traced(tmp_path, body, "--threshold", "0")
    process.communicate(timeout=SLOW)
    names = converted(*recordings(tmp_path), tmp_path / "x.json").names()
    assert names["leaf"] == 2000 + 20 * (kind != "a mark")


def test_the_next_run_says_so(tmp_path):
    process = traced(tmp_path, "ready()\ntime.sleep(600)")
    assert process.stdout.readline() == "ready\n"
    command = [PYTHON, "-m", "ocular", "--output", tmp_path / "t.json", "-c", "pass"]
    # the program to which the recording belongs is still running
    assert "ocular: found" not in run(command, cwd=tmp_path).err
    process.kill()
    process.communicate(timeout=SLOW)
    name = f"t.{process.pid}.ocular"
    said = run(command, cwd=tmp_path).err.splitlines()[0]
    assert said == f"ocular: found {name} of a killed run: ocular convert {name}"
    assert run([*command[:3], "--quiet", *command[3:]], cwd=tmp_path).err == ""
    assert run([PYTHON, "-m", "ocular", "convert", name], cwd=tmp_path).status == 0
    trace.read(tmp_path / f"t.{process.pid}.json")


def test_a_traced_program_runs_another_traced_program(tmp_path):
    """Both programs have the same process id. The recording of the first program is kept,
    and the second program writes another file."""
    other = write(tmp_path, WORK + "work(30)\nprint(os.getpid())", "other.py")
    command = f"[sys.executable, '-m', 'ocular', '--output', 't.json', {str(other)!r}]"
    body = f"work(2000)\ntime.sleep(0.3)\nos.execv(sys.executable, {command})"
    process = traced(tmp_path, body, "--threshold", "0")
    out, err = process.communicate(timeout=SLOW)
    assert process.returncode == 0 and int(out) == process.pid
    name = f"t.{process.pid}.ocular"
    assert f"ocular: found {name} of a killed run: ocular convert {name}" in err
    (recording,) = recordings(tmp_path)
    assert recording.name == name
    assert trace.read(tmp_path / "t.json").names()["leaf"] == 30
    assert converted(recording, tmp_path / "x.json").names()["leaf"] == 2000


def test_a_forked_child_has_its_own(tmp_path, sockets):
    body = """
import ocular
child = os.fork()
while not ocular.is_tracing(): time.sleep(0.01)
work(2000)
time.sleep(0.6)
os._exit(child == 0)
"""
    process = traced(tmp_path, body, "--serve", "--children")
    process.communicate(timeout=SLOW)
    found = recordings(tmp_path)
    assert len(found) == 2
    for number, recording in enumerate(found):
        read = converted(recording, tmp_path / f"{number}.json")
        assert read.names()["leaf"] >= 500
        assert {pid for pid, _ in read.threads} == {int(recording.name.split(".")[1])}


# --- Files that are made from a recording -------------------------------------

ENDINGS = "json pftrace json.gz pftrace.gz folded speedscope.json pstats pb.gz".split()


@pytest.mark.parametrize("name", ["t.json", "t.folded"])
def test_whatever_was_to_be_written(tmp_path, name):
    body = "end = time.process_time() + 1\nwhile time.process_time() < end: work()\n"
    process = traced(tmp_path, body + "os._exit(0)", output=name)
    process.communicate(timeout=SLOW)
    (recording,) = recordings(tmp_path)
    for ending in ENDINGS:
        assert make(recording, tmp_path / f"x.{ending}")[0] > 0
    stacks = (tmp_path / "x.folded").read_text().splitlines()
    us = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in stacks}
    # the numbers in the file are microseconds, not numbers of samples
    assert 0.4e6 < sum(us.values()) < 2e6
    assert any("work (program.py" in stack for stack in us)


def test_refusals(tmp_path):
    (tmp_path / "x.ocular").write_text("{}")
    done = convert(tmp_path / "x.ocular")
    assert done.status == 2
    assert done.err == (
        f"ocular convert: {tmp_path}/x.ocular: this is no recording of Ocular's\n"
    )
    assert "No such file" in convert(tmp_path / "y.ocular").err
    traced(tmp_path, "work()", output="t.ocular").communicate(timeout=SLOW)
    (tmp_path / "t.json").write_text("mine")
    done = convert(tmp_path / "t.ocular")
    assert (done.status, (tmp_path / "t.json").read_text()) == (2, "mine")
    assert "it exists" in done.err


# --- Recordings that cannot be written ----------------------------------------


def test_a_read_only_folder(tmp_path):
    """If the folder of the recording is read-only, the program runs untraced, and a
    warning gives the reason."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user cannot mount a read-only disk")
    try:
        process = traced(tmp_path, "work()\nprint('on')", output=disk / "t.json")
        out, err = process.communicate(timeout=SLOW)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert (process.returncode, out) == (0, "on\n")
    why = f"output: no right to write in {disk}; choose another output="
    assert err == f"ocular: warning: tracing is off: {why}\n"


def test_the_folder_vanishes(tmp_path):
    (tmp_path / "place").mkdir()
    body = "import shutil\nwork()\nshutil.rmtree('place')\nwork()\nprint('on')"
    process = traced(tmp_path, body, output="place/t.json")
    out, err = process.communicate(timeout=SLOW)
    assert (process.returncode, out) == (0, "on\n")
    assert f"{tmp_path}/place/t.json: No such file or directory" in err


def test_somebody_truncates_it(tmp_path):
    """Ocular writes to the recording and does not map it, so there is no SIGBUS."""
    body = """
import glob
for _ in range(5): work(2000)
time.sleep(0.3)
os.truncate(glob.glob("t.*.ocular")[0], 0)
for _ in range(5): work(2000)
time.sleep(0.3)
os._exit(0)
"""
    process = traced(tmp_path, body, "--threshold", "0")
    assert process.wait(timeout=SLOW) == 0
    done = convert(*recordings(tmp_path), "-o", tmp_path / "x.json")
    assert done.status == 0
    assert re.search("blocks? (is|are) damaged or cut off", done.err)
    # The events that were written before the file was truncated are missing. Names of
    # functions can be missing, too.
    names = trace.read(tmp_path / "x.json").names()
    assert 5 * 2000 <= names.get("leaf", 0) + names.get("<retired>", 0) < 10 * 2000


def test_a_limit_of_file_sizes(tmp_path):
    """In this program SIGXFSZ has its default action, which would end the process. The
    memory has room for all events."""
    body = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
for _ in range(15): work(2000)
time.sleep(0.3)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
print("on")
"""
    options = ["--threshold", "0", "--timeline-limit", "10000000"]
    process = traced(tmp_path, body, *options)
    out, err = process.communicate(timeout=SLOW)
    assert (process.returncode, out) == (0, "on\n")
    assert err.endswith("could not be written: File too large\n") and err.count("\n") == 1
    assert trace.read(tmp_path / "t.json").names()["leaf"] == 15 * 2000


FAILING = f"""
sys.path.insert(0, {str(Path(__file__).parent)!r})
from failing_disk import fail
for _ in range(5): work(2000)
time.sleep(0.3)
fail(int(sys.argv[1]))
for _ in range(5): work(2000)
time.sleep(0.3)
"""


@pytest.mark.parametrize("error", [errno.EIO, errno.ESTALE, errno.EDQUOT])
def test_the_disk_fails(tmp_path, error):
    """If the disk fails and the program ends normally, no event is lost, and one line
    says why there is no recording."""
    body = FAILING + "print('on')"
    process = traced(tmp_path, body, "--threshold", "0", arguments=[str(error)])
    out, err = process.communicate(timeout=SLOW)
    assert (process.returncode, out) == (0, "on\n")
    assert os.strerror(error) in err and err.count("\n") == 1
    assert trace.read(tmp_path / "t.json").names()["leaf"] == 10 * 2000
    assert recordings(tmp_path) == []
