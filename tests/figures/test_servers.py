# SPDX-License-Identifier: MIT
"""Ocular attaches to real web servers that nobody prepared, while real clients ask them:
what it shows beside py-spy's answer, what the clients notice, what is left."""

import collections
import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest
from e2e.program import TOP, run, wait_until

BENCHMARKS = Path(os.environ.get("OCULAR_BENCHMARKS", "")) / "bin"
HERE = Path(__file__).resolve().parent
SECONDS = 10
ROUNDS = 100

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (BENCHMARKS / "gunicorn").exists(),
        reason="`make figures` alone installs the servers",
    ),
]


class Client:
    """It asks until it is closed, and says each second how many answers it got."""

    def __init__(self, port):
        self.process = subprocess.Popen(
            [BENCHMARKS / "python", HERE / "servers.py", "client", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def now(self):
        return json.loads(self.process.stdout.readline())

    def rate(self, seconds=SECONDS):
        began, first = time.monotonic(), self.now()
        while first["s"] < began:  # it was said before
            first = self.now()
        last = first
        while last["s"] < first["s"] + seconds:
            last = self.now()
        return (last["done"] - first["done"]) / (last["s"] - first["s"])

    def close(self):
        self.process.kill()
        self.process.communicate()


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def children(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def used(pid):
    """CPU time, in ticks."""
    return sum(
        map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])
    )


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture(params=["flask", "aiohttp", "gunicorn"])
def served(request):
    """(pid of the process that answers, a client)."""
    port = free_port()
    command = [BENCHMARKS / "python", HERE / "servers.py", request.param, str(port)]
    if request.param == "gunicorn":
        command = [BENCHMARKS / "gunicorn", "--chdir", HERE, "--workers", "2"]
        command += ["--threads", "2", "--bind", f"127.0.0.1:{port}", "--log-level"]
        command += ["error", "servers:application()"]
    environment = {**os.environ, "PYTHONPATH": ""}
    server = subprocess.Popen(command, env=environment)
    try:
        wait_until(lambda: answers(port), what="the server")
        client = Client(port)
        try:
            client.rate(2)  # it has begun
            # All connections may have come to one of the workers.
            pid = max([server.pid, *children(server.pid)], key=used)
            yield pid, client
            assert client.now()["failed"] == 0
            assert server.poll() is None
        finally:
            client.close()
    finally:
        server.terminate()
        server.wait()


def of_py_spy(pid, folder):
    """{function's name: share of the samples in which it is innermost}."""
    path = folder / "py-spy.raw"
    command = [BENCHMARKS / "py-spy", "record", "--format", "raw", "--function"]
    command += ["--rate", "200", "--duration", str(SECONDS), "--output", path]
    done = run([*command, "--pid", pid])
    assert done.status == 0, done.err
    found = collections.Counter()
    for line in path.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        found[re.sub(r" \(.*", "", stack.rpartition(";")[2])] += int(count)
    total = sum(found.values())
    return {name: count / total for name, count in found.items()}


def of_ocular(pid):
    done = run([TOP, "--pid", pid, "-n", "2", "-d", "0.5", "--json"])
    assert done.status == 0, done.err
    return json.loads(done.out.splitlines()[-1])["functions"]


def plain(name):
    """As py-spy has it on each of its versions."""
    return name.rpartition(".")[2]


def among_them(shares):
    """Of the sum: a server beside busy programs has little of the machine."""
    found = {name: shares.get(name, 0) for name in ("digest", "table", "render")}
    total = sum(found.values())
    assert total > 0 and all(share > 0.02 * total for share in found.values()), shares
    return {name: share / total for name, share in found.items()}


def test_shares(served, tmp_path, figure):
    """The shares of the page's own functions in their sum. Waits are in none of them;
    py-spy takes a wait for work if it does not know that way of waiting."""
    pid, client = served
    before = client.rate()
    assert run([TOP, "--attach-only", "--pid", pid]).status == 0
    # The first viewer begins a session, and ends it 5 seconds after it has left.
    with subprocess.Popen(
        [TOP, "--pid", str(pid), "-n", "1000", "-d", "1", "--json"],
        stdout=subprocess.DEVNULL,
    ) as viewer:
        theirs = of_py_spy(pid, tmp_path)
        ours = collections.Counter()
        for row in of_ocular(pid):
            ours[plain(row["name"])] += row["run_share"] or 0
        viewer.terminate()
    ours, theirs = among_them(ours), among_them(theirs)
    off = max(abs(ours[name] - theirs[name]) for name in ours)
    figure("beside py-spy", 100 * off, unit="points")
    assert off < 0.25
    done = run([TOP, "--detach", "--pid", pid])
    assert done.status == 0, done.err
    figure("answers after / before", client.rate() / before, "higher")


def state(pid):
    """Threads' names and descriptors, but for the connections of the moment."""
    links = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(os.readlink(link))
        except OSError:
            continue
    tasks = Path(f"/proc/{pid}/task").glob("*/comm")
    names = [task.read_text().strip() for task in tasks if task.exists()]
    return [name for name in names if "ocular" in name], sorted(
        link for link in links if not link.startswith("socket:")
    )


def memory(pid):
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("\nRssAnon:")[1].split()[0])


def test_again_and_again(served, figure):
    """A hundred times while clients ask: memory and time for one round."""
    pid, _ = served

    def once():
        for what in ("--attach-only", "--detach"):
            done = run([TOP, what, "--pid", pid])
            assert done.status == 0, (what, done.err)

    once()
    before, size, began = state(pid), memory(pid), time.monotonic()
    for _ in range(ROUNDS):
        once()
    figure("a round", (time.monotonic() - began) / ROUNDS * 1e3, unit="ms")
    wait_until(lambda: state(pid) == before, what=f"{state(pid)} is {before}")
    figure("memory", (memory(pid) - size) / 1024, unit="MiB")
    assert memory(pid) < size + 8192
