# SPDX-License-Identifier: MIT
"""Tests the annotate and callers views of ocular-top on a real program. The program's
functions come from files that stay, change or vanish, from archives, from exec, and from
names that are no file."""

import os
import subprocess
import time
import zipfile

import pytest
from e2e.program import PYTHON, start, top, wait_until, write

SOURCE = "def {0}(n):\n    return sum(range(n))  # in {0}\n"

PROGRAM = """
    import importlib, os, sys, time
    sys.path[:0] = [os.getcwd(), "stored.zip", "packed.zip"]
    functions = [getattr(importlib.import_module(name), name)
                 for name in ("stays", "changes", "vanishes", "stored", "packed")]
    space = {}
    exec("def made(n):\\n    return n  # nobody sees this", space)
    functions.append(space["made"])
    for name, file in (("pipe", os.path.abspath("pipe.py")),
                       ("device", "/dev/zero"), ("relative", "relative.py"),
                       ("evil", "evil\\x1b[2J\\u202e.py")):
        exec(compile(f"def {name}(n):\\n    return n\\n", file, "exec"), space)
        functions.append(space[name])
    def looping():
        for function in functions:
            for _ in range(10):
                function(3000)
    print("ready", flush=True)
    while True:
        looping()
        time.sleep(0.005)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    directory = tmp_path_factory.mktemp("annotated")
    sockets = tmp_path_factory.mktemp("s")
    sockets.chmod(0o700)
    for name in ("stays", "changes", "vanishes"):
        write(directory, SOURCE.format(name), f"{name}.py")
    write(directory, "if 1:\n\tdef relative(n): pass\n", "relative.py")
    for name, how in (("stored", zipfile.ZIP_STORED), ("packed", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(directory / f"{name}.zip", "w", how) as archive:
            archive.writestr(f"{name}.py", SOURCE.format(name))
    os.mkfifo(directory / "pipe.py")
    path = write(directory, PROGRAM)
    early = time.time() - 100
    for file in directory.iterdir():
        os.utime(file, (early, early))
    environment = {"OCULAR_DIR": str(sockets)}
    process = start(
        [PYTHON, "-m", "ocular", "--serve", "--no-perfetto", path],
        cwd=directory,
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout.readline() == "ready\n"
    (directory / "vanishes.py").unlink()
    # The file's new time must be in a later second than its old time.
    changed = time.time() + 5
    os.utime(directory / "changes.py", (changed, changed))
    wait_until(lambda: list(sockets.glob("*.sock")), what="a socket")
    yield process.pid, environment
    process.kill()
    process.communicate()


def annotate(place, function, size="150x40", until=("RESUME",)):
    """Waits until the screen contains all words of `until`, and returns the screen."""
    pid, environment = place

    def look():
        options = f"--once -F {function} --keys <Enter> --size {size}".split()
        done = top("--pid", pid, *options, env={**environment, "LC_ALL": "C.UTF-8"})
        assert done.status == 0, done.err
        return all(word in done.out for word in until) and done.out

    return wait_until(look, what=f"{until} of {function}")


@pytest.mark.parametrize("function", ["stays", "stored", "packed"])
def test_source_beside_bytecode(place, function):
    # Operand text and specialised forms can come a little later than the listing.
    text = annotate(place, function, until=("LOAD_GLOBAL_BUILTIN", " sum "))
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if f"# in {function}" in line)
    assert f"def {function}(n):" in text
    assert any("CALL" in line and "sum" in line for line in lines[at:])


@pytest.mark.parametrize(
    "function, words",
    [
        ("changes", "changes.py has changed since the process started"),
        ("vanishes", "vanishes.py is not there"),
        ("made", "made at run time (<string>): there is no source file"),
        ("pipe", "pipe.py is no regular file"),
        ("device", "zero is no regular file"),
        ("evil", "is not there"),
    ],
)
def test_bytecode_alone_and_why(place, function, words):
    text = annotate(place, function)
    assert words in text
    assert "Bytecode only." in text
    assert f"# in {function}" not in text and "nobody sees" not in text
    assert all(c == "\n" or c.isprintable() for c in text)
