# SPDX-License-Identifier: MIT
"""Tests interpreters that were built or changed in unusual ways. Ocular attaches to
interpreters that export their symbols, and refuses the others with a message."""

import os
import shutil
import signal
import subprocess
import sysconfig
from pathlib import Path

import pytest
from attach.programs import WORKS, Program, files
from e2e.program import PYTHON, run, wait_until


def variable(name):
    return sysconfig.get_config_var(name) or ""


def python_file():
    """Returns the path of the executable itself, even if the executable is started through
    a link."""
    asked = "import os, sys; print(os.path.realpath(sys.executable), sys.base_prefix)"
    path, prefix = run([PYTHON, "-c", asked]).out.split()
    return Path(path), prefix


def test_a_stripped_interpreter(tmp_path):
    """An interpreter that was stripped still exports its symbols."""
    if not shutil.which("strip"):
        pytest.skip("no strip")
    path, prefix = python_file()
    stripped = tmp_path / path.name
    shutil.copy(path, stripped)
    libraries = tmp_path / "lib"
    libraries.mkdir()
    for library in Path(variable("LIBDIR")).glob("libpython3.*.so.*"):
        shutil.copy(library, libraries)
    subprocess.run(["strip", "--strip-all", stripped, *libraries.iterdir()], check=True)
    env = {"PYTHONHOME": prefix, "LD_LIBRARY_PATH": str(libraries)}
    with Program(tmp_path, WORKS, stripped, **env) as program:
        maps = Path(f"/proc/{program.pid}/maps").read_text()
        assert str(stripped) in maps
        before = program.state()
        program.comes_and_goes("busy")
        program.is_again(before)
        assert program.end()[1] == ""


SOURCE = """
#include <Python.h>
int main(int argc, char **argv) { return Py_BytesMain(argc, argv); }
"""


def test_a_static_interpreter_without_symbols(tmp_path):
    """A program that embeds CPython need not export its symbols."""
    archive = Path(variable("LIBPL")) / variable("LIBRARY")
    if not archive.is_file() or not shutil.which("cc"):
        pytest.skip("no static library of this CPython, or no cc")
    program = tmp_path / "embedded"
    (tmp_path / "main.c").write_text(SOURCE)
    libraries = [*variable("LIBS").split(), *variable("SYSLIBS").split()]
    headers = "-I" + sysconfig.get_path("include")
    command = ["cc", headers, tmp_path / "main.c", archive, *libraries, "-o", program]
    done = run(command)
    if done.status:
        pytest.skip(f"cannot be linked: {done.err[-200:]}")
    source = 'print("ready", flush=True)\nwhile True:\n    sum(range(1000))\n'
    env = {"PYTHONHOME": python_file()[1]}
    with Program(tmp_path, source, program, **env) as program:
        before = program.state()
        done = program.attach()
        assert done.status == 1 and "it is static or stripped of its symbols" in done.err
        assert program.state() == before and not files()
        assert program.process.poll() is None


def test_an_interpreter_whose_file_is_gone(tmp_path):
    """An update has deleted the interpreter's file, but Ocular reads the symbols from
    memory."""
    path, prefix = python_file()
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    env = {"PYTHONHOME": prefix, "LD_LIBRARY_PATH": variable("LIBDIR")}
    with Program(tmp_path, WORKS, copy, **env) as program:
        copy.unlink()
        link = f"/proc/{program.pid}/exe"
        wait_until(lambda: os.readlink(link).endswith(" (deleted)"))
        program.comes_and_goes()
        program.process.send_signal(signal.SIGKILL)
