# SPDX-License-Identifier: MIT
"""Compares two runs of one module test by test, to find out what tracing has changed. This
module starts no processes."""

import re
from dataclasses import dataclass

BAD = {"failure", "error", "unexpected success"}
FATAL = {"crash", "crash at exit", "hang"}


@dataclass(frozen=True)
class Difference:
    """A difference that occurred only in the traced run."""

    # kind of the difference, for example "crash", "hang", "error" or "output"
    kind: str
    # id of the test, or the name of the module if the difference concerns no single test
    test: str
    detail: str

    def key(self):
        detail = self.detail if self.kind == "output" else None
        return self.kind, self.test, detail


def differences(untraced, traced):
    """Returns the differences that only the traced run has."""
    found = list(_of_the_process(untraced, traced))
    if untraced.ran_all() and traced.ran_all():
        found += _of_the_tests(untraced, traced)
        found += _of_the_output(untraced, traced)
    return found


def _of_the_process(untraced, traced):
    kind = traced.end.partition(":")[0]
    if kind in FATAL and untraced.end.partition(":")[0] != kind:
        yield Difference(kind, traced.module, f"{traced.end}\n{traced.output[-6000:]}")
    elif (
        untraced.ran_all()
        and traced.ran_all()
        and kind not in FATAL
        and traced.end != untraced.end
        and not _follows(traced)
    ):
        yield Difference(
            "exit", traced.module, f"{untraced.end} untraced, {traced.end} traced"
        )
    known = {kind for kind, _ in untraced.notes}
    for kind, text in traced.notes:
        if kind not in known:
            yield Difference(kind, traced.module, text)


def _follows(traced):
    """Returns True if failed tests explain the exit status of the traced run."""
    return traced.end == "exit 2" and any(
        outcome.status in BAD for outcome in traced.tests.values()
    )


def _of_the_tests(untraced, traced):
    for test in untraced.tests.keys() - traced.tests.keys():
        if untraced.tests[test].status not in BAD:
            yield Difference("vanished", test, "did not run when traced")
    for test, outcome in traced.tests.items():
        before = untraced.tests.get(test)
        if before is None:
            yield Difference(
                "appeared" if outcome.status not in BAD else outcome.status,
                test,
                outcome.words,
            )
        elif outcome.status != before.status and outcome.status != "ok":
            yield Difference(outcome.status, test, outcome.words)


# --- Output of the tests ------------------------------------------------------

# These lines come from unittest and regrtest, not from a test. The lines differ only if the
# result of a test differs, too.
OWN = re.compile(
    r"^((ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$|"
    r"test\S* \(|-+$|==|Ran |FAILED|OK|Result|Total|Using random|"
    r"Raised RLIMIT|.*load avg|\d+ tests? |Finished running|test[_.]\S*$|"
    r"(test )?test\S* (failed|passed in))"
)
ANNOUNCED = re.compile(r"^.*? \.\.\. ")  # for example "test_one (test_x.C) ... "
REPORTS = re.compile(r"^={70}\n.*?(?=^-{70}\nRan |\Z)", re.M | re.S)
CHANGING = re.compile(r"0x[0-9a-f]+|\d+|rt-\w+|test_python_\w+")


def lines(run):
    """Returns the lines of the tests' output as a set, without numbers and addresses that
    change from run to run. The output of a crash at exit is left out, because it belongs to
    the crash."""
    text = run.output
    if run.end.startswith("crash at exit"):
        text = text.partition("\nResult: ")[0]
    said = (ANNOUNCED.sub("", line).strip() for line in REPORTS.sub("", text).splitlines())
    return {CHANGING.sub("#", line) for line in said if line and not OWN.search(line)}


def _of_the_output(untraced, traced):
    for line in sorted(lines(traced) - lines(untraced)):
        yield Difference("output", traced.module, line)


# --- Two traced and two untraced runs -----------------------------------------


@dataclass
class Verdict:
    """The result of two traced and two untraced runs of a module in one mode."""

    # differences that count as caused by Ocular until another cause is known
    confirmed: list
    flakes: list  # tuples of a difference and the reason why it does not count


def judge(first, again, untraced_again):
    """Judges the differences `first` between the first traced run and the first untraced
    run. `again` has the differences between the second traced run and either of the
    untraced runs. `untraced_again` is the second untraced run. A crash or a hang counts
    even if it happens in only one run."""
    seen = {difference.key() for difference in again}
    verdict = Verdict([], [])
    for difference in first:
        if difference.kind in FATAL and not _also_untraced(difference, untraced_again):
            verdict.confirmed.append(difference)
        elif _also_untraced(difference, untraced_again):
            verdict.flakes.append((difference, "the same, untraced"))
        elif difference.key() in seen:
            verdict.confirmed.append(difference)
        else:
            verdict.flakes.append((difference, "not when traced again"))
    return verdict


def _also_untraced(difference, run):
    if difference.kind == "output":
        return difference.detail in lines(run)
    outcome = run.tests.get(difference.test)
    if difference.kind == "vanished":
        return outcome is None
    if outcome is not None:
        return outcome.status == difference.kind or (
            outcome.status in BAD and difference.kind in BAD
        )
    return run.end.partition(":")[0] == difference.kind or difference.kind in {
        kind for kind, _ in run.notes
    }
