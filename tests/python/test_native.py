# SPDX-License-Identifier: MIT
"""Tests the C functions below Python functions in stacks, in files and in the viewer."""

import json
import os
import random
import re
import sqlite3
import subprocess
import threading
import time
import zlib

import extensions
import ocular
import pytest
from e2e.program import PYTHON, Running, keys_of, top, wait_until

CUT = "(callers not known)"
DATA = bytes(random.Random(1).choices(range(64), k=200_000))
NUMBERS = [random.Random(2).random() for _ in range(50_000)]
TABLE = sqlite3.connect(":memory:", check_same_thread=False)
TABLE.execute("create table t(a, b)")
TABLE.executemany("insert into t values(?, ?)", [(i, i % 97) for i in range(5000)])


def packs():
    return zlib.compress(DATA, 6)


def sorts():
    return sorted(NUMBERS)


def asks():
    return TABLE.execute("select b, sum(a) from t group by b").fetchall()


def counts():
    return sum(range(100_000))


# Maps a function to a C function that it must call. The pattern also accepts the C
# function's file, because the libraries of some systems have no symbols.
BELOW = {packs: "deflate|libz", sorts: "sort|python", asks: "sqlite3", counts: "sum|python"}


def stacks(path):
    """Returns the functions and the us of each stack in the running trace."""
    path.unlink(missing_ok=True)
    ocular.export(path)
    lines = (line.rpartition(" ") for line in path.read_text().splitlines())
    return [(stack.split(";"), float(us)) for stack, _, us in lines]


def below(found, work):
    """Returns the C functions below `work` and the us, for each stack with `work`."""
    kept = []
    for frames, us in found:
        names = [frame.split(" (")[0] for frame in frames]
        if work.__name__ in names:
            kept.append((frames[names.index(work.__name__) + 1 :], us))
    return kept


ONCE = [pytest.param(each, marks=pytest.mark.once) for each in (packs, asks)]


@pytest.mark.parametrize("work", [*ONCE, sorts, counts], ids=lambda work: work.__name__)
def test_c_functions_are_below_their_python_function(tracing, tmp_path, work):
    tracing(native=True)

    def seen():
        """Works until three quarters of the time belong to a known C function. First,
        Ocular has to read the unwind tables of the libraries."""
        end = time.thread_time() + 0.3
        while time.thread_time() < end:
            work()
        found = below(stacks(tmp_path / "x.folded"), work)
        native = sum(us for frames, us in found if frames)
        return found if native > 0.75 * sum(us for _, us in found) > 0 else None

    found = wait_until(seen, what="samples with C functions")
    texts = [" ".join(frames) for frames, _ in found]
    assert any(re.search(BELOW[work], text) for text in texts), texts
    # The stacks contain no frames of the interpreter itself.
    assert not any(
        re.search("_PyEval_EvalFrameDefault|PyObject_Vectorcall", text) for text in texts
    )
    # The stacks are whole.
    cut = sum(us for frames, us in found if CUT in " ".join(frames))
    assert cut <= 0.02 * sum(us for _, us in found)


def test_threads_that_never_run_python(tracing, tmp_path):
    begun = time.process_time()
    tracing(native=True)

    def is_read():
        found = packs() and below(stacks(tmp_path / "x.folded"), packs)
        return re.search(BELOW[packs], str(found))

    wait_until(is_read)
    # Ocular also has to read the table of a library that is loaded later.
    native_threads = extensions.load("python", "native_threads")
    read, write = os.pipe()
    thread = threading.Thread(target=native_threads.burn, args=(read,))
    thread.start()

    def seen():
        """Returns the row of the thread if it has CPU time and a stack."""
        rows = [t for t in ocular.snapshot()["threads"] if t["name"] == "burner"]
        found = stacks(tmp_path / "x.folded")
        burnt = [
            us for frames, us in found if " burns (native_threads." in "; " + frames[-1]
        ]
        return rows[0] if rows and rows[0]["cpu_s"] > 0.1 and burnt else None

    try:
        row = wait_until(seen, what="a thread with CPU time and its stack")
        assert row["cpu_s"] <= time.process_time() - begun and row["cpu_share"] > 0
        # Ocular's own threads are not listed.
        assert not [t for t in ocular.snapshot()["threads"] if "ocular" in str(t["name"])]
    finally:
        os.write(write, b"x")
        thread.join()
        os.close(read)
        os.close(write)


SERVED = f"""
import ocular, os, sys, threading, zlib
data = {DATA[:20_000]!r}
def packs():
    zlib.compress(data * 10, 6)
def work():
    while True:
        packs()
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
threading.Thread(target=work, daemon=True).start()
print(os.getpid(), flush=True)
sys.stdin.read()
"""


def view(pid, keys):
    """Returns the data of the view after these keys."""
    done = top("-p", str(pid), "--once", "--json", "--keys", keys)
    return json.loads(done.out.splitlines()[-1])


def natives(stacks):
    return [f for f in stacks["functions"] if f["address"] is not None]


@pytest.mark.once
def test_a_key_of_the_viewer_asks_for_them(tmp_path):
    with Running(tmp_path, SERVED) as program:
        pid = program.said[0]

        # The program records C functions only after a viewer has asked for them.
        found = wait_until(lambda: view(pid, "f<Frame:2>"), what="stacks")
        assert found["rows"] and not natives(found)

        keys = keys_of("What runs inside C?") + "<Frame:4>"
        found = wait_until(lambda: natives(view(pid, keys)), what="C functions")
        assert all(f["name"] and f["file"] for f in found)
        assert any(re.search("deflate|libz", f["name"] + f["file"]) for f in found)

        def of_a_line():
            return view(pid, "/packs<Enter><Enter>C<Frame:3>")["natives"]

        found = wait_until(of_a_line, what="C functions of a line")
        # CPython may release and take the GIL in the line with `def`.
        assert found[0]["line"] == 5 and {f["line"] for f in found} <= {4, 5}
        times = [f["ns"] for f in found]
        assert times == sorted(times, reverse=True) and all(f["name"] for f in found)


@pytest.mark.parametrize("name, said", [("x.json.gz", True), ("x.folded.gz", False)])
def test_a_timeline_has_none(tmp_path, name, said):
    options = "-m ocular --native --output".split()
    command = [PYTHON, *options, tmp_path / name, "-c", "pass"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert ("a timeline has no C functions" in done.stderr) == said, done.stderr
