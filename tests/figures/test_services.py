# SPDX-License-Identifier: MIT
"""A real service, traced from its start with a viewer and a budget of 1 %, beside what it
has counted itself: whether its handlers have their rates, and what it costs."""

import contextlib
import json
import os
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from e2e.program import TOP, wait_until
from figures.test_servers import BENCHMARKS, HERE, answers, free_port

HANDLERS = "get_item", "list_items", "page", "slow", "render", "to_item"
BEFORE, SECONDS = 30, 30  # s until it is looked at, and for how long

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (BENCHMARKS / "uvicorn").exists(), reason="`make figures` alone installs it"
    ),
]


def truth(port):
    return json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/truth"))


@contextlib.contextmanager
def ended(process):
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def serve(port):
    ours = str(Path(os.environ["PYTHONPATH"]))
    command = [BENCHMARKS / "python", "-m", "ocular", "--serve", "--no-perfetto", "-m"]
    command += ["uvicorn", "--port", str(port), "--log-level", "warning", "services:app"]
    environment = {**os.environ, "PYTHONPATH": ours}
    return subprocess.Popen(command, env=environment, cwd=HERE, stderr=subprocess.DEVNULL)


def watch(pid, port):
    """(snapshots, the truth before, the truth after) of SECONDS."""
    command = [TOP, "--pid", str(pid), "--batch", "--json"]
    with ended(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) as viewer:
        begin = time.monotonic() + BEFORE
        while time.monotonic() < begin:
            viewer.stdout.readline()
        first, snapshots = truth(port), []
        while time.monotonic() < begin + SECONDS:
            snapshots.append(json.loads(viewer.stdout.readline()))
        return snapshots, first, truth(port)


def rates(snapshots, name):
    return [
        row["calls_per_s"]
        for snapshot in snapshots
        for row in snapshot["functions"]
        if row["name"].endswith(f"service.<locals>.{name}")
    ]


def middle(values):
    return sorted(values)[len(values) // 2]


@pytest.mark.parametrize("rate", [40, 100, 240])  # some 10, 25 and 60 % of a core
def test_fastapi(rate, figure):
    port = free_port()
    with ended(serve(port)) as server:
        wait_until(lambda: answers(port), what="the service")
        command = [BENCHMARKS / "python", HERE / "services.py", str(port), str(rate)]
        with ended(subprocess.Popen(command)):
            snapshots, first, last = watch(server.pid, port)
    seconds = last["s"] - first["s"]
    shown = []
    for name in HANDLERS:
        true = (last["counts"][name] - first["counts"][name]) / seconds
        known = [rate for rate in rates(snapshots, name) if rate is not None]
        shown.append(len(known) / len(snapshots))
        if known:
            figure(f"{name}, shown of true", middle(known) / true, "nearer", goal=1)
    functions = [row for row in snapshots[-1]["functions"] if row["calls"] > BEFORE]
    known = sum(row["calls_per_s"] is not None for row in functions) / len(functions)
    overhead = [snapshot["overhead"]["measured"] for snapshot in snapshots]
    allowed = [snapshot["overhead"]["allowed"] for snapshot in snapshots]
    used = (last["cpu_s"] - first["cpu_s"]) / seconds
    samples = [snapshots[n]["sampler"]["hz"] for n in (0, -1)]
    figure("cores", used, "higher")
    figure("handlers with a rate", 100 * min(shown), "higher", unit="%")
    figure("functions with a rate", 100 * known, "higher", unit="%")
    figure("overhead", 100 * middle(overhead), unit="%")
    figure("of what is allowed", middle(overhead) / middle(allowed))
    figure("samples a CPU second", middle(samples), "higher")
