# SPDX-License-Identifier: MIT
"""Tests `pytest --ocular` in processes of their own: the tables, the baseline of calls, and
that the option costs nothing if it is not given."""

import json
from pathlib import Path

import ocular_pytest
import pytest
from ocular import _pytest_plugin

pytest_plugins = "pytester"
APP = """
def step(i):
    return sum(range(i))
def work(n):
    return [step(i) for i in range(n)]
"""
TESTS = """
import sys
import app, pytest
@pytest.mark.parametrize("n", [1, 300])
def test_work(n):
    import later
    app.work(n)
def test_fails():
    assert app.step(3) == 4
def test_stops():
    import ocular
    ocular.stop_tracing()
"""


@pytest.fixture
def run(pytester):
    """Returns a function that runs the tests of the project, whose app.py has the given
    text, and returns what pytest writes."""
    pytester.makepyfile(test_app=TESTS, later="imported = True")
    pytester.makeini("[pytest]\npythonpath = .")

    def run_pytest(*arguments, app=APP, status=1):
        pytester.makepyfile(app=app)
        done = pytester.runpytest_subprocess("-p", "ocular_pytest", *arguments)
        assert done.ret == status
        return done.stdout.str() + done.stderr.str()

    return run_pytest


def test_the_slowest_functions(run):
    said = run("--ocular", "--ocular-top=999")
    functions, _, tests = said.partition("slowest tests (ocular)")
    (row,) = [line.split() for line in functions.splitlines() if "app.py:1 step" in line]
    assert float(row[0]) > 0 and row[1] == str(1 + 300 + 1)
    rows = [line.split() for line in tests.splitlines()]
    times = [float(row[0]) for row in rows if len(row) == 2 and "::test_" in row[1]]
    assert len(times) == 3 and times == sorted(times, reverse=True)
    block = tests.partition("test_work[300]")[2].splitlines()[1:4]
    assert any(line.split()[1:] == ["300", "app.py:1", "step"] for line in block)
    assert "not traced: test_app.py::test_stops: the test has stopped the trace" in tests


@pytest.mark.once
def test_a_baseline(run, pytester):
    baseline = "--ocular-baseline=calls.json"
    file = pytester.path / "calls.json"
    assert f"the calls of 2 tests are now in {file}" in run(baseline)
    first = file.read_text()
    tests = json.loads(first)["tests"]
    for n in 1, 300:
        calls = {"app.py::step": n, "app.py::work": 1, "test_app.py::test_work": 1}
        assert tests.pop(f"test_app.py::test_work[{n}]") == calls
    assert not tests and first.index("step") < first.index('work"')
    # Neither the number of processes nor a second run changes a count.
    said = run(baseline, "-n2")
    assert "1 failed, 3 passed" in said and "before" not in said
    # range(n + 3) adds 1 % to 300 calls and 300 % to one call.
    grown = APP.replace("range(n)", "range(n + 3)")
    said = run(baseline, app=grown)
    assert "app.py::step has 303 calls, 300 before" in said and "3 failed" in said
    said = run(baseline, "--ocular-grow=2", app=grown)
    assert "app.py::step has 4 calls, 1 before" in said and "2 failed, 2 passed" in said
    assert file.read_text() == first
    # app.py has another size each time, so an older .pyc file of the same second is stale.
    assert "2 counts are less" in run(baseline, app=APP.replace("(n)]", "(n-1)]"))
    renamed = APP.replace("step(", "steps(") + "step = steps"
    assert "app.py::steps has 300 calls, 0 before" in run(baseline, app=renamed)
    run(baseline, "--ocular-baseline-update", "-k300", "-n2", app=grown, status=0)
    assert file.read_text() == first.replace(": 300,", ": 303,")
    assert "the calls of" not in run(baseline, "-k300", app=grown, status=0)
    for wrong in "[]", '{"python": 1, "tests": {"a": [["b", "c"]]}}', "{1: 2}", first[:-9]:
        file.write_text(wrong)
        with pytest.raises(pytest.UsageError, match="calls.json is no baseline"):
            _pytest_plugin.Baseline(file, 1, False)
    file.write_text(first.replace(": 300,", ': "300",'))
    assert "calls.json is no baseline" in run(baseline, status=4)
    assert "/no is no folder" in run("--ocular-baseline=no/calls.json", status=4)
    file.unlink()
    pytester.mkdir("calls.json.part")
    assert "the baseline is not written: [Errno 21]" in run(baseline, status=4)
    run("--ocular-baseline-update", status=4)


def test_without_the_option_ocular_is_not_imported(run, pytester):
    test = "import sys\ndef test():\n    assert 'ocular' not in sys.modules"
    pytester.makepyfile(test_app=test)
    assert "1 passed" in run(status=0)
    usage = Path(__file__).parents[2].joinpath("docs/usage.md").read_text("utf-8")
    assert all(f"| `{name}" in usage for name in ocular_pytest.OPTIONS)
