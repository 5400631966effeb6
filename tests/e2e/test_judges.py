# SPDX-License-Identifier: MIT
"""The programs that measure Ocular do not pass what is wrong: made-up results go
into their judges. test_rigs.py runs the programs themselves."""

import math
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("accuracy", "bench")]

import budget  # noqa: E402
import live_judge  # noqa: E402
import ordinary_judge  # noqa: E402
import viewer  # noqa: E402
from figures import figures  # noqa: E402

pytestmark = pytest.mark.once

# --- Live accuracy ------------------------------------------------------------

BEGAN, SECONDS, STEP = 1000.0, 60, 0.1
# Calls a round of 10 ms, and ns a call: shares of 0.5, 0.3, 0.1 and 0.005.
CALLS = {"big": 500, "middle": 300, "small": 100, "rare": 5}
NS = 10_000.0
SHARES = {name: n * NS * 1e-9 * 100 for name, n in CALLS.items()}
CHANGE = 30.0


def costs():
    passes = [[BEGAN + n / 2, NS * (0.98 + 0.02 * (n % 3)), NS] for n in range(2 * SECONDS)]
    return {"p50": NS, "mean": NS, "trimmed": NS, "passes": passes, "c": 0.0}


def program(phases=()):
    """A program that did a hundred rounds a second, its costs known; two kinds
    of round where there are phases, with other names in the second."""
    kinds = [{"name": "one", "calls": CALLS, "waits": []}]
    if phases:
        calls = {f"new {name}": n for name, n in CALLS.items()}
        kinds.append({"name": "two", "waits": [], "calls": calls})
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
        "hook_cost": [5, 100, 60],
        "phases": list(phases),
        "contends": False,
        "costs": {
            name: {when: costs() for when in ("before", "during", "after")}
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
            rows[name] = {
                "cpu_share": share,
                "run_share": share,
                "wait_share": 0.0,
                "calls_per_s": share / (NS * 1e-9),
                "samples": 100_000,
                "avg_cycles": NS,
                "p50_cycles": NS,
                "age_s": 1.0,
                "self_cycles": second * CALLS[name.removeprefix("new ")],
                "calls": second * 100,
            }
        found.append(
            {
                "t": BEGAN + second,
                "functions": rows,
                "top": sorted(rows, key=lambda name: -rows[name]["cpu_share"]),
                "overhead": {"measured": 0.01},
                "sampler": {"hz": 100, "samples": 100 * second},
            }
        )
    return found


def judge(snapshots, result=None):
    return live_judge.judge(result or program(), snapshots)["misses"]


@pytest.fixture
def seen():
    return looks(lambda name, _: SHARES.get(name, 0.0))


def test_live_what_is_right_passes(seen):
    report = live_judge.judge(program(), seen)
    assert report["misses"] == [] and report["pairs"] == 6
    assert report["core"] == pytest.approx(0.9, abs=0.01)
    for name, share in SHARES.items():
        row = report["functions"][name]
        assert row["share"] == pytest.approx(share, abs=0.001)
        assert row["calls_per_s"] == pytest.approx(100 * CALLS[name], rel=0.01)
        assert row["judged"] == (share > 0.02)


def change_last(name, key, by):
    def spoil(seen):
        seen[-1]["functions"][name][key] *= by

    return spoil


def change_all(name, key, by):
    def spoil(seen):
        for each in seen:
            each["functions"][name][key] *= by

    return spoil


def stand_still(seen):
    for each in seen[20:55]:
        each["functions"]["rare"]["self_cycles"] = 100


@pytest.mark.parametrize(
    "spoil, found",
    [
        (change_last("big", "run_share", 1.068), ["share: big +3.4"]),
        (change_last("rare", "p50_cycles", 1.13), ["p50: rare +13 %"]),
        (change_last("rare", "avg_cycles", 1.13), ["mean: rare +13 %"]),
        (change_all("small", "calls_per_s", 0.75), ["calls/s: small -25 %"]),
        (stand_still, ["age: rare 35 s"]),
    ],
)
def test_live_one_thing_that_is_off(seen, spoil, found):
    spoil(seen)
    assert judge(seen) == found


def test_live_windows_and_order(seen):
    for each in seen[30:33]:
        each["functions"]["middle"]["cpu_share"] -= 0.05
    assert judge(seen) == ["3 of 150 windows: middle -5.0"]
    rows = seen[-1]["functions"]
    rows["small"]["run_share"], rows["rare"]["run_share"] = 0.08, 0.09
    assert "order: small/rare" in judge(seen)


def test_live_a_function_that_is_missing(seen):
    for each in seen:
        del each["functions"]["small"]
    words = " ".join(judge(seen))
    for what in ("share: small -10.0", "p50: small none", "calls/s: small -100 %"):
        assert what in words


@pytest.mark.parametrize("late, lead", [(0, 3), (6, 9)])
def test_live_new_leaders(late, lead):
    def share_of(name, second):
        since = max(second - CHANGE - late, 0)
        left = math.exp(-since / 5)
        new = name.startswith("new ")
        return SHARES[name.removeprefix("new ")] * (1 - left if new else left)

    seen = looks(share_of)
    for each in seen:  # the window holds both: let the new ones lead where they gain
        if each["t"] - BEGAN - CHANGE - late > 2:
            each["top"].sort(key=lambda name: not name.startswith("new "))
    report = live_judge.judge(program([CHANGE]), seen)
    assert report["leads"] == [pytest.approx(lead, abs=0.1)]
    assert report["lead_miss"] == (lead > live_judge.LEAD)


# --- Ordinary programs ------------------------------------------------------------


def dark(name, calls, samples=500):
    return {
        "name": name,
        "calls_exact": False,
        "calls_estimated": calls,
        "run_samples": samples,
    }


@pytest.mark.parametrize(
    "rows, worst",
    [
        ([dark("job", 1100)], 10),
        ([dark("job", 1100), dark("leaf", 2100)], 30),
        ([dark("job", 1100), dark("leaf", 2100, samples=100)], 10),
        ([dark("job", None), dark("other", 7)], None),
        ([{**dark("job", 700), "calls_exact": True}], None),
    ],
)
def test_ordinary_estimates(rows, worst):
    result = {"count": {"job": 1000, "leaf": 3000}, "final": {"functions": rows}}
    assert ordinary_judge.worst_estimate(result) == (worst and pytest.approx(worst))


@pytest.mark.parametrize(
    "calls, state, armed",
    [(900, "armed", 100), (900, "partial", 100), (900, "dark", 0), (11000, "dark", None)],
)
def test_ordinary_what_is_called_seldom_is_armed(calls, state, armed):
    row = {"name": "job", "state": state, "calls_exact": False, "calls_per_s": None}
    result = {
        "cpu_s": 5.0,
        "elapsed_s": 10.0,
        "truth": {"job": 1e8},
        "count": {"job": calls},
        "snapshot": {"functions": [row]},
        "final": {
            "functions": [],
            "sampler": {"samples": 900, "window_samples": 300},
            "overhead": {"mean": 0.01},
        },
    }
    assert ordinary_judge.judge(result)["armed of the jobs, %"] == armed


def test_ordinary_ratio():
    """Other jobs than untraced, and each a tenth dearer."""
    ns = {"short": 10**6, "long": 10**7}

    def ran(dearer, **count):
        truth = {name: n * ns[name] * dearer for name, n in count.items()}
        return {"cpu_s": sum(truth.values()) / 1e9, "truth": truth, "count": count}

    untraced = [ran(1, short=100, long=5), ran(1, short=50, long=20)]
    assert ordinary_judge.ratio(ran(1.1, short=10, long=90), untraced) == pytest.approx(1.1)


# --- The budget ---------------------------------------------------------------


def row(**changed):
    return {
        "ratio": 1.015,
        "sigma": 0.001,
        "reported": 0.0148,
        "measured": 0.0148,
        "bursts": 0.5,
        "oldest": 12.0,
        "span": 80.0,
        "off": 0.05,
        **changed,
    }


def test_budget_rows():
    assert budget.misses(0.01, row()) == "ok"
    assert budget.misses(0.01, row(ratio=1.0201)) == "MISS ratio"
    assert budget.misses(0.01, row(reported=0.0095)) == "MISS reported"
    assert budget.misses(0.01, row(reported=0.0199)) == "MISS reported"
    assert budget.misses(0.01, row(oldest=30.1)) == "MISS age"
    for key in "ratio", "reported", "measured", "oldest", "span", "off":
        assert "MISS" in budget.misses(0.01, row(**{key: math.nan}))


def test_budget_ratio():
    turns = [(1.0, 1.02, 1.0)] * 10 + [(2.0, 2.04, 2.0)] * 10
    ratio, sigma, kept, bursts = budget.ratio_of(turns)
    assert (ratio, sigma, kept, bursts) == (pytest.approx(1.02), pytest.approx(0), 1, 0)
    # The machine became slower once: nobody's fault, whoever it was.
    for slow in (1.0, 1.7, 1.5), (1.5, 1.02, 1.0):
        ratio, _, kept, bursts = budget.ratio_of([*turns, slow])
        assert ratio == pytest.approx(1.02) and kept < 1 and abs(bursts) < 1.1
    # What costs a twentieth of a turn once a second counts; bursts are a miss.
    often = [(1.0, 1.02, 1.0)] * 19 + [(1.0, 1.07, 1.0)]
    assert budget.ratio_of(often)[0] == pytest.approx(1.0225, abs=1e-4)
    burst = [(1.0, 1.005 + 0.15 * (number % 10 == 0), 1.0) for number in range(300)]
    bursts = budget.ratio_of(burst)[3]
    assert "MISS bursts" in budget.misses(0.01, row(bursts=bursts))


def test_budget_ages():
    def look(uptime, cycles):
        function = {"id": 1, "run_share": 0.2, "calls_per_s": 2.0, "self_cycles": cycles}
        return {"uptime_s": uptime, "functions": [{**function, "total_cycles": cycles}]}

    grows = [look(10.0, 5), look(11.0, 6), look(14.0, 7), look(20.0, 7)]
    assert budget.oldest(grows) == pytest.approx(6.0)
    assert budget.oldest([look(10.0, 5), look(50.0, 5)]) == pytest.approx(40.0)


# --- A viewer's cost ----------------------------------------------------------


@pytest.mark.parametrize("row, limit", list(viewer.TARGETS.items()))
def test_viewer_targets(row, limit):
    name = f"{row}, main, worst"
    assert viewer.verdict(name, [limit, limit / 2]).split() == [f"{limit:g}", "ok"]
    assert viewer.verdict(name, [limit / 2, limit * 1.001]).endswith("MISS")
    assert viewer.verdict(name, [math.nan, 0]).endswith("MISS")


# --- Soak ---------------------------------------------------------------------


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(str(TESTS / "soak"))
    monkeypatch.setenv("OCULAR_TOP", "/nowhere")
    monkeypatch.delitem(sys.modules, "program", raising=False)
    import soak

    yield soak
    for name in ("soak", "program"):
        sys.modules.pop(name, None)


def spends(soak, cost, seconds=600):
    """The targets missed by a program that uses 0.8 of a core for 16 s of 20, while
    Ocular costs that share of it in each second. A core's thousandth is allowed
    in any ten seconds."""
    seen, sums = soak.Soak(0, ""), [(0.0, 0.0)]
    for second in range(seconds):
        work = 0.8 if second % 20 < 16 else 0.001
        used, spent = sums[-1][0] + work, sums[-1][1] + cost(second) * work
        sums.append((used, spent))
        before, base = sums[max(0, len(sums) - 11)]
        lately = used - before
        seen.overhead.append(
            {
                "at": second,
                "cpu": used + spent,
                "mean": spent / used,
                "measured": (spent - base) / lately,
                "allowed": max(soak.program.BUDGET, 0.01 / lately),
                "hooks": 0,
                "rearm": 0,
                "threads": spent / used,
            }
        )
    soak.check_overhead(seen, seconds)
    return " ".join(seen.misses)


def test_soak_overhead(soak):
    assert not spends(soak, lambda second: 0.01)
    # Over it for a second or two.
    assert not spends(soak, lambda second: 0.03 if second % 120 < 2 else 0.005)
    minutes = spends(soak, lambda second: 0.015 if second // 60 % 3 == 2 else 0.007)
    assert "minutes of" in minutes and "mean" not in minutes
    seconds = spends(soak, lambda second: 0.03 if second % 60 < 16 else 0)
    assert "times of" in seconds and "minutes" not in seconds and "mean" not in seconds
    assert "mean overhead is 1.08" in spends(soak, lambda second: 0.0108)


def test_soak_memory(soak):
    def grows(kib, seconds=3600):
        seen = soak.Soak(0, "")
        seen.memory = [
            (at, 40_000 + kib * at / seconds + 500 * (at % 3)) for at in range(seconds)
        ]
        soak.check_memory(seen, seconds)
        return bool(seen.misses)

    assert not grows(0) and not grows(-10_000)
    assert not grows(3000)  # 1.2 MiB from one half to the other
    assert grows(6000)
    assert grows(30_000, seconds=60)


def test_soak_ages(soak):
    for age, seconds, old in ((29, 3600, 0), (31, 3600, 1), (17, 25, 0), (18, 25, 1)):
        seen = soak.Soak(0, "")
        seen.ages = [(30, 2, "beat"), (31, age, "beat"), (32, 1, "beat")]
        assert soak.check_ages(seen, seconds) == f"oldest {age} s"
        assert len(seen.misses) == old and not seen.troubles
    nothing = soak.Soak(0, "")
    soak.check_ages(nothing, 3600)
    assert "no ages" in nothing.troubles[0]


def test_soak_who_is_looked_at(soak, monkeypatch):
    """What runs throughout and is not listed is a fault."""
    seen = soak.Soak(0, "")
    seen.began = 900
    names = soak.program.run_throughout(1000, 1030)
    rows = [{"name": name, "age_s": 40.0, "file": "/there/program.py"} for name in names]
    monkeypatch.setattr(soak.time, "monotonic", lambda: 1030.0)
    seen.note_ages([*rows, {"name": "beat", "age_s": 50.0, "file": "/else/where.py"}])
    assert sorted(each[1:] for each in seen.ages) == sorted((40.0, name) for name in names)
    assert len(names) > 1 and not seen.troubles
    seen.note_ages([each for each in rows if each["name"] != "beat"])
    assert "beat" in seen.troubles[0] and "not listed" in seen.troubles[0]


# --- make figures ---------------------------------------------------------------


def figure(value, better="lower", goal=None):
    return {"value": value, "better": better, "goal": goal, "unit": "s"}


def test_a_baseline_has_the_middle_and_a_spread():
    assert figures.row_of([10, 11, 13]) == {"value": 11, "spread": 3}
    assert figures.row_of([10, 10, 10])["spread"] == 0.5  # no less than a 20th
    assert figures.row_of([10])["spread"] == 5  # who knows
    assert figures.row_of([10, 11, 13], 2)["spread"] == 2
    assert figures.row_of([math.nan, 10, 10])["value"] == 10
    assert figures.row_of([math.nan]) is None


@pytest.mark.parametrize(
    "better, goal, value, word",
    [
        ("lower", None, 12.9, "same"),
        ("lower", None, 13.1, "worse"),
        ("lower", None, 6.9, "better"),
        ("higher", None, 13.1, "better"),
        ("higher", None, 6.9, "worse"),
        ("nearer", 10, 13.1, "worse"),
        ("nearer", 10, 6.9, "worse"),
        ("nearer", 5, 6.9, "better"),
        ("lower", None, math.nan, "lost"),
    ],
)
def test_what_is_worse_than_the_baseline(better, goal, value, word):
    row = {"value": 10, "spread": 3}
    assert figures.verdict(figure(value, better, goal), row) == word
    assert figures.verdict(figure(value, better, goal), None) == "new"


@pytest.mark.parametrize("now, status", [(1.0, 0), (1.4, 0), (2.0, 1), (0.1, 0)])
def test_make_figures_fails_where_one_is_worse(tmp_path, monkeypatch, now, status):
    """It runs the instrument, and its status is the verdict."""
    base = tmp_path / "baseline.json"
    line = '{"name": "x", "value": %s, "unit": "s", "better": "lower", "goal": null}'
    monkeypatch.setattr(figures, "BASELINE", base)
    monkeypatch.setattr(figures.load, "__defaults__", (base,))
    monkeypatch.setattr(figures.save, "__defaults__", (base,))
    monkeypatch.setenv("OCULAR_BUILD", str(tmp_path))

    def run(value, *options):
        program = (
            f"import os; open(os.environ['OCULAR_FIGURES'], 'w').write('{line % value}')"
        )
        monkeypatch.setitem(
            figures.INSTRUMENTS, "bench", (1, lambda: [sys.executable, "-c", program])
        )
        monkeypatch.setattr(sys, "argv", ["figures", "--only", "bench", *options])
        return figures.main()

    assert run(1.0, "--record", "1") == 0
    assert run(now) == status
    table = (tmp_path / "figures" / figures.VERSION / "table.md").read_text()
    assert ("WORSE" in table) == bool(status)
