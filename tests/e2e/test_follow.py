# SPDX-License-Identifier: MIT
"""Tests the children of a traced program. Some of these children write timelines. With
--follow, programs that a traced program starts are traced, too."""

import json
import os
import subprocess
from pathlib import Path

import ocular
import pytest
from e2e import program
from e2e.program import PYTHON, write

FORKS = """
import os, sys, time, ocular
def work(n):
    return n + 1
def child():
    while not ocular.is_tracing():
        time.sleep(0.01)
    for n in range(100):
        work(n)
    sys.exit(0)
for _ in range(3):
    pid = os.fork()
    if not pid:
        child()
    assert os.waitpid(pid, 0)[1] == 0
"""

SPAWNS = """
import subprocess, sys
source = '''
import sys
def work(n):
    return n + 1
for n in range(100):
    work(n)
ocular = sys.modules.get("ocular")
print(ocular is not None and ocular.is_tracing(), sys.argv, __name__)
'''
done = subprocess.run([sys.executable, "-c", source, "argument"], capture_output=True,
                      text=True, check=True)
print(done.stdout, end="")
print(repr(done.stderr))
"""

MULTIPROCESSING = """
import multiprocessing, os, sys
def work(n):
    return n + 1
def child(pipe):
    import ocular
    for n in range(100):
        work(n)
    rows = ocular.snapshot()["functions"] if ocular.is_tracing() else []
    calls = [row["calls"] for row in rows if row["name"] == "work"]
    pipe.send((calls, f"{os.getpid()}.sock" in os.listdir(sys.argv[1])))
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=child, args=(there,))
    process.start()
    print(here.recv())
    process.join()
    print(process.exitcode)
"""


def run(directory, *options, python=PYTHON):
    done = program.run([python, "-m", "ocular", *options], cwd=directory)
    return done.status, done.out, done.err


@pytest.mark.parametrize("wanted", [False, True])
def test_forked_children_write_where_they_are_asked_to(tmp_path, sockets, wanted):
    path = str(write(tmp_path, FORKS))
    options = ["--children"] if wanted else []
    status, _, err = run(tmp_path, "--serve", "--quiet", *options, path)
    assert status == 0, err
    names = sorted(path.name for path in tmp_path.glob("ocular_trace*"))
    assert names[0] == "ocular_trace.json" or "ocular_trace.json" in names
    assert len(names) == (4 if wanted else 1), names
    for name in names:
        json.loads((tmp_path / name).read_text())


def test_spawned_children_are_followed(tmp_path, sockets, environment):
    path = str(write(tmp_path, SPAWNS))
    status, out, err = run(tmp_path, "--follow", path, python=environment)
    assert status == 2 and out == ""
    assert "--install-follow" in err and environment in err
    status, out, _ = run(tmp_path, "--install-follow", python=environment)
    assert status == 0
    line = Path(out.removeprefix("ocular: written: ").strip())
    assert line.name == "ocular-follow.pth" and line.is_file()
    options = ["--quiet", "--follow", "--children", "--threshold", "0"]
    status, out, err = run(tmp_path, *options, path, python=environment)
    assert status == 0, err
    assert out == "True ['-c', 'argument'] __main__\n''\n"
    traces = list(tmp_path.glob("ocular_trace*.json"))
    assert len(traces) == 2
    calls = [
        sum(event.get("name", "").endswith("work") for event in trace["traceEvents"])
        for trace in (json.loads(each.read_text()) for each in traces)
    ]
    assert sorted(calls) == [0, 200], calls  # Each of the 100 calls has two events.
    # Without the environment variable the line in site-packages does nothing.
    done = subprocess.run(
        [environment, "-c", "import sys; print('ocular' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
    assert run(tmp_path, "--remove-follow", python=environment)[0] == 0
    assert not line.exists()


def test_spawned_children_of_multiprocessing_serve(tmp_path, sockets, environment):
    """The children behave like the worker processes of `uvicorn --workers`. Without
    --children no child writes a timeline."""
    path = str(write(tmp_path, MULTIPROCESSING))
    assert run(tmp_path, "--install-follow", python=environment)[0] == 0
    options = ["--serve", "--quiet", "--follow", "--threshold", "0"]
    status, out, err = run(tmp_path, *options, path, str(sockets), python=environment)
    assert (status, err) == (0, "")
    assert out == "([100], True)\n0\n"
    assert [path.name for path in tmp_path.glob("*.json*")] == ["ocular_trace.json"]


def test_what_cannot_be_traced_runs_untraced(environment):
    """If a child's settings make no sense or tracing fails, the child runs untraced."""
    folder = Path(ocular.__file__).parent.parent
    source = "import sys; print(sys.argv)"
    for request in ("{", "[]", '{"mode": "no such"}', '{"nonsense": 1}'):
        done = subprocess.run(
            [environment, "-c", f"import ocular._follow as f; f._begin(); {source}"],
            env={**os.environ, "OCULAR_FOLLOW": request, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "['-c']\n" and done.stderr == ""
