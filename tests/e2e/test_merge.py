# SPDX-License-Identifier: MIT
"""Tests `ocular merge`, which puts the timelines of several processes into one file."""

import gzip
import json
from collections import Counter

import pytest
from e2e import pftrace, trace
from e2e.program import PYTHON, run, write

pytestmark = pytest.mark.once

PROGRAM = """import asyncio, ocular, os, sys, threading, time

def {name}():
    with ocular.span("work", who="{name}"):
        time.sleep(0.05)
        sum(range(4_000_000))  # there are samples

thread = threading.Thread(target={name})
thread.start()
{name}()
thread.join()
asyncio.run(asyncio.sleep(0.001))
"""


def record(tmp_path, name, output):
    program = write(tmp_path, PROGRAM.format(name=name), f"{name}.py")
    options = ["--quiet", "--threshold", "0", "--output", output]
    # excludes functions that imports call
    for part in (f"{name}.py", "asyncio/events.py"):
        options += ["--include-only", part]
    done = run([PYTHON, "-m", "ocular", *options, program], cwd=tmp_path)
    assert done.status == 0, done.err
    return tmp_path / output


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Makes the files of three processes in each format, one after the other."""
    folder = tmp_path_factory.mktemp("recorded")
    for ending in "json", "pftrace":
        for name in "one", "two", "three":
            record(folder, name, f"{name}.{ending}")
    return folder


def merge(tmp_path, *arguments):
    return run([PYTHON, "-m", "ocular", "merge", *arguments], cwd=tmp_path)


@pytest.mark.parametrize("ending", ["json", "json.gz", "pftrace", "pftrace.gz"])
def test_each_process_is_there_at_its_time(tmp_path, recorded, ending):
    paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two", "three")]
    for path in paths:
        data = (recorded / path.name.removesuffix(".gz")).read_bytes()
        path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    singles = [trace.read(path) for path in paths]
    done = merge(tmp_path, "-o", f"all.{ending}", *(path.name for path in paths))
    assert (done.status, done.out, done.err) == (0, "", "")
    whole = tmp_path / f"all.{ending}"
    if "pftrace" in ending:  # our reader can read only files of one process
        data = whole.read_bytes()
        data = gzip.decompress(data) if ending.endswith("gz") else data
        packets = pftrace.message("Trace", data)["packet"]
        sequences = [packet["sequence"] for packet in packets]
        parts = [
            pftrace.message(
                "Trace",
                gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes(),
            )["packet"]
            for p in paths
        ]
        assert len(packets) == sum(map(len, parts))
        assert len(set(sequences)) == sum(
            len({packet["sequence"] for packet in part}) for part in parts
        )
        return
    merged = trace.read(whole)
    assert len({pid for pid, _ in merged.calls}) == 3
    starts = [single.other["start_unix_ns"] for single in singles]
    assert merged.other["start_unix_ns"] == starts[0] == min(starts)
    assert [each["file"] for each in merged.other["merged"]] == [p.name for p in paths]
    for single, start in zip(singles, starts, strict=True):
        for key, calls in single.calls.items():
            later = (start - starts[0]) / 1000
            for mine, alone in zip(merged.calls[key], calls, strict=True):
                assert mine.name == alone.name
                assert mine.begin == pytest.approx(alone.begin + later, abs=0.01)
    samples = Counter()
    for path, start in zip(paths, starts, strict=True):
        later = (start - starts[0]) // 1000 * 1000
        alone = trace.samples(path)
        assert alone
        samples.update((ns + later, tid, tuple(names)) for ns, tid, names in alone)
    together = trace.samples(whole)
    assert Counter((ns, tid, tuple(names)) for ns, tid, names in together) == samples
    assert len(merged.spans) == 6 and all(end for _, end in merged.spans.values())


def test_one_process_twice(tmp_path):
    """Process ids are reused after some time, and in containers."""
    path = record(tmp_path, "one", "one.json")
    again = tmp_path / "again.json"
    again.write_bytes(path.read_bytes())
    assert merge(tmp_path, "-o", "all.json", "one.json", "again.json").status == 0
    merged = trace.read(tmp_path / "all.json")
    assert len({pid for pid, _ in merged.calls}) == 2
    assert merged.names()["one"] == 2 * trace.read(path).names()["one"]
    # trace.check() also checks that each process has its own flows
    assert len(merged.tasks) == 2
    record(tmp_path, "two", "two.pftrace")
    done = merge(tmp_path, "-o", "all.pftrace", "two.pftrace", "two.pftrace")
    assert done.status == 2 and "are both of process" in done.err


@pytest.mark.parametrize(
    "name, content, output, words",
    [
        ("a.json", b"{}", "o.json", "no timeline that Ocular has written"),
        ("a.json", b'{"otherData":{},"traceEvents":[\n]}\n', "o.json", "no timeline"),
        ("a.json", b"", "o.json", "no timeline"),
        ("a.json.gz", b"nonsense", "o.json", "ot a gzipped file"),
        ("a.pftrace", b"\x0a\x50half", "o.pftrace", "it is not whole"),
        ("a.pftrace", b"{}", "o.pftrace", "not whole, or no timeline"),
        ("a.pftrace", b"\x0a\x02\x0b\x0b", "o.pftrace", "no timeline of Ocular's"),
        ("a.pftrace", b"", "o.json", "must all be JSON, or all .pftrace"),
        ("a.folded", b"", "o.folded", "a profile, not a timeline"),
        ("a.json", b"{}", "a.json", "it exists"),
        ("none.json", None, "o.json", "No such file"),
    ],
)
def test_what_cannot_be_merged(tmp_path, name, content, output, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = merge(tmp_path, "-o", output, name)
    assert done.status in (1, 2) and words in done.err and "Traceback" not in done.err
    assert {path.name for path in tmp_path.iterdir()} <= {name}


def test_a_file_that_ends_in_the_middle(tmp_path):
    path = record(tmp_path, "one", "one.json")
    path.write_bytes(path.read_bytes()[:-20])
    done = merge(tmp_path, "-o", "all.json", "one.json")
    assert done.status == 2 and "not whole" in done.err
    assert not (tmp_path / "all.json").exists()


def test_a_script_of_that_name_is_run(tmp_path):
    write(tmp_path, "print('mine')", "merge")
    options = ["--quiet", "--no-perfetto"]
    assert run([PYTHON, "-m", "ocular", *options, "merge"], cwd=tmp_path).out == "mine\n"
    assert run([PYTHON, "-m", "ocular", "./merge"], cwd=tmp_path).out == "mine\n"
    assert json.loads((tmp_path / "ocular_trace.json").read_text())
