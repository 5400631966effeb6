# SPDX-License-Identifier: MIT
"""Run by idle.py under callgrind: so many rounds of a program inside sorted(), in a
process that serves or does not. Imports little, for callgrind is slow."""

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


def look(function, size):
    """A viewer comes, has every hook in its place, and leaves again."""
    ocular._GRACE_S = 0.1
    ocular.serve(perfetto=False, deinstrument_threshold=0)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as viewer:
        viewer.connect(ocular._ocular.socket_path())
        viewer.sendall(HELLO)
        while not ocular.is_tracing():
            time.sleep(0.05)
        function(size)
    while ocular.is_tracing():
        time.sleep(0.05)


def main(kind, name, rounds):
    function, size = PROGRAMS[name]
    if kind == "serving":
        ocular.serve()
    elif kind == "after a look":
        look(function, size)
    for _ in range(10):  # specialised, and without a trace of hooks
        function(size)
    sorted([0], key=lambda _: [function(size) for _ in range(int(rounds))])
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
