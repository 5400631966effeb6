# SPDX-License-Identifier: MIT
"""Tests the files with sampled stacks that Ocular writes for other tools. In the tests,
these tools read the files, namely pstats, flame graphs, speedscope, and pprof if Go is
installed."""

import gzip
import json
import os
import pstats
import re
import shutil
import subprocess
from collections import Counter

import ocular
import pytest
from e2e import speedscope
from e2e.pftrace import fields
from e2e.program import PYTHON, SLOW, run, script, write

pytestmark = pytest.mark.once

# The program spends nearly all of its time in `heavy`, and a quarter of this time in calls
# from `seldom`.
WORK = """
import time
def heavy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))
def often():
    for _ in range(3): heavy(0.1)
def seldom():
    heavy(0.1)
def main():
    for _ in range(3):
        often()
        seldom()
def strange():
    exec(compile("def f():\\n heavy(0.2)", "a;b\\nc", "exec"), globals())
    f.__code__ = f.__code__.replace(co_qualname="x;y\\nz")
    f()
main()
strange()
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Returns the paths of the files of one run, by name."""
    folder = tmp_path_factory.mktemp("profiles")
    names = ["t.folded", "t.speedscope.json", "t.pstats", "t.pb.gz", "t.folded.gz"]
    names.append("t.wall.folded")
    source = f"""
import ocular
ocular.start_tracing(quiet=True, perfetto=False)
{WORK}
for number in range(300):  # until samples of strange() are there
    time.sleep(0.1)
    ocular.export("t.folded")
    ocular.export("t.wall.folded")
    slept = [int(line.split()[-1]) for line in open("t.wall.folded") if ": sleep)" in line]
    if "x:y" in open("t.folded").read() and sum(slept) > 200_000:
        break
    if number % 50 == 49:  # perhaps Ocular has missed the code that ran once
        strange()
for name in {names}:
    ocular.export(name)
ocular.stop_tracing()
"""
    done = script(folder, source)
    assert done.status == 0, done.err
    return {name: folder / name for name in names}


def read_folded(text):
    """Returns {stack: microseconds} of a file."""
    stacks = {}
    for line in text.splitlines():
        stack, _, number = line.rpartition(" ")
        stacks[tuple(stack.split(";"))] = int(number)
    return stacks


def part(of, whole):
    return sum(of) / sum(whole)


def test_folded(written):
    stacks = read_folded(written["t.folded"].read_text())
    mine = {key: us for key, us in stacks.items() if key[-1] == "heavy (program.py:6)"}
    assert part(mine.values(), stacks.values()) > 0.7
    by_seldom = [us for key, us in mine.items() if key[-2].startswith("seldom (")]
    assert 0.1 < part(by_seldom, mine.values()) < 0.4
    assert all(key[-3].startswith("main (") for key in mine if "main" in str(key))
    assert 0.5e6 < sum(mine.values()) < 5e6
    packed = read_folded(gzip.open(written["t.folded.gz"], "rt").read())
    assert sum(packed.values()) >= sum(stacks.values())


def test_names_that_would_end_a_frame_or_a_line(written):
    text = written["t.folded"].read_text()
    assert "x:y\ufffdz (a:b\ufffdc:1);heavy (" in text


def test_speedscope(written):
    document = json.loads(written["t.speedscope.json"].read_text())
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert document["exporter"] == f"ocular@{ocular.__version__}"
    frames = document["shared"]["frames"]
    profile, wall = document["profiles"]
    for one in profile, wall:
        assert (one["type"], one["unit"]) == ("sampled", "nanoseconds")
        assert len(one["samples"]) == len(one["weights"])
        assert one["startValue"] == 0 and one["endValue"] == sum(one["weights"])
    assert profile["name"].endswith(" (CPU time)")
    assert wall["name"].endswith(" (wall time)")
    # The profile of wall time begins with the samples of CPU time. The waits follow.
    count = len(profile["samples"])
    assert wall["samples"][:count] == profile["samples"]
    waits = {frames[stack[-1]]["name"] for stack in wall["samples"][count:]}
    assert "(waiting: sleep)" in waits
    assert all(name.startswith("(waiting") for name in waits)
    heavy = sum(
        weight
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True)
        if frames[stack[-1]]["name"] == "heavy"
    )
    assert heavy > 0.7 * profile["endValue"]
    frame = next(frame for frame in frames if frame["name"] == "heavy")
    assert frame["line"] == 6 and frame["file"].endswith("/program.py")


@pytest.mark.skipif(bool(speedscope.missing()), reason=str(speedscope.missing()))
def test_speedscope_itself(written):
    """speedscope's own importer reads both files. The importer finds each function's self
    time and total time."""
    document = json.loads(written["t.speedscope.json"].read_text())
    frames, own, whole = document["shared"]["frames"], Counter(), Counter()
    profile, wall = document["profiles"]
    for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
        own[stack[-1]] += weight
        for frame in set(stack):
            whole[frame] += weight
    wanted = Counter()
    for number in whole:
        frame = frames[number]
        key = frame["name"], frame.get("file"), frame.get("line")
        wanted[(*key, own[number], whole[number])] += 1
    shown, other = speedscope.read_all(written["t.speedscope.json"])
    assert other["name"] == wall["name"] and other["total"] == wall["endValue"]
    assert (shown["unit"], shown["total"]) == ("nanoseconds", profile["endValue"])
    assert Counter(map(tuple, shown["frames"])) == wanted

    stacks = read_folded(written["t.folded"].read_text())
    shown = speedscope.read(written["t.folded"])
    assert shown["total"] == sum(stacks.values())
    for name, _, _, mine, total in shown["frames"]:
        assert mine == sum(us for stack, us in stacks.items() if stack[-1] == name)
        assert total == sum(us for stack, us in stacks.items() if name in stack)


def test_pstats(written):
    stats = pstats.Stats(str(written["t.pstats"]))
    rows = {key[2]: (key, row) for key, row in stats.stats.items()}
    (file, line, _), (cc, nc, own, total, callers) = rows["heavy"]
    assert file.endswith("/program.py") and line == 6
    assert cc == nc and 13 <= nc <= 15
    assert 0.9 < own < 5 and own == pytest.approx(total)
    by_caller = {key[2]: row for key, row in callers.items()}
    assert by_caller["often"][3] > 2 * by_caller["seldom"][3]
    assert rows["often"][1][3] == pytest.approx(by_caller["often"][3], rel=0.05)
    assert rows["often"][1][2] < 0.1 * rows["often"][1][3]
    assert stats.total_tt == pytest.approx(sum(row[2] for row in stats.stats.values()))
    # Reads the file with the tool's command, as a user does.
    shown = run(
        [PYTHON, "-m", "pstats", written["t.pstats"]], input="sort tottime\nstats 3\n"
    )
    assert "(heavy)" in shown.out


def test_pprof_has_cpu_and_wall_time(written):
    profile = list(fields(gzip.open(written["t.pb.gz"]).read()))
    texts = [value.decode() for number, value in profile if number == 6]
    types = [dict(fields(value)) for number, value in profile if number == 1]
    assert [(texts[each[1]], texts[each[2]]) for each in types] == [
        ("cpu", "nanoseconds"),
        ("wall", "nanoseconds"),
    ]
    assert dict(profile)[14] == types[0][1]  # the type that pprof shows
    functions = {
        each[1]: texts[each[2]]
        for each in (dict(fields(value)) for number, value in profile if number == 5)
    }
    slept = 0
    for number, value in profile:
        if number != 2:
            continue
        locations = [each for name, each in fields(value) if name == 1]
        cpu, wall = (each for name, each in fields(value) if name == 2)
        waits = functions[locations[0]].startswith("(waiting")
        assert cpu == (0 if waits else wall) and wall > 0
        if functions[locations[0]] == "(waiting: sleep)":
            slept += wall
            assert functions[locations[1]] == "<module>"
    walls = read_folded(written["t.wall.folded"].read_text())
    by_sleep = sum(us for stack, us in walls.items() if stack[-1] == "(waiting: sleep)")
    assert by_sleep >= slept / 1e3 - 1 > 1e4


@pytest.mark.skipif(not shutil.which("go"), reason="there is no Go for its pprof")
def test_pprof(written):
    def pprof(*options):
        # The first call takes longer, because Go compiles pprof.
        command = ["go", "tool", "pprof", *options, str(written["t.pb.gz"])]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=5 * SLOW
        ).stdout

    top = pprof("-top", "-unit=ms")
    assert "Type: cpu" in top
    assert 1 <= float(re.search(r"Duration: ([\d.]+)s", top)[1]) <= SLOW
    first = next(line for line in top.splitlines() if line.endswith(" heavy"))
    assert float(re.search(r"([\d.]+)%", first)[1]) > 70
    peek = pprof("-peek", "^heavy$")
    assert re.search(r"\|\s+often", peek) and re.search(r"\|\s+seldom", peek)
    assert re.search(r"heavy \S*/program.py:6", pprof("-raw"))
    assert "(waiting: sleep)" in pprof("-top", "-sample_index=wall")


@pytest.mark.parametrize("name", ["o.folded", "o.speedscope.json", "o.pstats", "o.pb.gz"])
def test_as_output(tmp_path, name):
    """If output= names a profile, no timeline is kept and the report names the file."""
    program = write(tmp_path, "end = 0\nfor n in range(500_000): end += n")
    done = run([PYTHON, "-m", "ocular", "--output", name, program], cwd=tmp_path)
    assert done.status == 0 and f"  sampled stacks: {tmp_path / name}\n" in done.err
    assert "perfetto" not in done.err
    assert sorted(os.listdir(tmp_path)) == sorted([name, "program.py"])
    again = run([PYTHON, "-m", "ocular", "--output", name, program], cwd=tmp_path)
    stem, ending = name.split(".", 1)
    (other,) = {*os.listdir(tmp_path)} - {name, "program.py"}
    assert again.status == 0 and re.fullmatch(rf"{stem}\.\d+\.{re.escape(ending)}", other)


def test_what_cannot_be_written(tmp_path):
    ocular.start_tracing(quiet=True, perfetto=False)
    try:
        with pytest.raises(OSError):
            ocular.export(tmp_path / "no" / "t.pstats")
        with pytest.raises(RuntimeError, match="no timeline"):
            ocular.export(tmp_path / "pstats")
    finally:
        ocular.stop_tracing()
    assert os.listdir(tmp_path) == []
