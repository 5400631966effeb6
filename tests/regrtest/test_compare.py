# SPDX-License-Identifier: MIT
"""The driver of `make regrtest` finds what it is there to find: made-up results
for the comparison, and a small test module of our own for what runs them."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import expected  # noqa: E402
import run  # noqa: E402
from compare import Difference, differences, judge  # noqa: E402
from run import Outcome, Run  # noqa: E402

ONE, TWO = "test.test_x.Class.test_one", "test.test_x.Class.test_two"


def made_up(mode="adaptive", end="exit 0", output="", notes=(), **tests):
    """A Run of test_x with test_one and test_two."""
    outcomes = {ONE: tests.get("one", "ok"), TWO: tests.get("two", "ok")}
    return Run(
        "test_x",
        mode,
        1.0,
        end,
        {
            name: Outcome(status, f"words of {name}")
            for name, status in outcomes.items()
            if status
        },
        list(notes),
        output,
    )


def untraced(**more):
    return made_up("untraced", **more)


def kinds(found):
    return [(difference.kind, difference.test) for difference in found]


def test_nothing_differs():
    assert differences(untraced(), made_up()) == []
    assert differences(untraced(one="failure"), made_up(one="failure")) == []
    assert differences(untraced(one="failure"), made_up()) == []


@pytest.mark.parametrize(
    "status", ["failure", "error", "skipped", "unexpected success", "expected failure"]
)
def test_a_test_that_ends_otherwise(status):
    found = differences(untraced(), made_up(two=status))
    assert kinds(found) == [(status, TWO)]
    assert found[0].detail == f"words of {TWO}"


def test_an_error_instead_of_a_skip():
    found = differences(untraced(one="skipped"), made_up(one="error"))
    assert kinds(found) == [("error", ONE)]


def test_a_test_that_vanishes():
    assert kinds(differences(untraced(), made_up(two=None))) == [("vanished", TWO)]


def test_a_test_that_appears():
    assert kinds(differences(untraced(two=None), made_up())) == [("appeared", TWO)]
    assert kinds(differences(untraced(two=None), made_up(two="error"))) == [("error", TWO)]


@pytest.mark.parametrize(
    "kind, end",
    [
        ("crash", "crash: SIGSEGV"),
        ("crash at exit", "crash at exit: SIGSEGV"),
        ("hang", "hang: still running after 9 s"),
    ],
)
def test_a_crash_and_a_hang(kind, end):
    found = differences(untraced(), made_up(end=end))
    assert kinds(found) == [(kind, "test_x")]
    # Once is enough, and an untraced run that comes to its end is no excuse.
    assert judge(found, [], untraced()).confirmed == found
    assert differences(untraced(end=end), made_up(end=end)) == []


def test_tests_are_compared_where_all_have_run():
    crash, late = "crash: SIGSEGV", "crash at exit: SIGSEGV"
    assert differences(untraced(end=crash, two=None), made_up()) == []
    assert kinds(differences(untraced(), made_up(end=crash, two=None))) == [
        ("crash", "test_x")
    ]
    assert kinds(differences(untraced(), made_up(end=late, two=None))) == [
        ("crash at exit", "test_x"),
        ("vanished", TWO),
    ]


def test_another_exit_status_and_what_is_left_behind():
    found = differences(
        untraced(), made_up(end="exit 3", notes=[("left a process", "sleep 9")])
    )
    assert kinds(found) == [("exit", "test_x"), ("left a process", "test_x")]


def test_output_that_is_not_the_tests_own():
    mine = "test_one (test.test_x.Class.test_one) ... ok\nat 0x7f3a1b, pid 12\n"
    assert (
        differences(
            untraced(output=mine),
            made_up(
                output=mine.replace("12", "13").replace("3a1b", "ffff")
                + "test_x passed in 33.1 sec\n"
            ),
        )
        == []
    )
    found = differences(untraced(output=mine), made_up(output=mine + "ocular: something\n"))
    assert kinds(found) == [("output", "test_x")]
    assert found[0].detail == "ocular: something"


def test_a_traceback_is_its_tests_difference():
    report = "\n".join(
        ("=" * 70, "FAIL: test_two", "-" * 70, "AssertionError", "-" * 70, "Ran 2 tests")
    )
    assert differences(untraced(), made_up(output=report)) == []


def test_what_does_not_happen_again_is_a_flake():
    first = differences(untraced(), made_up(two="error"))
    verdict = judge(first, [], untraced())
    assert not verdict.confirmed
    assert verdict.flakes == [(first[0], "not when traced again")]


def test_what_happens_again_counts():
    first = differences(untraced(), made_up(two="error"))
    assert judge(first, first, untraced()).confirmed == first


def test_what_happens_untraced_too_is_no_difference():
    first = differences(untraced(), made_up(two="error"))
    verdict = judge(first, first, untraced(two="failure"))
    assert verdict.flakes == [(first[0], "the same, untraced")]
    first = differences(untraced(), made_up(output="a warning\n"))
    verdict = judge(first, first, untraced(output="a warning\n"))
    assert verdict.flakes == [(first[0], "the same, untraced")]


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
    assert listed.unmet(["test_x"], ["adaptive"]) == listed.entries
    assert not listed.unmet(["test_y"], ["adaptive"])
    assert not listed.unmet(["test_x"], ["precise"])
    assert listed.find(this, "adaptive") is listed.entries[0]
    assert not listed.unmet(["test_x"], ["adaptive"])


@pytest.mark.parametrize(
    "line, words",
    [
        ('tests = ["test_x"]', "name a single test"),
        ('tests = ["test.test_x.Class.*"]', "name a single test"),
        ("tests = []", "without tests"),
        ('kind = "crash"', "never expected"),
        ('shows = ""', "fits anything"),
        ('shows = ".*"', "fits anything"),
        ('reason = "flaky"', "can be checked"),
        ('resaon = "a typing error"', "there is no resaon"),
    ],
)
def test_an_entry_that_would_excuse_too_much(tmp_path, line, words):
    key = line.partition(" ")[0]
    text = (
        "\n".join(other for other in ENTRY.splitlines() if not other.startswith(key))
        + f"\n{line}\n"
    )
    with pytest.raises(ValueError, match=words):
        entries(tmp_path, text)


def test_our_list_is_well_formed():
    expected.load(HERE / "expected.toml")


# --- What regrtest leaves -----------------------------------------------------

JUNIT = """<testsuites><testsuite>
<testcase name="test.test_x.C.test_a"/>
<testcase name="test.test_x.C.test_b"><failure>words</failure></testcase>
<testcase name="test.test_x.C.test_c"><skipped>why</skipped></testcase>
<testcase name="test.test_x.C.test_c at 0x7fa1b2"/>
<testcase/>
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
        "test.test_x.C.test_c at 0x": "ok",
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
        ("__import__('atexit').register(os.abort)", "crash at exit"),
        ("time.sleep(600)", "hang"),
        ("os.write(2, b'ocular: hello\\n')", "output"),
        ("subprocess.Popen(['sleep', '600'])", "left a process"),
        ("sys.modules['ocular'].stop_tracing() and None", None),
    ],
)
def test_a_module_of_our_own(tmp_path, monkeypatch, deed, kind):
    (tmp_path / "test_own.py").write_text(MODULE.format(deed=deed))
    ours = [f"--testdir={tmp_path}"]
    monkeypatch.setattr(run, "GRACE", 0.3)
    before = run.run_module("test_own", "untraced", 60, ours)
    assert before.end == "exit 0" and len(before.tests) == 2, before.output
    seconds = 2 if kind == "hang" else 60
    after = run.run_module("test_own", "adaptive", seconds, ours)
    found = differences(before, after)
    assert [one.kind for one in found] == ([kind] if kind else []), found
