# SPDX-License-Identifier: MIT
"""Timelines in JSON and in Perfetto's protobuf have the same calls, no matter how the file
is requested. Invalid recordings cause no error in either format."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import ocular
import pytest
from e2e import trace
from e2e.client import Client
from e2e.program import BUILD, PYTHON, run, start, write

pytestmark = pytest.mark.once  # The files do not depend on the interpreter.
NAMES = ["x.json", "x.pftrace", "x.json.gz", "x.pftrace.gz"]


def test_random_timelines_are_the_same_in_both(tmp_path):
    make = BUILD / "obj" / "tests" / "formats" / "make_traces"
    subprocess.run([make, tmp_path, "30", "1"], check=True)
    seen = set()
    for number in range(30):
        json = trace.load(tmp_path / f"{number}.json")
        pftrace = trace.load(tmp_path / f"{number}.pftrace")
        assert pftrace["otherData"] == json["otherData"]
        events = [event for event in json["traceEvents"] if event["ph"] != "P"]
        assert pftrace["traceEvents"] == events
        samples = trace.samples(tmp_path / f"{number}.pftrace")
        samples = [(ns // 1000 * 1000, *rest) for ns, *rest in samples]
        assert trace.samples(tmp_path / f"{number}.json") == samples
        seen |= {"sample"} if samples else set()
        for event in events:
            seen |= {event["ph"], event.get("cat"), *event.get("args", ())}
    assert {"B", "E", "i", "M", "python", "loop", "ocular", "uOps", "note"} <= seen
    assert {"C", "instruction", "specialisation", "dark", "b", "e", "sample"} <= seen
    assert {"raised", "unwound", "lost", "open", "parked", "earlier", "resumed"} <= seen


@pytest.mark.parametrize("name", NAMES)
def test_wherever_a_file_is_named(tmp_path, sockets, name):
    """The file is requested on the command line, by output= in a child, by export(), or by
    a viewer."""
    source = f"""
    import ocular, os, sys, time
    def work():
        pass
    work()
    ocular.export("now.{name}")
    pid = os.fork()
    if not pid:
        while not ocular.is_tracing():
            time.sleep(0.01)
        work()
        print(os.getpid(), flush=True)
        sys.stdin.read()
        sys.exit()
    os.waitpid(pid, 0)
    """
    path = write(tmp_path, source)
    command = [PYTHON, "-m", "ocular", "--serve", "--children", "--quiet"]
    command += ["--threshold", "0", "--output", name, path]
    with start(command, cwd=tmp_path, stdin=subprocess.PIPE) as program:
        child = program.stdout.readline().strip()
        with Client(sockets / f"{child}.sock") as viewer:
            viewer.export(tmp_path / f"asked.{name}")
        program.stdin.close()
    assert program.returncode == 0
    own = name.replace("x.", f"x.{child}.")  # This file is written when the child ends.
    files = {name, own, f"now.{name}", f"asked.{name}"}
    assert set(os.listdir(tmp_path)) == {"program.py", *files}
    for each in files:
        assert trace.read(tmp_path / each).names()["work"] == 1
        first = {"json": b"{", "pftrace": b"\n", "gz": b"\x1f"}[name.split(".")[-1]]
        assert (tmp_path / each).read_bytes()[:1] == first


def test_the_library_is_gone(tmp_path):
    """The library for formats is loaded when the first file is written. If this library is
    missing, the recording stays."""
    copy = tmp_path / "lib" / "ocular"
    shutil.copytree(Path(ocular.__file__).parent, copy)
    (copy / "libocular_formats.so").unlink()
    source = """
    import ocular
    def work():
        pass
    work()
    try:
        ocular.export("now.json")
    except OSError as error:
        print(error.strerror)
    """
    path = write(tmp_path, source)
    done = run(
        [PYTHON, "-m", "ocular", "--quiet", "--threshold", "0", path],
        cwd=tmp_path,
        env={"PYTHONPATH": str(copy.parent)},
    )
    assert (done.status, done.out) == (0, "Can not access a needed shared library\n")
    (recording,) = tmp_path.glob("*.ocular")
    assert done.err == (
        f"ocular: the output could not be written to {tmp_path}/ocular_trace.json: "
        "Can not access a needed shared library; what was recorded is there: "
        f"ocular convert {recording}\n"
    )
    done = run([PYTHON, "-m", "ocular", "convert", recording, "-o", tmp_path / "x.json"])
    assert done.status == 0
    assert trace.load(tmp_path / "x.json")
    assert trace.read(tmp_path / "x.json").names()["work"] == 1


def test_what_hooks_run_in_is_linked_with_none_of_it():
    """The extension is not linked with the libraries of the formats, and does not
    contain their code."""
    linked = subprocess.run(
        ["ldd", ocular._ocular.__file__], capture_output=True, text=True
    )
    assert "libc.so" in linked.stdout
    assert not re.search(r"json|libz\.", linked.stdout)
    code = Path(ocular._ocular.__file__).read_bytes()
    assert b"traceEvents" not in code and b"speedscope.app" not in code
    done = subprocess.run(["nm", ocular._ocular.__file__], capture_output=True, text=True)
    writers = re.compile(r" (Perfetto|Pftrace\w*|Pprof|Profile|Pstats|Speedscope|Folded)_")
    assert " Timeline_new\n" in done.stdout and not writers.search(done.stdout)
