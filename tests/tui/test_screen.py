# SPDX-License-Identifier: MIT
"""Tests ocular-top on a real pseudo-terminal. A terminal emulator reads the screen.

OCULAR_TOP has the path of the program. The process that it watches is the program
fake_server.
"""

import json
import os
import re
import signal
import subprocess

import pytest
from e2e.program import BUILD, SLOW, TOP, wait_until
from tui.emulated import MAKE, Screen, Stream, Top, built, environment, selected
from tui.fake import Server

FLOODING = str(BUILD / "obj" / "tests" / "tui" / "flooding_server")

pytestmark = built


@pytest.fixture
def directory(tmp_path):
    path = tmp_path / "s"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def start(directory):
    """Starts servers and viewers, and ends all of them after the test."""
    running = []

    def serve(*arguments, **options):
        running.append(Server(directory, *arguments, **options))
        return running[-1]

    def watch(*arguments, **options):
        running.append(Top(directory, *arguments, **options))
        return running[-1]

    watch.server = serve
    watch.directory = directory
    yield watch
    for one in reversed(running):
        one.close()


@pytest.fixture
def main_screen(start):
    """Starts a viewer of a simulated process, and waits for the main screen."""

    def watch(*arguments):
        server = start.server("--functions", "40")
        viewer = start("-p", str(server.pid), *arguments)
        viewer.server = server
        viewer.wait("EqualityConstraint.execute")
        return viewer

    return watch


@pytest.fixture
def top(main_screen):
    return main_screen()


@pytest.fixture
def quick(main_screen):
    """Starts a viewer that gets a snapshot twice a second."""
    return main_screen("-d", "0.5")


def run(directory, *arguments, **env):
    return subprocess.run(
        [TOP, *arguments],
        env=environment(directory, **env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SLOW,
        text=True,
    )


# --- The screen and its keys


def save_over(top, key, name, answer, result):
    """Saves to a file that exists, and answers the question whether to overwrite it."""
    top.press(key, "\x15", *name, "Enter")
    top.wait("It exists. Overwrite")
    top.press(answer)
    top.wait(result)


def stopped(top):
    """Stops the viewer while it has no new data. Returns the lines of its screen."""
    while True:
        seen = top.settle()
        os.kill(top.pid, signal.SIGSTOP)
        os.waitpid(top.pid, os.WUNTRACED)
        while top.read(0.05):
            pass
        if top.text() == seen:
            return seen.splitlines()
        os.kill(top.pid, signal.SIGCONT)


def test_a_key_is_on_the_screen_before_the_snapshot_that_came_with_it(quick):
    """A key acts on the visible screen, even if a snapshot arrives together with the
    key."""
    top = quick
    seen = stopped(top)
    top.server.send_snapshots()
    top.raw = b""
    top.press("?")
    os.kill(top.pid, signal.SIGCONT)
    top.wait("keys, columns and marks")
    # The output before the title of the help must not change the list.
    drawn = Screen(top.width, top.height)
    Stream(drawn).feed(top.raw.partition(b"keys, columns and marks")[0])
    assert drawn.display[2:] == seen[2:]


def test_a_snapshot_now(start):
    server = start.server()
    viewer = start("-p", str(server.pid), "-d", "60")
    viewer.wait("Plan.execute")

    def sent():
        return server.requests().count("snapshot ")

    # The process sends a snapshot at once, and the next one after a minute.
    wait_until(lambda: sent() >= 1, SLOW)
    for _ in range(3):
        before = sent()
        viewer.press("F5")
        # Without F5 the next snapshot would come only after a minute.
        wait_until(lambda before=before: sent() > before, 30, "a snapshot")


def test_sorting(top):
    assert "SHARE▼" in top.text()
    top.press("I")
    top.wait("SHARE▲")
    top.press("I")
    top.wait("SHARE▼")
    top.press(">")
    top.wait("TREND▼")
    top.press("F6")
    assert re.search(r"▼ TREND", selected(top.wait("SORT BY")))
    top.press("Down", "Up", "Esc")
    top.wait("TREND▼")
    top.press("F6", "G", "k", "Enter")
    top.wait("FUNCTION▲")
    # A screen of 80 cells does not show the chosen column.
    top.press("F6", "g", *["j"] * 14, "Enter")
    top.wait("TOTAL▼")
    top.press("F6")
    top.wait("SORT BY")
    top.press("q")
    top.wait("TOTAL▼")
    # Keys that the menu does not know close the menu, and then have their usual effect.
    top.press("F6", "g", "Enter", ">", "F6", ">")
    top.wait("TOTAL%▼")
    top.press("<", "<", "<")
    top.wait("FUNCTION▲|FILE:LINE▲")


def test_search(top):
    top.press("/", "l", "o", "a")
    top.wait("Search: loa_")
    assert "parse_row" in selected(top.settle())
    top.press("\x7f", "\x15", *"execute", "Enter")
    top.wait(lambda text: "execute" in selected(text))
    first = selected(top.settle())
    top.press("n")
    top.wait(lambda text: selected(text)[30:] != first[30:])
    top.press("N")
    top.wait(lambda text: selected(text)[60:] == first[60:])
    top.press("/", *"nobody", "Enter")
    top.wait('Functions: nothing here has "nobody" in it')


def test_pause_freezes_numbers_but_not_keys(quick):
    top = quick
    for key in ("Space", "Z"):
        top.press(key)
        top.wait("‖ paused")
        before = top.settle()
        top.server.send_snapshots()
        assert top.settle() == before
        top.press("j", "I")
        top.wait("SHARE▲")
        top.press("I", "g")
        top.wait("SHARE▼")
        top.press(key)
        top.wait("● live")
        up = re.search(r"up (\S+)", before).group(1)
        top.wait(lambda text: re.search(r"up (\S+)", text).group(1) != up)


def test_rearm_is_of_the_function_that_is_selected(top):
    """In each view, `a` re-arms the function that is selected in this view, and not the one
    that is selected on the main screen."""
    views = (
        # selected function: Plan.execute
        (("\\", *"LOAD_ATTR", "Enter", "o"), "UPTIME", "", 2),
        # selected: a callee of the first function
        (("c",), "CALLEES", "jjj", 2),
        (("f",), "all threads", "j", 12),  # selected function: <module>
    )
    for opened_by, ready, moves, wanted in views:
        top.press(*opened_by)
        top.wait(ready)
        top.press(*moves, "a")
        asked = f"request 18 {wanted} \n"
        top.server.wait_for_request(asked)
        top.press("Esc", "Esc")
        top.wait("CALLS/s")
    assert top.server.requests().count("request 18 ") == len(views)


def test_export(top):
    top.press("e")
    top.wait("Export the timeline to.*ocular_trace.json_")
    top.press("Enter")
    top.wait("Exporting the timeline.*Esc stops")
    top.server.wait_for_request("request 26 0")
    top.server.finish_export()
    folder = top.server.folder
    top.wait("Timeline written: .*ocular_trace.json, .* ui.perfetto.dev")
    json.loads((folder / "ocular_trace.json").read_text())
    (folder / "there.json").write_text("precious")
    save_over(top, "e", "there.json", "n", "Nothing was written")
    save_over(top, "e", "there.json", "y", "Exporting the timeline")
    top.press("Esc")
    top.wait("not exported: export cancelled")
    assert top.server.requests().count("request 26 0") == 2
    assert (folder / "there.json").read_text() == "precious"
    top.press("e", "\x15", *"no/such/place.json", "Enter")
    top.wait("not exported to no/such/place.json: No such file")
    top.press("e", "\x15", *"/dev/null", "Enter")
    top.wait("/dev/null is no regular file")
    top.press("e", "\x15", *"page.html", "Enter")
    top.wait("`ocular convert` makes a flame graph, of an export to a name that ends in ")
    top.press("e", "\x15", *"x.ocular", "Enter")
    top.wait("not exported to x.ocular: Operation not supported")
    top.press("e", "\x15", *"x.folded", "Enter")
    top.server.wait_for_request("request 26 1")
    assert sorted(os.listdir(folder)) == ["ocular_trace.json", "there.json"]


def test_budget(top):
    top.press("B")
    top.wait(r"Overhead budget, in per cent of CPU time \(now 1\): _")
    top.press(*"2.5 %", "Enter")
    top.wait("The overhead budget is 2.5% now")
    assert "budget 0.025\n" in top.server.requests()
    for wrong in ("0", "-1", "101", "two", "1 %x", "nan", "inf", ""):
        top.press("B", "\x15", *wrong, "Enter")
        top.wait("more than 0 and at most 100 per cent")
    top.press("B", "Esc")
    top.wait("The budget stays as it is")
    assert top.server.requests().count("budget") == 1
    top.press("B", "\x15", *"80", "Enter")
    top.wait("The process refused: too much")


def test_waiting_in_words(start):
    """While the process installs hooks for the viewer, the viewer shows a notice."""
    server = start.server("--mute", "--notice")
    top = start("-p", str(server.pid))
    text = top.wait("Arming")
    assert "[31m" in text  # only the escape character was removed
    assert b"\x1b[31m\xe2" not in top.raw
    top.press("B")
    top.wait("There are no numbers yet")
    top.press("q")
    assert top.wait_gone() == 0


def test_save(start, tmp_path):
    server = start.server()
    top = start("-p", str(server.pid), cwd=str(tmp_path))
    top.wait("Plan.execute")
    top.press("\\", *"json", "Enter", "E")
    top.wait("Save as JSON to: ocular-48213.json_")
    top.press("\x15", *"out.json", "Enter")
    top.wait("Saved as JSON: out.json")
    far = tmp_path / ("far" * 40) / "numbers.json"
    far.parent.mkdir()
    top.press("E", "\x15", *str(far), "Enter")
    top.wait(r"Saved as JSON: numbers.json, [0-9.]+ KiB")
    saved = json.loads((tmp_path / "out.json").read_text())
    assert [f["name"] for f in saved["functions"]] == ["JSONDecoder.raw_decode"]
    (tmp_path / "out.json").write_text("precious")
    save_over(top, "E", "out.json", "n", "Nothing was written")
    assert (tmp_path / "out.json").read_text() == "precious"
    save_over(top, "E", "out.json", "y", "Saved as JSON")
    assert json.loads((tmp_path / "out.json").read_text())["pid"] == 48213
    os.mkfifo(tmp_path / "pipe")
    save_over(top, "E", "pipe", "y", "is no regular file")
    top.press("E", "\x15", *"no/such/dir.json", "Enter")
    top.wait("was not saved: No such file")


def test_save_says_what_it_saves(start, tmp_path):
    """The message after saving says that the file contains the visible view with its
    counts."""
    server = start.server()
    top = start("-p", str(server.pid), cwd=str(tmp_path))
    top.wait("Plan.execute")
    top.press("\\", *"json", "Enter", "r", "c")
    top.wait("CALLEES")
    top.press("E", "\x15", *"tree.json", "Enter")
    top.wait("Saved as JSON: tree.json.* counts are since the reset")
    saved = json.loads((tmp_path / "tree.json").read_text())
    assert len(saved["functions"]) == 12  # The filter does not apply to the tree.
    # There were 612 calls since the start, but none since the reset.
    assert saved["functions"][0]["calls"] == 0
    assert saved["uptime_s"] >= saved["counts_since_s"] > 8000
    top.press("Esc", "f")
    top.wait("all threads")
    top.press("E", "\x15", *"stacks.json", "Enter")
    top.wait("Saved as JSON: stacks.json")
    saved = json.loads((tmp_path / "stacks.json").read_text())
    names = {f["id"]: f["name"] for f in saved["functions"]}
    assert names[saved["rows"][2]["id"]] == "Plan.execute" and saved["rows"][2]["share"] > 0
    none = start.server("--no-sampler")
    top = start("-p", str(none.pid), cwd=str(tmp_path))
    top.wait("Plan.execute")
    top.press("f", "E", "\x15", *"none.json", "Enter")
    top.wait("none.json was not saved: there is nothing to see here yet")
    assert not (tmp_path / "none.json").exists()


def click(top, x, y, button=0):
    """Sends a click as xterm reports it (mode 1006). Lines and columns count from 0."""
    top.press(f"\x1b[<{button};{x + 1};{y + 1}M", f"\x1b[<{button};{x + 1};{y + 1}m")


def test_mouse(top):
    lines = top.settle().splitlines()
    table = next(y for y, line in enumerate(lines) if "CALLS/s" in line)
    click(top, lines[table].index("CALLS/s") + 2, table)
    top.wait("CALLS/s▼")
    click(top, lines[table].index("CALLS/s") + 2, table)
    top.wait("CALLS/s▲")
    click(top, 3, table)
    top.wait("SHARE▲")
    wanted = top.settle().splitlines()[table + 4]
    click(top, 10, table + 4)
    top.wait(lambda text: selected(text)[60:80] == wanted[60:80])
    top.press("g")
    click(top, 10, table + 2, 65)
    top.wait(lambda text: text.splitlines()[table + 4].startswith("▸"))
    click(top, 10, table + 2, 64)
    top.wait(lambda text: text.splitlines()[table + 1].startswith("▸"))
    for button in (0, 1, 2):  # any mouse event
        for final in "Mm":
            top.press(f"\x1b[<{button};5;{table + 3}{final}")
            before = top.settle()
            top.wait(lambda text, before=before: text != before)
    os.kill(top.pid, signal.SIGSEGV)
    top.wait_gone()
    assert top.raw.rfind(b"\x1b[?1006;1000l") > top.raw.rfind(b"\x1b[?1006;1000h") > 0


def test_mouse_can_be_left_to_the_terminal(start):
    server = start.server()
    for option, on in (("-M", False), ("-C", True)):
        top = start("-p", str(server.pid), option)
        top.wait("Plan.execute")
        top.press("q")
        assert top.wait_gone() == 0
        assert (b"\x1b[?1006;1000h" in top.raw) == on
        assert not on or top.raw.rfind(b"\x1b[?1006;1000l") > top.raw.rfind(
            b"\x1b[?1006;1000h"
        )


# --- Recordings


def test_record_and_replay(start, directory, tmp_path):
    server = start.server()
    file = tmp_path / "recording"
    top = start("-p", str(server.pid), "-d", "0.2", "--record", str(file))
    top.wait("Plan.execute")
    # The file begins with HELLO, which contains the protocol's version.
    assert file.read_bytes()[24:28] == b"Oc\x01\0"
    snapshot = b"Oc\x02\0"

    def recorded():
        top.read(0)
        return file.read_bytes().count(snapshot) >= 8

    wait_until(recorded, SLOW)
    # The viewer requests the code of this function for the recording.
    server.wait_for_request("request 17 1 ")
    top.press("q")
    assert top.wait_gone() == 0
    server.stop()
    top = start("--replay", str(file))
    first = re.search(r"up (\S+)", top.wait(r"up \S+.*(▶ replay|○ ended)")).group(1)
    top.wait("The recording ends here")
    top.press("j", "I")
    top.wait("SHARE▲")
    for key in "aABe":
        top.press(key)
        top.wait("That needs a live program, and this is a recording")
        top.press("j")
        top.wait("F1 Help")
    top.press("p")
    top.wait("This is a recording of one process")
    top.press("j")
    offered = top.wait("F1 Help").splitlines()[-1]
    assert "Re-arm" not in offered and "Export" not in offered, offered
    top.press("o")
    top.wait("FUNCTION:LINE")
    top.press("t")
    top.wait("FUNCTIONS OF")
    top.press("Q")
    assert top.wait_gone() == 0
    again = run(directory, "--record", str(file), "--once", "-p", str(os.getpid()))
    assert again.returncode == 1
    done = run(directory, "--replay", str(file), "--batch", "--json")
    ups = [json.loads(line)["uptime_s"] for line in done.stdout.splitlines()]
    assert len(ups) >= 4 and ups == sorted(ups) and len(set(ups)) == len(ups)
    hours, minutes, seconds = map(int, first.split(":"))
    assert int(ups[0]) <= 3600 * hours + 60 * minutes + seconds <= ups[-1]


def test_a_recording_has_a_speed_and_a_pause(start, tmp_path):
    file = str(tmp_path / "recording")
    subprocess.run([MAKE, file, "600"], check=True)
    top = start("--replay", file)
    top.wait("▶ replay")
    top.press("+")
    top.wait("The recording plays at 2x")
    top.press("Space")
    top.wait("‖ paused")
    before = top.settle()
    # The recording has one snapshot a second, so two snapshots are played in this time.
    top.settle(1.2)
    assert top.text() == before


def test_a_full_disk_ends_the_recording_aloud(start, tmp_path):
    server = start.server("--functions", "40")
    file = tmp_path / "recording"
    limited = f'ulimit -f 64; exec {TOP} -p {server.pid} -d 0.1 --record "{file}"'
    top = start("-c", limited, program="/bin/sh")
    top.wait("Nothing more is recorded: File too large. The file ends here")
    assert "EqualityConstraint.execute" in top.text()
    top.press("q")
    top.wait_gone()
    assert b"is not complete: File too large" in top.raw
    done = run(tmp_path, "--replay", str(file), "--once")
    assert done.returncode == 0 and "Plan.execute" in done.stdout, done.stderr


def test_recordings_that_cannot_be(start, directory, tmp_path):
    server = start.server()
    file = tmp_path / "there"
    file.write_text("precious")
    done = run(directory, "-p", str(server.pid), "--once", "--record", str(file))
    assert done.returncode == 1 and "choose another name" in done.stderr
    assert file.read_text() == "precious"
    done = run(directory, "--replay", str(file))
    assert done.returncode == 1 and "is no recording" in done.stderr
    done = run(directory, "--replay", str(tmp_path / "none"))
    assert done.returncode == 1 and "No such file" in done.stderr
    done = run(directory, "--replay", str(file), "-p", "1")
    assert done.returncode == 2


# --- Sizes and colours --------------------------------------------------------


@pytest.mark.parametrize("more", [{"LC_ALL": "C"}, {"arguments": ("-U",)}])
def test_ascii(start, more):
    server = start.server()
    arguments = more.pop("arguments", ())
    top = start("-p", str(server.pid), *arguments, **more)
    top.wait(r">\s+\d.*EqualityConstraint")
    top.settle()
    assert top.text().isascii()
    assert re.search(r"[*] now +Plan.execute", top.text())


def test_hostile_names_do_nothing(top):
    text = top.settle()
    assert re.search("evil.\\[31m..2Jred.gnp.exe", text)
    assert b"\x1b]0;owned" not in top.raw
    assert b"evil\x1b" not in top.raw
    assert "\u202e".encode() not in top.raw


@pytest.mark.parametrize("term", ["no-such-terminal", None])
def test_unknown_terminals_are_treated_like_xterm(start, term):
    server = start.server()
    start("-p", str(server.pid), TERM=term).wait("Plan.execute")


# --- The end of the viewer ----------------------------------------------------


@pytest.mark.parametrize("views", ["", "c", "ch", "h"])
def test_q_closes_a_view(top, views):
    top.press(*views)
    for left in range(len(views), 0, -1):
        there = {"c": "CALLERS, whom", "h": "keys, columns and marks"}[views[left - 1]]
        top.wait(rf"{there}(.|\n)*(q|Esc) Back")
        top.press("q")
    top.wait(lambda text: "CALLS/s" in text and "q Quit" in text)
    top.press("q")
    assert top.wait_gone() == 0


@pytest.mark.parametrize("keys", [["Q"], ["F10"], ["c", "Q"], ["h", "F10"], ["\x03"]])
def test_quit(top, keys):
    top.press(*keys)
    assert top.wait_gone() == 0
    top.check_restored()
    assert top.server.process.poll() is None


@pytest.mark.parametrize("leave", ["key", "signal"])
def test_one_who_sends_without_pause_can_be_left(start, leave):
    server = start.server(program=FLOODING)
    top = start("-p", str(server.pid))
    top.wait("Plan.execute")
    if leave == "key":
        top.press("q")
    else:
        os.kill(top.pid, signal.SIGTERM)
    assert top.wait_gone() == 0
    top.check_restored()


def test_stop_and_continue(top):
    # The kernel ignores SIGTSTP here, because the viewer's process group is orphaned. So
    # SIGSTOP stops the viewer.
    os.kill(top.pid, signal.SIGSTOP)
    os.waitpid(top.pid, os.WUNTRACED)
    top.resize(120, 25)
    os.kill(top.pid, signal.SIGCONT)
    top.wait(lambda text: "q Quit" in text.splitlines()[24])
    os.kill(top.pid, signal.SIGTSTP)
    top.settle()
    top.press("j")
    top.wait(lambda text: "Plan.execute" in selected(text))


# --- A process that ends or does not answer -----------------------------------


def test_silent_program(start):
    server = start.server()
    top = start("-p", str(server.pid), "-d", "0.2")
    top.wait("Plan.execute")
    os.kill(server.pid, signal.SIGSTOP)
    top.wait("silent for [0-9]+s")
    os.kill(server.pid, signal.SIGCONT)
    top.wait("● live")


# --- The list of processes ----------------------------------------------------


def choose(top, server):
    """Selects the row of the server's process from the top of the list, because processes
    that serve viewers come first."""
    top.press("Home")
    for _ in range(100):
        if f" {server.pid} " in selected(top.settle()):
            return
        top.press("Down")
    raise AssertionError(f"{server.pid} is not in the list\n{top.shown()}")


def test_chooser(start):
    servers = [start.server(), start.server("--no-sampler")]
    top = start()
    text = top.wait(
        lambda text: (
            "which process" in text and all(str(server.pid) in text for server in servers)
        )
    )
    order = sorted(servers, key=lambda server: server.pid)
    assert str(order[0].pid) in selected(top.text())
    top.press("Down")
    top.wait(lambda text: str(order[1].pid) in selected(text))
    top.press("Enter")
    top.wait("Plan.execute")
    assert ("not sampled" in top.settle()) == (order[1] is servers[1])
    top.press("q")
    assert top.wait_gone() == 0
    other = start()
    other.wait("which process")
    other.press("q")
    assert other.wait_gone() == 0
    other.check_restored()


def test_processes_come_and_go(start, directory):
    first = start.server()
    second = start.server()
    top = start()
    top.wait("2 serve")
    third = start.server()
    top.wait(f"3 serve(.|\n)* {third.pid} ")
    choose(top, third)
    for one in (first, second):
        one.process.kill()
        one.process.wait()
    top.wait(lambda text: not any(f" {one.pid} " in text for one in (first, second)))
    assert str(third.pid) in selected(top.text())  # The selection stays with the process.
    third.process.kill()
    third.process.wait()
    top.wait("No process serves just now")
    late = start.server()
    top.wait(f" {late.pid} ")
    choose(top, late)
    top.press("Enter")
    top.wait("Plan.execute")
    top.press("p")
    top.wait("which process")
    top.press("Enter")
    top.wait("Plan.execute")
    top.press("q")
    assert top.wait_gone() == 0
    top.check_restored()


def test_back_from_the_list(start, directory):
    """In the list of processes, Esc returns to the watched process, and q quits."""
    first, second = start.server(), start.server("--no-sampler")
    top = start("-p", str(second.pid))
    top.wait("not sampled")
    top.press("p")
    top.wait(
        lambda text: (
            "which process" in text
            and "Esc Back" in text
            and str(second.pid) in selected(text)
        )
    )
    top.press("Up" if second.pid > first.pid else "Down")
    top.wait(lambda text: str(first.pid) in selected(text))
    top.press("Esc")
    top.wait("not sampled")
    top.press("p")
    top.wait("which process")
    second.process.kill()
    second.process.wait()
    top.press("Esc")
    top.wait(
        lambda text: "which process" in text and str(second.pid) in text.splitlines()[-1]
    )
    top.press("Enter")
    top.wait("CALLS/s")
    top.press("p")
    top.wait("which process")
    top.press("q")
    assert top.wait_gone() == 0
    top.check_restored()


def test_a_recording_is_of_one_process(start, directory, tmp_path):
    start.server()
    server = start.server()
    top = start("-p", str(server.pid), "--record", str(tmp_path / "recording"))
    top.wait("Plan.execute")
    top.press("p")
    top.wait("One process is recorded: Q ends the recording")
    top.press("q")
    assert top.wait_gone() == 0


def test_no_process(start, directory):
    done = run(directory)
    assert done.returncode == 1
    assert "python -m ocular --serve" in done.stderr
    first, second = start.server(), start.server()
    done = run(directory)
    assert done.returncode == 1
    assert str(first.pid) in done.stderr and str(second.pid) in done.stderr


# --- A viewer without a terminal ----------------------------------------------


def test_once(start, directory):
    start.server()
    done = run(directory, "--once")
    assert done.returncode == 0 and done.stderr == ""
    assert "Plan.execute" in done.stdout and "q Quit" not in done.stdout
    assert "\x1b" not in done.stdout and "\x9b" not in done.stdout
    done = run(directory, "--once", "--size", "80x24")
    lines = done.stdout.splitlines()
    assert len(lines) == 24 and max(map(len, lines)) <= 80 and "q Quit" in lines[-1]
    done = run(directory, "--once", LC_ALL="C")
    assert done.stdout.isascii() and re.search("[*] now .* Plan.execute", done.stdout)
    done = run(directory, "--once", "--size", "59x12")
    assert "needs 60x12" in done.stdout


def test_once_of_one_who_sends_without_pause(start, directory):
    server = start.server(program=FLOODING)
    done = run(directory, "-p", str(server.pid), "--batch", "-n", "1")
    assert done.returncode == 0 and "Plan.execute" in done.stdout


def test_one_who_never_sends_a_snapshot(start, directory):
    peers = {
        "": start.server("--mute"),
        ", and says: Arming�[31m…": start.server("--mute", "--notice"),
        " ": start.server("--notices", program=FLOODING),
    }
    for words, peer in peers.items():
        for how in ("--once", "--batch", "--json"):
            done = run(directory, "-p", str(peer.pid), how, "--timeout", "0.1")
            assert done.returncode == 1 and done.stdout == ""
            assert done.stderr.strip() == (
                f"ocular-top: process {peer.pid} has sent no snapshot for 0.1 s "
                f"(a longer --timeout waits longer){words.rstrip()}"
            )


def test_one_who_stops_sending_snapshots(start, directory):
    peer = start.server(program=FLOODING)
    request = ("--batch", "-d", "0.1", "--timeout", "1")
    done = run(directory, "-p", str(peer.pid), *request)
    assert done.returncode == 1 and "Plan.execute" in done.stdout
    assert "has sent no snapshot for 1.1 s" in done.stderr


def test_keys_without_a_terminal(start, directory):
    start.server()
    done = run(directory, "--keys", "jj>/plan<Enter>", "--size", "100x30", "--once")
    assert done.returncode == 0
    assert "TREND▼" in done.stdout
    assert "Plan" in selected(done.stdout)
    done = run(directory, "--keys", "?", "--size", "150x40", "--once")
    assert "this help" in done.stdout
    done = run(directory, "--keys", "a", "--size", "100x30", "--once")
    assert "Done: the function" in done.stdout


def test_latencies_without_a_terminal(start, directory):
    """The option -s wall_p99 opens the latency view. The viewer waits until it knows the
    CPU time of a call."""
    start.server()
    done = run(directory, "--once", "-s", "wall_p99", "--size", "120x30")
    assert re.search(r"IN FLIGHT +OLDEST +P50 +P99▼", done.stdout)
    rows = done.stdout.partition("IN FLIGHT")[2].splitlines()[1:]
    assert re.match(r"▸ .* 18s! .* ~\d+ns .*wrapper ", rows[0])
    done = run(directory, "--once", "--json", "-s", "wall_p50")
    found = [f["wall_p50_s"] for f in json.loads(done.stdout)["functions"]]
    known = [p50 for p50 in found if p50 is not None]
    assert len(known) == 6 and found[:6] == sorted(known, reverse=True)


def test_json(start, directory):
    start.server()
    one = run(directory, "--once", "--json")
    data = json.loads(one.stdout)
    assert data["schema"] == 1 and data["functions"][0]["state"] == "partial"
    assert one.stdout.count("\n") == 1
    options = "--batch -n 3 --json -d 0.1 -s calls/s -F bench".split()
    many = run(directory, *options)
    frames = [json.loads(line) for line in many.stdout.splitlines()]
    assert len(frames) == 3
    assert frames[0]["uptime_s"] < frames[2]["uptime_s"]
    rates = [f["calls_per_s"] for f in frames[0]["functions"]]
    assert rates == sorted(rates, reverse=True) and len(rates) == 5
    null = start.server("--no-sampler")
    data = json.loads(run(directory, "-p", str(null.pid), "--once", "--json").stdout)
    assert data["sampler"]["hz"] is None and data["functions"][0]["share"] is None


def test_json_after_keys(start, directory, tmp_path):
    """The JSON has the data of the view that the keys open, sorted and filtered by the
    keys."""
    server = start.server()
    done = run(directory, "--once", "--json", "--keys", "\\bench<Enter>><lt>I")
    data = json.loads(done.stdout)
    shares = [f["share"] for f in data["functions"]]
    assert len(shares) == 5 and shares == sorted(shares)
    done = run(directory, "--once", "--json", "--keys", "f")
    assert json.loads(done.stdout)["rows"][0]["parent"] is None
    done = run(directory, "--once", "--json", "--keys", "<Enter>")
    # the simulated process has no code to show
    assert done.returncode == 1 and done.stdout == ""
    assert "Annotate: there is nothing to print yet" in done.stderr
    file = str(tmp_path / "sample")
    subprocess.run([MAKE, file], check=True)
    options = "--once --json --keys <Enter> --size 80x24".split()
    done = run(directory, "--replay", file, *options)
    listing = json.loads(done.stdout)
    assert [row["opcode"] for row in listing["rows"]][:2] == ["RESUME", "LOAD_FAST"]


def test_batch_ends_with_the_program(start, directory):
    server = start.server()
    process = subprocess.Popen(
        [TOP, "--batch", "-d", "0.1"],
        env=environment(directory),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().startswith(" ocular-top")
    server.stop()
    rest, _ = process.communicate(timeout=SLOW)
    assert process.returncode == 0 and "Plan.execute" in rest
    mute = start.server("--mute")
    process = subprocess.Popen(
        [TOP, "--batch"],
        env=environment(directory),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    mute.wait_for_request("viewers 1")
    mute.process.kill()
    _, errors = process.communicate(timeout=SLOW)
    assert process.returncode == 1 and errors.startswith("ocular-top: ")


WRONG = "-d 0|-d x|-d nan|-p 0|-p 12x|-n 0|-s nothing|--size 80|--nope|--keys <Nokey>"


@pytest.mark.parametrize(
    "arguments", [*WRONG.split("|"), "--size 0x0", "-p", "-p 99999999999999999999"]
)
def test_usage(directory, arguments):
    done = run(directory, *arguments.split())
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("ocular-top: ") and "--help" in done.stderr


def test_help_and_version(directory):
    assert run(directory, "-h").stdout.startswith("usage: ocular-top")
    assert max(map(len, run(directory, "--help").stdout.splitlines())) <= 80
    assert re.fullmatch(r"ocular-top \d+\.\d+\.\d+\n", run(directory, "-V").stdout)
    with open("/dev/full", "w") as full:
        done = subprocess.run([TOP, "--help"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
