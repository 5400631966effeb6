# SPDX-License-Identifier: MIT
"""Attaches to a program that has just begun or is about to end. Attaching either works or
is refused with a message, and the program ends as if nobody had attached."""

import os
import random
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attach.programs import WORKS, Program, files
from e2e.program import PYTHON, SLOW, TOP, run, start, write

# The tests have also passed with ATTACH_ROUNDS=1000.
ROUNDS = int(os.environ.get("ATTACH_ROUNDS", 8))

# Programs that run for about half a second in different ways and then print "done".
KINDS = {
    "plain": """
        end = time.time() + 0.5
        while time.time() < end:
            sum(range(1000))
            time.sleep(0.001)
        print("done")
        """,
    "threads": """
        import threading
        def work(end):
            while time.time() < end:
                sum(range(1000))
                time.sleep(0.001)
        threading.Thread(target=work, args=[time.time() + 9], daemon=True).start()
        threading.Thread(target=work, args=[time.time() + 0.6]).start()
        work(time.time() + 0.4)
        print("done")
        """,
    "exec": """
        import sys
        left = int(sys.argv[1]) if len(sys.argv) > 1 else 5
        if left:
            os.execv(sys.executable, [sys.executable, __file__, str(left - 1)])
        time.sleep(0.3)
        print("done")
        """,
    "fork": """
        import subprocess
        end = time.time() + 0.5
        while time.time() < end:
            child = os.fork()
            if not child:
                sum(range(10000))
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            assert subprocess.run(["true"]).returncode == 0
        print("done")
        """,
}
# in this entry, the test attaches to a child of the program
KINDS["children"] = KINDS["fork"]

# If a program begins or ends, ocular-top gives one of these reasons.
SAID = (
    """
has ended|there is no process|is about to end|has not initialised|has just begun
is about to begin or to end|has begun another program|still has the memory of its parent
serves already|has run no Python code
""".strip()
    .replace("\n", "|")
    .split("|")
)
# The first reason is possible on a busy machine, and the second one for /bin/true.
SAID += ["does not stop for a moment", "runs no CPython"]


def children(pid):
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def attach_at(moment, process, child):
    time.sleep(moment)
    pids = [process.pid]
    until = time.monotonic() + 0.1
    if child:
        while not (pids := children(process.pid)) and time.monotonic() < until:
            pass
    if not pids:
        return
    done = run([TOP, "--attach-only", "--pid", pids[0]])
    assert done.status == 0 or any(words in done.err for words in SAID), done


def try_once(path, kind, moment):
    env = {"PYTHONPATH": "", "OCULAR_SERVE": "", "PYTHONWARNINGS": "ignore"}
    # Python warns about a fork in a process that has threads
    process = start([PYTHON, path], env=env)
    Program.pids.add(process.pid)
    try:
        attach_at(moment, process, kind == "children")
        out, err = process.communicate(timeout=SLOW)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, "done\n", ""), moment


@pytest.mark.parametrize("kind", KINDS)
def test_any_moment(tmp_path, kind):
    path = write(tmp_path, "import os, time\n" + textwrap.dedent(KINDS[kind]))
    chance = random.Random(os.environ.get("ATTACH_SEED", kind))
    with ThreadPoolExecutor(4) as pool:
        moments = [chance.choice((0.02, 0.1, 0.6)) * chance.random() for _ in range(ROUNDS)]
        list(pool.map(try_once, [path] * ROUNDS, [kind] * ROUNDS, moments))


def attaching(process):
    Program.pids.add(process.pid)
    return start([TOP, "--attach-only", "--pid", process.pid])


def refuse(process, *words):
    """Checks that attaching is refused after five seconds, and that it leaves nothing
    behind."""
    side = attaching(process)
    err = side.communicate(timeout=SLOW)[1]
    assert side.returncode == 1 and all(word in err for word in words), err
    assert not files()


def test_nothing_is_initialised(tmp_path):
    """When CPython starts, it reads pyvenv.cfg. In this test pyvenv.cfg is a FIFO, so
    CPython waits until the test writes to it."""
    real = Path(os.path.realpath(PYTHON))
    python, fifo = tmp_path / "python3", tmp_path / "pyvenv.cfg"
    python.symlink_to(real)
    os.mkfifo(fifo)
    process = start([python, "-c", "print('done')"], env={"PYTHONPATH": ""})
    with open(fifo, "w") as config:  # open() returns when CPython opens the FIFO
        refuse(process, "has not initialised its Python", "Nothing was changed")
        config.write(f"home = {real.parent}\n")
    assert process.communicate(timeout=SLOW) == ("done\n", "")


def test_its_site_is_imported(tmp_path):
    """The import of `site` can take long, and can wait for other programs."""
    source = """
        import os
        print("ready", flush=True)
        while not os.path.exists("go"):
            sum(range(1000))
        """
    write(tmp_path, source, "sitecustomize.py")
    with Program(tmp_path, WORKS, PYTHONPATH=str(tmp_path)) as program:
        side = attaching(program.process)
        time.sleep(0.5)
        assert side.poll() is None
        (tmp_path / "go").touch()
        assert side.communicate(timeout=SLOW)[1] == "" and side.returncode == 0
        assert program.process.stdout.readline() == "ready\n"
        assert program.detach().status == 0
        assert program.end()[1] == ""


def test_it_begins_another_program(tmp_path):
    """The program calls exec while ocular-top sends its request, or while the program loads
    Ocular."""
    source = """
        import os, sys
        class Slow:
            def find_spec(name, *more):
                if name == "ocular":
                    os.write(1, b"loads\\n")
                    os.execv(sys.executable, [sys.executable, "works.py"])
        sys.meta_path.insert(0, Slow)
        print("ready", flush=True)
        while True:
            sum(range(1000))
        """
    write(tmp_path, WORKS, "works.py")
    with Program(tmp_path, source) as program:
        assert program.attach().status == 0
        assert program.process.stdout.readline() == "loads\n"
        assert program.process.stdout.readline() == "ready\n"
        assert program.detach().status == 0
        assert program.end()[1] == ""


def test_a_child_that_has_its_parents_memory(tmp_path):
    """The child of vfork() shares its parent's memory. A request to this child would reach
    the parent, which would then run the script."""
    source = """
        import ctypes, os
        libc = ctypes.CDLL(None)
        any = ctypes.c_void_p
        libc.clone.argtypes = any, any, ctypes.c_int, any
        stack = ctypes.create_string_buffer(65536)
        top = (ctypes.addressof(stack) + 65536) & ~15
        VM = 0x100
        child = libc.clone(ctypes.cast(libc.pause, any), top, VM | 17, None)
        print("ready", flush=True)
        print(child, flush=True)
        os.read(0, 1)
        os.kill(child, 9)
        """
    with Program(tmp_path, source) as program:
        child = int(program.process.stdout.readline())
        Program.pids.add(child)
        done = run([TOP, "--attach-only", "--pid", child])
        assert done.status == 1 and "the memory of its parent" in done.err
        assert program.end() == ("", "")


def test_it_ends(tmp_path):
    """When the program ends, its modules are already gone."""
    source = """
        import os, sys
        class Last:
            def __del__(self, read=os.read, write=os.write):
                write(1, b"ready\\n")
                read(0, 1)
        sys.last = Last()
        """
    with Program(tmp_path, source) as program:
        refuse(program.process, "is about to end", "Nothing was changed")
        assert program.end() == ("", "")
