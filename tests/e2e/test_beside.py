# SPDX-License-Identifier: MIT
"""Runs a traced script under other tools that are started as programs. Each tool prints the
same output for the traced script and for the untraced script, and Ocular's counts are
right."""

import json
import re

import pytest
from e2e.program import PYTHON, run, write

PROGRAM = """
import sys
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
def numbers(n):
    for number in range(n):
        if number % 2:
            yield number
def total(n):
    result = 0
    for number in numbers(n):
        result += number
    return result
def fails(n):
    value = 10 // n
    return value
def main():
    print(fibonacci(8), total(10))
    try:
        fails(0)
    except ZeroDivisionError:
        print("caught")
main()
"""

CALLS = {"fibonacci": 67, "numbers": 6, "total": 1, "fails": 1, "main": 1}

# A separate module starts and ends the trace, so the script is the same when it runs
# untraced.
BEGIN = "import begin\n"
END = "begin.end()\n"
MODULE = """
import json, os
trace = os.environ["TRACE"]
if trace != "0":
    import ocular
    ocular.start_tracing(perfetto=False, quiet=True, include_only=["program.py"],
                         deinstrument_threshold=int(trace) - 1)
def end():
    if trace != "0":
        final = ocular.stop_tracing()
        rows = {r["name"]: (r["calls"] + r["resumptions"], r["calls_exact"])
                for r in final["functions"]}
        with open("ours.json", "w") as file:
            json.dump(rows, file)
"""
THRESHOLDS = [0, 2]  # test_coexist.py tests more thresholds


@pytest.fixture(autouse=True)
def begin(tmp_path):
    write(tmp_path, MODULE, "begin.py")


def check_ours(directory, threshold):
    path = directory / "ours.json"
    rows = json.loads(path.read_text())
    path.unlink()
    for name, calls in CALLS.items():
        seen, exact = rows[name]
        assert seen == calls if exact else 0 < seen <= calls, name
        assert exact or threshold


# --- Debuggers ----------------------------------------------------------------

PDB = """
b fibonacci
b fails
c
w
p n
s
n
a
cl 1
y
r
n
c
p 1 + 1
w
s
s
n
u
p sorted(locals())
d
q
"""


@pytest.mark.parametrize(
    "words", [["-m", "pdb", "program.py"], ["program.py"]], ids=["pdb", "breakpoint"]
)
def test_pdb(words, tmp_path):
    program = BEGIN + PROGRAM + END
    if words == ["program.py"]:
        program = program.replace("    print(fib", "    breakpoint()\n    print(fib")
    write(tmp_path, program)
    ran = []
    for trace in "0", "1", "3":
        done = run([PYTHON, *words], cwd=tmp_path, env={"TRACE": trace}, input=PDB)
        ran.append((done.status, done.out, done.err.splitlines()[-1:]))
    assert ran[0] == ran[1] == ran[2]
    assert "ZeroDivisionError" in ran[0][1] and "fibonacci(n)" in ran[0][1]


def test_pdb_under_our_command(tmp_path):
    """The transcript of pdb is the same with and without a trace, except for the frames
    that have called the script."""
    path = write(tmp_path, PROGRAM)
    commands = "b fails\nc\np n\ns\ns\nn\nc\nq\n"
    plain = run([PYTHON, "-m", "pdb", path], cwd=tmp_path, input=commands)
    ours = run(
        [PYTHON, "-m", "ocular", "--quiet", "--no-perfetto", "-m", "pdb", path],
        cwd=tmp_path,
        input=commands,
    )
    assert "ZeroDivisionError" in plain.out
    assert (ours.status, ours.out) == (plain.status, plain.out)


# --- faulthandler -------------------------------------------------------------


def test_faulthandler(tmp_path):
    """faulthandler shows the stacks of the program, without frames of Ocular. faulthandler
    also lists the governor's thread, because Python knows this thread. The governor's
    thread has no frame."""
    program = (
        BEGIN
        + PROGRAM.replace(
            "        fails(0)",
            """
        import faulthandler, threading
        event = threading.Event()
        thread = threading.Thread(target=event.wait)
        thread.start()
        faulthandler.dump_traceback(all_threads=True)
        event.set()
        thread.join()
        fails(0)""",
        )
        + END
    )

    def normal(text):
        parts = re.split(r"(?=^(?:Current t|T)hread 0x)", text, flags=re.M)
        parts = [re.sub(r"0x\w+( \[[^]]*\])?", "", part).strip() for part in parts]
        return sorted(part for part in parts if 'File "' in part)

    command = [PYTHON, write(tmp_path, program)]
    plain = run(command, cwd=tmp_path, env={"TRACE": "0"})
    assert len(normal(plain.err)) == 2
    for threshold in THRESHOLDS:
        done = run(command, cwd=tmp_path, env={"TRACE": str(threshold + 1)})
        assert (done.status, done.out) == (0, plain.out), done.err
        assert normal(done.err) == normal(plain.err)
        check_ours(tmp_path, threshold)


def test_a_crash_is_told_as_untraced(tmp_path):
    write(
        tmp_path,
        BEGIN + PROGRAM + "import faulthandler\n"
        "faulthandler.enable(all_threads=False)\nfaulthandler._sigsegv()\n",
    )
    results = []
    for trace in "0", "1":
        done = run([PYTHON, "program.py"], cwd=tmp_path, env={"TRACE": trace})
        words = re.split(r"\n\n(?:Extension modules|Current thread's C)", done.err)
        results.append((done.status, done.out, words[0].strip()))
    assert results[0] == results[1] and results[0][0] == -11
