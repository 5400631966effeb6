# SPDX-License-Identifier: MIT
"""Measures how long the signal handler takes that reads a stack, how many stacks with C
functions are complete, and whether perf finds the same innermost functions."""

import os
import re
import shutil
import subprocess
from collections import Counter

import pytest
from e2e.program import PYTHON, write

pytestmark = pytest.mark.timeout(600)
CUT = "(callers not known)"
WORK = """
import json, random, re, sqlite3, sys, time, zlib
text = json.dumps([{"a": list(range(30)), "b": "x" * 40} for _ in range(300)])
data = bytes(random.randrange(64) for _ in range(200_000))
numbers = [random.random() for _ in range(200_000)]
table = sqlite3.connect(":memory:")
table.execute("create table t(a, b)")
table.executemany("insert into t values(?, ?)", [(i, i % 997) for i in range(20_000)])
table.create_function("same", 1, lambda x: x)
pattern = re.compile(r"(a+)+b|x{3,}y")
def of_json(): json.loads(text)
def of_re(): pattern.search("ax" * 2000)
def of_zlib(): zlib.compress(data, 6)
def of_sqlite(): table.execute("select b, sum(a) from t group by b").fetchall()
def of_callback(): table.execute("select sum(same(a)) from t").fetchall()
def of_sort(): sorted(numbers)
def of_key(): sorted(numbers, key=lambda x: -x)
def of_python(): sum(i for i in range(30_000))
works = [of_json, of_re, of_zlib, of_sqlite, of_callback, of_sort, of_key, of_python]
try:
    import numpy
    matrix = numpy.random.rand(80, 80)
    def of_svd(): numpy.linalg.svd(matrix)
    works.append(of_svd)
except ImportError:
    pass
for work in works:
    end = time.thread_time() + 4
    while time.thread_time() < end:
        work()
"""
HANDLER = """perf record -q -o perf.data -e signal:signal_deliver --filter sig>=34
    -e syscalls:sys_enter_rt_sigreturn -e sched:sched_switch"""
PERF = re.compile(r"\s*([\d.]+)%\s+\S+\s+\[\.\] (.*\S)")


def stacks(directory, *before, options=("--native",)):
    """Runs the program. Returns the names of the functions, the us and the text of each
    stack."""
    out = directory / "x.folded"
    ocular = [PYTHON, "-m", "ocular", *options, "--quiet", "--output", out]
    program = write(directory, WORK)
    subprocess.run([*before, *ocular, program], check=True, cwd=directory)
    lines = (line.rpartition(" ") for line in out.read_text().splitlines())
    return [
        ([frame.split(" (")[0] for frame in stack.split(";")], float(us), stack)
        for stack, _, us in lines
    ]


@pytest.mark.skipif(not os.access("/sys/kernel/tracing/events", os.R_OK), reason="not root")
@pytest.mark.parametrize("options", [["--native"], []], ids=["native", "python"])
def test_handler(tmp_path, figure, options):
    """The time from a signal's delivery to the return from its handler, if the thread keeps
    its CPU meanwhile."""
    stacks(tmp_path, *HANDLER.split(), options=options)
    script = "perf script -i perf.data -F tid,time,event --ns".split()
    done = subprocess.run(script, capture_output=True, text=True, cwd=tmp_path)
    begun, us = {}, []
    for tid, at, event, *_ in map(str.split, done.stdout.splitlines()):
        if "signal_deliver" in event:
            begun[tid] = float(at[:-1])
        elif began := begun.pop(tid, None):
            us += [1e6 * (float(at[:-1]) - began)] if "sigreturn" in event else []
    us.sort()
    assert len(us) > 2000, done.stderr
    figure("median", us[len(us) // 2], better="lower", unit="us")
    figure("p99", us[len(us) * 99 // 100], better="lower", unit="us")


def test_whole(tmp_path, figure):
    times, cut = Counter(), Counter()
    for names, us, _ in stacks(tmp_path):
        for work in (name for name in names if name.startswith("of_")):
            times[work] += us
            cut[work] += us if CUT in names else 0
    assert len(times) > 5
    for work, us in times.items():
        figure(work, 100 - 100 * cut[work] / us, better="higher", unit="%")


@pytest.mark.skipif(not shutil.which("perf"), reason="there is no perf")
def test_like_perf(tmp_path, figure):
    """The figure is the share of the time in named C functions for which perf finds the
    same innermost function."""
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-o", "perf.data"]
    ours = Counter()
    for names, us, stack in stacks(tmp_path, *record):
        if stack.endswith(":0)"):
            ours[names[-1]] += us
    report = "perf report -i perf.data --stdio --comm python3 --sort dso,sym".split()
    done = subprocess.run(report, capture_output=True, text=True, cwd=tmp_path)
    perf = Counter()
    for share, name in PERF.findall(done.stdout):
        perf[name] += float(share)
    # Functions without a symbol have an address instead of a name.
    both = perf.keys() & ours.keys()
    assert len(both) > 20, done.stderr
    of_perf, of_ours = (sum(found[name] for name in both) for found in (perf, ours))
    same = sum(min(perf[name] / of_perf, ours[name] / of_ours) for name in both)
    figure("", 100 * same, better="higher", unit="%")
