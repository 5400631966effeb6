# SPDX-License-Identifier: MIT
"""Wrong arguments raise errors. Each error names the argument and the values that are
accepted. Nothing is traced after such an error, and a correct start works afterwards."""

import os
from pathlib import Path

import ocular
import pytest
from e2e.counting import EXACT, traced
from e2e.program import leftovers

HUGE = 1 << 70


class Odd:
    def __repr__(self):
        return "<odd>"


WRONG = [
    ("mode", 3, TypeError, ["string", "3"]),
    ("mode", "fast", ValueError, ["adaptive", "precise", "fast"]),
    ("perfetto", 1, TypeError, ["True or False", "1"]),
    ("perfetto", None, TypeError, ["True or False"]),
    ("deinstrument_threshold", "500", TypeError, ["whole number"]),
    ("deinstrument_threshold", 1.5, TypeError, ["whole number", "1.5"]),
    ("deinstrument_threshold", True, TypeError, ["whole number"]),
    ("deinstrument_threshold", -1, ValueError, ["at least 0", "-1"]),
    ("deinstrument_threshold", HUGE, ValueError, [str(HUGE), "at most"]),
    ("exclude", "json", TypeError, ["list of strings", "['json']"]),
    ("exclude", b"json", TypeError, ["list of strings"]),
    ("exclude", 7, TypeError, ["list of strings", "7"]),
    ("exclude", ["a", 7], TypeError, ["strings", "7"]),
    ("exclude", [""], ValueError, ["substring"]),
    ("exclude", ["a\0b"], ValueError, ["substring"]),
    ("include_only", "json", TypeError, ["list of strings"]),
    ("include_only", [None], TypeError, ["strings", "None"]),
    ("include_only", [""], ValueError, ["substring"]),
    ("serve", "yes", TypeError, ["True or False", "yes"]),
    ("native", "yes", TypeError, ["True or False", "yes"]),
    ("overhead_budget", "1%", TypeError, ["share", "0.01", "1%"]),
    ("overhead_budget", True, TypeError, ["share"]),
    ("overhead_budget", 0, ValueError, ["more than 0", "0.01"]),
    ("overhead_budget", -0.5, ValueError, ["more than 0"]),
    ("overhead_budget", 1.5, ValueError, ["at most 1", "1.5"]),
    ("overhead_budget", float("nan"), ValueError, ["more than 0"]),
    ("overhead_budget", float("inf"), ValueError, ["at most 1"]),
    ("overhead_budget", HUGE, ValueError, ["at most 1"]),
    ("output", 3, TypeError, ["path", "3"]),
    ("output", Odd(), TypeError, ["path", "<odd>"]),
    ("output", None, TypeError, ["path", "None"]),
    ("output", "", OSError, ["name a file"]),
    ("output", "a\0b", ValueError, ["null"]),
    ("output", "x" * 300, OSError, ["too long"]),
    ("output", "x/" * 4000, OSError, []),
    ("timeline_limit", "1G", TypeError, ["whole number"]),
    ("timeline_limit", 1, ValueError, ["at least"]),
    ("timeline_limit", -(1 << 20), ValueError, ["at least"]),
    ("timeline_limit", HUGE, ValueError, [str(HUGE), "at most"]),
    ("quiet", 1, TypeError, ["True or False"]),
]


def untouched():
    return not ocular.is_tracing() and leftovers() == []


def works():
    _, final = traced(helper)
    return any(row["name"] == "helper" for row in final["functions"])


def helper():
    return 1


@pytest.mark.parametrize(
    "name, value, kind, words", WRONG, ids=lambda value: repr(value)[:20]
)
def test_wrong_argument(name, value, kind, words):
    with pytest.raises(kind) as raised:
        ocular.start_tracing(**{name: value})
    text = str(raised.value)
    assert name in text
    for word in words:
        assert word in text, text
    assert untouched() and works()


def test_unknown_and_positional():
    with pytest.raises(TypeError, match="colour"):
        ocular.start_tracing(colour=True)
    assert untouched()


OTHERS = [("mode", "precise"), ("deinstrument_threshold", 0)]


@pytest.mark.parametrize("name, value", OTHERS)
def test_a_budget_excludes_others(name, value):
    with pytest.raises(ValueError, match="overhead_budget") as raised:
        ocular.start_tracing(overhead_budget=0.01, **{name: value})
    assert name in str(raised.value) and str(value) in str(raised.value)
    assert untouched()


@pytest.mark.parametrize("name, value", OTHERS)
def test_serving_with_others_has_no_budget(sockets, name, value):
    ocular.start_tracing(serve=True, perfetto=False, quiet=True, **{name: value})
    snapshot = ocular.snapshot()
    ocular.stop_tracing()
    assert snapshot[name.removeprefix("deinstrument_")] == value
    assert snapshot["overhead"]["budget"] is None
    assert snapshot["sampler"]["hz"] is not None


def test_second_start():
    ocular.start_tracing(**EXACT)
    with pytest.raises(RuntimeError, match="tracing already.*stop_tracing"):
        ocular.start_tracing(**EXACT)
    assert ocular.is_tracing()
    helper()
    final = ocular.stop_tracing()
    assert any(row["name"] == "helper" for row in final["functions"])


# --- The path of the timeline -------------------------------------------------


def start_writing_to(path):
    ocular.start_tracing(output=path, quiet=True)


@pytest.mark.parametrize(
    "path, kind, words",
    [
        (".", OSError, "output.*directory"),
        ("no/trace.json", FileNotFoundError, "output.*does not exist"),
        ("file/trace.json", OSError, "output"),
        ("/proc/self/trace.json", OSError, "output"),  # even root cannot write there
    ],
)
def test_output_where_it_cannot_be(tmp_path, path, kind, words):
    Path(tmp_path, "file").touch()
    with pytest.raises(kind, match=words):
        start_writing_to(tmp_path / path)
    assert untouched() and works()


def test_output_may_be_a_path_or_bytes(tmp_path):
    for output in (tmp_path / "a.json", os.fsencode(tmp_path / "b.json")):
        start_writing_to(output)
        ocular.stop_tracing()
        assert Path(os.fsdecode(output)).stat().st_size > 100


def test_output_is_not_looked_at_without_a_timeline(tmp_path):
    ocular.start_tracing(perfetto=False, quiet=True, output=tmp_path / "no" / "x")
    ocular.stop_tracing()


def test_relative_output_is_where_start_was_called(tmp_path, monkeypatch):
    start_writing_to("here.json")
    monkeypatch.chdir("/")
    ocular.stop_tracing()
    assert (tmp_path / "here.json").exists()
