# SPDX-License-Identifier: MIT
"""Contains fixtures of tests/python and tests/e2e. The fixtures make a directory in which a
test runs, and a directory with a short path for sockets. The fixtures check that no test
leaves a running trace behind."""

import shutil
import signal
import tempfile
import venv
from pathlib import Path

import ocular
import pytest
from e2e.program import leftovers

# If a shell has started the tests in the background, these signals are ignored. Every
# program that a test starts would inherit the ignored signals.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def sockets(monkeypatch):
    """Sets $OCULAR_DIR to a path that is short enough for a socket's address."""
    path = Path(tempfile.mkdtemp(prefix="oc-"))
    path.chmod(0o700)
    monkeypatch.setenv("OCULAR_DIR", str(path))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def environment(tmp_path):
    """Makes an interpreter with its own site-packages."""
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=False, symlinks=True)
    return str(folder / "bin" / "python")


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch, sockets):
    monkeypatch.chdir(tmp_path)
    yield
    was_tracing = ocular.is_tracing()
    ocular.stop_tracing()
    assert not was_tracing, "the test left the trace running"
    assert leftovers() == []
