# SPDX-License-Identifier: MIT
"""The live part of `make accuracy` can tell right from wrong, and runs. How
right Ocular is stands in docs/accuracy.md."""

import copy
import math
import os
import statistics
import sys

import pytest
from e2e.measured import measured

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "accuracy"))

import live
import live_judge
from e2e.steady import attempts, undisturbed

BEGAN, SECONDS, STEP = 1000.0, 60, 0.1
# Calls a round of 10 ms, and ns a call: shares of 0.5, 0.3, 0.1 and 0.005.
CALLS = {"big": 500, "middle": 300, "small": 100, "rare": 5}
NS = 10_000.0
SHARES = {name: n * NS * 1e-9 * 100 for name, n in CALLS.items()}


def costs(ns):
    passes = [
        [BEGAN + n / 2, ns * (1 + 0.02 * (n % 3 - 1)), ns] for n in range(2 * SECONDS)
    ]
    return {"p50": ns, "mean": ns, "trimmed": ns, "passes": passes, "c": 0.0}


def program(phases=()):
    """A program that did a hundred rounds a second, its costs known; two kinds
    of round where there are phases, with other names in the second."""
    kinds = [{"name": "one", "calls": CALLS, "waits": []}]
    if phases:
        kinds.append(
            {
                "name": "two",
                "waits": [],
                "calls": {f"new {name}": n for name, n in CALLS.items()},
            }
        )
    log, done = [], [0] * len(kinds)
    for n in range(round(SECONDS / STEP) + 1):
        log.append([BEGAN + n * STEP, 0.9 * n * STEP, 0.0, *done])
        done[int(bool(phases) and n * STEP >= phases[0])] += 10
    names = [name for kind in kinds for name in kind["calls"]]
    return {
        "program": "made up",
        "began": BEGAN,
        "seconds": SECONDS,
        "hz": 1e9,
        "hook_cost": [5, 100, 60, 60],
        "phases": list(phases),
        "contends": False,
        "costs": {
            name: {when: costs(NS) for when in ("before", "during", "after")}
            for name in names
        },
        "tracks": [{"kinds": kinds, "log": log}],
    }


def looks(share_of):
    """What a perfect viewer sees, if `share_of(name, seconds)` are the shares."""
    found = []
    for second in range(1, SECONDS):
        rows = {}
        for name in [*CALLS, *(f"new {name}" for name in CALLS)]:
            share = share_of(name, second)
            calls = CALLS[name.removeprefix("new ")]
            rows[name] = {
                "cpu_share": share,
                "run_share": share,
                "wait_share": 0.0,
                "calls_per_s": share / (NS * 1e-9),
                "samples": 100_000,
                "avg_cycles": NS,
                "p50_cycles": NS,
                "age_s": 1.0,
                "self_cycles": second * calls,
                "calls": second * 100,
            }
        top = sorted(rows, key=lambda name: -rows[name]["cpu_share"])
        found.append(
            {
                "t": BEGAN + second,
                "functions": rows,
                "top": top,
                "overhead": {"measured": 0.01},
                "sampler": {"hz": 100, "samples": 100 * second},
            }
        )
    return found


def steady(name, second):
    return SHARES.get(name, 0.0)


def judge(snapshots, result=None):
    return live_judge.judge(result or program(), snapshots)["misses"]


@pytest.fixture
def seen():
    return looks(steady)


def test_what_is_right_passes(seen):
    report = live_judge.judge(program(), seen)
    assert report["misses"] == []
    assert report["core"] == pytest.approx(0.9, abs=0.01)
    assert report["known"] == pytest.approx(sum(SHARES.values()), abs=0.01)
    assert report["pairs"] == 6
    for name, share in SHARES.items():
        row = report["functions"][name]
        assert row["share"] == pytest.approx(share, abs=0.001)
        assert row["calls_per_s"] == pytest.approx(100 * CALLS[name], rel=0.01)
        assert row["judged"] == (share > 0.02)


def test_a_share_that_is_off(seen):
    seen[-1]["functions"]["big"]["run_share"] += 0.029
    assert judge(seen) == []
    seen[-1]["functions"]["big"]["run_share"] += 0.005
    assert judge(seen) == ["share: big +3.4"]
    # 100 samples of 50 % say no more than that it is within 15 %; but one that
    # has none though all the others have is not excused.
    seen[-1]["functions"]["big"]["samples"] = 100
    assert judge(seen) == ["share: big +3.4"]
    for row in seen[-1]["functions"].values():
        row["samples"] = 25
    assert judge(seen) == []


def test_windows_that_are_off(seen):
    for each in seen[30:33]:
        each["functions"]["middle"]["cpu_share"] -= 0.05
    assert judge(seen) == ["3 of 150 windows: middle -5.0"]


def test_time_in_c(seen):
    result = program()
    for when in "before", "during":
        result["costs"]["big"][when]["c"] = 0.8 * NS
    assert any("time in C: big -40.0" in each for each in judge(seen, result))
    for each in seen:
        each["functions"]["big"]["c_share"] = 0.38
    assert judge(seen, result) == []


def sleeper():
    """The same program, which also sleeps for a tenth of the time."""
    result = program()
    [track] = result["tracks"]
    track["kinds"][0]["calls"] = {**CALLS, "nap": 1}
    track["kinds"][0]["waits"] = ["nap"]
    for row in track["log"]:
        row.append(0.1 * (row[0] - BEGAN))
    result["costs"]["nap"] = {when: costs(100.0) for when in ("before", "during", "after")}
    return result


def test_time_that_is_waited(seen):
    for each in seen:
        each["functions"]["nap"] = {
            **each["functions"]["rare"],
            "cpu_share": 0.0,
            "run_share": 0.0,
            "wait_share": 0.1,
        }
    assert judge(seen, sleeper()) == []
    for each in seen[30:33]:
        each["functions"]["nap"]["wait_share"] = 0.05
    assert judge(seen, sleeper()) == ["3 of 200 windows: nap -5.0"]


def test_few_passes_say_how_much_they_spread(seen):
    result = program()
    del result["costs"]["big"]["during"]["passes"][3:]
    result["costs"]["big"]["after"]["p50"] = 1.3 * NS
    seen[-1]["functions"]["big"]["p50_cycles"] = 1.2 * NS
    report = live_judge.judge(result, seen)
    assert report["misses"] == []
    assert report["functions"]["big"]["p50"] == "noise"


def test_the_wrong_order(seen):
    rows = seen[-1]["functions"]
    rows["small"]["run_share"], rows["rare"]["run_share"] = 0.08, 0.09
    assert "order: small/rare" in judge(seen)


@pytest.mark.parametrize("key, what", [("p50_cycles", "p50"), ("avg_cycles", "mean")])
def test_cycles_that_are_off(seen, key, what):
    row = seen[-1]["functions"]["rare"]
    row[key] = 1.09 * NS
    assert judge(seen) == []
    row[key] = 1.13 * NS
    assert judge(seen) == [f"{what}: rare +13 %"]
    result = program()  # the truth was no surer
    for n, one in enumerate(result["costs"]["rare"]["during"]["passes"]):
        one[1:] = [NS * (1 + n % 2 * 0.2)] * 2
    assert judge(seen, result) == []
    row[key] = None
    assert judge(seen) == [f"{what}: rare none"]


def test_the_truth_is_that_of_the_time(seen):
    """The machine is half as fast after 30 s; what was timed before is held
    against what was true before."""
    result = program()
    for one in result["costs"]["big"]["during"]["passes"][60:]:
        one[1:] = 2 * NS, 2 * NS
    for each in seen[28:]:
        each["functions"]["big"]["calls"] = 2900
    assert judge(seen, result) == []
    for each in seen[40:]:
        each["functions"]["big"]["calls"] = 100_000
    assert judge(seen, result) == ["p50: big -50 %", "mean: big -50 %"]


def test_rates_that_are_off(seen):
    for each in seen:
        each["functions"]["small"]["calls_per_s"] *= 0.75
    assert judge(seen) == ["calls/s: small -25 %"]


def test_a_rate_of_what_has_stopped():
    """That it is none is right, and so is what the window still says; that there
    is none of what runs is wrong."""
    change = 15
    result = program(phases=(change,))

    def windowed(name, second):
        gone = math.exp(-max(second - change, 0) / 5)
        part = SHARES[name.removeprefix("new ")]
        return part * (1 - gone if name.startswith("new ") else gone)

    seen = looks(windowed)
    assert not [miss for miss in judge(seen, result) if "calls/s" in miss]
    for each in seen[change + 1 :]:
        each["functions"]["big"]["calls_per_s"] = 0
    assert not [miss for miss in judge(seen, result) if "calls/s" in miss]
    for each in seen[change + 1 :]:
        each["functions"]["new big"]["calls_per_s"] = 0
    assert any("calls/s: new big" in miss for miss in judge(seen, result))


def test_means_where_others_have_the_cpu(seen):
    result = program()
    seen[-1]["functions"]["big"]["avg_cycles"] = 2 * NS
    assert judge(seen, result) == ["mean: big +100 %"]
    result["tracks"][0]["log"][-1][2] = 0.02 * 0.9 * SECONDS
    assert judge(seen, result) == []


def test_old_cycles(seen):
    for each in seen[20:49]:
        each["functions"]["rare"]["self_cycles"] = 100
    assert judge(seen) == []
    for each in seen[20:55]:
        each["functions"]["rare"]["self_cycles"] = 100
    assert judge(seen) == ["age: rare 35 s"]


def test_time_without_calls_does_not_age():
    age = live_judge.Age()
    age.look(0, 1, 500, 1000)
    for second in range(1, 41):
        age.look(second, second + 1, 0, 1000)
    assert age.worst == 0
    age.look(41, 42, 500, 1000)
    assert age.worst == 5 + 1  # the pause, and the second in which it runs
    for second in range(42, 70):  # runs every other second
        age.look(second, second + 1, second % 2 * 500, 1000)
    assert age.worst == 6 + 28
    age = live_judge.Age()
    for second in range(70):  # less than once a second
        age.look(second, second + 1, second % 2, 1000 if second else 1)
    assert age.worst == 0


def test_a_function_that_is_missing(seen):
    for each in seen:
        del each["functions"]["small"]
    words = " ".join(judge(seen))
    for what in (
        "share: small -10.0",
        "p50: small none",
        "calls/s: small -100 %",
        "age: small 59 s",
    ):
        assert what in words


# --- Phases -----------------------------------------------------------------------------

CHANGE = 30.0


def changing(late):
    """Shares in an exponential window, of a viewer that is that late."""

    def share_of(name, second):
        since = second - CHANGE - late
        new = name.startswith("new ")
        share = SHARES[name.removeprefix("new ")]
        if since <= 0:
            return 0.0 if new else share
        return share * (1 - math.exp(-since / 5) if new else math.exp(-since / 5))

    return share_of


def phased(late):
    seen = looks(changing(late))
    for each in seen:  # since the start: by hand
        for name, row in each["functions"].items():
            part = max(0.0, each["t"] - BEGAN - CHANGE) / (each["t"] - BEGAN)
            share = SHARES[name.removeprefix("new ")]
            row["run_share"] = share * (part if name.startswith("new ") else 1 - part)
        # The window holds both: let the new ones lead where they gain.
        if each["t"] - BEGAN - CHANGE - late > 2:
            each["top"].sort(key=lambda name: not name.startswith("new "))
    return seen


def test_new_leaders():
    report = live_judge.judge(program([CHANGE]), phased(0))
    assert report["misses"] == [] and report["leads"] == [pytest.approx(3, abs=0.1)]


def test_new_leaders_that_are_late():
    report = live_judge.judge(program([CHANGE]), phased(6))
    assert report["lead_miss"] and report["leads"] == [pytest.approx(9, abs=0.1)]


# --- For real -----------------------------------------------------------------------------


def look_at_leaves():
    result, seen = live.run("leaves", 3.0, period=0.25)
    report = live_judge.judge(result, seen)
    assert len(seen) > 4
    assert {"adds", "leaf", "ticks", "tiny"} <= set(report["functions"])
    assert 0.3 < report["known"] / report["core"] < 1.7
    for name, row in report["functions"].items():
        assert row["share"] > 0, name
        assert row["ns"] > 1 or name in ("tiny", "leaf"), name
        assert seen[-1]["functions"][name]["calls"] > 100, name
    # The twins are not traced, and the program's own count is right.
    calls = (
        result["tracks"][0]["log"][-1][3] * result["tracks"][0]["kinds"][0]["calls"]["adds"]
    )
    assert report["functions"]["adds"]["calls_per_s"] == pytest.approx(calls / 3.0, rel=0.3)
    live.show_functions(report)
    live.show_summary([report, copy.deepcopy(report)])


@measured
def test_a_program_runs_and_is_seen():
    attempts(2, look_at_leaves)


def look_at(name):
    result, seen = live.run(name, 6.0, period=0.25)
    report = live_judge.judge(result, seen)
    assert 0.3 < report["known"] / report["core"] < 1.7
    last = seen[-1]["functions"]
    for function, row in report["functions"].items():
        assert last[function]["calls"] > 0, function
        assert abs(row["run_off"]) < 0.1, function
    # Together: who waits is looked at but eight times a second.
    waiters = {
        function: row["waited"]
        for function, row in report["functions"].items()
        if row["waited"]
    }
    assert (
        sum(last[function]["wait_share"] for function in waiters)
        >= sum(waiters.values()) / 2
    )


@measured
@pytest.mark.parametrize(
    "name", ["bursts", "c", "waiting", "recursion", "threads", "asyncio"]
)
def test_the_others_run_and_are_seen(name):
    """Roughly, in so short a time; docs/accuracy.md has a minute of each."""
    attempts(2, lambda: look_at(name))


def look_at_the_tail():
    result, seen = live.run("tail", 50.0)
    report = live_judge.judge(result, seen)
    assert len(report["functions"]) == 2000
    ages = [row["stale"] for row in report["functions"].values()]
    # The costs of all are known, and none has stood still for too long.
    assert all(row["self_cycles"] for row in seen[-1]["functions"].values())
    # Of a program that has a core: who has half of one has half of the budget.
    assert 1 < max(ages) <= live_judge.AGE / min(1, report["core"] / 0.9), ages


@measured
@pytest.mark.timeout(600)
def test_a_long_tail_stays_young():
    """2 000 functions, of which the last is called a two-thousandth as often as
    the first: the budget has to go round all of them."""
    attempts(2, look_at_the_tail, seconds=120)


def faults(report):
    """Not single costs and rates: of so few looks a part of them misses."""
    rows = report["functions"].values()
    judged = [row for row in rows if row["judged"]]
    costs = [row for row in rows if row["cycles_judged"]]
    return {
        fault
        for fault, found in {
            "too little": len(judged) < 6 or report["pairs"] < 10 or len(costs) < 4,
            # In 25 s nothing can be as old as is allowed: half of it is seen.
            "ages": max((row["stale"] for row in rows), default=0) >= live_judge.AGE / 2,
            "shares": any(row["run_miss"] for row in judged),
            "order": report["pairs_wrong"],
            "calls/s": sum(row["rate_miss"] for row in judged) > len(judged) / 3,
            "p50": sum(row["p50"] == "MISS" for row in costs) > len(costs) / 3,
            "mean": not report["contends"]
            and sum(row["mean"] == "MISS" for row in costs) > len(costs) / 3,
        }.items()
        if found
    }


def unsure(report):
    """How far the truth has moved by itself, as the machine changed its speed."""
    return statistics.median(
        [row["p50_noise"] for row in report["functions"].values() if row["cycles_judged"]]
        or [0]
    )


@measured
@pytest.mark.timeout(900)
def test_what_is_steady_is_seen_right():
    """In short what `make accuracy ARGS=--live` does at length. A busy machine may
    spoil a run, not three in turn; those do not count in which the truth is unsure."""
    failed = []
    for _ in range(6):
        report = live_judge.judge(*live.run("steady", 25.0))
        live.show_functions(report)
        found = faults(report)
        if not found:
            return
        if unsure(report) < 0.25 or found & {"too little", "ages"}:
            failed.append((found, report["misses"]))
        assert len(failed) < 3, failed
    pytest.skip(f"the truth itself is unsure, by {unsure(report):.0%} at last")


@measured
@pytest.mark.timeout(900)
def test_a_new_phase_is_seen_soon():
    """Two times of four, and to a second: the window makes it 4.2 s and more, and by
    as few looks as a budget pays for it is told half a second sooner or later. How
    often 5 s are held docs/accuracy.md says."""
    leads = []
    while sum(not late for _, late in leads) < 2:
        report = live_judge.judge(*live.run("phases", 45.0))
        late = not report["leads"] or any(
            lead is None or lead > live_judge.LEAD + 1 for lead in report["leads"]
        )
        leads.append((report["leads"], late))
        assert sum(late for _, late in leads) < 3, leads


def test_every_program_can_be_made():
    import live_programs

    assert tuple(live_programs.PROGRAMS) == live.PROGRAMS
    for make in live_programs.PROGRAMS.values():
        made = make()
        assert made.tracks and made.tracks[0].kinds[0].parts


def time_what_calls_itself():
    """Its calls, one by one, are the line; but the median one is no dear one."""
    import live_programs
    import live_truth

    part = live_programs.recursion().tracks[0].kinds[0].parts[0]
    assert part.levels
    truth = live_truth.Truth([part], live_truth.ticks_a_ms())
    levels = truth.lines["descend"]["levels"]

    def take():
        cost = truth.take()["descend"]
        live_truth.timing.reset(part.calls + 2)
        levels.drive(1)
        return cost, live_truth.timing.spans()

    cost, spans = undisturbed(take)  # or a mean has what took the CPU away
    assert len(spans) == part.calls + 1
    mark = truth.nothing.cost("p50")
    assert sum(spans) - part.calls * mark == pytest.approx(
        part.calls * cost["mean"], rel=0.3
    )
    assert 0.5 * cost["mean"] < cost["p50"] < 0.97 * cost["mean"]


@measured
def test_what_calls_itself_is_timed_call_by_call():
    attempts(3, time_what_calls_itself)
