# SPDX-License-Identifier: MIT
"""Tests the report of real programs. Functions are sorted by their share of the whole run.
The table includes freed functions and functions that ran only at the beginning. The report
also has the number of samples."""

import re

import pytest
from e2e.program import PYTHON, run, script, write

# Each test program begins with this source. The program works until its functions appear in
# a snapshot.
WORK = """
import time
import ocular
def spin(s):
    end = time.thread_time() + s
    while time.thread_time() < end:
        pass
def row(name):
    snapshot = ocular.snapshot()
    rows = [r for r in snapshot["functions"] if r["name"] == name]
    return rows[0] if rows else {"share": 0, "run_share": 0, "run_samples": 0}
"""


def ranks(report):
    """Returns the name, the share in per cent and the samples of each function in the
    report. An unknown number is None."""
    found = []
    for part in report.split("\n#")[1:]:
        share = re.search(r"([\d.]+)% of a core over the whole run, of (\w+) sample", part)
        name = part.split()[1]
        found.append((name, *((float(share[1]), share[2]) if share else (None, None))))
    return found


def ocular(directory, *arguments):
    return run([PYTHON, "-m", "ocular", "--no-perfetto", *arguments], cwd=directory)


def test_the_top_level_has_its_share(tmp_path):
    """The code object of the top level is freed before the report is made, but the
    report has its share."""
    path = write(
        tmp_path,
        WORK
        + """
while row("<module>")["run_samples"] < 20:
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        pass
""",
    )
    done = ocular(tmp_path, "--budget", "0.05", path)
    rows = ranks(done.err)
    assert rows[0][0] == "<module>" and int(rows[0][2]) >= 20, done.err
    shares = [share for _, share, _ in rows if share is not None]
    assert shares == sorted(shares, reverse=True)
    part = done.err.split("\n#")[1]
    assert "1 call" in part and "gone" in part and "program.py:1" in part


@pytest.mark.once
def test_a_phase_that_is_over_keeps_its_rank(tmp_path):
    """A function that ran only at the beginning keeps its rank, although its share of the
    last seconds is 0."""
    done = script(
        tmp_path,
        WORK
        + """
import json
def later():
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        pass
ocular.start_tracing(overhead_budget=0.05, perfetto=False)
spin(1)
while row("spin")["run_samples"] < 5:
    spin(0.1)
most = row("spin")["share"]
while row("spin")["share"] > 0.4 * most:
    time.sleep(0.1)
while row("later")["share"] < 1.2 * row("spin")["share"]:
    later()
final = ocular.stop_tracing()
rows = {row["name"]: row for row in final["functions"]}
names = "spin", "later"
print(json.dumps([rows[n][key] for key in ("share", "run_share") for n in names]))
""",
    )
    spin, later, spin_run, later_run = done.answer
    # spin and later are shares of the last seconds, the others are shares of the whole run.
    assert spin < later and spin_run > later_run
    assert [row[0] for row in ranks(done.err)[:2]] == ["spin", "later"], done.err


def shown(number):
    """Formats a number of samples below 100 000 as the report does."""
    return f"{number} sample{'s' * (number != 1)}"


def test_what_it_rests_on(tmp_path):
    """The report has the same numbers of samples as the final snapshot. Other tests
    check the snapshot."""
    done = script(
        tmp_path,
        WORK
        + """
import json
ocular.start_tracing(overhead_budget=0.05, perfetto=False)
while row("spin")["run_samples"] < 30:
    spin(0.05)
print(json.dumps(ocular.stop_tracing()))
""",
    )
    final, err = done.answer, done.err
    rows = final["functions"] + final["retired"]
    samples = sum(row["run_samples"] or 0 for row in rows)
    assert 30 <= samples <= final["sampler"]["samples"]
    assert f"\n  shares of the run: from {shown(samples)} that found a traced" in err
    assert f"CPU time, by signal {final['sampler']['signal']}\n" in err
    overhead = final["overhead"]["mean"]
    assert overhead > 0
    text = f"{100 * overhead:.1f}%" if overhead >= 5e-4 else "below 0.1%"
    text += " of the program's CPU time, over"
    cores = sum(thread["cpu_s"] for thread in final["threads"]) / final["uptime_s"]
    if cores < 0.2 and overhead >= 5e-4:
        text = f"{100 * overhead * cores:.1f}% of a core over"
    assert f"\n  overhead: {text} the whole run" in err
    (spin,) = (row for row in rows if row["name"] == "spin")
    name, share, count = ranks(err)[0]
    assert (name, count) == ("spin", str(spin["run_samples"]))
    assert share == pytest.approx(100 * spin["run_share"], abs=0.051)


def test_it_rests_on_samples_without_a_budget(tmp_path):
    path = write(tmp_path, WORK + "spin(0.2)\n")
    assert "shares of the run: from" in ocular(tmp_path, path).err


def callers(report, name):
    """Returns the shares of a function's callers in per cent, by the caller's name."""
    part = re.search(rf"\n#\d+  {name} .*?(?=\n\n|\n#|\Z)", report, re.S)[0]
    line = re.search(r"\n    time by caller: (.*(?:,\n        .*)*)", part)
    if not line:
        return {}
    return {
        each.rpartition(" ")[0]: int(each.rpartition(" ")[2].rstrip("%"))
        for each in re.split(r",\s+", line[1])
    }


@pytest.mark.once
def test_time_by_caller(tmp_path):
    """The report divides a function's time in the whole run by caller, freed ones too."""
    path = write(
        tmp_path,
        WORK
        + """
import threading
took = {"often": 0, "work": 0}  # seconds, including waits for a CPU
rounds = 0  # with 0.06 s of CPU time each
def often():
    begin = time.perf_counter()
    spin(0.05)
    took["often"] += time.perf_counter() - begin
def work():
    global rounds
    while row("spin")["run_samples"] < 100:
        rounds += 1
        often()
        begin = time.perf_counter()
        spin(0.01)
        took["work"] += time.perf_counter() - begin
def alone():
    while row("alone")["run_samples"] < 5:
        end = time.thread_time() + 0.01
        while time.thread_time() < end:
            pass
thread = threading.Thread(target=alone)
thread.start()
thread.join()
work()
print(100 * took["often"] / sum(took.values()), sum(took.values()) / (0.06 * rounds))
""",
    )
    options = "--budget 0.05 --include-only program.py --exclude row".split()
    done = ocular(tmp_path, *options, path)
    err = done.err
    found = callers(err, "spin")
    assert set(found) == {"often", "work"}, err
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert 98 <= sum(found.values()) <= 101
    # On a busy machine the program has too few samples, because it mostly waits for a CPU.
    # On other machines, the samples agree with the program's own clock.
    wanted, slowed = map(float, done.out.split())
    if slowed < 1.3:
        assert found["often"] == pytest.approx(wanted, abs=15), err
    assert callers(err, "often") == {"work": 100}
    assert callers(err, "work") == {"<module>": 100}
    assert callers(err, "alone") == {}  # No traced function has called `alone`.
    for line in err.split("time by caller")[1:]:
        assert len("    time by caller" + line.split("\n")[0]) <= 80


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_what_writing_the_timeline_took(tmp_path, name):
    path = write(tmp_path, WORK + "spin(0.01)\n")
    err = run([PYTHON, "-m", "ocular", "--output", name, path], cwd=tmp_path).err
    size, took = re.search(
        r"writing its ([\d.]+ kB) took ([\d.]+ [mun]?s) of CPU", err
    ).groups()
    assert float(size.split()[0]) == pytest.approx(
        (tmp_path / name).stat().st_size / 1e3, abs=0.051
    )
    assert took[0] != "0"
