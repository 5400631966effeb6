# SPDX-License-Identifier: MIT
"""Measures how exact the births of objects are within the budget, and how long it takes to
find a leak of 100 objects a second among many births."""

import sys
import time

import extensions
import ocular
import pytest

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        sys.version_info < (3, 13), reason="CPython 3.12 reports no objects"
    ),
]
SECONDS = 60


class Leak:
    pass


@pytest.mark.parametrize("rate", [1000, 100_000, 700_000])
def test_objects(figure, rate):
    births = extensions.load("python", "births")
    settings = dict(quiet=True, perfetto=False, overhead_budget=0.01)
    ocular.start_tracing(events="adaptive,reference", **settings)
    kept, made, begin, found = [], 0, time.monotonic(), {}
    try:
        while (passed := time.monotonic() - begin) < SECONDS:
            kept += [Leak() for _ in range(int(100 * passed) - len(kept))]
            step = int(rate * passed) - made
            made += step
            births.make(1, step)
            time.sleep(0.002)
            for second in 6, 15, 30, 59:
                if passed > second and second not in found:
                    types = ocular.snapshot()["objects"]["types"]
                    often = next(t for t in types if t["type"] == "births.Often")
                    found[second] = 100 * (often["born_per_s"] * passed / made - 1)
                    figure(f"{rate}/{second} s", abs(found[second]), unit="%")
            if "leak" not in found and passed > found.get("look", 0) + 1:
                found["look"] = passed
                first = next(iter(ocular.snapshot()["objects"]["types"]), {})
                if first.get("grows") and first["type"].endswith(".Leak"):
                    found["leak"] = passed
    finally:
        ocular.stop_tracing()
    if sys.version_info >= (3, 13, 3):
        figure(f"{rate}/leak", found.get("leak", float("nan")), unit="s")
