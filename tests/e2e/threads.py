# SPDX-License-Identifier: MIT
"""Runs functions in threads at the same time."""

import threading
from pathlib import Path


def in_threads(*functions):
    """Runs each function in its own thread until all have returned. None may fail."""
    failed = []

    def body(function):
        try:
            function()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=body, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


class Crew:
    """Runs `threads` until the end of the block, or until go_on is False."""

    go_on = True

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.go_on = False
        for thread in self.threads:
            thread.join()

    def times(self, *others):
        """Returns, by the name of each thread, its seconds of CPU time, and the seconds for
        which it was ready to run but had no CPU."""
        return {
            thread.name: [
                int(ns) / 1e9
                for ns in Path(f"/proc/self/task/{thread.native_id}/schedstat")
                .read_text()
                .split()[:2]
            ]
            for thread in (*self.threads, *others)
        }
