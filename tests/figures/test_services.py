# SPDX-License-Identifier: MIT
"""Traces real services from their start, with a viewer and a budget of 1 %. The results are
compared with the calls that the services themselves have counted. The tests measure whether
there are rates for the services' request handlers, and what tracing costs."""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from e2e.program import TOP, wait_until

BENCHMARKS = Path(os.environ.get("OCULAR_BENCHMARKS", "")) / "bin"
HERE = Path(__file__).resolve().parent
HANDLERS = "get_item", "list_items", "page", "slow", "render", "to_item"
# seconds before the service is observed, and seconds for which it is observed
BEFORE, SECONDS = 30, 30
# A function with at least this share of a core must have a call rate. The share is one
# sample in a window of 30 s.
LEAST = 3e-4
ITSELF = "services.py"
UVICORN = "-m uvicorn --port {port} --log-level warning --loop %s services:fastapi"
COMMANDS = {
    "fastapi": UVICORN % "asyncio",
    "uvloop": UVICORN % "uvloop",
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


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def children(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def worker(kind, server, port):
    """Returns the process that answers requests. gunicorn listens already before it forks
    its worker."""
    wait_until(lambda: answers(port), what="the service")
    if kind != "django":
        return server.pid
    return wait_until(lambda: max(children(server.pid), default=None), what="the worker")


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


TRACED = ["-m", "ocular", "--serve", "--no-perfetto"]


def serve(kind, port, rate, traced=TRACED):
    command = [BENCHMARKS / "python", *traced]
    command += COMMANDS[kind].format(port=port).split()
    environment = {**os.environ, "PORT": str(port), "RATE": str(rate)}
    out = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, cwd=HERE, stdout=out, stderr=out)


def ask(kind, port, rate, out=subprocess.DEVNULL, seed=()):
    """Starts the client that sends requests to a service. Celery needs no client, because a
    thread of the service sends the tasks."""
    if kind == "celery":
        return contextlib.nullcontext()
    command = [BENCHMARKS / "python", HERE / ITSELF, "client", str(port), str(rate)]
    command += map(str, seed)
    return ended(subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL))


def watch(pid, port):
    """Observes the service for SECONDS seconds. Returns (snapshots, true counts before,
    true counts after)."""
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
    """Returns the rows of the service's own functions. The tasks that celery has made from
    these functions are left out."""
    return [
        row
        for snapshot in snapshots
        for row in snapshot["functions"]
        if row["name"].rpartition(".")[2] == name and row["file"].endswith(ITSELF)
    ]


def middle(values):
    return sorted(values)[len(values) // 2]


# These rates of requests use about 10, 25 and 60 % of a core with FastAPI.
@pytest.mark.parametrize("rate", [40, 100, 240])
@pytest.mark.parametrize("kind", COMMANDS)
def test_services(kind, rate, figure):
    port = free_port()
    with ended(serve(kind, port, rate)) as server:
        pid = worker(kind, server, port)
        with ask(kind, port, rate):
            snapshots, first, last = watch(pid, port)
    seconds = last["s"] - first["s"]
    shown, off, beyond = [], [], []
    for name in HANDLERS:
        true = (last["counts"][name] - first["counts"][name]) / seconds
        rows = handlers(snapshots, name)
        known = [row for row in rows if row["calls_per_s"] is not None]
        shown.append(len(known) / len(snapshots))
        if known:
            ratio = sum(row["calls_per_s"] for row in known) / len(known) / true
            figure(f"{name}, shown of true", ratio, "nearer", goal=1)
            off.append(abs(rows[-1]["calls_estimated"] / last["counts"][name] - 1))
            stated = max((row["calls_per_s_error"] or 0) / true for row in known)
            beyond.append(abs(ratio - 1) > max(0.15, 2 * stated))
    # If a function was counted or sampled, it has been called. A function without a rate
    # has few counted calls, so counted calls alone would not show that its rate is missing.
    found = snapshots[len(snapshots) // 2]["functions"]
    functions = [
        row for row in found if row["calls"] > BEFORE or (row["share"] or 0) > LEAST
    ]
    known = sum(row["calls_per_s"] is not None for row in functions) / len(functions)
    overhead = [snapshot["overhead"]["measured"] for snapshot in snapshots]
    allowed = [snapshot["overhead"]["allowed"] for snapshot in snapshots]
    used = (last["cpu_s"] - first["cpu_s"]) / seconds
    watched = snapshots[-1]["uptime_s"] - snapshots[0]["uptime_s"]
    taken = snapshots[-1]["sampler"]["samples"] - snapshots[0]["sampler"]["samples"]
    figure("cores", used, "higher")
    figure("handlers with a rate", 100 * min(shown), "higher", unit="%")
    figure("handlers' calls are off by", 100 * max(off), unit="%")
    figure("handlers off by more than 15 % and twice their stated error", sum(beyond))
    figure("functions with a rate", 100 * known, "higher", unit="%")
    figure("overhead", 100 * middle(overhead), unit="%")
    figure("of what is allowed", middle(overhead) / middle(allowed))
    figure("samples a CPU second", taken / used / watched, "higher")


def test_overhead_as_measured(figure):
    """Measures the CPU time per request of two services at the same time. One of the
    services is traced. Both services get the same requests."""
    ratios, reported = [], []
    for seed in range(2):
        with contextlib.ExitStack() as stack:
            sides = []
            for traced in (TRACED, []) if seed % 2 else ([], TRACED):
                port = free_port()
                server = stack.enter_context(ended(serve("fastapi", port, 100, traced)))
                wait_until(lambda port=port: answers(port), what="the service")
                stack.enter_context(ask("fastapi", port, 100, seed=[seed]))
                sides.append((bool(traced), port, server.pid))
            (_, plain, _), (_, port, pid) = sorted(sides)
            time.sleep(BEFORE)
            for _ in range(6):
                before = truth(plain), truth(port)
                snapshots = look(pid, 20)
                after = truth(plain), truth(port)
                a, b = (
                    (new["cpu_s"] - old["cpu_s"]) / requests(old, new)
                    for old, new in zip(before, after)
                )
                ratios.append(b / a)
                reported.append(middle([s["overhead"]["measured"] for s in snapshots]))
    figure("measured", 100 * (middle(ratios) - 1), unit="%")
    figure("reported", 100 * middle(reported), unit="%")
    error = statistics.stdev(ratios) / len(ratios) ** 0.5
    figure("standard error of the measured one", 100 * error, unit="%")


def requests(old, new):
    names = "get_item", "list_items", "page", "slow"
    return sum(new["counts"].get(n, 0) - old["counts"].get(n, 0) for n in names)


def look(pid, seconds):
    command = [TOP, "--pid", str(pid), "--batch", "--json"]
    with ended(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) as viewer:
        end, snapshots = time.monotonic() + seconds, []
        while time.monotonic() < end:
            snapshots.append(json.loads(viewer.stdout.readline()))
        return snapshots
