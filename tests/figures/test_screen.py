# SPDX-License-Identifier: MIT
"""Measures the response times and the CPU time of ocular-top."""

import os
import time
from pathlib import Path

import pytest
from tui.emulated import Top
from tui.fake import Server


@pytest.fixture
def directory(tmp_path):
    path = tmp_path / "s"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def serve(directory):
    running = []

    def begin(*arguments):
        running.append(Server(directory, *arguments))
        return running[-1]

    yield begin
    for server in running:
        server.close()


def test_first_frame(serve, directory, figure):
    server, took = serve(), []
    for _ in range(10):
        began = time.monotonic()
        viewer = Top(directory, "-p", str(server.pid))
        viewer.wait("Plan.execute")
        took.append(time.monotonic() - began)
        viewer.close()
    figure("least", 1e3 * min(took), better="lower", unit="ms")
    figure("median", 1e3 * sorted(took)[5], better="lower", unit="ms")


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ten_thousand_functions(serve, directory, figure):
    server = serve("--functions", "10000")
    top = Top(directory, "-p", str(server.pid), size=(150, 40))
    try:
        top.wait("Plan.execute")
        top.settle()
        before, began = cpu_s(top.pid), time.monotonic()
        # the kernel counts CPU time only in coarse ticks
        while time.monotonic() - began < 10:
            top.read(0.2)
        share = (cpu_s(top.pid) - before) / (time.monotonic() - began)
    finally:
        top.close()
    figure("CPU time", 100 * share, better="lower", unit="% of a core")
