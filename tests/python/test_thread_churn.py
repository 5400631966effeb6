# SPDX-License-Identifier: MIT
"""Threads that come and go by the thousand: what the dead leave behind does not
push the newest events out of the flight recorder."""

import json
import threading

import ocular
from e2e.counting import memory_bytes, row
from e2e.program import SLOW, wait_until

LIMIT = 1 << 20  # the least there is


def leaf():
    return 1


lived = []  # thread ids, in turn


def lives():
    lived.append(threading.get_native_id())
    for _ in range(40):
        leaf()


def churn(count):
    for _ in range(count):
        thread = threading.Thread(target=lives)
        thread.start()
        thread.join()


def exported(path):
    ocular.export(str(path))
    return json.loads(path.read_text())


def test_short_threads_leave_room(tmp_path):
    ocular.start_tracing(
        timeline_limit=LIMIT,
        timeline_spill=False,
        deinstrument_threshold=0,
        include_only=["test_thread_churn.py"],
        output=str(tmp_path / "at_stop.json"),
        quiet=True,
    )
    try:
        churn(200)
        before = memory_bytes()
        churn(1200)
        # The recorder is full by now, and all else is as it was, once the ring
        # of a thread that has just been joined is gone.
        most = before + LIMIT + (200 << 10)
        wait_until(lambda: memory_bytes() < most, SLOW)
        snapshot = ocular.snapshot()
        trace = exported(tmp_path / "now.json")
    finally:
        ocular.stop_tracing()
    assert row(snapshot, "lives")["calls"] == 1400
    events = trace["traceEvents"]
    begun = {}
    for event in events:
        if event["ph"] == "B":
            begun.setdefault(event["tid"], []).append(event)
    named = {e["tid"] for e in events if e.get("name") == "thread_name"}
    # Threads whose events are there have their names, and only they. (Of our own
    # thread a mark may be all that is left; of others, their samples.)
    seen = {e["tid"] for e in events if e["ph"] not in "MP"}
    assert named == seen, [e for e in events if e["tid"] in named ^ seen]
    # 122 events of 16 bytes, and less than 450 bytes for each thread. A quarter is
    # for our own threads' counters and samples, which go by CPU time: a busy
    # machine needs more of it for as many threads.
    assert len(begun) > LIMIT * 3 / 4 / (122 * 16 + 450)
    other = trace["otherData"]
    assert other["lost_events"] == 0
    assert other["forgotten_events"] > 0
    # The newest are there, without a gap, and nothing after them is missing.
    threads = [tid for tid in lived if tid in begun]
    assert threads == lived[-len(threads) :]
    newest = max(e["ts"] for e in events if e["ph"] == "B")
    assert other["covered_to_us"] >= newest
