# SPDX-License-Identifier: MIT
"""Runs `ocular-top run.ocular`, which shows a run from its recording after the run has
ended. The numbers on the screen must agree with the numbers that the program itself
reported at its end. A user can also choose a part of the run. If the file is no recording,
ocular-top prints one sentence."""

import json
import os
import signal

import pytest
from e2e.program import PYTHON, run, start, top, write

pytestmark = pytest.mark.once

WORK = """
import gc, json, os, sys, threading, time
import ocular
def leaf(x): return x * x + 1
def mid(n): return sum(leaf(i) for i in range(n))
def items(n):
    for i in range(n):
        yield i
async def step(n): return n
def late(): return mid(3)
def brief(): pass
def raises(times):
    for _ in range(times):
        try: raise KeyError
        except KeyError: pass
def work(rounds):
    for _ in range(rounds):
        mid(20)
        list(items(5))
        late()
def busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        work(20)
def fight(seconds):
    others = [threading.Thread(target=busy, args=(seconds,)) for _ in range(2)]
    for one in others:
        one.start()
    for one in others:
        one.join()
"""


def traced(folder, body, **settings):
    """Runs a traced program. Returns its final snapshot and the path of the recording."""
    recording = folder / "run.ocular"
    program = f"""
ocular.start_tracing(quiet=True, output={str(recording)!r}, **{settings!r})
try:
    {body}
finally:
    print(json.dumps(ocular.stop_tracing()))
"""
    done = run([PYTHON, write(folder, WORK + program)], cwd=folder)
    return done.answer, recording


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """Returns the final snapshot and the recording of a run with samples."""
    return traced(
        tmp_path_factory.mktemp("busy"), "gc.collect(); raises(3); brief(); busy(1)"
    )


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """Returns the final snapshot and the recording of a run with all calls."""
    folder = tmp_path_factory.mktemp("exact")
    return traced(folder, "work(500)", deinstrument_threshold=0)


def shown(recording, *options):
    done = top(str(recording), "--once", "--json", *options)
    assert done.status == 0 and not done.err, done.err
    return json.loads(done.out)


def rows(snapshot):
    return {f["name"]: f for f in snapshot["functions"]}


def running(recording, name):
    """Returns the share for which a function and its callees ran, without their waits."""
    stacks = shown(recording, "--keys", "f")
    (number,) = [row["id"] for row in stacks["functions"] if row["name"] == name]
    inside, share = [], 0
    for row in stacks["rows"]:
        above = row["parent"] is not None and inside[row["parent"]]
        inside.append(above or row["id"] == number)
        share += inside[-1] * row["share"]
    return share


def screen(recording, keys="", size="150x30"):
    done = top(str(recording), "--once", "--size", size, "--keys", keys)
    assert done.status == 0, done.err
    return done.out


def test_calls_are_those_of_the_program(exact):
    """At threshold 0 the recording contains each call. The resumption of a generator does
    not count as a call. The viewer takes the numbers of the whole run from the final
    snapshot, and the numbers of a part of the run from the events."""
    said, recording = exact
    expected = rows(said)
    # the second keys choose a part of the run, for which events give the numbers
    for stretch in "", "[0.000001<Enter>":
        found = rows(shown(recording, "--keys", stretch) if stretch else shown(recording))
        for name in "leaf", "mid", "items", "late", "work":
            assert found[name]["calls"] == expected[name]["calls"], (name, stretch)
            assert found[name]["calls_exact"]
            assert found[name]["resumptions"] == expected[name]["resumptions"]
    assert expected["items"]["calls"] == 500 and expected["items"]["resumptions"] == 2500
    assert found["leaf"]["avg_cycles"] is None  # leaf() was never dark.


KEYS = (
    "calls calls_estimated avg_cycles p99_cycles wall_p50_s wall_max_s state sites".split()
)


def test_the_whole_run_has_the_last_numbers(busy):
    said, recording = busy
    found = shown(recording)
    assert found["pid"] == said["pid"] and found["command"] == said["command"]
    assert len(said["functions"]) <= len(found["functions"])
    expected = rows(said)
    names = rows(found).keys() & expected.keys()
    assert {"leaf", "mid", "work"} <= names
    for name in names:
        was, now = expected[name], rows(found)[name]
        for key in KEYS:
            assert now[key] in (was[key], pytest.approx(was[key])), (name, key)
        assert now["share"] == pytest.approx(was["run_share"], abs=0.01), name
    assert sum(t["cpu_s"] for t in found["threads"]) == pytest.approx(1, abs=0.4)
    generations = found["gc"]["generations"]
    assert generations[2]["collections"] >= 1
    for one, same in zip(generations, said["gc"]["generations"], strict=True):
        assert one == pytest.approx(same)
    pauses = sum(one["total_s"] for one in generations)
    assert found["gc"]["share"] == pytest.approx(pauses / said["uptime_s"])
    part = shown(recording, "--keys", "]0.5<Enter>")
    assert part["gc"] == {"share": None, "generations": []}
    assert found["exception_totals"] == said["exception_totals"]
    kinds = {(e["type"], e["function"]): e for e in found["exceptions"]}
    assert kinds["KeyError", "raises"]["raised"] == 3
    assert kinds["KeyError", "raises"]["raised_per_s"] == pytest.approx(
        3 / said["uptime_s"]
    )
    assert expected["raises"]["raised"] == rows(found)["raises"]["raised"] == 3
    assert "KeyError" in screen(recording, "x")
    done = top(str(recording), "--once", "--sort", "raised", "--size", "150x30")
    lines = done.out.splitlines()
    (title,) = [i for i, line in enumerate(lines) if " RAISED▼ " in line]
    assert " 3  raises " in lines[title + 1]
    assert part["exceptions"] == [] and part["exception_totals"]["raised"] is None
    assert rows(part)["leaf"]["raised"] is None


def test_the_whole_run_has_the_times_of_the_gil(tmp_path):
    said, recording = traced(tmp_path, "fight(1.5)")
    whole, part = shown(recording), shown(recording, "--keys", "]0.5<Enter>")
    uptime = said["uptime_s"]
    for key in "held_s", "waited_s", "longest_s":
        assert whole["gil"][key] == pytest.approx(said["gil"][key]), key
        # A part of the run has only `waited_s`, because only waits are in the recording.
        assert (part["gil"][key] is None) == (key != "waited_s")
    assert whole["gil"]["longest"] == said["gil"]["longest"] and not part["gil"]["longest"]
    assert said["gil"]["waited_s"] > 0.1
    assert whole["gil"]["held"] == pytest.approx(said["gil"]["held_s"] / uptime)
    assert whole["gil"]["waited"] == pytest.approx(said["gil"]["waited_s"] / uptime)
    for one in whole["threads"]:
        (same,) = (other for other in said["threads"] if other["tid"] == one["tid"])
        assert one["gil_wait_share"] == pytest.approx(same["gil_wait_s"] / uptime)
        assert one["gil_held_share"] == pytest.approx(same["gil_held_s"] / uptime)
    for name, one in rows(whole).items():
        was = rows(said)[name]["gil_blocked_s"] if name in rows(said) else None
        if was is not None:
            assert one["gil_blocked_share"] == pytest.approx(was / uptime), name
    assert all(one["gil_blocked_s"] is None for one in part["functions"])
    assert all(one["gil_held_s"] is None for one in part["threads"])


def test_a_killed_program_can_be_looked_at(tmp_path):
    """Shares, callers and stacks are computed from the samples. The number of calls appears
    as a lower bound."""
    program = write(tmp_path, WORK + "busy(0.7)\nos.kill(os.getpid(), 9)\n")
    done = run(
        [PYTHON, "-m", "ocular", "--quiet", "--output", "t.json", program], cwd=tmp_path
    )
    assert done.status == -signal.SIGKILL
    (recording,) = tmp_path.glob("*.ocular")
    found = rows(shown(recording))
    assert found["leaf"]["calls"] > 0 and not found["leaf"]["calls_exact"]
    assert found["leaf"]["calls_estimated"] is None
    assert found["busy"]["total_share"] >= found["work"]["total_share"]
    assert running(recording, "work") > 0.8 * running(recording, "busy") > 0
    assert ">=" in screen(recording)
    assert "work" in screen(recording, "f")
    # A killed program writes no final snapshot, so the cycles per call are unknown.
    assert found["leaf"]["avg_cycles"] is None and found["leaf"]["p99_cycles"] is None


def test_a_stretch(tmp_path):
    body = "time.sleep(0.3); work(50); time.sleep(0.3)"
    _, recording = traced(tmp_path, body, deinstrument_threshold=0)
    whole = shown(recording)
    assert "the whole run, " in screen(recording)
    calm = shown(recording, "--keys", "]0.2<Enter>")
    assert not rows(calm).keys() & {"leaf", "mid"}
    assert calm["uptime_s"] == pytest.approx(0.2)
    part = shown(recording, "--keys", "[0.2<Enter>]-0.1<Enter>")
    assert rows(part)["leaf"]["calls"] == rows(whole)["leaf"]["calls"]
    back = shown(recording, "--keys", "[0.2<Enter>]-0.1<Enter>[<Enter>]<Enter>")
    assert rows(back)["leaf"] == rows(whole)["leaf"]
    drawn = screen(recording, "]0.2<Enter>")
    assert "0.0 s to 0.2 s of" in drawn.splitlines()[0]
    assert "Reading that part" not in drawn
    for keys, words in (
        ("[abc<Enter>", "A time is 12.5"),
        ("[1:00<Enter>", "nothing between these two"),
        ("]0<Enter>", "nothing between these two"),
        ("[<Esc>", "stays as it is"),
        ("r", "is over"),
        ("b", "is over"),
        ("a", "ocular convert"),
        ("e", "ocular convert"),
    ):
        assert words in screen(recording, keys).splitlines()[-1], keys


def test_the_code_that_samples_found(busy):
    _, recording = busy
    drawn = screen(recording, "/mid.<Enter><Enter>", "150x40")
    assert "return sum(leaf(i) for i in range(n))" in drawn
    assert "█" in drawn and "100%" in drawn
    # The only call of brief() takes 30 ns, so no sample finds it.
    assert "no sample found" in screen(recording, "/brief<Enter><Enter>")


def test_every_view_draws(busy):
    _, recording = busy
    for keys in "f", "c", "t", "o", "?", "<Enter>", "to", "fj<Enter>", "u", "t<Enter>":
        for size in "80x24", "150x50", "60x12":
            lines = screen(recording, keys, size).splitlines()
            assert len(lines) <= int(size.split("x")[1])
            assert "nan" not in " ".join(lines).split()


def test_views_have_rows(busy):
    said, recording = busy
    assert "<genexpr>" in screen(recording, "/leaf<Enter>c")  # calls leaf
    main = [
        line for line in screen(recording, "t").splitlines() if f" {said['pid']} " in line
    ]
    assert len(main) == 2  # the header and the row of the main thread
    assert "leaf" in screen(recording, "f")


def test_what_is_no_recording(tmp_path, exact):
    """For a file that is no recording, ocular-top prints one sentence and returns 2. If a
    recording is truncated, ocular-top shows the blocks that are intact."""
    _, recording = exact
    whole = recording.read_bytes()
    for name, content, words in (
        ("empty", b"", "no recording of Ocular's"),
        ("text.ocular", b"hello\n" * 1000, "no recording of Ocular's"),
        ("head", whole[:100], "no recording of Ocular's"),
        ("version", whole[:8] + b"\x63" + whole[9:], "version 99"),
        ("check", whole[:40] + b"\xff" + whole[41:], "is damaged"),
    ):
        (tmp_path / name).write_bytes(content)
        done = top(str(tmp_path / name), "--once")
        assert done.status == 2 and words in done.err and done.err.count("\n") == 1
    done = top(str(tmp_path / "nowhere"))
    assert done.status == 2 and "No such file" in done.err
    done = top(str(recording), str(recording), str(recording))
    assert done.status == 2
    (tmp_path / "torn").write_bytes(whole[: len(whole) * 2 // 3 + 100])
    done = top(str(tmp_path / "torn"), "--once", "--size", "150x30")
    assert done.status == 0 and "■ recording" in done.out


def test_the_kind_of_a_file_is_by_its_head(tmp_path, sockets):
    """ocular-top recognises a file of the option `--record` by its first bytes."""
    program = WORK + "ocular.start_tracing(quiet=True, serve=True, perfetto=False)\n"
    program += "work(1)\nprint(os.getpid(), flush=True)\nbusy(60)\n"
    process = start(
        [PYTHON, write(tmp_path, program)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    try:
        pid = process.stdout.readline().strip()
        file = str(tmp_path / "seen")
        done = top(
            "-p", pid, "-n", "2", "--batch", "-d", "0.1", "--record", file,
            env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        )  # fmt: skip
        assert done.status == 0, done.err
    finally:
        process.kill()
        process.communicate()
    for words in (file,), ("--replay", file):
        assert "leaf" in top(*words, "--once", "--size", "150x30").out
