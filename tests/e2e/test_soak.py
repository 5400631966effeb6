# SPDX-License-Identifier: MIT
"""The judge of `make soak`: does it find an overhead that is over the budget,
memory that grows, numbers that are old?"""

import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).resolve().parents[1] / "soak"


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(str(SOAK))
    monkeypatch.setenv("OCULAR_TOP", "/nowhere")
    monkeypatch.delitem(sys.modules, "program", raising=False)
    import soak

    yield soak
    for name in ("soak", "program"):
        sys.modules.pop(name, None)


def judged(soak, cost, seconds=600, works=16):
    """The troubles of a program that uses 0.8 of a core for 16 s of 20, while
    Ocular costs that share of it in each second. A core's thousandth is allowed
    in any ten seconds."""
    seen, sums = soak.Soak(0, ""), [(0.0, 0.0)]
    for second in range(seconds):
        work = 0.8 if second % 20 < works else 0.001
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
    return " ".join(seen.troubles)


def test_a_budget_that_is_held(soak):
    assert not judged(soak, lambda second: 0.01)
    # Over it for a second or two.
    assert not judged(soak, lambda second: 0.03 if second % 120 < 2 else 0.005)


def test_minutes_that_are_over(soak):
    troubles = judged(soak, lambda second: 0.015 if second // 60 % 3 == 2 else 0.007)
    assert "in 1" in troubles and "minutes of" in troubles
    assert "mean" not in troubles


def test_ten_seconds_that_are_over(soak):
    """And no minute, and not in the mean."""
    troubles = judged(soak, lambda second: 0.03 if second % 60 < 16 else 0)
    assert "times of" in troubles
    assert "minutes" not in troubles and "mean" not in troubles


def test_a_mean_that_is_over(soak):
    troubles = judged(soak, lambda second: 0.0108)
    assert "mean overhead is 1.08" in troubles
    assert "mean overhead of ten seconds is 1.08" in troubles
    assert not judged(soak, lambda second: 0.0104)


@pytest.mark.parametrize("seconds", [120, 600])
def test_gross_errors_of_short_runs(soak, seconds):
    """In minutes what begins weighs more than what goes on: less is judged."""
    assert bool(judged(soak, lambda second: 0.03, seconds)) == (seconds >= 300)
    assert "mean overhead is 4.10" in judged(soak, lambda second: 0.041, seconds)


def remembered(soak, growth, seconds=3600, every=1):
    """The troubles of memory that grows by so many KiB in all, beside noise."""
    seen = soak.Soak(0, "")
    seen.memory = [
        (at, 40_000 + growth * at / seconds + 500 * (at % 3))
        for at in range(0, seconds, every)
    ]
    soak.check_memory(seen, seconds)
    return " ".join(seen.troubles)


def test_memory_that_grows(soak):
    assert not remembered(soak, 0)
    assert not remembered(soak, -10_000)
    assert not remembered(soak, 3000)  # 1.2 MiB from one half to the other
    assert "memory grows" in remembered(soak, 6000)
    assert not remembered(soak, 6000, seconds=60)  # too short for that
    assert "memory grows" in remembered(soak, 30_000, seconds=60)
    assert "too few" in remembered(soak, 0, every=1000)


def test_numbers_that_are_old(soak):
    for age, seconds, trouble in (
        (29, 3600, ""),
        (31, 3600, "beat() runs, and its numbers were 31 s old"),
        (17, 25, ""),
        (18, 25, "beat() runs, and its numbers were 18 s old"),
    ):
        seen = soak.Soak(0, "")
        seen.ages = [(30, 2, "beat"), (31, age, "beat"), (32, 1, "beat")]
        assert soak.check_ages(seen, seconds) == f"oldest {age} s"
        assert trouble in " ".join(seen.troubles) and bool(trouble) == bool(seen.troubles)
    nothing = soak.Soak(0, "")
    soak.check_ages(nothing, 3600)
    assert "no ages" in nothing.troubles[0]


def test_what_runs_throughout(soak):
    """A kind of work is meant where it is done in each moment in between, but for
    the idle spells."""
    program, meant = soak.program, set()
    for begin in range(0, 200, 3):
        names = program.run_throughout(begin, begin + 30)
        for at in range(begin, begin + 31):
            done = {
                program.kind_at(at, number).__name__ for number in range(program.WORKERS)
            }
            assert names <= done | {"beat"}
        meant |= names
    assert meant == {"beat"} | {kind.__name__ for kind in program.KINDS}


def test_who_is_looked_at(soak, monkeypatch):
    seen = soak.Soak(0, "")
    seen.began = 900
    names = soak.program.run_throughout(1000, 1030)
    rows = [
        {"name": name, "age_s": 40.0, "file": "/there/program.py"}
        for name in names | {"main"}
    ]
    monkeypatch.setattr(soak.time, "monotonic", lambda: 1030.0)
    seen.note_ages(rows + [{"name": "beat", "age_s": 50.0, "file": "/else/where.py"}])
    assert sorted(row[1:] for row in seen.ages) == sorted((40.0, name) for name in names)
    assert len(names) > 1 and not seen.troubles
    seen.note_ages([row for row in rows if row["name"] != "beat"])
    assert "beat" in seen.troubles[0] and "not listed" in seen.troubles[0]
