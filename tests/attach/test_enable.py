# SPDX-License-Identifier: MIT
"""Tests `ocular enable`, `disable` and `status`. In an enabled environment, every Python
program lets viewers connect."""

import os
from pathlib import Path

import pytest
from attach.programs import WORKS, Program
from e2e.program import run, top


def test_an_environment_is_enabled(tmp_path, environment):
    done = run([environment, "-m", "ocular", "status"])
    assert done.status == 0 and "enabled for this environment: no\n" in done.out
    done = run([environment, "-m", "ocular", "enable"])
    assert done.status == 0, done.err
    path = Path(done.out.splitlines()[0].removeprefix("ocular: written: "))
    assert path.name == "ocular-serve.pth" and path.is_file()
    with Program(tmp_path, WORKS, environment) as program:
        assert f"{program.pid}" in top("--list").out
        done = run([environment, "-m", "ocular", "status"])
        assert str(path) in done.out and f"{program.pid}" in done.out
        assert program.snapshot().status == 0
        # viewers can connect because the environment is enabled, not because of attaching
        assert program.detach().status == 1
        out, err = program.end()
        assert err == "" and "ocular" not in out
    with Program(tmp_path, WORKS, environment, OCULAR_SERVE="0") as program:
        assert f"{program.pid}" not in top("--list").out
    done = run([environment, "-m", "ocular", "disable"])
    assert done.out == f"ocular: removed: {path}\n" and not path.exists()
    done = run([environment, "-m", "ocular", "disable"])
    assert done.out == "ocular: removed: nothing\n"


def test_where_it_may_not_be_written(tmp_path, environment):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    folder = next(Path(environment).parents[1].glob("lib/python*/site-packages"))
    folder.chmod(0o500)
    done = run([environment, "-m", "ocular", "enable"])
    folder.chmod(0o700)
    assert done.status == 1 and str(folder) in done.err and "ermission" in done.err


@pytest.mark.parametrize("words", [["attach"], ["attach", "1", "2"], ["enable", "x"]])
def test_words_that_do_not_fit(environment, words):
    done = run([environment, "-m", "ocular", *words])
    assert done.status == 2 and "usage: ocular attach PID" in done.err
