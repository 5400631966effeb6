# SPDX-License-Identifier: MIT
"""A forked child frees its parent's trace only when this becomes necessary, because most
children soon call exec or end."""

import json
import subprocess

import pytest
from e2e.program import PYTHON, SLOW, Running, run, write

PROGRAM = """
import json, os, sys, time
import ocular
M = sys.monitoring
E = M.events
def made(number):
    names = {}
    exec(f"def f{number}(x):\\n for i in range(3): x += i\\n return x", names)
    return names[f"f{number}"]
functions = [made(number) for number in range(300)]
young = made(300)
ocular.start_tracing(**SETTINGS)
for function in functions:
    function(1)
def armed():
    "Returns the number of functions with hooks of Ocular."
    ours = [i for i in range(6) if (M.get_tool(i) or "").startswith("ocular")]
    return sum(any(M.get_local_events(i, f.__code__) for i in ours) for f in functions)
def in_child(what):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(what()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as file:
        answer = json.load(file)
    assert os.waitpid(child, 0)[1] == 0
    return answer
def untouched():
    return armed(), [function(1) for function in functions[:3]]
def settled():
    before = armed()
    tracing = ocular.is_tracing()
    return before, tracing, armed(), [M.get_tool(i) for i in (3, 4, 5)]
def lives_on():
    "Hooks that are called in the child ask Ocular to free the parent's trace."
    if SERVES: # perhaps the child's own trace begins
        return None
    end = time.monotonic() + 30
    while any(M.get_tool(i) for i in (3, 4, 5)) and time.monotonic() < end:
        functions[int(time.monotonic() * 1000) % 300](1)
    return armed()
def nested():
    return in_child(settled)
def traced_anew():
    young(1) # its first call, while nothing is traced
    ocular.start_tracing(quiet=True, perfetto=False, deinstrument_threshold=0)
    for _ in range(7):
        functions[0](1), young(1)
    final = ocular.stop_tracing()
    calls = {row["name"]: row["calls"] for row in final["functions"]}
    return calls["f0"], calls.get("f300")
def thrown_into():
    def generator():
        try:
            yield 1
        except KeyError:
            yield 2
    it = generator()
    next(it)
    return it.throw(KeyError)
print(json.dumps({each.__name__: in_child(each) for each in
                  (untouched, settled, lives_on, nested, traced_anew, thrown_into)}))
assert armed() == 300
ocular.stop_tracing()
"""


SEVERAL = """
import os, sys, time
import ocular
def work():
    return sum(range(100))
ocular.start_tracing(output="t.json", serve=True, children=CHILDREN)
for number in range(4):
    if os.fork() == 0:
        end = time.monotonic() + 60
        while not ocular.is_tracing() and time.monotonic() < end:
            time.sleep(0.01)
        work()
        sys.exit(0)
for number in range(4):
    os.wait()
ocular.stop_tracing()
"""


@pytest.mark.once
@pytest.mark.parametrize("children, files", [(True, 5), (2, 3), (False, 1), (0, 1)])
def test_so_many_write_timelines(tmp_path, sockets, children, files):
    source = SEVERAL.replace("CHILDREN", repr(children))
    done = run([PYTHON, write(tmp_path, source)], cwd=tmp_path)
    assert done.status == 0, done.err
    assert len(list(tmp_path.glob("t*.json"))) == files
    said = "2 forked children write timelines, 2 more do not (children=2)"
    assert (said in done.err) == (children == 2)
    assert "forked children write" not in done.err.replace(said, "")


@pytest.mark.parametrize(
    "settings",
    [
        "quiet=True, perfetto=False, deinstrument_threshold=0",
        "quiet=True, serve=True, overhead_budget=1.0",
        "quiet=True, perfetto=False, mode='precise'",
    ],
)
def test_the_parents_session_is_let_go_late(tmp_path, settings, sockets):
    serves = f"SERVES = {'serve' in settings}\n"
    program = write(tmp_path, serves + PROGRAM.replace("**SETTINGS", settings))
    done = subprocess.run(
        [PYTHON, program], cwd=tmp_path, timeout=SLOW, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["untouched"] == [300, [4, 4, 4]]
    before, tracing, after, ids = answer["settled"]
    if "serve" not in settings:  # With `serve`, the child's own trace can have begun.
        assert (before, tracing, after, ids) == (300, False, 0, [None] * 3)
        assert answer["nested"] == answer["settled"]
        assert answer["lives_on"] == 0
    assert answer["traced_anew"] == [7, 7]
    assert answer["thrown_into"] == 2


LEAVES = """
import os, pathlib, sys, time, ocular
ocular.serve()
child = os.fork()
if not child:
    path = pathlib.Path(os.environ["OCULAR_DIR"], f"{os.getpid()}.sock")
    while not path.exists():
        time.sleep(0.01)
    os._exit(0)
os.waitpid(child, 0)
print(child, flush=True)
sys.stdin.read()
print("ends")
"""


def test_what_others_leave_goes(tmp_path, sockets):
    """A process that is ended by os._exit() or SIGKILL leaves its socket behind. The
    socket is removed when the next process with a socket in the same folder begins or
    ends. Sockets of living processes stay."""

    def left():
        return {int(path.stem) for path in sockets.iterdir()}

    with Running(tmp_path, LEAVES) as killed, Running(tmp_path, LEAVES) as lives:
        children = {int(each.said[0]) for each in (killed, lives)}
        assert int(lives.said[0]) in left()
        assert left() - children == {killed.pid, lives.pid}
        killed.process.kill()
        killed.process.wait()
        with Running(tmp_path, "import ocular; ocular.serve(); print(1); input()") as next:
            assert left() == {lives.pid, next.pid}
        assert left() == {lives.pid, next.pid}
        lives.end()
        assert left() == set()
