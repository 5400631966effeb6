# SPDX-License-Identifier: MIT
"""Tests that `ocular doctor` says what works, and why the rest does not. Each test breaks
one part of the environment."""

import json
import re
import resource

import pytest
from e2e.program import PYTHON, run

DOCTOR = [PYTHON, "-m", "ocular", "doctor"]
NEEDED = "tracing samples sockets ocular-top terminal programs".split()


def examine(**more):
    """Returns the exit status and the rows by name."""
    done = run([*DOCTOR, "--json"], **more)
    found = json.loads(done.out)
    assert done.status == (not found["ok"])
    return done.status, {row["name"]: row for row in found["rows"]}


def test_one_screen_says_what_works(tmp_path):
    # Without a home, a session and a locale, Ocular works as usual.
    environment = {"TERM": "xterm", "HOME": "", "XDG_RUNTIME_DIR": str(tmp_path / "no")}
    done = run(DOCTOR, env=environment)
    lines = done.out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80, done.out
    assert done.status == 0 and not re.search("^FAILED", done.out, re.M), done.out
    for name in NEEDED:
        assert re.search(rf"^ok +{name} ", done.out, re.M), name
    assert re.search("samples +[1-9]", done.out)
    assert re.search("tracing +[1-9]", done.out)
    assert re.search("attaching +(works|does not work)", done.out)


def none_pending():
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))


@pytest.mark.once
@pytest.mark.parametrize(
    "name, why, change",
    [
        ("sockets", "set OCULAR_DIR", {"env": {"OCULAR_DIR": "/proc/nowhere"}}),
        ("sockets", "not an absolute path", {"env": {"OCULAR_DIR": "x"}}),
        ("terminal", "cannot place its cursor", {"env": {"TERM": "dumb"}}),
        ("samples", "ulimit -i", {"preexec_fn": none_pending}),
        ("ocular-top", "neither beside this command", {"env": {"PATH": "/nowhere"}}),
    ],
)
def test_a_broken_part_says_why(name, why, change):
    change["env"] = {"TERM": "xterm"} | change.get("env", {})
    status, rows = examine(**change)
    assert status == 1 and rows[name]["state"] == "FAILED", rows
    assert why in rows[name]["why"]
    assert rows["tracing"]["state"] == "ok"
    others = set(NEEDED) & set(rows) - {name}
    assert all(rows[other]["state"] == "ok" for other in others), rows


def test_a_program_that_must_not_be_attached_to(tmp_path):
    environment = {"TERM": "xterm", "PYTHON_DISABLE_REMOTE_DEBUG": "1"}
    own = {"OCULAR_SERVE": "1", "OCULAR_DIR": str(tmp_path), "LC_ALL": "nowhere"}
    status, rows = examine(env=environment | own)
    assert rows["programs"]["what"] == "0 serve now"
    assert "the locale is not UTF-8" in rows["terminal"]["why"]
    assert (status, rows["attaching"]["state"]) == (0, "limited"), rows
    assert "PYTHON_DISABLE_REMOTE_DEBUG in its environment" in rows["attaching"]["why"]


def test_other_words_are_refused():
    done = run([*DOCTOR, "x"])
    assert (done.status, done.err) == (2, "usage: ocular doctor [--json]\n")
