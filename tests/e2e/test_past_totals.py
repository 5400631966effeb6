# SPDX-License-Identifier: MIT
"""The recording of a killed program has numbers of latencies, calls in flight, exceptions,
garbage collections, the GIL, event loops with their stalls, and asyncio's tasks, although
no event contains them. The test compares these numbers with the program's own counts."""

import contextlib
import json
import re
import time

import pytest
from e2e import trace
from e2e.program import PYTHON, SLOW, run, start, top, write

pytestmark = pytest.mark.once

RAISED, HANDLED, HANGING, STALLED = 7, 40, 3, 2
STALL_S = 0.12
PROGRAM = f"""
import gc
collected, inner, outer = [0, 0, 0], [], []
def count(phase, info):
    collected[info["generation"]] += phase == "stop"
gc.callbacks.append(count)
import asyncio, json, time
def raises():
    try: raise KeyError
    except KeyError: pass
def stalls():
    time.sleep({STALL_S})
async def hangs():
    await asyncio.Event().wait()
async def handles():
    began = time.perf_counter()
    await asyncio.sleep(0.002)
    inner.append(time.perf_counter() - began)
async def main():
    tasks = [asyncio.create_task(hangs()) for _ in range({HANGING})]
    for _ in range({HANDLED}):
        began = time.perf_counter()
        await handles()
        outer.append(time.perf_counter() - began)
    for _ in range({RAISED}):
        raises()
    for _ in range({STALLED}):
        await asyncio.sleep(0)
        stalls()
    gc.collect()
    gc.freeze()
    gc.disable()
    said = dict(collected=collected, inner=max(inner), outer=max(outer))
    print(json.dumps(said), flush=True)
    await hangs()
asyncio.run(main())
"""


def shown(path, *options):
    done = top(str(path), "--once", "--json", *options)
    assert done.status == 0 and not done.err, done.err
    return json.loads(done.out)


def numbers(snapshot):
    """Returns the numbers of a recording that do not change while the program hangs."""
    rows = {row["name"]: row for row in snapshot["functions"]}
    kinds = {(e["type"], e["function"]): e["raised"] for e in snapshot["exceptions"]}
    groups = {g["coroutine"]: g["count"] for g in snapshot["tasks"]["groups"]}
    stalls = [s for s in snapshot["stalls"] if s["function"] == "stalls"]
    return dict(
        raised=[kinds.get(("KeyError", "raises")), rows["raises"]["raised"]],
        collected=[g["collections"] for g in snapshot["gc"]["generations"]],
        handles={k: v for k, v in rows["handles"].items() if k.startswith("wall_")},
        in_flight=[rows[name]["in_flight"] for name in ("handles", "hangs", "main")],
        tasks=[snapshot["tasks"]["total"], groups.get("hangs"), groups.get("main")],
        stalls=stalls,
        timers=[(loop["thread"], loop["timers"]) for loop in snapshot["loops"]],
    )


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Returns the program's own counts, the numbers that the recording had before the
    program was killed, and the path of the recording."""
    folder = tmp_path_factory.mktemp("killed")
    options = ["--output", "t.json", "--quiet", "--threshold", "0"]
    command = [PYTHON, "-m", "ocular", *options, write(folder, PROGRAM)]
    process = start(command, cwd=folder)
    found = None
    try:
        said = json.loads(process.stdout.readline())
        (path,) = folder.glob("*.ocular")
        limit = time.monotonic() + SLOW
        # Waits until the recording contains all numbers, and only then kills the program.
        while not found or found["tasks"][0] != HANGING + 1 or None in found["in_flight"]:
            assert time.monotonic() < limit, found
            time.sleep(0.2)
            with contextlib.suppress(KeyError):  # perhaps a function is not in the file yet
                found = numbers(shown(path))
    finally:
        process.kill()
        process.communicate()
    return said, found, path


def test_the_numbers_are_those_of_the_program(killed):
    said, before, path = killed
    snapshot = shown(path)
    found = numbers(snapshot)
    assert found == before
    assert found["raised"] == [RAISED, RAISED]
    assert found["collected"] == said["collected"] and said["collected"][2]
    assert said["inner"] <= found["handles"]["wall_max_s"] <= said["outer"]
    assert found["handles"]["wall_p50_s"] <= found["handles"]["wall_max_s"]
    assert found["in_flight"] == [0, HANGING + 1, 1]
    assert found["tasks"] == [HANGING + 1, HANGING, 1]
    assert found["timers"] == [("MainThread", HANDLED)]
    assert [s["seconds"] >= STALL_S for s in found["stalls"]] == [True] * STALLED
    (loop,) = snapshot["loops"]
    assert loop["lag_s"] == pytest.approx(loop["late_s"] / HANDLED)
    assert 0 < snapshot["totals_s"] <= snapshot["uptime_s"]
    assert loop["steps_per_s"] * snapshot["totals_s"] == pytest.approx(loop["steps"])
    assert loop["steps"] > HANDLED
    (hangs,) = [row for row in snapshot["functions"] if row["name"] == "hangs"]
    assert 0 < hangs["oldest_s"] < snapshot["uptime_s"]
    lacks = set(snapshot["not_recorded"])
    assert not lacks & {"gc", "gil", "gil.held", "loops", "tasks", "stalls_total"}
    assert 0 < snapshot["gil"]["held_s"] <= snapshot["uptime_s"]
    part = shown(path, "--keys", "]0.1<Enter>")
    lacks = set(part["not_recorded"])
    assert {"gc", "loops", "tasks", "totals_s"} <= lacks
    # If no wait in this part has a known kind, nothing is known about the GIL.
    assert lacks & {"gil", "gil.held"}


def test_the_views_show_them(killed):
    _, _, path = killed
    for keys, words in (
        ("l/hangs<Enter>", f"▸ .* {HANGING + 1} .* hangs "),
        ("x", f" {RAISED} .* KeyError .* raises "),
        ("L", "MainThread .* steps/s, lag .* stalls "),
        ("T", f"Tasks +{HANGING + 1} of asyncio.* {HANGING} .* hangs "),
    ):
        drawn = top(str(path), "--once", "--size", "150x40", "--keys", keys).out
        assert re.search(words, drawn, re.DOTALL), drawn
    found = json.loads(top("--diff", "--json", "--", str(path), str(path)).out)
    assert {"GIL held", "stalls", "exceptions", "P50"} <= {
        number["what"] for number in found["numbers"]
    }
    assert not any(number["differs"] for number in found["numbers"])


@pytest.mark.parametrize("name", ["x.json", "x.pftrace"])
def test_the_timeline_has_stalls_and_waits(killed, name):
    _, _, path = killed
    file = path.parent / name
    assert run([PYTHON, "-m", "ocular", "convert", path, "-o", file]).status == 0
    slices = trace.read(file).slices
    stalls = [pair for pair in slices["stall"] if pair[0]["name"] == "stalls"]
    assert len(stalls) == STALLED
    for begin, end in stalls:
        assert end["ts"] - begin["ts"] >= 1e6 * STALL_S
        assert begin["args"]["stack"].endswith("main;stalls")
    # The waits of a thread do not overlap.
    times = [event["ts"] for pair in slices["wait"] for event in pair]
    assert times == sorted(times)
    assert {begin["name"] for begin, _ in slices["wait"]} & {"idle", "(unknown)"}
    assert all(begin["args"]["observations"] > 0 for begin, _ in slices["wait"])
