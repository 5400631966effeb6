# SPDX-License-Identifier: MIT
"""Tests the capabilities of Ocular's threads in a program that runs as root."""

import ctypes
import os
import subprocess
from pathlib import Path

import pytest
from e2e import trace
from e2e.program import PYTHON, SLOW, script, start, top, write

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or "Seccomp:\t0" not in Path("/proc/self/status").read_text(),
    reason="needs root, and unfiltered system calls",
)

CHANGE_USERS = 0xC0  # CAP_SETGID and CAP_SETUID, for glibc in each thread

SOURCE = """
import glob, json, os, sys, time
import ocular
def held():
    found = {}
    for task in glob.glob("/proc/self/task/*"):
        rows = dict(row.split(":", 1) for row in open(task + "/status"))
        found.setdefault(rows["Name"].strip(), []).append(
            [int(rows[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")])
    return found
def work(n):
    while n:
        n -= 1
before = held()
ocular.start_tracing(serve=True, perfetto=False, quiet=True)
end = time.monotonic() + 60
while time.monotonic() < end:
    work(20_000)
    shares = [row["cpu_share"] for row in ocular.snapshot()["functions"]]
    if any(shares):
        break
during = held()
os.setgid(65534)
os.setuid(65534)
work(1000)
after = held()
ocular.stop_tracing()
print(json.dumps([before, during, after, any(shares)]))
"""


def test_our_threads_have_no_capabilities(tmp_path, sockets):
    before, during, after, sampled = script(tmp_path, SOURCE).answer
    assert sampled
    ours = {name: caps for name, caps in during.items() if name.startswith("ocular-")}
    assert {"ocular-sampler", "ocular-server", "ocular-collect", "ocular-governor"} <= set(
        ours
    )
    (mine,) = before.values()
    may = mine[0][1] & CHANGE_USERS
    for name, threads in ours.items():
        for effective, permitted, inheritable, ambient in threads:
            assert (effective | permitted) & ~may == 0, name
            assert inheritable == ambient == 0, name
    (program,) = [caps for name, caps in during.items() if not name.startswith("ocular-")]
    assert program == mine
    # If the program gives up root for good, no thread of Ocular keeps a capability.
    assert {caps[0] for threads in after.values() for caps in threads} == {0}
    assert {caps[1] for threads in after.values() for caps in threads} == {0}


# --- An export for a viewer ------------------------------------------------------

WITHOUT = """
import ctypes, struct, sys
import ocular
ocular.start_tracing(serve=True, quiet=True, output=sys.argv[1])
none = struct.pack("6I", *[0] * 6)
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(CAPSET, struct.pack("Ii", 0x20080522, 0), none) == 0
try:
    open("mine", "w")
    print("allowed", flush=True)
except PermissionError:
    print("refused", flush=True)
sys.stdin.read()
""".replace("CAPSET", {"x86_64": "126", "aarch64": "91"}.get(os.uname().machine, "0"))


def drop_all():
    """Drops all capabilities for the program that is executed next, even for root."""
    libc = ctypes.CDLL(None)
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # 24 is PR_CAPBSET_DROP.


def export_by(place, pid, **more):
    """Makes a viewer export a timeline from the program. Returns the viewer's output, and
    the files that exist after the export."""
    keys = ("-p", pid, "--once", "--size", "150x20", "--keys", "e<Enter>")
    done = top(*keys, **more)
    assert done.status == 0, done.err
    return done.out, sorted(os.listdir(place))


def test_an_export_has_the_viewers_rights(tmp_path, sockets):
    """The program has dropped its capabilities, so it may not write in the folder. A viewer
    without capabilities may not write in this folder. Root's viewer may write in this
    folder, so its export works."""
    place = tmp_path / "private"
    place.mkdir(0o700)
    program = write(tmp_path, WITHOUT)
    os.chown(place, 12345, 12345)
    process = start(
        [PYTHON, program, tmp_path / "stop.json"], stdin=subprocess.PIPE, cwd=place
    )
    try:
        assert process.stdout.readline() == "refused\n"
        said, files = export_by(place, process.pid, preexec_fn=drop_all)
        assert "not exported" in said and "Permission denied" in said
        assert files == []
        said, files = export_by(place, process.pid)
        assert "Timeline written" in said, said
        assert files == ["ocular_trace.json"]
        trace.read(place / "ocular_trace.json")
        assert process.communicate("", SLOW)[1] == ""
    finally:
        process.kill()
        process.wait()
