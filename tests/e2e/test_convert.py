# SPDX-License-Identifier: MIT
"""Tests `ocular convert`, which makes flame graphs from folded stacks. The stacks come from
Ocular and from other tools."""

import gzip
import os

import pytest
from e2e.program import PYTHON, run, write

pytestmark = pytest.mark.once
# An output of py-spy record --format raw, and one of stackcollapse-perf.pl.
PY_SPY = "<module> (app.py:9);work (app.py:2) 31\n<module> (app.py:9);wait (lib/w.py:4) 9\n"
PERF = "python3;_start;[unknown];do_syscall_64_[k] 7\npython3;_start;main 3\n"


def convert(folder, *arguments, **more):
    return run([PYTHON, "-m", "ocular", "convert", *arguments], cwd=folder, **more)


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("raw.txt", PY_SPY, "40 samples"),
        ("out.folded", PERF, "10 samples"),
        ("ours.folded", PY_SPY, "40 µs"),
    ],
)
def test_what_others_write(tmp_path, name, text, shown):
    write(tmp_path, text, name)
    done = convert(tmp_path, name, "-o", "x.html")
    assert done.status == 0, done.err
    size = (tmp_path / "x.html").stat().st_size
    assert done.out == f"x.html: {size / 1e3:.0f} kB, {shown}\n"
    assert f"<title>{name}: flame graph" in (tmp_path / "x.html").read_text()


def test_the_unit_can_be_said(tmp_path):
    write(tmp_path, PY_SPY, "a.folded")
    assert "40 samples" in convert(tmp_path, "a.folded", "--unit", "samples").out
    assert "40 µs" in convert(tmp_path, "a.folded", "--unit", "us", "-o", "b.svg").out
    assert sorted(os.listdir(tmp_path)) == ["a.folded", "a.html", "b.svg"]


def test_packed_files_and_stdin(tmp_path):
    (tmp_path / "a.folded.gz").write_bytes(gzip.compress(PY_SPY.encode()))
    done = convert(tmp_path, "a.folded.gz")
    assert done.status == 0 and (tmp_path / "a.html").exists()
    done = convert(tmp_path, "-", "-o", "b.svg.gz", input=PERF)
    assert done.status == 0 and b"main" in gzip.open(tmp_path / "b.svg.gz").read()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a;b 3\nwhat\n", "line 2 is no folded stack: it has to end in a blank and a "),
        (gzip.compress(b"a 1", mtime=0)[:-6], "it cannot be unpacked: "),
        (b"a 0\n", "it has no stacks"),
    ],
)
def test_what_is_no_file_of_stacks(tmp_path, content, words):
    (tmp_path / "a.folded").write_bytes(content)
    done = convert(tmp_path, "a.folded")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"ocular convert: a.folded: {words}")
    assert done.err.count("\n") == 1
    assert os.listdir(tmp_path) == ["a.folded"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.folded", "-o", "x.pdf"], "x.pdf: its name has to end in .html or .svg"),
        (["a.folded", "-o", "there.svg"], "there.svg: it exists; give another name"),
        (["-"], "name the file that is to be written: -o FILE"),
        ([], "the following arguments are required: FILE"),
    ],
)
def test_wrong_arguments(tmp_path, arguments, words):
    for name in "a.folded", "there.svg":
        write(tmp_path, PY_SPY, name)
    done = convert(tmp_path, *arguments, input="")
    assert (done.status, done.out) == (2, "") and words in done.err
    assert sorted(os.listdir(tmp_path)) == ["a.folded", "there.svg"]


def test_files_that_cannot_be_opened(tmp_path):
    done = convert(tmp_path, "no.folded")
    assert done.status == 1
    assert done.err == "ocular convert: no.folded: No such file or directory\n"
    write(tmp_path, PY_SPY, "a.folded")
    done = convert(tmp_path, "a.folded", "-o", "no/a.html")
    assert done.status == 1 and "no/a.html: No such file or directory\n" in done.err
