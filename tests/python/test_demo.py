# SPDX-License-Identifier: MIT
"""Tests the demo workload and its runner. The runner is tested with a fake engine and a
fake viewer, each of which can be made to fail."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.program import SLOW, run, start, wait_until
from ocular.demo import pure, service

pytestmark = pytest.mark.once

DEMO = [sys.executable, "-m", "ocular.demo"]

# A fake module `ocular` for the runner. The fake module has the real interface, but serves
# no viewers.
ENGINE = """
import os, pathlib, signal, sys, time
__path__.append({demo!r})
def start_tracing(serve, output):
    global written, socket
    written = output
    socket = pathlib.Path(os.environ["OCULAR_DIR"], f"{{os.getpid()}}.sock")
    socket.touch()
    if os.environ.get("FAKE_HURRY"):
        os.kill(os.getpid(), signal.SIGTERM)
def stop_tracing():
    socket.unlink()
    print("THE REPORT", file=sys.stderr)
    pathlib.Path(written).write_text("[]")
"""


def calls_counted(case):
    import cProfile

    profile = cProfile.Profile()
    profile.runcall(case)
    profile.create_stats()
    return {key: value[:2] for key, value in profile.stats.items() if key[0] != "~"}


@pytest.mark.parametrize("name", pure.CASES)
def test_pure_cases_never_change(name):
    case = pure.CASES[name]
    assert case() == case()
    assert calls_counted(case) == calls_counted(case)
    assert sum(calls for _, calls in calls_counted(case).values()) > 100


def test_rounds_do_the_same_work_every_time():
    done = []
    for _ in range(2):
        work = service.Service(rounds=6, pause=0)
        work.start()
        work.join()
        done.append((work.fed, work.archived, work.errors, work.value))
        assert work.analysed == 6
    assert done[0] == done[1]
    fed, archived, errors, _ = done[0]
    assert fed == archived == 6 * service.JOBS_PER_ROUND
    assert 0 < errors < fed / 4


@pytest.mark.parametrize("part", ["work_out", "invent"])
def test_a_thread_that_fails_ends_the_service(monkeypatch, part):
    def fail(*_):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(service, part, fail)
    work = service.Service()
    work.start()
    with pytest.raises(RuntimeError, match="on purpose"):
        work.join()


def handles(pid, number):
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return caught >> (number - 1) & 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_endless_until_a_signal(number):
    with subprocess.Popen(DEMO, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as demo:
        wait_until(lambda: handles(demo.pid, signal.SIGTERM), SLOW)
        with pytest.raises(subprocess.TimeoutExpired):
            demo.wait(0.3)
        demo.send_signal(number)
        assert demo.communicate(timeout=SLOW)[0] == b""
        assert demo.returncode == 0


@pytest.mark.parametrize(
    "options", [["--rounds", "2"], ["--seconds", "0.2"]], ids=lambda o: o[0]
)
def test_finite_runs_say_nothing(options):
    done = subprocess.run(DEMO + options, capture_output=True, timeout=SLOW)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "options",
    [["--rounds", "0"], ["--seconds", "nan"], ["--output", "x"], ["more"]],
    ids=" ".join,
)
def test_wrong_options(options):
    done = subprocess.run(DEMO + options, capture_output=True, timeout=SLOW)
    assert done.returncode == 2
    assert options[0].encode() in done.stderr


# --- The runner ---------------------------------------------------------------


class Stage:
    """Makes a folder with a fake engine and a fake viewer."""

    def __init__(self, directory):
        self.directory = directory
        self.started = []
        package = directory / "ocular"
        package.mkdir()
        home = str(Path(service.__file__).parent.parent)
        (package / "__init__.py").write_text(ENGINE.format(demo=home))
        self.log = directory / "out" / "demo.log"
        self.environment = {"PYTHONPATH": str(directory), "OCULAR_DIR": str(directory)}
        self.environment["OCULAR_TOP"] = str(directory / "viewer")
        self.viewer('echo "viewer $*"')

    def viewer(self, script):
        path = self.directory / "viewer"
        path.write_text(f"#!/bin/sh\necho $2 >{self.directory}/pid\n{script}\n")
        path.chmod(0o755)

    def start(self, **more):
        command = [sys.executable, "-m", "ocular.demo.live"]
        command += ["--directory", self.directory / "out"]
        demo = start(command, env={**self.environment, **more})
        self.started.append(demo)
        return demo

    def strike(self):
        for demo in self.started:
            demo.kill()
            demo.communicate()

    def run(self, **more):
        demo = self.start(**more)
        out, err = demo.communicate(timeout=SLOW)
        return demo.returncode, out, err

    def pid(self):
        """Returns the pid that the runner has passed to the viewer as the workload."""
        path = self.directory / "pid"
        wait_until(lambda: path.exists() and path.read_text().endswith("\n"), SLOW)
        return int(path.read_text())


def is_there(pid):
    """Returns True if the process is running. A zombie does not count as running, because
    an orphan can stay a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pid):
    wait_until(lambda: not is_there(pid), SLOW)


@pytest.fixture
def stage(tmp_path):
    stage = Stage(tmp_path)
    yield stage
    stage.strike()


def test_runner_prints_three_frames_without_a_terminal(stage):
    status, out, err = stage.run()
    pid = stage.pid()
    assert (status, out) == (0, f"viewer --pid {pid} --batch -n 3 -d 1\n"), err
    assert f"timeline: {stage.directory}/out/ocular_trace.json" in err
    assert "THE REPORT" in stage.log.read_text()
    wait_until_gone(pid)


def test_runner_tells_of_a_viewer_that_fails(stage):
    stage.viewer("exit 3")
    status, _, err = stage.run()
    assert status == 1 and "ocular-top ended with status 3" in err
    wait_until_gone(stage.pid())


def test_who_is_ended_as_soon_as_it_serves_writes_its_report(stage):
    output = stage.directory / "trace.json"
    environment = {**stage.environment, "FAKE_HURRY": "1"}
    done = run([*DEMO, "--serve", "--output", output], env=environment)
    assert (done.status, done.err) == (0, "THE REPORT\n")
    assert output.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_runner_never_leaves_the_workload_behind(stage, number):
    stage.viewer("exec sleep 60 >/dev/null 2>&1")
    demo = stage.start()
    pid = stage.pid()
    assert is_there(pid)
    demo.send_signal(number)
    wait_until_gone(pid)
    assert demo.wait(SLOW) in (-number, 128 + number)
