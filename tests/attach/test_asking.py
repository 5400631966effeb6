# SPDX-License-Identifier: MIT
"""If ocular-top --pid names a program that does not serve, ocular-top on a terminal asks
before it attaches."""

import os

import pytest
from attach.programs import WORKS, Program
from tui.emulated import Top


@pytest.mark.parametrize("answer", ["y", "n"])
def test_it_asks(tmp_path, sockets, answer):
    with Program(tmp_path, WORKS) as program:
        before = program.state()
        top = Top(sockets, "--pid", str(program.pid))
        try:
            top.wait(r"Attach to it, until you leave\? \[y/N\]")
            top.press(answer, "\n")
            if answer == "y":
                top.wait("busy")
                top.press("q")
                assert top.wait_gone() == 0
            else:
                top.wait("attach to it as it runs")
                assert os.waitstatus_to_exitcode(top.wait_gone()) == 1
        finally:
            top.close()
        program.is_again(before)
        assert program.end()[1] == ""
