# SPDX-License-Identifier: MIT
"""Tests programs that enter seccomp's strict mode while they are traced. In this mode
the kernel kills a thread for any system call except read, write, exit and sigreturn,
and for reading the time stamp counter. A traced program must continue and end like an
untraced program."""

import json
import os
from pathlib import Path

import pytest
from e2e.program import PYTHON, SLOW, start, write
from ocular import _ocular

pytestmark = pytest.mark.skipif(
    "Seccomp:\t0" not in Path("/proc/self/status").read_text(),
    reason="needs unfiltered system calls",
)

START = """
import ocular
ocular.start_tracing(serve=True, quiet=True, output="trace.json", **{settings})
"""

# If another thread waits for the GIL, the holder must release it, which would kill a holder
# in strict mode. So the program sleeps before it enters strict mode. A thread that began to
# wait before strict mode asks for the GIL only after a long time. A wait that begins during
# strict mode is a mistake of Ocular, and asks the holder at once.
PROGRAM = """
import ctypes, os, sys, time
libc = ctypes.PyDLL(None)
prctl, leave, write, sleep = libc.prctl, libc.syscall, os.write, time.sleep
def inner(n):
    return n & 3
def work(n):
    total = 0
    for i in range(n):
        total += inner(i)
    return total
def generate(n):
    for i in range(n):
        yield inner(i)
def fails():
    raise ValueError
for _ in range({warm}):
    work(1000)
# The program must not ask the kernel for memory later. Both allocators keep freed memory
# here.
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
for option in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
    libc.mallopt(option, 1 << 25)
libc.free(libc.malloc(1 << 24))
kept = [bytes(400) for _ in range(20_000)][::500]
soon = sys.getswitchinterval()
sys.setswitchinterval(1000)
sleep(0.01)
prctl({mode})
sys.setswitchinterval(soon)
for _ in range({rounds}):
    work(1000)
    sum(generate(10))
    exec("def fresh(): return inner(3)\\nfresh()")
    try:
        fails()
    except ValueError:
        pass
write(1, b"done")
leave(60, 7)  # exit, not exit_group
"""

STRICT, NO_COUNTER = "22, 1", "26, 2"  # arguments for PR_SET_SECCOMP and PR_SET_TSC

WAYS = {
    "every call": ({"deinstrument_threshold": 0}, 0, 300),
    "at once": ({}, 0, 300),
    "dark": ({}, 300, 2000),
    "precise": ({"mode": "precise"}, 0, 300),
    "without signals": ({"overhead_budget": None}, 0, 2000),
}


@pytest.mark.parametrize("mode", [STRICT, NO_COUNTER], ids=["strict", "no counter"])
@pytest.mark.parametrize("way", WAYS)
def test_it_lives(tmp_path, sockets, mode, way):
    settings, warm, rounds = WAYS[way]
    body = PROGRAM.format(warm=warm, rounds=rounds, mode=mode)
    path = write(tmp_path, START.format(settings=settings) + body)
    environment = {"OCULAR_SIGNAL": "none"} if way == "without signals" else {}
    with start([PYTHON, path], cwd=tmp_path, env=environment) as process:
        try:
            out, err = process.communicate(timeout=SLOW)
        except BaseException:
            process.kill()
            raise
    assert (process.returncode, out) == (7, "done"), err
    assert err.startswith("ocular: no time stamp counter any more"), err
    (recording,) = tmp_path.glob("*.ocular")
    assert f"{recording} has it\n" in err
    _ocular.convert((os.fsencode(recording),), os.fsencode(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(event["name"].startswith("work") for event in events) or not warm
