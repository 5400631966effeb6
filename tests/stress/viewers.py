# SPDX-License-Identifier: MIT
"""Runs the real ocular-top, and a client of the protocol. This client sends every kind of
request, and disconnects at bad moments."""

import json
import os
import struct
import subprocess
import time

from e2e import client

TOP = os.environ["OCULAR_TOP"]


def look_once(party, *_):
    done = subprocess.run(
        [TOP, "--pid", str(party.pid), "--once", "--json", "-d", "0.2"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    if done.returncode == 0 and done.stdout:
        snapshot = json.loads(done.stdout)
        if snapshot["pid"] != party.pid:
            party.fail(f"ocular-top showed {snapshot['pid']}")
        party.count("ocular-top answered")
    elif done.returncode != 1 or not done.stderr:
        party.fail(f"ocular-top: {done}")
    party.count("ocular-top runs")


def top(party, dice):
    """Runs ocular-top --once --json, as a person could do."""
    while party.going(0.3):
        look_once(party)


def talk(party, dice):
    """Opens one connection after the other. On each connection it does one random thing."""
    path = f"{os.environ['OCULAR_DIR']}/{party.pid}.sock"
    while party.going(0.005):
        try:
            with client.Client(path, timeout=2) as viewer:
                dice.choice(WHIMS)(party, viewer, dice)
            party.count("connections")
        except (OSError, client.Ended, client.Refused, AssertionError):
            # No process serves now, or the server has ended.
            party.going(0.02)


def reads_for_a_while(party, viewer, dice):
    viewer.rate(party.rate)
    for _ in range(dice.randrange(10)):
        viewer.snapshot()
        party.count("snapshots received")


def asks_for_hooks(party, viewer, dice):
    snapshot = viewer.snapshot()
    ids = [row["id"] for row in snapshot["functions"]] + [0, 1 << 40]
    for _ in range(dice.randrange(1, 30)):
        try:
            request = dice.choice((client.REARM, client.LATENCIES))
            viewer.ask(request, struct.pack("<Q", dice.choice(ids)))
            party.count("requests for functions granted")
        except client.Refused:
            party.count("requests for functions refused")


def asks_for_details(party, viewer, dice):
    snapshot = viewer.snapshot()
    ids = [row["id"] for row in snapshot["functions"][:10]] + [0]
    for _ in range(dice.randrange(1, 5)):
        if dice.random() < 0.3:  # the next request replaces this one
            viewer.send(client.DETAIL, struct.pack("<Q", dice.choice(ids)), 1)
        try:
            listing = viewer.detail(dice.choice(ids))
            assert listing["rows"]
            party.count("listings")
        except client.Refused:
            party.count("listings refused")


def asks_for_stacks(party, viewer, dice):
    for _ in range(dice.randrange(1, 10)):
        viewer.ask(client.FLAME)
        party.going(0.05)
        party.count("stacks received")


def asks_for_a_timeline(party, viewer, dice):
    if dice.random() < 0.5:
        viewer.export(party.folder / f"viewer-{viewer.socket.fileno()}.json")
        party.count("exports for a viewer")
    else:  # the viewer disconnects before the recording arrives
        kind = dice.choice((client.TIMELINE, client.SAMPLED))
        viewer.send(client.HANDOUT, struct.pack("<Q", kind), 1)


def vanishes_in_a_frame(party, viewer, dice):
    head = client.MAGIC + struct.pack("<HII", client.REARM, 8, 1)
    viewer.socket.sendall(head[: dice.randrange(1, len(head))])


def never_reads(party, viewer, dice):
    for number in range(300):
        viewer.send(client.REARM, struct.pack("<Q", 0), number)
    limit = time.monotonic() + 0.3
    while party.going(0.02) and time.monotonic() < limit:
        pass


WHIMS = [reads_for_a_while, asks_for_hooks, asks_for_details, asks_for_stacks]
WHIMS += [asks_for_a_timeline, vanishes_in_a_frame, never_reads]

PARTS = [("top", top), ("talk 0", talk), ("talk 1", talk)]
