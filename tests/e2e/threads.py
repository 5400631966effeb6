# SPDX-License-Identifier: MIT
"""Runs functions in several threads at the same time."""

import threading


def in_threads(*functions):
    """Runs each function in its own thread until all have returned. No function may
    fail."""
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
