# SPDX-License-Identifier: MIT
"""`make regrtest` runs CPython's own test suite under tracing.

Each module in modules.txt runs once untraced and once traced, and the results are compared
test by test. If the results of a module differ, it runs once more, untraced and traced,
before the difference counts. The exit status is 1 if a difference remains that
expected.toml does not explain.
"""

import argparse
import fnmatch
import os
import platform
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import compare  # noqa: E402
import expected  # noqa: E402
import run  # noqa: E402
from figures.record import figure, machine, recording  # noqa: E402

VERSION = ".".join(map(str, sys.version_info[:3]))
UNTRACED_LIMIT = 400  # Seconds that an untraced run may take.
PACE = threading.Lock()  # A thread that prints holds this lock.


def test_directory():
    import test

    return Path(test.__file__).parent


def read_modules(short):
    """Returns the options of regrtest for each module, by the module's name, and a list of
    the modules that this version of CPython does not have."""
    found, lacking = {}, []
    for line in (HERE / "modules.txt").read_text().splitlines():
        line = line.partition("#")[0]
        if short and not line.startswith("short:"):
            continue
        names = []
        for word in line.removeprefix("short:").split():
            if word.startswith("without="):
                found[names[-1]] = [f"--ignore={word.removeprefix('without=')}"]
                continue
            names = expand(word, test_directory())
            found.update((name, []) for name in names)
            lacking += [] if names else [word]
    return found, lacking


def expand(name, folder):
    """Returns the existing modules that a name in modules.txt stands for."""
    plain = name.removesuffix(".*")
    if plain != name and (folder / plain).is_dir():
        return sorted(f"{plain}.{path.stem}" for path in (folder / plain).glob("test_*.py"))
    there = (folder / plain).is_dir() or (folder / f"{plain}.py").exists()
    return [plain] if there else []


@dataclass
class Tally:
    """The figures of one mode."""

    modules: int = 0
    tests: int = 0
    failing: int = 0  # number of tests that fail or have an error
    seconds: float = 0.0
    explained: list = field(default_factory=list)
    open: list = field(default_factory=list)
    flakes: list = field(default_factory=list)

    def add(self, one):
        ran = [test for test in one.tests.values() if test.status != "skipped"]
        self.modules += bool(ran)
        self.tests += len(ran)
        self.failing += sum(test.status in compare.BAD for test in ran)
        self.seconds += one.seconds


class Driver:
    """Does one run of `make regrtest`, and has the state of this run."""

    def __init__(self, options):
        self.options = options
        self.expected = expected.Expected(HERE / "expected.toml", VERSION)
        self.not_compared = []  # names of modules
        self.tallies = {mode: Tally() for mode in ("untraced", *options.modes)}

    def say(self, text):
        with PACE:
            print(text, flush=True)

    def log(self, one, name):
        """Writes the output of a run to a file, so that a person can read it later."""
        folder = self.options.logs / one.mode
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.log").write_text(f"{one.end}, {one.seconds:.1f} s\n{one.output}")

    def run(self, module, mode, seconds, name=None):
        one = run.run_module(module, mode, seconds, self.options.ignored.get(module, ()))
        self.log(one, name or module)
        return one

    def module(self, module):
        """Runs one module in all modes and compares the results."""
        untraced = self.untraced(module)
        words = [
            f"{module}: {len(untraced.tests)} tests, untraced {untraced.seconds:.1f} s"
        ]
        words += [
            f"  untraced: {outcome.status} {test}"
            for test, outcome in untraced.tests.items()
            if outcome.status in compare.BAD
        ]
        if not untraced.ran_all():
            self.not_compared.append(module)
            return self.say(f"{module}: not compared: {untraced.end} untraced")
        for mode in self.options.modes:
            traced = self.run(module, mode, run.limit(mode, untraced.seconds))
            verdict = self.judge(untraced, traced)
            words[0] += f", {mode} {traced.seconds:.1f} s"
            words += self.take(mode, traced, verdict)
        self.say("\n".join(words))

    def untraced(self, module):
        """Runs a module untraced. Tries twice, because some modules crash or hang from time
        to time even without tracing."""
        for name in (module, f"{module}.again"):
            one = self.run(module, "untraced", UNTRACED_LIMIT, name)
            if one.ran_all():
                break
        with PACE:
            self.tallies["untraced"].add(one)
        return one

    def judge(self, untraced, traced):
        """Compares the traced run with the untraced run. If they differ, runs the module a
        second time untraced and traced."""
        first = compare.differences(untraced, traced)
        if not first:
            return compare.Verdict([], [])
        module, mode = traced.module, traced.mode
        untraced_again = self.run(module, "untraced", UNTRACED_LIMIT, f"{module}.again")
        slowest = max(untraced.seconds, untraced_again.seconds)
        traced_again = self.run(module, mode, run.limit(mode, slowest), f"{module}.again")
        again = compare.differences(untraced_again, traced_again)
        if not any(one.kind in compare.FATAL for one in first):
            first += [one for one in again if one.kind in compare.FATAL]
        return compare.judge(first, again, untraced_again)

    def take(self, mode, traced, verdict):
        """Adds the result of a module to the figures of its mode. Returns the lines to
        print."""
        words = []
        with PACE:
            tally = self.tallies[mode]
            tally.add(traced)
            for difference in verdict.confirmed:
                entry = self.expected.find(difference, mode)
                (tally.explained if entry else tally.open).append(difference)
                if entry is None:
                    words.append(tell(mode, difference))
            tally.flakes += verdict.flakes
        flakes = [
            f"  {mode}: flake ({why}): {flake.kind} {flake.test}"
            for flake, why in verdict.flakes
            if flake.kind != "output"
        ]
        if len(flakes) > 5:
            flakes[4:] = [f"  {mode}: and {len(flakes) - 4} more flakes"]
        return words + flakes

    def close(self, began):
        """Prints the figures. Returns True if every difference is explained."""
        print(f"\nregrtest, {machine()}")
        columns = "mode modules tests failing expected unexplained flakes seconds".split()
        print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
        for mode, tally in self.tallies.items():
            lists = tally.explained, tally.open, tally.flakes
            row = [mode, tally.modules, tally.tests, tally.failing, *map(len, lists)]
            print("| " + " | ".join(map(str, [*row, round(tally.seconds)])) + " |")
        for module in self.not_compared:
            print(f"not compared: {module}")
        for entry in self.expected.unmet(self.options.names, self.options.modes):
            print(f"expected, but did not happen: {entry.test}")
        unexplained = sum(len(tally.open) for tally in self.tallies.values())
        for mode, tally in self.tallies.items():
            for difference in tally.open:
                print(f"unexplained: {mode}: {difference.kind} {difference.test}")
        ran = self.tallies["untraced"].modules
        print(
            f"regrtest: {ran} modules, {unexplained} differences "
            f"unexplained, {time.monotonic() - began:.0f} s; "
            f"output in {self.options.logs}"
        )
        self.record()
        return (unexplained == 0 or recording()) and ran > 0

    def record(self):
        """Records the figures for `make figures`."""
        figure("regrtest/not_compared", len(self.not_compared), unit="modules")
        for mode in self.options.modes:
            tally = self.tallies[mode]
            figure(f"regrtest/{mode}/unexplained", len(tally.open))
            figure(f"regrtest/{mode}/tests", tally.tests, "higher")


def tell(mode, difference):
    """Returns the text that is printed about an unexplained difference. A person has to
    examine this difference."""
    detail = difference.detail.strip().splitlines()
    shown = "\n".join(f"      {line}" for line in detail[-25:])
    return f"  {mode}: {difference.kind.upper()} {difference.test}\n{shown}"


def parse():
    parser = argparse.ArgumentParser(prog="make regrtest ARGS=...", description=__doc__)
    add = parser.add_argument
    more = "run these (patterns fit the list's names) instead of all"
    add("modules", nargs="*", metavar="MODULE", help=more)
    add("--short", action="store_true", help="the short list, for CI")
    more = f"of {', '.join(run.MODES)} (default %(default)s)"
    add("--modes", "--mode", default="adaptive,precise", help=more)
    add("--jobs", type=int, default=2, help="modules at a time (default 2)")
    logs = Path(
        os.environ.get("OCULAR_BUILD", "build"), "regrtest", platform.python_version()
    )
    add("--logs", type=Path, help="where the output of every run goes", default=logs)
    options = parser.parse_args()
    options.modes = options.modes.split(",")
    for mode in options.modes:
        if mode not in run.MODES:
            parser.error(f"there is no mode {mode!r}; there are {', '.join(run.MODES)}")
    options.ignored, options.lacking = read_modules(options.short)
    names = list(options.ignored)
    chosen = options.modules or ["*"]
    options.names = [
        name for name in names if any(fnmatch.fnmatch(name, one) for one in chosen)
    ]
    options.names += [
        name
        for name in options.modules
        if not fnmatch.filter(names, name)
        and expand(name.replace(".", "/"), test_directory())
    ]
    if not options.names:
        parser.error(f"no module fits {' '.join(chosen)}")
    return options


def end_all(number, frame):
    """Handles SIGTERM and SIGINT. The modules that are running have sessions of their own,
    so the handler must kill them."""
    for leader in list(run.RUNNING):
        run.kill_session(leader)
    os._exit(128 + number)


def main():
    options = parse()
    # A shell starts background jobs with SIGINT ignored, and the tests would inherit this
    # setting.
    signal.signal(signal.SIGINT, end_all)
    signal.signal(signal.SIGTERM, end_all)
    began = time.monotonic()
    driver = Driver(options)
    print(
        f"regrtest: {len(options.names)} modules, untraced and "
        f"{' and '.join(options.modes)}, {options.jobs} at a time; CPython "
        f"{platform.python_version()}",
        flush=True,
    )
    if options.lacking and not options.short:
        print(f"not in this version: {', '.join(options.lacking)}")
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(driver.module, options.names))
    return 0 if driver.close(began) else 1


if __name__ == "__main__":
    sys.exit(main())
