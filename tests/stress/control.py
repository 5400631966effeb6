# SPDX-License-Identifier: MIT
"""Starts and stops tracing from several threads, with changing settings. At the same time,
takes snapshots and exports, and checks the snapshots and the exports."""

import os
import time

import ocular
from e2e import trace

# A thread can get these errors if another thread has just started or stopped the trace.
USUAL = ("is tracing already", "is still stopping", "is still starting", "is not tracing")
USUAL += ("no timeline is kept", "another export is running", "Operation canceled")
MOST_THREADS = 64


def usual(error):
    return any(word in str(error) for word in USUAL)


def settings(party, dice):
    """Returns random settings for start_tracing()."""
    chosen = dict(
        mode=dice.choice(("adaptive", "adaptive", "precise")),
        deinstrument_threshold=dice.choice((0, 1, 50, 500)),
        perfetto=dice.random() < 0.5,
        serve=dice.random() < 0.7,
        exclude=dice.choice((None, ["/made/3"], ["asyncio", "threading"])),
        include_only=dice.choice((None, None, ["/made/", "work"])),
        timeline_limit=1 << 20,
        quiet=True,
        output=party.folder / f"{party.fresh('trace')}.json.gz",
    )
    if (
        chosen["deinstrument_threshold"]
        and chosen["mode"] == "adaptive"
        and dice.random() < 0.3
    ):
        chosen["overhead_budget"] = dice.choice((0.001, 0.01, 0.5))
    return chosen


def switch(party, dice):
    """Starts and stops traces. Another thread can start or stop a trace at the same
    time."""
    while party.going(dice.random() * 0.05):
        chosen = settings(party, dice)
        try:
            ocular.start_tracing(**chosen)
        except RuntimeError as error:
            if not usual(error):
                party.fail(f"start_tracing: {error}")
            continue
        party.count("traces")
        party.going(dice.choice((0.0, 0.01, 0.1, 0.5, 1.0)))
        check(party, ocular.stop_tracing())
        chosen["output"].unlink(missing_ok=True)
    check(party, ocular.stop_tracing())


def look(party, dice):
    """Takes snapshots, with or without pauses."""
    while party.going(dice.choice((0.0, 0.003, 0.03))):
        try:
            check(party, ocular.snapshot())
            party.count("snapshots")
        except RuntimeError as error:
            if not usual(error):
                party.fail(f"snapshot: {error}")


def export(party, dice):
    path = party.folder / "export.json"
    while party.going(0.02):
        try:
            ocular.export(path)
        # If the end of tracing interrupts an export, export() raises OSError.
        except (RuntimeError, OSError) as error:
            if not usual(error):
                party.fail(f"export: {error}")
            continue
        party.count("exports")
        if dice.random() < 0.1:
            check_timeline(party, path)


def check(party, snapshot):
    """Checks a snapshot by rules that hold for every snapshot."""
    if snapshot is None:  # another thread has ended the trace
        return
    if snapshot["pid"] != os.getpid():
        party.fail(f"a snapshot of {snapshot['pid']}")
    for row in snapshot["functions"]:
        for name in ("calls", "self_cycles", "total_cycles", "sites"):
            value = row[name]
            # 1 << 42 cycles are more than ten minutes. A larger number comes from an
            # overflow.
            if value is not None and not 0 <= value < 1 << 42:
                party.fail(f"{name} of {row['name']} is {value}")
        for name in ("share", "cpu_share", "wait_share", "c_share"):
            # A share is a fraction of one core, so a function that runs in many threads can
            # have a share of several cores.
            if row[name] is not None and not 0 <= row[name] <= MOST_THREADS:
                party.fail(f"{name} of {row['name']} is {row[name]}")
        if row["name"].startswith("raising") and "/made/" not in (row["file"] or ""):
            party.fail(f"{row['name']} is in {row['file']}")


def check_timeline(party, path):
    try:
        trace.check(trace.load(path))
    except AssertionError as error:
        party.fail(f"a timeline: {error!r}")


PARTS = [("switch 0", switch), ("switch 1", switch), ("look", look), ("export", export)]


def wait_until_idle(seconds=10):
    limit = time.monotonic() + seconds
    while ocular.is_tracing() and time.monotonic() < limit:
        ocular.stop_tracing()
        time.sleep(0.01)
    return not ocular.is_tracing()
