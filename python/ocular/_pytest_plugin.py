# SPDX-License-Identifier: MIT
"""Traces each test of `pytest --ocular`, and compares the calls with a baseline. Each test
has a trace of its own, at threshold 0, so all calls are counted. ocular_pytest.py imports
this module only if the option is given."""

import json
import os
import sysconfig
from operator import index
from pathlib import Path

import pytest

import ocular

IN_TEST = 3  # Number of functions to show for a test.
# The code of pytest itself has no hooks.
PYTEST = "/_pytest/", "/pluggy/", "/xdist/", "/execnet/"
INSTALLED = "/site-packages/", "/dist-packages/"
WORKER = "ocular"  # Name of the results that a worker process of pytest-xdist sends.


class Baseline:
    """Holds the file with the calls of each test, as {test: {function: calls}}."""

    def __init__(self, path, grow, updates):
        self.path, self.grow, self.updates = path, grow, updates
        self.tests, self.python = {}, None
        if not os.path.isdir(path.parent):
            raise pytest.UsageError(f"{path.parent} is no folder")
        self.exists = os.path.exists(path)
        if self.exists:
            try:
                self.read()
            except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
                raise pytest.UsageError(f"{path} is no baseline: {error!r}") from None

    def read(self):
        content = json.loads(self.path.read_text("utf-8"))
        self.python = content["python"]
        for test, calls in content["tests"].items():
            self.tests[test] = {name: index(number) for name, number in calls.items()}

    def grown(self, test, calls):
        """Returns a line for each function with more calls than before. The line of the
        function with the most additional calls is the first."""
        before = self.tests.get(test)
        if self.updates or before is None:
            return []
        found = []
        for name, now in calls.items():
            then = before.get(name, 0)
            if now > then * (1 + self.grow / 100):
                found.append((then - now, f"{name} has {now} calls, {then} before"))
        return [line for _, line in sorted(found)]

    def write(self, counted):
        """Writes the calls of tests into the file. The other tests in the file stay."""
        tests = {**self.tests, **counted}
        content = {
            "python": sysconfig.get_python_version(),
            "tests": {
                test: dict(sorted(calls.items())) for test, calls in sorted(tests.items())
            },
        }
        part = self.path.with_name(self.path.name + ".part")
        part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
        os.replace(part, self.path)


class Results:
    """Adds up the traces of tests.

    functions   {function: [seconds, calls]}
    tests       {test: [seconds, the functions that took most]}
    calls       {test: {function: calls}} for the tests that have passed
    troubles    {test: the reason why the test was not traced}
    """

    def __init__(self):
        self.functions, self.tests, self.calls, self.troubles = {}, {}, {}, {}

    def add(self, test, rows):
        rows.sort(key=lambda row: -row[1])
        self.tests[test] = [sum(row[1] for row in rows), rows[:IN_TEST]]
        for name, seconds, calls in rows:
            total = self.functions.setdefault(name, [0, 0])
            total[0] += seconds
            total[1] += calls

    def merge(self, other):
        """Adds the results that a worker process has sent."""
        for name, (seconds, calls) in other["functions"].items():
            total = self.functions.setdefault(name, [0, 0])
            total[0] += seconds
            total[1] += calls
        for name in "tests", "calls", "troubles":
            getattr(self, name).update(other[name])


class Plugin:
    def __init__(self, config):
        options = config.option
        self.config, self.results, self.baseline = config, Results(), None
        self.said = []
        self.is_worker = hasattr(config, "workerinput")
        self.root = f"{config.rootpath}{os.sep}"
        self.library = sysconfig.get_path("stdlib") + os.sep
        if not options.ocular_baseline:
            if options.ocular_baseline_update:
                raise pytest.UsageError("--ocular-baseline-update takes --ocular-baseline")
            return
        path = Path(config.invocation_params.dir, options.ocular_baseline)
        options.ocular_baseline = str(path)  # workers of pytest-xdist get this path
        self.baseline = Baseline(path, options.ocular_grow, options.ocular_baseline_update)

    # --- A test ---------------------------------------------------------------

    # The other plugins' code around the test is not traced.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        test, final = item.nodeid, None
        try:
            ocular.start_tracing(
                deinstrument_threshold=0,
                events="call",
                exclude=PYTEST,
                perfetto=False,
                quiet=True,
            )
        except (RuntimeError, OSError) as error:
            self.results.troubles[test] = str(error)
            return (yield)
        try:
            result = yield
        finally:
            final = ocular.stop_tracing()
            if final is not None and final["threshold"]:
                final = None  # the trace is the test's own
            if final is None:
                self.results.troubles[test] = "the test has stopped the trace"
            else:
                self.results.add(test, self.rows(final))
        if final is not None:
            self.compare(test, self.own_calls(final))
        return result

    def rows(self, snapshot):
        """Returns name, own seconds and calls of each function."""
        return [
            [
                self.place(row["file"], row["line"]) + row["name"],
                (row["self_cycles"] or 0) / snapshot["tsc_hz"],
                row["calls"],
            ]
            for row in snapshot["functions"]
            if row["calls"]
        ]

    def place(self, file, line):
        if not file:
            return ""
        short = file.removeprefix(self.root).removeprefix(self.library)
        for folder in INSTALLED:
            short = short.rpartition(folder)[2]
        return f"{short}:{line} "

    def own_calls(self, snapshot):
        """Returns the calls of the project's own functions. An import runs in whichever
        test is first, so the code of modules does not count."""
        calls = {}
        for row in snapshot["functions"]:
            file, name = row["file"], row["name"]
            if row["calls"] and name != "<module>" and self.is_own(file):
                key = f"{file.removeprefix(self.root)}::{name}"
                calls[key] = calls.get(key, 0) + row["calls"]
        return calls

    def is_own(self, file):
        return (
            file.startswith(self.root)
            and not file.startswith(self.library)
            and not any(folder in file for folder in INSTALLED)
        )

    def compare(self, test, calls):
        if self.baseline is None:
            return
        grown = self.baseline.grown(test, calls)
        if grown:
            pytest.fail(
                "\n".join(grown) + f"\n--ocular-baseline-update writes these calls into "
                f"{self.baseline.path.name}",
                pytrace=False,
            )
        self.results.calls[test] = calls

    # --- The session ----------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Takes the results of a worker of pytest-xdist."""
        other = getattr(node, "workeroutput", {}).get(WORKER)
        if other is None:
            self.said.append("a worker process has ended without its results")
        else:
            self.results.merge(other)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self.is_worker:
            self.config.workeroutput[WORKER] = vars(self.results)
        elif self.baseline is not None:
            try:
                self.finish(self.baseline, self.results.calls)
            except OSError as error:
                self.said.append(f"the baseline is not written: {error}")
                session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def finish(self, baseline, counted):
        say, name = self.said.append, baseline.path
        new = len(counted.keys() - baseline.tests.keys())
        if counted and (baseline.updates or not baseline.exists):
            baseline.write(counted)
            say(f"the calls of {len(counted)} tests are now in {name}")
            return
        if new:
            say(f"{new} tests are not in {name}: --ocular-baseline-update adds them")
        fewer = sum(
            counted[test].get(function, 0) < calls
            for test in counted.keys() & baseline.tests.keys()
            for function, calls in baseline.tests[test].items()
        )
        if fewer:
            say(f"{fewer} counts are less than in {name}: --ocular-baseline-update")
        if baseline.python not in (None, sysconfig.get_python_version()):
            say(f"{name} was counted with Python {baseline.python}")

    def pytest_terminal_summary(self, terminalreporter):
        write, top = terminalreporter.write_line, self.config.option.ocular_top
        results = self.results
        terminalreporter.section("slowest functions (ocular)")
        write("Calls are counted. SELF includes the C functions that a function calls.")
        write("The cost of tracing is subtracted. Fixtures are not traced.")
        rows = [[name, *each] for name, each in results.functions.items()]
        write("   SELF ms       CALLS  FUNCTION")
        for line in _lines(sorted(rows, key=lambda row: -row[1])[:top]):
            write(line)
        terminalreporter.section("slowest tests (ocular)")
        slowest = sorted(results.tests.items(), key=lambda item: -item[1][0])
        for test, (seconds, rows) in slowest[:top]:
            write(f"{1000 * seconds:10.3f} {test}")
            for line in _lines(rows):
                write(f"    {line}")
        for test, why in sorted(results.troubles.items()):
            write(f"not traced: {test}: {why}")
        for text in self.said:
            write(f"ocular: {text}")


def _lines(rows):
    return [f"{1000 * seconds:10.3f} {calls:11,}  {name}" for name, seconds, calls in rows]
