# SPDX-License-Identifier: MIT
"""idle.py runs this program under callgrind. The program runs a number of rounds of another
program inside sorted(), in a process that either serves or does not serve. Only a few
modules are imported, because callgrind is slow."""

import os
import socket
import struct
import sys
import time

import ocular
import programs

PROGRAMS = {
    "call-heavy": (programs.call_heavy, 13),
    "loop-heavy": (programs.loop_heavy, 1_000),
}
HELLO = b"Oc" + struct.pack("<HIIIQI", 1, 16, 0, 1, 0, 0)


def wait_for(condition, otherwise):
    limit = time.monotonic() + 60
    while not condition():
        if time.monotonic() > limit:
            sys.exit(otherwise)
        time.sleep(0.05)


def look(function, size):
    """Connects a viewer, so that all hooks are installed, and disconnects the viewer again.
    If no call was counted, no function had hooks, and the process ends."""
    ocular._GRACE_S = 0.1
    ocular.serve(perfetto=False, deinstrument_threshold=0)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as viewer:
        viewer.connect(ocular._ocular.socket_path())
        viewer.sendall(HELLO)
        wait_for(ocular.is_tracing, "no session began")
        function(size)
        rows = ocular.snapshot()["functions"]
    if not any(row["calls"] for row in rows if row["name"] == function.__name__):
        sys.exit(f"no call of {function.__name__}() was counted")
    wait_for(lambda: not ocular.is_tracing(), "the session did not end")


def main(kind, name, rounds):
    function, size = PROGRAMS[name]
    if kind == "serving":
        ocular.serve()
    elif kind == "after a look":
        look(function, size)
    for _ in range(10):  # the code is specialised, and no hook is left
        function(size)
    sorted([0], key=lambda _: [function(size) for _ in range(int(rounds))])
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
