# SPDX-License-Identifier: MIT
"""Runs the examples in README.md and in the documents for users. Each block that is marked
`python` or `sh` is run unchanged, in a folder with a script.py, while a process serves. If
a person must run a block (make, pip, sudo), the block has no such mark."""

import os
import re

import pytest
from e2e.program import PYTHON, ROOT, TOP, Running, run, write

pytestmark = pytest.mark.once

DOCUMENTS = (
    "README.md docs/usage.md docs/troubleshooting.md docs/metrics.md docs/security.md"
)

# A program that stands for the reader's program. The program takes some tenths of a second
# of CPU time even on a busy machine, because samples are taken by CPU time.
SCRIPT = """
import time
def work(n=100):
    return sum(range(n))
end = time.process_time() + 0.3
while time.process_time() < end:
    work()
"""
SERVES = """
import ocular, sys
def work(n):
    return sum(range(n))
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
work(100)
print("ready", flush=True)
sys.stdin.read()
"""


def examples(language):
    """Returns the blocks in this language, each with its document and its line."""
    found = []
    for name in DOCUMENTS.split():
        text = (ROOT / name).read_text("utf-8")
        for block in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.M | re.S):
            line = text.count("\n", 0, block.start()) + 1
            found.append(pytest.param(block[1], id=f"{name}:{line}"))
    return found


@pytest.mark.parametrize("source", examples("python"))
@pytest.mark.parametrize("serve", ["", "1"])
def test_python(tmp_path, source, serve):
    path = write(tmp_path, f"import ocular\n{SCRIPT}\n{source}\n")
    done = run([PYTHON, path], cwd=tmp_path, env={"OCULAR_SERVE": serve})
    assert done.status == 0 and "Traceback" not in done.err, done.err
    assert "warning" not in done.err
    wanted = re.findall(r'output="(.*?)"', source)
    assert all((tmp_path / name).stat().st_size for name in wanted)


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Returns a folder with the commands. The folder is an environment that
    --install-follow may change."""
    folder = tmp_path_factory.mktemp("environment")
    done = run([PYTHON, "-m", "venv", "--without-pip", folder])
    assert done.status == 0, done.err
    for name, words in (
        ("ocular", f'{folder}/bin/python -m ocular "$@"'),
        ("ocular-top", f'{TOP} "$@"'),
    ):
        (folder / "bin" / name).write_text(f"#!/bin/sh\nexec {words}\n")
        (folder / "bin" / name).chmod(0o755)
    return folder / "bin"


def commands_of(block, pid):
    """Yields the commands of a block. Without a terminal the viewer would print until the
    program ends, so --once is added to its command."""
    for line in block.splitlines():
        line = line.split(" #")[0].strip().replace("1234", str(pid))
        if "ocular-top" in line and "--once" not in line:
            line = line.replace("ocular-top", f"ocular-top --pid {pid} --once")
        if line and not line.startswith("#"):
            yield line


def leave_recordings(folder, block):
    """Makes recordings with the names that the block of commands uses. Killed programs
    leave such recordings."""
    for name in set(re.findall(r"(?:convert|diff) (\S+\.ocular)", block)):
        command = [PYTHON, "-m", "ocular", "--quiet", "--output", name, "script.py"]
        assert run(command, cwd=folder).status == 0


@pytest.mark.parametrize("block", examples("sh"))
def test_sh(tmp_path, commands, block):
    path = os.pathsep.join([str(commands), os.environ["PATH"]])
    write(tmp_path, SCRIPT, "script.py")
    leave_recordings(tmp_path, block)
    (tmp_path / "serving").mkdir()
    with Running(tmp_path / "serving", SERVES) as serving:
        for line in commands_of(block, serving.pid):
            done = run(["sh", "-c", line], cwd=tmp_path, env={"PATH": path})
            # a short run can seem slower than another run by chance
            fine = (0, 1) if "--fail-above" in line else (0,)
            assert done.status in fine, f"{line}: {done.err}"
            assert "warning" not in done.err, f"{line}: {done.err}"
            if line.startswith("ocular-top"):
                assert str(serving.pid) in done.out
    wanted = re.findall(r"(?:--output|-o) (\S+)", block)
    assert all((tmp_path / name).stat().st_size for name in wanted)


def test_there_are_examples():
    assert len(examples("python")) >= 2
    assert len(examples("sh")) >= 5
