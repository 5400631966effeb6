# SPDX-License-Identifier: MIT
"""Traces a real program, and presses every key of the help in the view to which the key
belongs. The test reads the keys from the help itself. EFFECTS has the effect of each key,
which the test checks."""

import os
import re
import subprocess
import sys
from contextlib import ExitStack

import pytest
from e2e.program import Running, wait_until
from tui.emulated import SLOW, TOP, Top, selected

PYTHON = os.environ.get("PYTHON", sys.executable)
# This pattern matches only the main screen.
MAIN = r"(?m)^ overhead (.|\n)*\bSTATE\b"

pytestmark = [
    pytest.mark.skipif(not os.path.exists(TOP), reason="not built"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Runs the bundled workload, traced and serving, for all tests here."""
    place = tmp_path_factory.mktemp("live")
    directory = place / "s"
    directory.mkdir(mode=0o700)
    process = subprocess.Popen(
        [
            PYTHON,
            # The workload pauses, so that the viewer gets CPU time.
            *("-m", "ocular.demo", "--pause", "0.2"),
            *("--serve", "--output", str(place / "own.json")),
        ],
        cwd=place,
        env={**os.environ, "OCULAR_DIR": str(directory)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    socket = directory / f"{process.pid}.sock"
    wait_until(lambda: socket.exists() or process.poll() is not None, SLOW)
    assert process.poll() is None
    process.place, process.directory = place, directory
    yield process
    process.terminate()
    _, said = process.communicate(timeout=SLOW)
    assert process.returncode == 0, said.decode()


@pytest.fixture
def top(program, tmp_path):
    viewer = Top(
        program.directory,
        "-p",
        str(program.pid),
        "-d",
        "0.5",
        size=(150, 130),
        cwd=str(tmp_path),
    )
    viewer.wait(r"[●◐○] .*Service\.")
    viewer.wait("escape_time")  # the tests search for this name
    viewer.wait(lambda text: len(re.findall(r"\.py:\d+", text)) > 20)
    yield viewer
    viewer.close()


def read_help(top):
    """Opens the help and closes it again. Returns {heading: [(keys, about)]}."""
    top.press("?")
    top.wait("keys, columns and marks")
    top.wait(r"F10 +quit")
    text = top.settle()
    table, heading = {}, None
    for line in text.splitlines()[2:-1]:
        line = line[:75].rstrip()
        if re.match(r"    \S", line):
            names, about = line[4:25].strip(), line[25:]
            table[heading].append((names.split("  "), about))
        elif re.match(r"  \S", line):
            heading = line.strip()
            table[heading] = []
    top.press("Esc")
    top.wait(MAIN)
    return table


def still(top):
    """Pauses the viewer if it is live, so that only keys can change the screen."""
    if "‖ paused" not in top.settle(0.04):
        top.press("Space")
        top.wait("‖ paused")


def main_screen(top):
    for _ in range(9):
        text = top.settle(0.04)
        if "which process" in text:
            top.press("Enter")
            top.wait(MAIN)
        elif re.search(MAIN, text) and not re.search(
            "_ *$|Overwrite", text.splitlines()[-1]
        ):
            if not re.search(r"thread \S+ of \d", text):
                return
        top.press("Esc")
    raise AssertionError("not the main screen:\n" + top.shown())


# Maps a key to the keys to press before it, and to its effect. An effect is a pattern that
# was not on the screen before, or a function of the screen's texts before and after.
def moved(before, after):
    return selected(after) and selected(before)[2:] != selected(after)[2:]


def other_window(before, after):
    title = re.compile("CPU time over .*")
    found = title.search(before), title.search(after)
    return all(found) and found[0][0] != found[1][0]


def sorts_anew(before, after):
    title = re.compile(r"sort (.*?) [▲▼]")
    found = title.search(before), title.search(after)
    return all(found) and found[0][1] != found[1][1]


def turns_round(before, after):
    return ("▲" in before) != ("▲" in after)


def box(text):
    """Returns the name of the selected box of the flame graph, which stands in the line
    below the graph."""
    return text.splitlines()[-2].split("  ")[0].strip()


def other_box(before, after):
    return box(after) and box(before) != box(after)


def jumped(before, after):
    """Returns true if the selection went from a backward jump to the jump's target."""
    label = re.search(r" to (L\d+)", selected(before))
    return label and f" {label[1]}: " in selected(after)


def counts_move(before, after):
    """Returns true if the selection went from the log of changes to the counts at its
    right."""
    was, now = (re.search("(?m)^.*▸.*$", text) for text in (before, after))
    return was and now and was[0].index("▸") < 3 < now[0].index("▸")


FIND = ["/", *"escape_time", "Enter"]  # A function that has a loop and a caller.
# A box of a thread, with other boxes beside it.
BOX = ["/", *"Service.run", "Enter", "j", *["Left"] * 9]
HELP = "keys, columns and marks"

EFFECTS = {
    "Views": {
        "F1": ([], HELP),
        "?": ([], HELP),
        "h": ([], HELP),
        "Enter": (FIND, r"SOURCE / BYTECODE(.|\n)*def escape_time"),
        "Right": (FIND, r"SOURCE / BYTECODE(.|\n)*def escape_time"),
        "c": ([*FIND, "Space"], r"CALLERS, whom(.|\n)* mandelbrot "),
        "o": ([], "FROM -> TO"),
        "l": ([], r"IN FLIGHT(.|\n)* [0-9.]+[mµ]s "),
        "L": ([], r"Event loops +[\d ]+ stalls? of 50ms or more"),
        "T": ([], r"of asyncio|found so far"),
        "x": ([], r"Exceptions +raised [0-9]"),
        "m": ([], "CREATED BY"),
        "n": (["Esc"], "Hottest lines"),
        "t": ([], "FUNCTIONS OF(.|\n)*analyst|analyst(.|\n)*FUNCTIONS OF"),
        "f": (["Space"], r"all threads +\d(.|\n)*Service\.run +\d"),
    },
    "Annotate": {
        "C": ([], "C functions are shown"),
        "w": ([], r"shares of \d+ samples? in \d+ s"),
        "Enter": (["/", *"JUMP_BACKWARD", "Enter"], jumped),
        "Right": (["/", *"JUMP_BACKWARD", "Enter"], jumped),
        "H": (
            [],
            lambda before, after: (
                re.search(r"\d%|[█▉▊▋▌▍▎▏]", selected(after)) and moved(before, after)
            ),
        ),
    },
    "Callers": {
        "w": (["Space", "w", "w"], r"waiting, over \d.*, since the start"),
        "Enter": (["/", *"mandelbrot", "Enter"], r"(?m)^ Callers.*  mandelbrot "),
        "Right": (["/", *"mandelbrot", "Enter"], r"[▾v] mandelbrot"),
        "Left": (["/", *"mandelbrot", "Enter", "Right"], r"[▸>] mandelbrot"),
        # From then on, the view shows waits. So "m" is the last key.
        "m": (["Space"], r"(?<!or )waiting, over \d"),
    },
    "Opcodes": {"Tab": ([], counts_move)},
    "Threads": {
        "Enter": (["/", *"analyst", "Enter"], "thread analyst of "),
        "Right": (["/", *"analyst", "Enter"], "thread analyst of "),
    },
    # The demo has no tasks. test_golden.py presses Enter in this view.
    "Tasks": {"Enter": None, "Right": None, "m": (["T"], "by creation")},
    # Unfolding a type shows a row for each of its creators.
    "Objects": {
        "Enter": ([], lambda before, after: len(after.split()) != len(before.split())),
        "Right": ([], lambda before, after: len(after.split()) != len(before.split())),
    },
    "Flame": {
        # C was pressed in another view before, so samples can have C functions already
        "C": ([], "C functions are (shown|hidden)"),
        "Enter": (BOX, lambda before, after: f"zoomed in on {box(before)}" in after),
        "Right": (BOX, other_box),
        "Left": ([*BOX, "Right"], other_box),
        "w": ([], other_window),
        "m": ([], "wall time over"),
        "i": (["m"], ", with idle threads"),
    },
    "Move": {
        "Up": (["j", "j"], moved),
        "k": (["j", "j"], moved),
        "Down": ([], moved),
        "j": ([], moved),
        "PgUp": (["End"], moved),
        "PgDn": ([], moved),
        "Home": (["End"], moved),
        "g": (["End"], moved),
        "End": ([], moved),
        "G": ([], moved),
        "Wheel-up": (["End"], moved),
        "Wheel-down": ([], moved),
        "Click": ([], moved),
        "Esc": (["o"], MAIN),
        "Left": (["t"], MAIN),
        "Backspace": (["?"], MAIN),
    },
    "Find": {
        "/": ([], "Search: _"),
        "n": (["/", *"Service", "Enter", "g"], moved),
        "N": (["/", *"Service", "Enter", "g"], moved),
        "F4": ([], "Filter.*: _"),
        "\\": ([], "Filter.*: _"),
    },
    "Show": {
        "F6": ([], "SORT BY"),
        ">": ([], sorts_anew),
        "<": ([], sorts_anew),
        "I": ([], turns_round),
        "i": ([], r"\d+ idle hidden"),
        "O": ([], "own code only"),
        "u": ([], lambda before, after: "AVG cyc" in before and "AVG cyc" not in after),
        "Space": ([], "● live"),  # the test has paused the viewer
        "Z": ([], "● live"),
        "+": (["-"], "A snapshot every 0.5s"),
        "=": (["-"], "A snapshot every 0.5s"),
        "-": ([], "A snapshot every 1.0s"),
        "r": ([], "count from now on"),
        "b": ([], "Columns show the change since now"),
        "E": ([], r"Save as JSON to: ocular-\d+.json_"),
    },
    "The traced process": {
        "a": (FIND, "Done: the function will be measured again, as the budget allows"),
        "A": ([], "Done: all functions will be measured again, as the budget allows"),
        "B": ([], r"Overhead budget, in per cent of CPU time \(now 1\): _"),
        "F5": ([], "A snapshot is made now"),
        "e": ([], "Export the timeline to: ocular_trace.json_"),
    },
    # Ctrl-L, q, Q and F10 are tested separately.
    "Ocular": {
        "p": ([], "which process"),
        "Ctrl-L": None,
        "q": None,
        "Q": None,
        "F10": None,
    },
}

# CPython 3.12 does not report objects.
if sys.version_info < (3, 13):
    EFFECTS["Objects"] = dict.fromkeys(EFFECTS["Objects"])

# Each entry has the keys that lead from the main screen to a view, and a pattern that
# appears when the view has its samples.
VIEWS = {
    "Annotate": ([*FIND, "Enter"], r"SOURCE / BYTECODE(.|\n)*def escape_time(.|\n)*\d%"),
    "Callers": ([*FIND, "c"], r"CALLERS, whom(.|\n)* mandelbrot "),
    "Opcodes": (["o"], "FROM -> TO"),
    "Threads": (["t"], "FUNCTIONS OF"),
    "Objects": (["m"], r"CREATED BY(.|\n)* int .*\w+:\d"),
    # The pattern matches a box with two boxes below it.
    "Flame": (["f"], r"Service\.run +\d.*\n.*│S[^│\n]*│S"),
}


def check(top, heading, name):
    """Presses one key while the viewer is paused, and checks the key's effect."""
    prepare, wanted = EFFECTS[heading][name]
    main_screen(top)
    still(top)
    top.press("g")
    if heading in VIEWS:
        opening, there = VIEWS[heading]
        top.press("Space", *opening)
        top.wait(there)
        still(top)
    top.press(*prepare)
    before = top.settle(0.04)
    top.press(name)
    if callable(wanted):
        top.wait(lambda text: wanted(before, text))
    else:
        assert not re.search(wanted, before), "already there:\n" + top.shown()
        top.wait(wanted)
    assert not top.is_gone()


@pytest.mark.once
@pytest.mark.timeout(600)
def test_every_key_of_the_help(program, top):
    table = read_help(top)
    settings = {names[0]: about for names, about in table.pop("This trace")}
    assert settings["versions"].strip().startswith("CPython 3.")
    assert settings["mode"].strip() == "adaptive, threshold 500"
    # Only the help needed so many lines, and large frames take long to read.
    top.resize(150, 70)
    top.wait(lambda text: "q Quit" in text.splitlines()[69])
    assert set(table) == set(EFFECTS)
    for heading, rows in table.items():
        listed = {name for names, _ in rows for name in names}
        assert listed == set(EFFECTS[heading]), f"{heading}: say what each key does"
        for name in EFFECTS[heading]:
            try:
                if EFFECTS[heading][name]:
                    check(top, heading, name)
            except AssertionError as error:
                raise AssertionError(f"{heading}, {name}: {error}") from None
    main_screen(top)
    raw = len(top.raw)
    top.press("Ctrl-L")
    top.settle()
    assert b"\x1b[H\x1b[2J" in top.raw[raw:]
    top.press("q")
    assert top.wait_gone() == 0
    top.check_restored()
    assert program.poll() is None


FORKING = """
import ocular, os, sys, time
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
def work(): return sum(range(2000))
print("ready", flush=True)
child, own = None, os.getpid()
for line in sys.stdin:
    if line == "fork\\n":
        child = os.fork()
        if not child:
            while os.getppid() == own: work(); time.sleep(.01)
        print(child, flush=True)
    elif line == "kill\\n":
        os.kill(child, 9); os.waitpid(child, 0)
        print("gone", flush=True)
"""


def ask(process, word):
    """Sends a word to a program, and returns its answer."""
    process.stdin.write(word + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


@pytest.fixture
def begin(tmp_path):
    """Returns a function that starts a program or a viewer, which ends after the test."""
    directory = tmp_path / "s"
    directory.mkdir(mode=0o700)
    with ExitStack() as stack:

        def begin(source=None, *arguments, **more):
            if source:
                env = {"OCULAR_DIR": str(directory)}
                return stack.enter_context(Running(tmp_path, source, env=env)).process
            viewer = Top(directory, *arguments, **more)
            stack.callback(viewer.close)
            return viewer

        yield begin


@pytest.mark.once
def test_children_appear_below_their_parent_and_vanish(begin):
    parent, _ = begin(FORKING), begin(FORKING)
    viewer = begin()
    viewer.wait("2 serve")
    child = ask(parent, "fork")
    lines = viewer.wait(rf"3 serve(.|\n)* {child} .*└ ").splitlines()
    place = next(i for i, line in enumerate(lines) if f" {child} " in line)
    assert f" {parent.pid} " in lines[place - 1]
    assert ask(parent, "kill") == "gone"
    viewer.wait(lambda text: "2 serve" in text and child not in text)


CHANGING = """
import ocular, sys
names = {}
exec("def add(a, b):\\n    return a + b\\n", names)
# This program runs seldom, so its budget is small. With a threshold, add() could go dark.
ocular.start_tracing(serve=True, quiet=True, perfetto=False, deinstrument_threshold=0)
def feed(x):
    for _ in range(150):
        names["add"](x, x)
feed(1)
print("ready", flush=True)
for line in sys.stdin:
    feed(1.5)
    print("fed", flush=True)
"""


@pytest.mark.parametrize(
    "key,there,then",
    [
        ("Enter", r"BINARY_OP_ADD_INT(.|\n)* 150 ", r"BINARY_OP_ADD_FLOAT(.|\n)* 300 "),
        ("o", r"add.*BINARY_OP_ADD_INT", r"add.*BINARY_OP_ADD_INT -> .*BINARY_OP"),
    ],
)
def test_it_changes_while_it_is_looked_at(begin, key, there, then):
    """The rows of the code and the log of changes are updated without a key."""
    process = begin(CHANGING)
    options = "-p", str(process.pid), "-F", "add", "-d", "0.5"
    viewer = begin(None, *options, size=(150, 40))
    viewer.wait(r"▸.* add ")
    viewer.press(key)
    viewer.wait(there)
    assert not re.search(then, viewer.text())
    assert ask(process, "go") == "fed"
    viewer.wait(then)


@pytest.mark.once
@pytest.mark.parametrize("end", ["exit", "crash", "kill"])
def test_the_end_of_the_program(begin, end):
    """After the end of the process, the last state stays on the screen with a mark, and
    keys still work."""
    source = FORKING.replace(
        'if line == "fork',
        'if line == "exit\\n": break\n'
        '    elif line == "crash\\n": import ctypes; ctypes.string_at(8)\n'
        '    elif line == "fork',
    )
    source = source.replace("print(", "for _ in range(99): work()\nprint(", 1)
    process = begin(source)
    viewer = begin(None, "-p", str(process.pid), "-F", "work")
    viewer.wait("calls 99 ")
    if end == "kill":
        process.kill()
    else:
        process.stdin.write(end + "\n")
        process.stdin.flush()
    viewer.wait("○ ended")
    viewer.wait(
        "The program has stopped tracing" if end == "exit" else "The process has ended"
    )
    text = viewer.wait("The last numbers stay here")
    assert "calls 99 " in text
    viewer.press("a")
    viewer.wait("it has ended")
    viewer.press("o")
    viewer.wait("FROM -> TO")
    viewer.press("Esc", "I")
    viewer.wait("SHARE▲")
    process.wait(SLOW)
    assert "work" in viewer.settle() and not viewer.is_gone()
    viewer.press("q")
    assert viewer.wait_gone() == 0
    viewer.check_restored()
