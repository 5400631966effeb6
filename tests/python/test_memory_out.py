# SPDX-License-Identifier: MIT
"""If no memory is left when a thread of the program needs memory for Ocular for the first
time, the process survives. glibc ends a process with status 127 if a thread's first access
to a library's thread-local memory fails."""

import pytest
from e2e.program import PYTHON, SLOW, run, write

SOURCE = """
import ctypes, resource, sys, threading
import ocular
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
SIZES = [1 << 16, 1 << 12, *range(1040, 8, -16)]
limits = resource.getrlimit(resource.RLIMIT_AS)
def work(n):
    return n + 1
def take_all():
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), limits[1]))
    for size in SIZES:
        while libc.malloc(size):
            pass
def ask():
    try:
        {ask}
        return "done"
    except (MemoryError, RuntimeError, OSError):
        return "refused"
def main():
    take_all()
    said.append(ask())
    resource.setrlimit(resource.RLIMIT_AS, limits)
ocular.start_tracing(quiet=True, {settings})
for i in range(1000):
    work(i)
said = []
thread = threading.Thread(target=main)
thread.start()
thread.join()
sys.stdout.write(" ".join(said))
"""

ASKED = {
    "snapshot": ("ocular.snapshot()", "perfetto=False"),
    "served snapshot": ("ocular.snapshot()", "perfetto=False, serve=True"),
    "stop": ("ocular.stop_tracing()", "perfetto=False"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_asked_where_memory_is_out(asked, tmp_path, sockets):
    ask, settings = ASKED[asked]
    program = write(tmp_path, SOURCE.format(ask=ask, settings=settings))
    done = run([PYTHON, program], cwd=tmp_path, timeout=SLOW)
    assert done.status == 0, done.err
    assert done.out in ("done", "refused")


def test_the_end_where_memory_is_out(tmp_path, sockets):
    """If memory is out when a trace ends, the program prints one line instead of a
    traceback, or it prints the report if there is enough memory for the report."""
    source = SOURCE.format(ask="pass", settings="perfetto=False")
    source = source.replace("resource.setrlimit(resource.RLIMIT_AS, limits)", "pass")
    source = source.replace("quiet=True, ", "")
    program = write(tmp_path, source)
    done = run([PYTHON, program], cwd=tmp_path, timeout=SLOW)
    assert done.status == 0, done.err
    assert "Traceback" not in done.err and "Exception" not in done.err
    assert done.err == "ocular: memory is out: no report\n" or "functions" in done.err
