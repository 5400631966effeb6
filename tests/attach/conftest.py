# SPDX-License-Identifier: MIT
"""Skips the tests of this folder if the kernel forbids ptrace, for example in some
containers. Without ptrace, attaching is impossible."""

import ctypes
import functools
import subprocess

import pytest
from attach.programs import Program, files, folders
from e2e.fixtures import environment, own_place, sockets  # noqa: F401

PTRACE_SEIZE = 0x4206


@functools.cache
def may_debug():
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            may = ctypes.CDLL(None).ptrace(PTRACE_SEIZE, child.pid, None, None) == 0
            with open(f"/proc/{child.pid}/mem", "r+b"):
                return may
        except OSError:
            return False
        finally:
            child.kill()


@pytest.fixture(autouse=True)
def debugging(request):
    if request.path.name != "test_enable.py" and not may_debug():
        pytest.skip("the kernel lets nobody debug another process here")


@pytest.fixture(autouse=True)
def no_files_left():
    Program.pids, Program.older = set(), folders()
    yield
    assert not files()
