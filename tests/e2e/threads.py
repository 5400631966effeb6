# SPDX-License-Identifier: MIT
"""Threads of Python that do something at the same time."""

import threading


def in_threads(*functions):
    """Each in one of its own, till all have returned. Nobody fails."""
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
