# SPDX-License-Identifier: MIT
"""`make regrtest` passes nothing that it should not: made-up results for the
comparison, and a small test module of our own for what runs them."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import expected  # noqa: E402
import run  # noqa: E402
from compare import Difference, differences, judge  # noqa: E402
from run import Outcome, Run  # noqa: E402

pytestmark = pytest.mark.once

ONE, TWO = "test.test_x.Class.test_one", "test.test_x.Class.test_two"


def made_up(mode="adaptive", end="exit 0", output="", notes=(), **tests):
    """A Run of test_x with test_one and test_two."""
    outcomes = {ONE: tests.get("one", "ok"), TWO: tests.get("two", "ok")}
    tests = {
        name: Outcome(status, f"words of {name}")
        for name, status in outcomes.items()
        if status
    }
    return Run("test_x", mode, 1.0, end, tests, list(notes), output)


def untraced(**more):
    return made_up("untraced", **more)


def kinds(found):
    return [(difference.kind, difference.test) for difference in found]


def test_nothing_differs():
    assert differences(untraced(), made_up()) == []
    assert differences(untraced(one="failure"), made_up(one="failure")) == []
    mine = "test_one (test.test_x.Class.test_one) ... ok\nat 0x7f3a1b, pid 12\n"
    other = mine.replace("12", "13").replace("3a1b", "ffff")
    assert differences(untraced(output=mine), made_up(output=other)) == []


STATUSES = ("failure", "error", "skipped", "unexpected success", "expected failure")


@pytest.mark.parametrize(
    "before, traced, found",
    [
        *(({}, {"two": status}, [(status, TWO)]) for status in STATUSES),
        ({"one": "skipped"}, {"one": "error"}, [("error", ONE)]),
        ({}, {"two": None}, [("vanished", TWO)]),
        ({"two": None}, {}, [("appeared", TWO)]),
        ({}, {"end": "crash: SIGSEGV"}, [("crash", "test_x")]),
        ({}, {"end": "crash at exit: SIGSEGV"}, [("crash at exit", "test_x")]),
        ({}, {"end": "hang: still running after 9 s"}, [("hang", "test_x")]),
        ({}, {"end": "exit 3"}, [("exit", "test_x")]),
        ({}, {"notes": [("left a process", "x")]}, [("left a process", "test_x")]),
        ({}, {"output": "ocular: something\n"}, [("output", "test_x")]),
    ],
)
def test_what_differs(before, traced, found):
    assert kinds(differences(untraced(**before), made_up(**traced))) == found


def test_what_counts():
    first = differences(untraced(), made_up(two="error"))
    assert judge(first, first, untraced()).confirmed == first
    assert judge(first, [], untraced()).flakes == [(first[0], "not when traced again")]
    verdict = judge(first, first, untraced(two="failure"))
    assert verdict.flakes == [(first[0], "the same, untraced")]
    # A crash counts at once.
    crash = differences(untraced(), made_up(end="crash: SIGSEGV"))
    assert judge(crash, [], untraced()).confirmed == crash


# --- The list of expected differences -----------------------------------------

ENTRY = """
[[difference]]
tests = ["test.test_x.Class.test_one"]
kind = "failure"
shows = "tool 4 is taken"
control = "import sys"
reason = "setUp wants every tool id to be free, see test_x.py"
versions = ["3.12"]
modes = ["adaptive"]
"""


def entries(folder, text):
    path = folder / "expected.toml"
    path.write_text(text)
    return expected.load(path)


def test_an_entry_explains_this_difference_and_no_other(tmp_path):
    known = entries(tmp_path, ENTRY)
    this = Difference("failure", ONE, "Error: tool 4 is taken")
    assert expected.Expected(known, "3.13").find(this, "adaptive") is None
    listed = expected.Expected(known, "3.12")
    for other, mode in (
        (Difference("error", ONE, this.detail), "adaptive"),
        (Difference("failure", TWO, this.detail), "adaptive"),
        (Difference("failure", ONE, "otherwise"), "adaptive"),
        (this, "precise"),
    ):
        assert listed.find(other, mode) is None
    assert listed.find(this, "adaptive") is listed.entries[0]


def test_an_entry_may_begin_with_a_later_release(tmp_path):
    known = entries(tmp_path, ENTRY.replace('["3.12"]', '["3.13.12", "3.14"]'))
    for version, count in (
        ("3.12.13", 0),
        ("3.13.2", 0),
        ("3.13.11", 0),
        ("3.13.12", 1),
        ("3.13.15", 1),
        ("3.14.0", 1),
        ("3.15.0", 0),
    ):
        assert len(expected.Expected(known, version).entries) == count, version


@pytest.mark.parametrize(
    "line, words",
    [
        ('tests = ["test.test_x.Class.*"]', "name a single test"),
        ('kind = "crash"', "never expected"),
        ('shows = ".*"', "fits anything"),
    ],
)
def test_an_entry_that_would_excuse_too_much(tmp_path, line, words):
    key = line.partition(" ")[0]
    lines = [other for other in ENTRY.splitlines() if not other.startswith(key)]
    with pytest.raises(ValueError, match=words):
        entries(tmp_path, "\n".join([*lines, line]))


# --- What regrtest leaves -----------------------------------------------------

JUNIT = """<testsuites><testsuite>
<testcase name="test.test_x.C.test_a"/>
<testcase name="test.test_x.C.test_b"><failure>words</failure></testcase>
<testcase name="test.test_x.C.test_c"><skipped>why</skipped></testcase>
</testsuite></testsuites>"""
PRINTED = """
======================================================================
FAIL: test_d (test.test_x.C.test_d) [case] (i=3)
----------------------------------------------------------------------
AssertionError: 1 != 2

======================================================================
ERROR: setUpClass (test.test_x.D)
----------------------------------------------------------------------
OSError

----------------------------------------------------------------------
Ran 4 tests in 0.1s
"""


def test_what_became_of_each_test(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text(JUNIT)
    found = run.read_tests(path, PRINTED)
    assert {name: outcome.status for name, outcome in found.items()} == {
        "test.test_x.C.test_a": "ok",
        "test.test_x.C.test_b": "failure",
        "test.test_x.C.test_c": "skipped",
        "test.test_x.C.test_d": "failure",  # a subtest: not in the XML
        "test.test_x.D.setUpClass": "error",
    }
    assert "1 != 2" in found["test.test_x.C.test_d"].words
    assert "OSError" not in found["test.test_x.C.test_d"].words


def test_a_run_without_a_tracer_is_seen(monkeypatch):
    options, _ = run.MODES["adaptive"]
    monkeypatch.setitem(
        run.MODES, "adaptive", ([word for word in options if word != "--serve"], 10)
    )
    found = run.run_module("test_genexps", "adaptive", 60)
    assert [kind for kind, _ in found.notes] == ["was not traced"]


MODULE = """
import os, subprocess, sys, time, unittest

class C(unittest.TestCase):
    def test_fine(self):
        pass
    def test_other(self):
        if "ocular" in sys.modules:
            {deed}
"""


@pytest.mark.parametrize(
    "deed, kind",
    [
        ("self.fail('traced')", "failure"),
        ("os.abort()", "crash"),
        ("time.sleep(600)", "hang"),
    ],
)
def test_a_module_of_our_own(tmp_path, monkeypatch, deed, kind):
    (tmp_path / "test_own.py").write_text(MODULE.format(deed=deed))
    ours = [f"--testdir={tmp_path}"]
    monkeypatch.setattr(run, "GRACE", 0.3)
    before = run.run_module("test_own", "untraced", 60, ours)
    assert before.end == "exit 0" and len(before.tests) == 2, before.output
    after = run.run_module("test_own", "adaptive", 2 if kind == "hang" else 60, ours)
    assert [one.kind for one in differences(before, after)] == [kind], after.output
