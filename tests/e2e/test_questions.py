# SPDX-License-Identifier: MIT
"""Asks the questions of docs/questions.md about programs with a known answer, with the keys
that the document gives."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.program import PYTHON, TOP, Running

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not os.path.exists(TOP), reason="not built"),
]
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "questions.md"


def keys_of(question):
    section = DOCUMENT.read_text().split(f"\n## {question}\n")[1].split("\n## ")[0]
    return re.search(r"ocular-top -p PID --keys '(.*)'", section)[1]


def screen(pid, keys):
    done = subprocess.run(
        [TOP, "-p", str(pid), "--once", "--size", "150x40", "--keys", keys],
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LEAK = """
import asyncio, os, ocular, sys, time

async def leaks(event):
    await event.wait()

async def works():
    await asyncio.sleep(0.01)

async def main():
    event, begun, tasks = asyncio.Event(), time.monotonic(), []
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    loop.add_reader(0, ended.set_result, None)
    print(os.getpid(), flush=True)
    while not ended.done():
        while len(tasks) < 30 * (time.monotonic() - begun):
            tasks.append(asyncio.create_task(leaks(event)))
        await asyncio.gather(*(works() for _ in range(50)))
    loop.remove_reader(0)
    event.set()

ocular.start_tracing(serve=True, quiet=True, perfetto=False)
asyncio.run(main())
"""


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="other lists of tasks")
def test_what_leaks(tmp_path):
    with Running(tmp_path, LEAK, (PYTHON,)) as program:
        drawn = screen(program.pid, keys_of("What leaks?") + "<Frame:9>")
    found = re.search(r"OLDEST .*\n▸ +\d+ +\+(\S+) +\S+ +leaks +Event.wait:\d+ ", drawn)
    assert found, drawn
    growth = float(found[1].replace("k", "e3"))
    assert abs(growth - 1800) < 180, drawn
