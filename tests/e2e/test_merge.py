# SPDX-License-Identifier: MIT
"""Tests `ocular convert` and `ocular merge`, which make one timeline from the recordings of
several processes."""

import json
from collections import Counter

import pytest
from e2e import pftrace, trace, trace_processor
from e2e.program import PYTHON, run, write

pytestmark = pytest.mark.once

PROGRAM = """import asyncio, ocular, os, sys, threading, time
def {name}():
    with ocular.span("work", who="{name}"):
        time.sleep(0.05)
        sum(range(4_000_000))  # long enough for samples
thread = threading.Thread(target={name})
thread.start()
{name}()
thread.join()
asyncio.run(asyncio.sleep(0.001))
"""
NAMES = "one", "two", "three"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The recordings of three processes that ran one after the other."""
    folder = tmp_path_factory.mktemp("recorded")
    for name in NAMES:
        program = write(folder, PROGRAM.format(name=name), f"{name}.py")
        options = ["--quiet", "--threshold", "0", "--output", f"{name}.ocular"]
        # this option leaves out functions that run during imports
        for part in (f"{name}.py", "asyncio/events.py"):
            options += ["--include-only", part]
        done = run([PYTHON, "-m", "ocular", *options, program], cwd=folder)
        assert done.status == 0, done.err
    return folder


def merge(folder, output, *names, verb="convert"):
    words = [PYTHON, "-m", "ocular", verb, *(f"{name}.ocular" for name in names)]
    return run([*words, "-o", output], cwd=folder)


def alone(folder, output_folder, name, ending):
    path = output_folder / f"{name}.{ending}"
    done = merge(folder, path, name)
    assert (done.status, done.err) == (0, "")
    return path


COVERED = {"covered_from_us": min, "covered_to_us": max, "all_threads_from_us": max}


def check_merged(merged, singles):
    """In the merged file, each process is at the time at which it ran."""
    assert len({pid for pid, _ in merged.calls}) == len(singles)
    starts = [single.other["start_unix_ns"] for single in singles]
    assert merged.other["start_unix_ns"] == min(starts)
    times = [single.other["start_time"] for single in singles]
    assert merged.other["start_time"] == times[starts.index(min(starts))]
    for key, choose in COVERED.items():
        their = [
            single.other[key] + (start - min(starts)) / 1000
            for single, start in zip(singles, starts, strict=True)
        ]
        assert merged.other[key] == pytest.approx(choose(their), abs=0.01)
    assert merged.other["lost_events"] == sum(each.other["lost_events"] for each in singles)
    for single, start, facts in zip(singles, starts, merged.other["merged"], strict=True):
        assert facts.items() >= single.other.items()
        for key, calls in single.calls.items():
            later = (start - min(starts)) / 1000
            for mine, alone in zip(merged.calls[key], calls, strict=True):
                assert mine.name == alone.name
                assert mine.begin == pytest.approx(alone.begin + later, abs=0.01)


@pytest.mark.parametrize("names", [NAMES, ("three", "one", "two")])
def test_json(tmp_path, recorded, names):
    paths = [alone(recorded, tmp_path, name, "json") for name in names]
    singles = [trace.read(path) for path in paths]
    whole = tmp_path / "all.json.gz"
    done = merge(recorded, whole, *names, verb="merge")
    events = sum(1 for single in singles for _ in single.calls)
    assert (done.status, done.err) == (0, "") and events
    assert done.out.startswith(f"{whole}: ")
    merged = trace.read(whole)
    check_merged(merged, singles)
    assert [each["file"] for each in merged.other["merged"]] == [
        f"{n}.ocular" for n in names
    ]
    samples = Counter()
    starts = [single.other["start_unix_ns"] for single in singles]
    for path, start in zip(paths, starts, strict=True):
        part = trace.samples(path)
        assert part
        for ns, tid, stack in part:
            samples[tid, tuple(stack), (ns + start - min(starts)) // 1_000_000] += 1
    together = Counter(
        (tid, tuple(stack), ns // 1_000_000) for ns, tid, stack in trace.samples(whole)
    )
    # A sample at the end of a millisecond can be counted in the next millisecond.
    assert sum((together - samples).values()) <= sum(samples.values()) / 20
    assert sum(together.values()) == sum(samples.values())
    assert len(merged.spans) == 6 and all(end for _, end in merged.spans.values())


def test_pftrace(tmp_path, recorded):
    whole = tmp_path / "all.pftrace"
    assert merge(recorded, whole, *NAMES).status == 0
    packets = pftrace.message("Trace", whole.read_bytes())["packet"]
    parts = [
        pftrace.message("Trace", alone(recorded, tmp_path, name, "pftrace").read_bytes())
        for name in NAMES
    ]
    assert len(packets) == sum(len(part["packet"]) for part in parts)
    assert len({packet["sequence"] for packet in packets}) == sum(
        len({packet["sequence"] for packet in part["packet"]}) for part in parts
    )


@pytest.mark.skipif(bool(trace_processor.missing()), reason=str(trace_processor.missing()))
@pytest.mark.parametrize("ending", ["json", "pftrace"])
def test_perfetto_reads_it(tmp_path, recorded, ending):
    whole = tmp_path / f"all.{ending}"
    assert merge(recorded, whole, "one", "two", "one").status == 0
    with trace_processor.TraceProcessor() as processor:

        def ask(sql):
            return list(processor.query(whole, sql))

        wrong = "severity in ('error', 'data_loss')"
        assert ask(f"select name from stats where value > 0 and {wrong}") == []
        slices = (
            "slice join thread_track on track_id = thread_track.id join thread using(utid)"
        )
        counts = ask(f"select upid, count(*) from {slices} group by upid")
    assert len(counts) == 3 and len({count for _, count in counts}) < 3


def test_one_process_twice(tmp_path, recorded):
    """Two recordings with the same process id are two processes, because the kernel
    uses process ids again after some time, and in containers."""
    whole = tmp_path / "all.json"
    assert merge(recorded, whole, "one", "one").status == 0
    merged = trace.read(whole)
    single = trace.read(alone(recorded, tmp_path, "one", "json"))
    assert len({pid for pid, _ in merged.calls}) == 2
    assert merged.names()["one"] == 2 * single.names()["one"]
    # trace.check() fails if two processes use the same flow number.
    assert len(merged.tasks) == 2


@pytest.mark.parametrize(
    "verb, names, output, words",
    [
        ("merge", ["one.json"], "o.json", "one.json: this is no recording. One timeline"),
        ("convert", ["one.ocular", "a.folded"], "o.json", "a.folded: this is no recording"),
        ("merge", ["one.ocular", "two.ocular"], "o.folded", "several recordings make a"),
        ("merge", ["one.ocular", "two.ocular"], "o.html", "several recordings make a"),
        ("merge", ["one.ocular", "two.ocular"], "o.speedscope.json", "several recordings"),
        (
            "merge",
            ["one.ocular", "two.ocular"],
            None,
            "name the file that is to be written",
        ),
        ("merge", ["one.ocular", "two.ocular"], "two.ocular", "is made by a trace"),
        ("merge", ["one.ocular", "none.ocular"], "o.json", "none.ocular: No such file"),
        (
            "merge",
            ["one.ocular", "bad.ocular"],
            "o.json",
            "bad.ocular: this is no recording",
        ),
        ("merge", ["one.ocular", "\udcff.ocular"], "o.json", "No such file"),
        ("merge", ["one.ocular", "two.ocular"], "there.json", "it exists"),
    ],
)
def test_what_cannot_be_merged(tmp_path, recorded, verb, names, output, words):
    for name in "one.ocular", "two.ocular":
        (tmp_path / name).write_bytes((recorded / name).read_bytes())
    write(tmp_path, "nonsense", "bad.ocular")
    write(tmp_path, "{}", "there.json")
    before = sorted(tmp_path.iterdir())
    options = ["-o", output] if output else []
    done = run([PYTHON, "-m", "ocular", verb, *names, *options], cwd=tmp_path)
    assert done.status in (1, 2) and words in done.err and "Traceback" not in done.err
    assert f"ocular {verb}: " in done.err.splitlines()[-1]
    assert sorted(tmp_path.iterdir()) == before


def test_a_script_of_that_name_is_run(tmp_path):
    write(tmp_path, "print('mine')", "merge")
    options = ["--quiet", "--no-perfetto"]
    assert run([PYTHON, "-m", "ocular", *options, "merge"], cwd=tmp_path).out == "mine\n"
    assert run([PYTHON, "-m", "ocular", "./merge"], cwd=tmp_path).out == "mine\n"
    assert json.loads((tmp_path / "ocular_trace.json").read_text())
