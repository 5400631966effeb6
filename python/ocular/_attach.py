# SPDX-License-Identifier: MIT
"""Runs in the attached program, on a thread of its own, when `ocular attach` or `ocular
detach` is called (tui/attach/script.c). The process that attaches reports the errors, and
the attached program prints nothing."""

import ocular
from ocular import _ocular


def begin():
    """Lets viewers connect until end(). The program is traced only while a viewer is
    connected."""
    with ocular._Shared.lock:
        if ocular.is_tracing() or _ocular.is_serving():
            raise RuntimeError("Ocular traces or serves this program already")
        ocular.serve()
        ocular._kept["attached"] = True


def end():
    """Undoes begin(). Stops serving, so that no thread, hook, socket or timer of Ocular is
    left. Does nothing if the program no longer serves."""
    with ocular._Shared.lock:
        if ocular.is_tracing() and not _ocular.is_armed():
            raise RuntimeError(
                "the program itself is tracing (start_tracing), which ends by its own "
                "stop_tracing()"
            )
        if _ocular.is_serving() and not ocular._kept.get("attached"):
            raise RuntimeError(
                "nobody attached to this program: it serves by its own request, until "
                "ocular.stop_serving() or its end"
            )
        ocular.stop_serving()
        ocular._kept["attached"] = False
