# SPDX-License-Identifier: MIT
"""Makes writes to the disk fail, as if the disk's server were lost. The programs in
test_killed.py import this module."""

import ctypes
import os
import struct

# numbers of the system calls pwrite64 and seccomp
NUMBERS = {"x86_64": (18, 317), "aarch64": (67, 277)}
NO_NEW_PRIVILEGES, SET_FILTER, ALL_THREADS = 38, 1, 1
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000


def fail(error):
    """Installs a seccomp filter for system calls. From then on, pwrite() fails with this
    errno on all threads."""
    pwrite, seccomp = NUMBERS[os.uname().machine]
    rules = (
        (LOAD, 0, 0, 0),
        (IF_EQUAL, 0, 1, pwrite),
        (RETURN, 0, 0, FAIL | error),
        (RETURN, 0, 0, ALLOW),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *r) for r in rules))
    program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(code))
    libc = ctypes.CDLL(None)
    assert libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    assert libc.syscall(seccomp, SET_FILTER, ALL_THREADS, program) == 0
