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
from pathlib import Path

import pytest
from e2e.program import TOP, wait_until
from figures.services import truth

BENCHMARKS = Path(os.environ.get("OCULAR_BENCHMARKS", "")) / "bin"
HERE = Path(__file__).resolve().parent
HANDLERS = "get_item", "list_items", "page", "slow", "render", "to_item"
# seconds before the service is observed, and seconds for which it is observed
BEFORE, SECONDS = 30, 30
# A function with at least this share of a core must have a call rate. A function with this
# share is found by one sample in 30 s.
LEAST = 3e-4
ITSELF = "services.py"
COMMANDS = {
    "django": "-m gunicorn --workers {workers} --threads 4 --bind 127.0.0.1:{port} "
    "--log-level critical services:django",
    "django-sync": "-m gunicorn --workers 3 --bind 127.0.0.1:{port} "
    "--log-level critical services:django",
    "celery": "-m celery --app services:celery worker --loglevel critical {pool}",
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


def cpu_s(pid):
    """Returns the CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


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


class Service:
    """A service and its client, each of which is a process. Celery needs no client, because
    a thread of the service sends the tasks."""

    def __init__(self, kind, folder, rate, mix="work", traced=TRACED, seed=()):
        self.folder, self.port, self.kind = folder, free_port(), kind
        folder.mkdir()
        self.settings = {"TRUTH": str(folder), "RATE": str(rate), "MIX": mix}
        parts = {"work": ("--pool solo", 1), "faults": ("--concurrency 2", 2)}[mix]
        words = COMMANDS.get(kind, f"{ITSELF} {kind} {{port}}")
        words = words.format(port=self.port, pool=parts[0], workers=parts[1])
        self.parts = contextlib.ExitStack()
        self.server = self.start(*traced, *words.split())
        self.pid = self.server.pid
        try:
            wait_until(lambda: kind == "celery" or answers(self.port), what="the service")
            if kind == "django" and mix == "work":  # the only worker answers
                self.pid = wait_until(lambda: max(children(self.pid), default=None))
            self.client = contextlib.ExitStack()
            if kind != "celery":
                words = ITSELF, "client", kind, str(self.port), *map(str, seed)
                self.client.enter_context(ended(self.start(*words)))
            self.parts.enter_context(self.client)
        except BaseException:
            self.parts.close()
            raise

    def start(self, *words):
        out, environment = subprocess.DEVNULL, {**os.environ, **self.settings}
        command = [BENCHMARKS / "python", *words]
        process = subprocess.Popen(
            command, env=environment, cwd=HERE, stdout=out, stderr=out
        )
        return self.parts.enter_context(ended(process))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.parts.close()

    def counts(self):
        return truth(self.folder)[0]

    def now(self):
        """Returns the true counts, the CPU seconds and the time."""
        return {"counts": self.counts(), "cpu_s": cpu_s(self.pid), "s": time.monotonic()}

    def watch(self, seconds):
        """Observes the service with a viewer. Returns its snapshots."""
        command = [TOP, "--pid", str(self.pid), "--batch", "--json"]
        with ended(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) as viewer:
            end, snapshots = time.monotonic() + seconds, []
            while time.monotonic() < end:
                snapshots.append(json.loads(viewer.stdout.readline()))
            return snapshots


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
@pytest.mark.parametrize("kind", ["fastapi", "uvloop", "django", "aiohttp", "celery"])
def test_services(kind, rate, figure, tmp_path):
    with Service(kind, tmp_path / "truth", rate) as service:
        service.watch(BEFORE)
        first = service.now()
        snapshots, last = service.watch(SECONDS), service.now()
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


def calls_of(snapshot):
    return {
        (row["name"], row["file"], row["line"]): row["calls"]
        for row in snapshot["functions"]
        if row["calls"]
    }


@pytest.mark.parametrize("rate", [100, 240])
def test_rates_of_all_functions(rate, figure, tmp_path):
    """Compares the rates of all functions of a service, most of them of libraries, with
    their calls per request in a run in which all calls are counted."""
    exact = [*TRACED, "--threshold", "0"]
    with Service("fastapi", tmp_path / "exact", rate, "work", exact) as service:
        service.watch(8)
        first, begin = calls_of(service.watch(2)[-1]), service.now()
        last, end = calls_of(service.watch(20)[-1]), service.now()
        asked = requests(begin, end)
        per_request = {key: (last[key] - first.get(key, 0)) / asked for key in last}
    with Service("fastapi", tmp_path / "traced", rate) as service:
        service.watch(2 * BEFORE)
        begin = service.now()
        snapshots, end = service.watch(SECONDS), service.now()
    a_second, ratios, beyond = requests(begin, end) / (end["s"] - begin["s"]), [], 0
    for row in snapshots[-1]["functions"]:
        true = per_request.get((row["name"], row["file"], row["line"]), 0) * a_second
        if true >= 5:
            ratios.append((row["calls_per_s"] or 0) / true)
            error = row["calls_per_s_error"] or 0
            beyond += abs(ratios[-1] - 1) > max(0.15, 2 * error / true)
    ratios.sort()
    for part in 10, 50, 90:
        ratio = ratios[len(ratios) * part // 100]
        figure(f"ratio of {part} % of the functions", ratio, "nearer", goal=1)
    figure("functions off by more than 15 % and twice their stated error", beyond)
    figure("functions", len(ratios), "higher")


def test_overhead_as_measured(figure, tmp_path):
    """Measures the CPU time per request of two services at the same time. One of the
    services is traced. Both services get the same requests."""
    ratios, reported = [], []
    for seed in range(2):
        with contextlib.ExitStack() as stack:
            plain, traced = (
                stack.enter_context(
                    Service("fastapi", tmp_path / f"{seed}{how}", 100, "work", how, [seed])
                )
                for how in ([], TRACED)
            )
            time.sleep(BEFORE)
            for _ in range(6):
                before = plain.now(), traced.now()
                snapshots = traced.watch(20)
                after = plain.now(), traced.now()
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
    return sum(new["counts"][n] - old["counts"][n] for n in names)
