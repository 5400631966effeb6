# SPDX-License-Identifier: MIT
"""Simulates a traced process, for tests of the viewer's screen."""

import os
import signal
import subprocess
import time
from pathlib import Path

from e2e.program import wait_until
from tui.emulated import BUILD, SLOW, environment

FAKE = str(BUILD / "obj" / "tests" / "tui" / "fake_server")


class Server:
    """Runs the program fake_server as a simulated traced process."""

    def __init__(self, directory, *arguments, program=FAKE):
        # The process and this reader share one position in the log, and reading moves it.
        # So the process must append.
        self.log = open(Path(directory) / f"log-{time.monotonic_ns()}", "a+")
        self.folder = Path(directory).parent / f"works-in-{time.monotonic_ns()}"
        self.folder.mkdir()
        self.process = subprocess.Popen(
            [program, *arguments],
            env=environment(directory),
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        assert self.process.stdout.readline().strip().endswith(".sock")
        self.pid = self.process.pid

    def requests(self):
        self.log.seek(0)
        return self.log.read()

    def wait_for_request(self, request):
        wait_until(lambda: request in self.requests(), SLOW, request)

    def send_snapshots(self, count=2):
        """Waits until the simulated process has made `count` more snapshots. Then all of
        these snapshots except the last have certainly been sent."""
        enough = self.requests().count("snapshot ") + count
        wait_until(lambda: self.requests().count("snapshot ") >= enough, SLOW, "snapshots")

    def finish_export(self):
        os.kill(self.pid, signal.SIGUSR1)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(SLOW) == 0

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(SLOW)
        self.process.stdin.close()
        self.process.stdout.close()
        self.log.close()
