# SPDX-License-Identifier: MIT
"""Each program that measures Ocular runs, for a few seconds, and sees it at work. The
bounds are wide and hold on a busy machine; with Ocular switched off none holds. What
the figures are is for `make figures` to say."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.program import SLOW

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "bench"))

import budget  # noqa: E402
import idle  # noqa: E402

pytestmark = pytest.mark.timeout(300)


def figures(folder, rig, *arguments):
    """{name: value}, as `make figures` gets them."""
    path = folder / "figures.jsonl"
    done = subprocess.run(
        [sys.executable, TESTS / rig, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * SLOW,
        env={**os.environ, "OCULAR_FIGURES": str(path)},
    )
    assert done.returncode == 0, done.stdout
    lines = map(json.loads, path.read_text().splitlines())
    return {line["name"]: line["value"] for line in lines}


# --- Accuracy -----------------------------------------------------------------


@pytest.fixture(scope="module")
def accuracy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("accuracy")
    subjects = ["--only", "long_loop", "--only", "recursive"]
    file = folder / "all.json"
    found = figures(folder, "accuracy/accuracy.py", "--short", *subjects, "--json", file)
    return json.loads(file.read_text()), found


def test_every_call_is_counted(accuracy):
    found, values = accuracy
    assert found["counts"]
    assert [row for row in found["counts"] if row["differ"]] == []
    assert all(row["calls"] > 100 for row in found["counts"])
    assert values["accuracy/counts_wrong"] == 0


def test_a_loops_for_iter_is_not_armed(accuracy):
    for row in accuracy[0]["events"]:
        jumps, branches = row["jumps"], row["all"] - row["jumps"]
        fors = row["shape"].startswith(("for", "comprehension"))
        assert row["armed"] == pytest.approx(
            jumps + branches - (1 + (jumps > 1) * 0.2 if fors else 0)
        ), row


@pytest.mark.parametrize("threshold", ["0", "500"])
def test_cycles(accuracy, threshold):
    """However fast the CPU is: no function is too short to be looked at here."""
    found, values = accuracy
    assert {row["function"] for row in found["cycles"]} == {"long_loop", "recursive"}
    for row in found["cycles"]:
        assert 0.3 < row["ocular"][threshold]["p50"] / row["truth"]["p50"] < 3, row
    assert values[f"accuracy/alone/{threshold}/p50/median_error"] < 200


@pytest.mark.once
def test_live(tmp_path):
    found = figures(
        tmp_path,
        "accuracy/accuracy.py",
        *"--program leaves --live-seconds 4 --budget 0.05".split(),
    )
    assert 0 < found["live/leaves/all_shares_seen"] < 10
    assert found["live/leaves/overhead"] > 0


@pytest.mark.once
def test_ordinary(tmp_path):
    found = figures(
        tmp_path, "accuracy/ordinary.py", "--programs", "threads", "--seconds", 6
    )
    assert found["ordinary/threads: samples a CPU second"] > 10
    assert found["ordinary/threads: worst share, points"] < 40
    assert found["ordinary/threads: armed of the jobs, %"] > 0


# --- Costs --------------------------------------------------------------------


@pytest.mark.once
def test_bench(tmp_path):
    found = figures(tmp_path, "bench/bench.py", "--only", "hooks", "--rounds", 3)
    for probe in "calls", "loops", "steps":
        assert 0.3 < found[f"bench/{probe}/times_floor"] < 30, found
        assert 0.3 < found[f"bench/{probe}/timeline_times_floor"] < 30, found


@pytest.mark.once
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_idle():
    """A few rounds, most of which is the first one's: what stays armed shows by far."""
    bare, after = (
        idle.instructions(kind, "call-heavy", 5) for kind in ("without", "after a look")
    )
    assert bare > 10**6
    assert 0.98 < after / bare < 1.02


@pytest.mark.once
def test_viewer(tmp_path):
    found = figures(
        tmp_path,
        "bench/bench.py",
        *"--viewer --brief --functions 100 --threads 2 --seconds 0.3".split(),
    )
    assert found["viewer/100/snapshot"] > 10  # kB, a hundred functions
    for name in (
        "connecting_to_the_first_snapshot",
        "connecting_to_the_first_frame",
        "CPU_of_both_sides_for_that",
        "a_key_to_the_screen/main/worst",
    ):
        assert found[f"viewer/100/{name}"] > 0, name


BENCHMARK = """
import pyperf

def leaf(n):
    return n * 3 + 1

def one(n):
    for i in range(n):
        leaf(i)

def two(loops, n):
    begin = pyperf.perf_counter()
    for _ in range(loops):
        one(n)
    return pyperf.perf_counter() - begin

async def three():
    one(100)

if __name__ == "__main__":
    runner = pyperf.Runner(add_cmdline_args=None)
    runner.metadata["description"] = "made up"
    runner.argparser.add_argument("--size", type=int, default=10)
    options = runner.parse_args()
    assert options.size == 200
    runner.bench_func("one", one, options.size)
    runner.bench_time_func("two", two, options.size, inner_loops=2)
    runner.bench_async_func("three", three)
"""


@pytest.mark.once
def test_budget(tmp_path, monkeypatch):
    """Each of the two processes is traced in its turn, and a viewer sees its work."""
    script = tmp_path / "run_benchmark.py"
    script.write_text(BENCHMARK)
    monkeypatch.setattr(budget, "script_of", lambda name: str(script))
    monkeypatch.setitem(budget.BENCHMARKS, "made up", ["--size", "200"])
    monkeypatch.setattr(budget.Pair, "sample", lambda *_: None)
    options = budget.parse(["--seconds", "1", "--warm", "0.4", "--budgets", "0.01"])
    job = budget.job_of("made up")

    def is_seen(half):
        if not half["looks"]:
            return False
        names = {row["name"] for row in half["looks"][-1]["functions"]}
        return {"one", "two", "three", "leaf"} <= names

    for _ in range(4):  # the viewer may take its time to come
        options.seconds *= 1.5
        halves = budget.take_turns(job, budget.settings_of(0.01, options), options)
        if all(map(is_seen, halves)):
            break
    assert all(map(is_seen, halves))
    last = [half["looks"][-1] for half in halves]
    assert len({each["pid"] for each in last}) == 2
    assert all(each["overhead"]["mean"] > 0 for each in last)
    found = budget.figures(halves, options)
    assert found["start"] > 0 and all(found["turns"])
    assert all(cost > 0 for turns in found["turns"] for turn in turns for cost in turn)


@pytest.mark.once
def test_soak(tmp_path):
    found = figures(tmp_path, "soak/soak.py", "--seconds", 3)
    assert found["soak/overhead"] > 0
    assert 0 < found["soak/oldest_age"] <= 2 * SLOW
    assert found["soak/snapshots"] >= 3
