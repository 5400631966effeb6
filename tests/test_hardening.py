# SPDX-License-Identifier: MIT
"""The binaries have the hardening that distributions require. The tests use readelf and
objdump. In a hook that only writes a hit, hardening costs at most one instruction."""

import platform
import re
import shutil
import subprocess

import pytest
from e2e.program import TOP
from ocular import _ocular

EXTENSION = _ocular.__file__
FILES = {"viewer": TOP, "extension": EXTENSION}
X86 = platform.machine() == "x86_64"

pytestmark = pytest.mark.skipif(
    not (shutil.which("readelf") and shutil.which("objdump")), reason="there is no binutils"
)


def said(*command):
    return subprocess.run(
        list(map(str, command)), check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture(params=FILES)
def file(request):
    return FILES[request.param]


def test_relocations_are_read_only_and_bound_at_start(file):
    segments = said("readelf", "-lW", file)
    assert "GNU_RELRO" in segments
    # The stack has the flags RW without E, so it is not executable.
    assert re.search(r"GNU_STACK .* RW +0x", segments)
    dynamic = said("readelf", "-dW", file)
    assert re.search(r"FLAGS_1.*\bNOW\b", dynamic)
    assert "TEXTREL" not in dynamic


def test_the_viewer_is_position_independent():
    assert re.search(r"FLAGS_1.*\bPIE\b", said("readelf", "-dW", TOP))


def test_stack_protector_and_fortify(file):
    wanted = set(re.findall(r" UND (\w+)", said("readelf", "--dyn-syms", "-W", file)))
    assert "__stack_chk_fail" in wanted
    assert "__snprintf_chk" in wanted


def functions(file):
    """Returns {name of a function: its instructions}."""
    found = {}
    for line in said("objdump", "-d", "--no-show-raw-insn", file).splitlines():
        if begin := re.fullmatch(r"[0-9a-f]+ <(\w+)>:", line):
            body = found.setdefault(begin[1], [])
        elif line.startswith(" "):
            body.append(line.split("\t")[-1])
    return found


@pytest.mark.skipif(not X86, reason="x86-64's instructions")
def test_the_hot_path_has_no_canary():
    found = functions(EXTENSION)
    hot = {name: body for name, body in found.items() if re.fullmatch(r"on_\w+_fast", name)}
    assert len(hot) >= 7
    for name, body in hot.items():
        text = "\n".join(body)
        assert "%fs:0x28" not in text and "_chk" not in text, name
        assert text.count("endbr64") == 1 and "endbr64" in body[0], name
    # The check of the stack must be in other functions, so that the test can fail.
    assert sum("%fs:0x28" in "\n".join(body) for body in found.values()) > 100
