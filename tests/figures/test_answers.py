# SPDX-License-Identifier: MIT
"""Asks questions of docs/questions.md about services with known faults, with the keys that
the document gives. The figures compare the answers with the services' own notes."""

import json
import re
import statistics
import time

import pytest
from e2e.program import keys_of, top, wait_until
from figures.services import truth
from figures.test_services import ITSELF, Service, pytestmark

assert pytestmark  # the marks of test_services.py hold here, too
RATE = 14
# Number of seconds for which the service is observed. Functions that only ran at the start
# are idle after a minute.
SECONDS = 75
# A stall counts as found if the log has one whose length differs by at most this (seconds).
NEAR_S = 0.005
LOOPS = "fastapi", "uvloop", "aiohttp", "websockets"
KINDS = [*LOOPS, "threads", "django", "django-sync", "celery"]


def look(pid, *options):
    done = top("-p", str(pid), "--once", *options)
    assert done.status == 0, done.err
    return done.out


def screen(pid, question, more=""):
    return look(pid, "--size", "80x24", "--keys", keys_of(question) + more)


def snapshot(pid):
    return json.loads(look(pid, "--json"))


def row_of(drawn, name):
    """Returns the number of the row with the function `name`, or None."""
    rows = drawn.split(" FUNCTION", 1)[1].splitlines()[1:]
    shown = [
        number for number, row in enumerate(rows) if re.search(rf"[ .]{name}( |$)", row)
    ]
    return shown[0] + 1 if shown else None


def own(now, name):
    """Returns the row of a function of the service itself."""
    (found,) = [
        row
        for row in now["functions"]
        if row["name"].rpartition(".")[2] == name and row["file"].endswith(ITSELF)
    ]
    return found


def exceptions(now):
    return sum(
        row["raised"]
        for row in now["exceptions"]
        if row["type"] == "KeyError" and (row["function"] or "").endswith("broken")
    )


def judge_stalls(now, noted, figure):
    """Compares the log of stalls, which has room for all of them, with the stalls of the
    service. On a busy machine, the log also has stalls that the load has caused."""
    logged = [stall["seconds"] for stall in now["stalls"]]
    errors = [min(abs(seconds - one) for one in logged) for seconds in noted]
    figure("stalls not found", sum(error > NEAR_S for error in errors))
    figure("worst length of a stall", 1e3 * max(errors), unit="ms")


@pytest.mark.parametrize("kind", KINDS)
def test_answers(kind, tmp_path, figure):
    folder = tmp_path / "truth"
    with Service(kind, folder, RATE, "faults") as service:
        pid = service.pid
        wait_until(lambda: service.counts()["broken"], what="a request")
        time.sleep(SECONDS)
        slow = screen(pid, "Which endpoint is slow?")
        raised = screen(pid, "Which exceptions are raised?")
        stalls = screen(pid, "What blocks my loop?") if kind in LOOPS else ""
        service.client.close()
        time.sleep(5)  # after this time, a snapshot includes all requests
        (counts, times), now = truth(folder), snapshot(pid)
    print(slow, raised, stalls, sep="\n")
    figure("row of the slow function", row_of(slow, "slow"))
    figure("row of the exception", row_of(raised, "broken"))
    p50 = own(now, "slow")["wall_p50_s"] / statistics.median(times["slow"])
    figure("P50, shown of true", p50, "nearer", goal=1)
    counted = exceptions(now) / counts["broken"]
    figure("exceptions, shown of true", counted, "nearer", goal=1)
    if kind in LOOPS:
        figure("row of the stall", row_of(stalls, "stall"))
        judge_stalls(now, times["stall"], figure)
