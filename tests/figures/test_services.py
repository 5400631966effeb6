# SPDX-License-Identifier: MIT
"""Real services, traced from their start with a viewer and a budget of 1 %, beside what
they have counted: whether their handlers have rates, and what that costs."""

import contextlib
import json
import os
import subprocess
import time
import urllib.request

import pytest
from e2e.program import TOP, wait_until
from figures.test_servers import BENCHMARKS, HERE, answers, children, free_port

HANDLERS = "get_item", "list_items", "page", "slow", "render", "to_item"
BEFORE, SECONDS = 30, 30  # s until it is looked at, and for how long
ITSELF = "services.py"
COMMANDS = {
    "fastapi": "-m uvicorn --port {port} --log-level warning services:fastapi",
    "django": "-m gunicorn --workers 1 --threads 4 --bind 127.0.0.1:{port} "
    "--log-level error services:django",
    "aiohttp": ITSELF + " aiohttp {port}",
    "celery": "-m celery --app services:celery worker --pool solo --loglevel error",
}

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (BENCHMARKS / "celery").exists(), reason="`make figures` alone installs it"
    ),
]


def truth(port):
    return json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/truth"))


@contextlib.contextmanager
def ended(process):
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def serve(kind, port, rate):
    command = [BENCHMARKS / "python", "-m", "ocular", "--serve", "--no-perfetto"]
    command += COMMANDS[kind].format(port=port).split()
    environment = {**os.environ, "PORT": str(port), "RATE": str(rate)}
    out = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, cwd=HERE, stdout=out, stderr=out)


def ask(kind, port, rate):
    """Celery's tasks come from a thread of the service."""
    if kind == "celery":
        return contextlib.nullcontext()
    command = [BENCHMARKS / "python", HERE / ITSELF, "client", str(port), str(rate)]
    return ended(subprocess.Popen(command, stderr=subprocess.DEVNULL))


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


def handlers(snapshots, name):
    """Its own rows: not the tasks that celery has made of a function."""
    return [
        row
        for snapshot in snapshots
        for row in snapshot["functions"]
        if row["name"].rpartition(".")[2] == name and row["file"].endswith(ITSELF)
    ]


def middle(values):
    return sorted(values)[len(values) // 2]


@pytest.mark.parametrize("rate", [40, 100, 240])  # FastAPI: some 10, 25, 60 % of a core
@pytest.mark.parametrize("kind", COMMANDS)
def test_services(kind, rate, figure):
    port = free_port()
    with ended(serve(kind, port, rate)) as server:
        wait_until(lambda: answers(port), what="the service")
        with ask(kind, port, rate):
            pid = max([server.pid, *children(server.pid)])
            snapshots, first, last = watch(pid, port)
    seconds = last["s"] - first["s"]
    shown, off = [], []
    for name in HANDLERS:
        true = (last["counts"][name] - first["counts"][name]) / seconds
        rows = handlers(snapshots, name)
        known = [row for row in rows if row["calls_per_s"] is not None]
        shown.append(len(known) / len(snapshots))
        if known:
            ratio = sum(row["calls_per_s"] for row in known) / len(known) / true
            figure(f"{name}, shown of true", ratio, "nearer", goal=1)
            off.append(abs(rows[-1]["calls_estimated"] / last["counts"][name] - 1))
    functions = [row for row in snapshots[-1]["functions"] if row["calls"] > BEFORE]
    known = sum(row["calls_per_s"] is not None for row in functions) / len(functions)
    overhead = [snapshot["overhead"]["measured"] for snapshot in snapshots]
    allowed = [snapshot["overhead"]["allowed"] for snapshot in snapshots]
    used = (last["cpu_s"] - first["cpu_s"]) / seconds
    watched = snapshots[-1]["uptime_s"] - snapshots[0]["uptime_s"]
    taken = snapshots[-1]["sampler"]["samples"] - snapshots[0]["sampler"]["samples"]
    figure("cores", used, "higher")
    figure("handlers with a rate", 100 * min(shown), "higher", unit="%")
    figure("handlers' calls are off by", 100 * max(off), unit="%")
    figure("functions with a rate", 100 * known, "higher", unit="%")
    figure("overhead", 100 * middle(overhead), unit="%")
    figure("of what is allowed", middle(overhead) / middle(allowed))
    figure("samples a CPU second", taken / used / watched, "higher")
