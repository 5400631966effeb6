# SPDX-License-Identifier: MIT
"""What a program of root's has the right to do, and our threads in it have not."""

import os
from pathlib import Path

import pytest
from e2e.program import script

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or "Seccomp:\t0" not in Path("/proc/self/status").read_text(),
    reason="needs root, and unfiltered system calls",
)

CHANGE_USERS = 0xC0  # CAP_SETGID, CAP_SETUID: glibc has each thread use them

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
    # It gives up root for good: no thread of ours keeps anything.
    assert {caps[0] for threads in after.values() for caps in threads} == {0}
    assert {caps[1] for threads in after.values() for caps in threads} == {0}
