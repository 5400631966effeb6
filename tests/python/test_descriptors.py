# SPDX-License-Identifier: MIT
"""The program closes all descriptors, or the descriptors 0, 1 and 2, and then opens files
of its own, which get these numbers. Ocular neither writes to these files nor closes
them."""

import json
import os
import subprocess
import sys

import pytest
from e2e.program import SLOW, ocular, write

pytestmark = pytest.mark.once

CLOSES_ALL = """
import os, sys, threading, time, ocular
def g(x):
    return x + 1
for i in range(20_000):
    g(i)
stop = False
refused = written = 0
def export():
    global refused, written
    while not stop:
        try:
            ocular.export(sys.argv[1])
            written += 1
        except OSError:
            refused += 1
thread = threading.Thread(target=export)
thread.start()
bad, rounds, end = [], 0, time.monotonic() + 60
while (rounds < 60 or refused < 20) and not bad and time.monotonic() < end:
    rounds += 1
    time.sleep(0.005)
    os.closerange(3, 256)
    mine = [os.open(f"mine{i}", os.O_RDWR | os.O_CREAT | os.O_TRUNC) for i in range(6)]
    for fd in mine:
        os.write(fd, b"hello")
    time.sleep(0.01)
    for i, fd in enumerate(mine):
        try:
            os.fstat(fd)
            if os.path.getsize(f"mine{i}") != 5:
                bad.append(open(f"mine{i}", "rb").read()[:60])
        except OSError as error:
            bad.append(str(error))
stop = True
thread.join()
print(bad, refused >= 20)
"""

READS_ITS_OWN = """
import hashlib, os, threading, time
stop = False
def hasher():
    while not stop:
        hashlib.sha256(bytes(2_000_000)).digest()
threads = [threading.Thread(target=hasher) for _ in range(6)]
for each in threads:
    each.start()
for i in range(4):
    open(f"mine{i}", "wb").write(b"0123456789" * 10)
bad, end = [], time.monotonic() + 1.5
while time.monotonic() < end and not bad:
    os.closerange(3, 256)
    mine = [os.open(f"mine{i}", os.O_RDONLY) for i in range(4)]
    time.sleep(0.0003)
    for i, fd in enumerate(mine):
        try:
            path = os.readlink(f"/proc/self/fd/{fd}")
            if os.lseek(fd, 0, 1) or not path.endswith(f"mine{i}"):
                bad.append(fd)
        except OSError as error:
            bad.append(str(error))
stop = True
print(bad)
"""

HAS_NO_STREAMS = """
import json, os, sys, threading, time, ocular
for fd in (0, 1, 2):
    os.close(fd)
ocular.start_tracing(deinstrument_threshold=0, quiet=True, output="trace.json", serve=True)
def g(x):
    return x + 1
for i in range(20_000):
    g(i)
stop, stray = False, 0
def log():
    global stray
    while not stop:
        for fd in (1, 2):
            try:
                os.write(fd, b"ERROR something\\n")
                stray += 1
            except OSError:
                pass
        time.sleep(0.0005)
thread = threading.Thread(target=log)
thread.start()
command = f"{sys.argv[1]} -p {os.getpid()} --once </dev/null >/dev/null 2>&1"
viewers = [os.waitstatus_to_exitcode(os.system(command)) for _ in range(4)]
ocular.export("other.json")
ocular.stop_tracing()
stop = True
thread.join()
with open("said.json", "w") as file:
    json.dump({"stray": stray, "viewers": viewers}, file)
"""


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_a_program_that_closes_all_while_a_timeline_is_written(tmp_path, name):
    options = "--threshold 0 --quiet --output last.json".split()
    done = ocular(tmp_path, *options, write(tmp_path, CLOSES_ALL), name)
    assert (done.status, done.out) == (0, "[] True\n"), done.err
    json.loads((tmp_path / "last.json").read_text())
    assert not list(tmp_path.glob(".ocular-*")), "temporary files stay"


def test_a_program_that_closes_all_while_it_is_sampled(tmp_path):
    options = "--serve --budget 0.5 --quiet --no-perfetto".split()
    done = ocular(tmp_path, *options, write(tmp_path, READS_ITS_OWN))
    assert (done.status, done.out) == (0, "[]\n"), done.err


def test_a_program_without_standard_streams(tmp_path):
    """The output of a program without standard streams is lost, and goes neither to a
    viewer nor into the timeline."""
    top = os.environ.get("OCULAR_TOP", "ocular-top")
    status = subprocess.run(
        [sys.executable, write(tmp_path, HAS_NO_STREAMS), top], cwd=tmp_path, timeout=SLOW
    ).returncode
    assert status == 0
    said = json.loads((tmp_path / "said.json").read_text())
    assert said == {"stray": 0, "viewers": [0] * 4}
    for name in ("trace.json", "other.json"):
        json.loads((tmp_path / name).read_text())
