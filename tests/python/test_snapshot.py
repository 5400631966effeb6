# SPDX-License-Identifier: MIT
"""ocular.snapshot() in Python, a snapshot on the wire, and ocular-top's JSON have the same
structure. The structure is also the same at any moment and on any thread."""

import json
import os
import threading
import time
import types

import ocular
import pytest
from e2e import client
from e2e.counting import EXACT, row
from e2e.program import top, wait_until
from e2e.threads import in_threads
from ocular.demo import pure

# The sampler fills these lists, so they can still be empty.
BY_CHANCE = {".functions[].callers": "id share", ".threads[].functions": "id share"}
# These values can be null.
OPTIONAL = tuple(f".functions[].{it}" for it in ("waits", "total_parts", "latencies"))
OPTIONAL += (".lines",)


def shape(value, path=""):
    """Returns all nested keys of a value. The keys of a list are the keys that all its
    elements have."""
    if path in BY_CHANCE:
        assert all(" ".join(element) == BY_CHANCE[path] for element in value)
        return None
    if path in OPTIONAL:
        return None
    if isinstance(value, dict):
        return {key: shape(value[key], f"{path}.{key}") for key in value}
    if isinstance(value, list):
        return [shape(value[0], path + "[]")] if value else []
    return None


def kinds(value, found, path=""):
    """Adds the types of all values to `found`, which maps a value's path to its types."""
    if isinstance(value, dict):
        for key in value:
            kinds(value[key], found, f"{path}.{key}")
    elif isinstance(value, list):
        for element in value:
            kinds(element, found, path + "[]")
    else:
        found.setdefault(path, set()).add(type(value))
    return found


@pytest.fixture
def serving(sockets):
    ocular.start_tracing(perfetto=False, serve=True, quiet=True, deinstrument_threshold=50)
    for case in ("recursion", "loops"):
        pure.CASES[case]()
    time.sleep(0.1)
    yield
    ocular.stop_tracing()


def test_same_shape_everywhere(serving):
    ours = ocular.snapshot()
    printed = top("--pid", os.getpid(), "--once", "--json")
    assert printed.status == 0 and printed.err == ""
    theirs = json.loads(printed.out)
    with client.Client(ocular._ocular.socket_path()) as viewer:
        wire = viewer.snapshot()
    assert ours["functions"] and ours["threads"]
    assert shape(ours) == shape(theirs) == shape(wire)
    assert list(ours) == list(theirs) == list(wire)
    assert list(ours["functions"][0]) == list(theirs["functions"][0])


def test_same_values_everywhere(serving):
    before = ocular.snapshot()
    printed = json.loads(top("--pid", os.getpid(), "--once", "--json").out)
    with client.Client(ocular._ocular.socket_path()) as viewer:
        wire = viewer.snapshot()
    ours = ocular.snapshot()
    for snapshot in (printed, wire):
        for name in ("ackermann", "fibonacci", "sieve"):
            theirs, mine = row(snapshot, name), row(ours, name)
            for key in (
                "id name file line calls calls_exact self_cycles total_cycles "
                "min_cycles p50_cycles p99_cycles sites dark_sites state"
            ).split():
                known = mine[key]  # The JSON has fewer digits than the snapshot.
                if isinstance(known, float):
                    known = pytest.approx(known, rel=1e-9)
                assert theirs[key] == known, key
            # Between the two snapshots, Ocular can add new samples to their functions.
            assert row(before, name)["samples"] <= theirs["samples"] <= mine["samples"]
            assert theirs["age_s"] <= mine["age_s"] < theirs["age_s"] + 10
        for key in "schema version pid command python mode threshold".split():
            assert snapshot[key] == ours[key]
        assert snapshot["overhead"]["budget"] == ours["overhead"]["budget"] == 0.01


def test_documented_shape(serving):
    documented = client.schema()
    ours = ocular.snapshot()
    optional = {path.rpartition(".")[2] for path in OPTIONAL}
    for record, value in (
        ("snapshot", ours),
        ("thread", ours["threads"][0]),
        ("function", ours["functions"][0]),
    ):
        expected = {}
        for group, name, _, _ in documented[record]:
            home = expected.setdefault(group, {}) if group else expected
            home[name] = None
        found = {
            key: None
            if key in optional or not isinstance(inner, dict)
            else dict.fromkeys(inner)
            for key, inner in value.items()
        }
        assert found == expected


def test_types(serving):
    # The overhead is null until the program has used more CPU time than Ocular.
    ends = time.process_time() + 0.3
    while time.process_time() < ends:
        pure.CASES["loops"]()
    whole = {int}
    real = {float, type(None)}
    found = kinds(ocular.snapshot(), {})
    for path in ".schema .pid .threshold .events .lost .memory_bytes".split():
        assert found[path] == whole, path
    for path in ".uptime_s .tsc_hz .overhead.measured .sampler.hz".split():
        assert found[path] == {float}, path
    assert ocular.snapshot()["overhead"]["measured"] > 0
    for name in "calls sites dark_sites".split():
        assert found[f".functions[].{name}"] == whole
    # The next values are null if no call of the function was timed.
    for name in "self_cycles total_cycles waited_cycles".split():
        assert found[f".functions[].{name}"] <= whole | {type(None)}
    for name in "calls_estimated avg_cycles share calls_per_s age_s".split():
        assert found[f".functions[].{name}"] <= real
    assert found[".functions[].calls_exact"] == {bool}
    assert found[".functions[].state"] == {str}


LONG = {  # maps a long name to the name that Ocular keeps
    "a" * 4095: "a" * 4095,
    "a" * 4096: "a" * 4092 + "...",
    "b" * (1 << 20): "b" * 4092 + "...",
    "é" * (1 << 20): "é" * 2046 + "...",
    "a" + "\N{SNAKE}" * 4096: "a" + "\N{SNAKE}" * 1022 + "...",
    "\ud800" * 4096: "\\ud800" * 682 + "...",
}


def test_a_long_name_is_cut(no_turns):
    ocular.start_tracing(perfetto=False)
    before = ocular.snapshot()
    for name, kept in LONG.items():
        code = (lambda: 0).__code__.replace(co_qualname=name, co_filename="/" + name)
        types.FunctionType(code, {})()
        rows = ocular.snapshot()["functions"]
        # The comparison is not in the assert statement, because a failing assert would
        # print megabytes.
        found = [each["name"] == kept for each in rows]
        assert sum(found) == 1
    after = ocular.snapshot()
    ocular.stop_tracing()
    assert max(len(each["file"].encode()) for each in after["functions"]) == 4095
    # The names of the functions and files would take 6 MiB if they were not cut. The
    # snapshots take up to 2 MiB.
    assert after["memory_bytes"] - before["memory_bytes"] < 4 << 20


def test_a_long_name_of_a_thread_is_cut(no_turns):
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait, name="a" + "é" * 100)
    ocular.start_tracing(perfetto=False)
    thread.start()
    named = "a" + "é" * 29 + "..."
    wait_until(lambda: named in [each["name"] for each in ocular.snapshot()["threads"]])
    ended.set()
    thread.join()
    ocular.stop_tracing()


def test_head(serving):
    snapshot = ocular.snapshot()
    assert snapshot["schema"] == 1
    assert snapshot["version"] == ocular.__version__
    assert snapshot["pid"] == os.getpid()
    assert snapshot["mode"] == "adaptive" and snapshot["threshold"] == 50
    assert snapshot["python"].startswith("CPython 3.")
    assert snapshot["functions_total"] == len(snapshot["functions"])
    assert snapshot["lost"] == 0
    assert 0 < snapshot["memory_bytes"] < 100 << 20
    states = [mine["state"] for mine in snapshot["functions"]]
    assert set(states) <= {"armed", "partial", "dark"}
    dark = sum(mine["dark_sites"] for mine in snapshot["functions"])
    sites = sum(mine["sites"] for mine in snapshot["functions"])
    assert snapshot["sites"] == {"armed": sites - dark, "dark": dark}
    assert snapshot["states"] == {
        name: states.count(name) for name in ("armed", "partial", "dark")
    }
    for mine in snapshot["functions"]:
        # If all hooks are installed, the number of calls is exact.
        assert mine["calls_exact"] or mine["dark_sites"] > 0
        assert mine["state"] != "armed" or mine["dark_sites"] == 0


def test_ids_are_kept():
    ocular.start_tracing(**EXACT)
    pure.CASES["recursion"]()

    def ids(snapshot):
        """Returns the ids of the demo's functions, by name and line. Other code can have
        two functions with the same name and line."""
        mine = [r for r in snapshot["functions"] if r["file"] == pure.__file__]
        return {(r["name"], r["line"]): r["id"] for r in mine}

    first = ids(ocular.snapshot())
    pure.CASES["generators"]()
    second = ocular.stop_tracing()
    assert first and first.items() <= ids(second).items()
    assert len({r["id"] for r in second["functions"]}) == len(second["functions"])


def test_not_tracing():
    with pytest.raises(RuntimeError, match="not tracing"):
        ocular.snapshot()
    with pytest.raises(RuntimeError, match="not tracing"):
        ocular.export("x.json")
    assert ocular.stop_tracing() is None
    assert not ocular.is_tracing()


def test_stop_from_several_threads():
    results = []
    for _ in range(5):
        ocular.start_tracing(**EXACT)
        pure.CASES["recursion"]()
        in_threads(*[lambda: results.append(ocular.stop_tracing())] * 4)
        assert not ocular.is_tracing()
    # If several threads call stop_tracing() for one trace, only one gets the result.
    assert len([result for result in results if result]) == 5
    assert len(results) == 20
