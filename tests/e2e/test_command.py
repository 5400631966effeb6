# SPDX-License-Identifier: MIT
"""Tests python -m ocular. The program runs in the same way as without Ocular, and is traced
if tracing is possible."""

import os
import signal

import pytest
from e2e import trace
from e2e.counting import COLLECTOR
from e2e.program import PYTHON, SLOW, ocular, run, start, top, wait_until, write

PROGRAM = """
import sys
def work(n):
    while n:
        n -= 1
work(100)
print(sys.argv, __name__, sys.path[0])
print(sys.stdin.read().upper(), end="")
print("to stderr", file=sys.stderr)
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""


def test_arguments_status_and_streams(tmp_path):
    path = write(tmp_path, PROGRAM)
    arguments = ["3", "--serve", "-m", "--threshold", "x", "", "ü"]
    plain = run([PYTHON, path, *arguments], cwd=tmp_path, input="stdin\n")
    done = ocular(tmp_path, path, *arguments, input="stdin\n")
    assert done.status == plain.status == 3
    assert done.out == plain.out
    assert "to stderr" in done.err and "ocular_trace.json" in done.err
    assert trace.read(tmp_path / "ocular_trace.json").names()["work"] == 1


def test_main_module_can_be_pickled_and_spawned(tmp_path):
    path = write(
        tmp_path,
        """
        import multiprocessing, pickle
        class Thing: pass
        def double(n): return 2 * n
        if __name__ == "__main__":
            assert type(pickle.loads(pickle.dumps(Thing()))) is Thing
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(double, [1, 2]))
        """,
    )
    done = ocular(tmp_path, "--quiet", "--no-perfetto", path)
    assert (done.status, done.out) == (0, "[2, 4]\n"), done.err


def test_a_served_program_reports_in_five_lines(tmp_path):
    path = write(tmp_path, "def work(): pass\nwork()\n")
    for options, is_whole in (
        (["--serve"], False),
        (["--serve", "--report"], True),
        ([], True),
    ):
        lines = ocular(tmp_path, *options, path).err.splitlines()
        assert lines[0].startswith("Ocular ") and (len(lines) > 5) == is_whole
        assert any("timeline: " in line for line in lines)


def test_options(tmp_path):
    path = write(
        tmp_path,
        """
        import json, ocular
        def hot(): pass
        def cold(): pass
        for _ in range(100): hot(), cold()
        s = ocular.snapshot()
        print(json.dumps([s["threshold"], s["overhead"]["budget"],
              {f["name"]: f["calls"] for f in s["functions"]}]))
        """,
    )
    done = ocular(
        tmp_path,
        *"--threshold 20 --budget 5% --exclude cold --quiet".split(),
        *"--output x.json.gz --timeline-limit 2000000".split(),
        path,
    )
    threshold, budget, calls = done.answer
    assert threshold == 20 and budget == 0.05
    assert 20 <= calls["hot"] < 25 and "cold" not in calls
    assert trace.read(tmp_path / "x.json.gz").other["threshold"] == 20
    done = ocular(tmp_path, "--include-only=hot", "--threshold=0", "--no-perfetto", path)
    assert set(done.answer[2]) - {COLLECTOR} == {"hot"}
    assert not (tmp_path / "ocular_trace.json").exists()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--colour", "program.py"], "--colour"),
        (["--threshold", "x", "program.py"], "threshold"),
        (["--threshold", "-1", "program.py"], "at least 0"),
        (["--mode", "fast", "program.py"], "mode"),
        (["--budget", "7", "program.py"], "overhead_budget"),
        (["-m"], "-m"),
        (["missing.py"], "missing.py"),
        (["--threshold"], "threshold"),
        (["--output", "/no/such/dir/x", "program.py"], "/no/such/dir"),
        (["--output", "-", "program.py"], "stdout belongs to the program"),
    ],
    ids=" ".join,
)
def test_wrong_options(tmp_path, arguments, words):
    write(tmp_path, "print('ran')")
    done = ocular(tmp_path, *arguments)
    assert words in done.err and "Traceback" not in done.err
    if "/no/such" in words:  # if the folder is missing, the program runs nevertheless
        assert done.status == 0 and done.out == "ran\n" and "warning" in done.err
        return
    assert done.status == 2 and done.out == ""


def test_help_and_version(tmp_path):
    done = ocular(tmp_path, "--help")
    assert done.status == 0 and "--threshold" in done.out and "-m module" in done.out
    done = ocular(tmp_path, "--version")
    assert done.status == 0 and done.out.startswith("ocular ")


def test_no_free_tool_id(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfor tool in (3, 4): sys.monitoring.use_tool_id(tool, 'greedy')\n"
    )
    path = write(tmp_path, PROGRAM)
    search = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    done = ocular(tmp_path, path, "5", env={"PYTHONPATH": search})
    assert done.status == 5
    assert done.out.startswith(f"['{path}', '5'] __main__ {tmp_path}")
    assert "warning" in done.err and "greedy" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "ocular_trace.json").exists()


def test_no_place_for_the_socket(tmp_path, sockets):
    sockets.chmod(0o777)
    path = write(tmp_path, PROGRAM)
    done = ocular(tmp_path, "--serve", path)
    assert done.status == 0 and str(sockets) in done.err
    assert "warning" in done.err


def test_serve_and_watch(tmp_path, sockets):
    path = write(tmp_path, "def spin():\n    while True:\n        pass\nspin()\n")
    process = start([PYTHON, "-m", "ocular", "--serve", path], cwd=tmp_path)
    try:
        wait_until(lambda: (sockets / f"{process.pid}.sock").exists())

        def spins():
            """Returns a snapshot in which `spin` has lost its hooks and samples have found
            it, or None."""
            seen = top("--pid", process.pid, "--once", "--json").answer
            for row in seen["functions"]:
                if row["name"] == "spin" and row["dark_sites"] and row["cpu_share"]:
                    return seen
            return None

        seen = wait_until(spins)
        assert seen["pid"] == process.pid
        # Without --pid, ocular-top takes the only process that serves viewers.
        listed = top("--once", "--json")
        if listed.status == 0:
            assert listed.answer["pid"] == process.pid
        else:  # another process serves on this machine
            assert str(process.pid) in listed.err
        frames = top("--pid", process.pid, "--batch", "-n", "2", "-d", "0.2")
        assert frames.status == 0 and frames.out.count("spin") >= 2
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SLOW)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err and out == ""
    assert "spin" in err and (tmp_path / "ocular_trace.json").exists()
    assert os.listdir(sockets) == []


def test_a_directory_and_a_zip(tmp_path):
    import zipfile

    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(
        "import ocular, sys\nprint(sys.argv[1:], ocular.snapshot()['command'])\n"
    )
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.write(tmp_path / "app" / "__main__.py", "__main__.py")
    for name in ("app", "app.pyz"):
        done = ocular(tmp_path, "--quiet", "--no-perfetto", name, "a")
        assert (done.status, done.out) == (0, f"['a'] {name} a\n"), done.err
    # The program itself may also start the trace.
    (tmp_path / "app" / "__main__.py").write_text(
        "import ocular\nocular.start_tracing(perfetto=False, quiet=True)\n"
        "print(ocular.snapshot()['command'])\n"
    )
    assert run([PYTHON, "app", "a"], cwd=tmp_path).out == "app a\n"


def test_the_script_may_stop_and_start_by_itself(tmp_path):
    path = write(
        tmp_path,
        """
        import ocular
        ocular.stop_tracing()
        ocular.start_tracing(quiet=True, perfetto=False)
        print(ocular.is_tracing())
        """,
    )
    done = ocular(tmp_path, "--quiet", path)
    assert (done.status, done.out, done.err) == (0, "True\n", "")


def test_a_directory_that_has_gone(tmp_path):
    """If the folder for the timeline was removed, the program runs nevertheless."""
    path = write(tmp_path, "import sys\nprint(sys.path)\n")
    source = """
import os, subprocess, sys
os.mkdir("gone")
os.chdir("gone")
os.rmdir(os.getcwd())
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""
    plain, traced = (
        run([PYTHON, "-c", source, PYTHON, *ours, path], cwd=tmp_path)
        for ours in ([], ["-m", "ocular"])
    )
    assert traced.status == plain.status == 0
    assert traced.out == plain.out
    assert "tracing is off" in traced.err
