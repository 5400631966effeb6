# SPDX-License-Identifier: MIT
"""`make matrix`: what its table and its status say of interpreters that pass, fail or
are not there. The interpreters, make and the Debian are made up here."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent
PASSED = "== 9 passed, 2 skipped in 1.5s =="
FAILED = "FAILED tests/x.py::test_x - assert 0\n== 1 failed, 8 passed, 1 error in 2.00s =="


class Tree:
    """A project whose make prints what a file of the interpreter's name says."""

    def __init__(self, root):
        self.root = root
        self.said = root / "said"
        self.said.mkdir()
        self.script(
            "bin/make",
            f'case "$*" in *sdist) echo {root}/archive.tar.gz; exit ;; esac\n'
            "for word; do case $word in PYTHON=*) python=${word#PYTHON=} ;; esac; done\n"
            f'echo "$*" >>{root}/calls\ncat "{self.said}/$python"\n'
            f'! grep -qE "failed|Error" "{self.said}/$python"',
        )
        self.script("python/setup/interpreters", f"cat {root}/here")
        self.script(
            "tests/install/system",
            f'[ "$1" = run ] || exit $(cat {root}/can)\n'
            f'case "$3" in */interpreters) cat {root}/there ;; *) shift 2; "$@" ;; esac',
        )
        self.matrix = root / "tests" / "install" / "matrix"
        shutil.copy(ROOT / "tests" / "install" / "matrix", self.matrix)
        with tarfile.open(root / "archive.tar.gz", "w:gz") as archive:
            archive.add(__file__, "ocular/file")
        (root / "can").write_text("0")
        (root / "there").touch()

    def script(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{text}\n")
        path.chmod(0o755)

    def interpreters(self, where, **said):
        """Versions that are there, each with what its tests print."""
        lines = []
        for name, text in said.items():
            version = name.removeprefix("v").replace("_", ".")
            lines.append(f"ok\tpython{version}\t{version}\tcpython-{version}\n")
            (self.said / f"python{version}").write_text(text + "\n")
        (self.root / where).write_text("".join(lines))

    def run(self, *words):
        path = f"{self.root / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        done = subprocess.run(
            [self.matrix, *words], env={"PATH": path}, capture_output=True, text=True
        )
        rows = [line.split() for line in done.stdout.splitlines()]
        return done, {row[0]: row[1:] for row in rows if len(row) > 5}


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_all_passed(tree):
    tree.interpreters("here", v3_12_1=PASSED, v3_13_0=PASSED)
    tree.interpreters("there", v3_14_8=PASSED, v3_15_0rc1=PASSED)
    done, rows = tree.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "matrix: all passed" in done.stdout
    assert rows["cpython-3.12.1"][:3] == ["9", "0", "2"]
    assert rows["cpython-3.15.0rc1-forky"][4:] == ["ok"]
    calls = (tree.root / "calls").read_text().splitlines()
    assert len(calls) == 4 and all("test ONLY_PYTHON=1" in call for call in calls)
    assert [" unit test " in call for call in calls] == [False, False, True, True]


@pytest.mark.parametrize("where", ["here", "there"])
@pytest.mark.parametrize(
    "said, verdict",
    [
        (FAILED, ["8", "2", "0", "FAILED"]),
        ("x.c: error: no\nmake: *** [x.o] Error 1", ["0", "0", "0", "NOT", "RUN"]),
    ],
)
def test_one_failed(tree, where, said, verdict):
    tree.interpreters("here", v3_12_1=PASSED, v3_13_0=PASSED, v3_14_8=PASSED)
    tree.interpreters("there", v3_15_0=PASSED)
    text = tree.root / where
    version = text.read_text().splitlines()[-1].split("\t")[2]
    (tree.said / f"python{version}").write_text(said + "\n")
    done, rows = tree.run()
    assert done.returncode == 1 and "matrix: FAILED" in done.stdout
    row = rows[f"cpython-{version}{'-forky' if where == 'there' else ''}"]
    assert row[:3] + row[4:] == verdict
    assert said.splitlines()[0] in done.stdout
    assert done.stdout.count(" ok\n") == 3


def test_a_version_is_missing(tree):
    tree.interpreters("here", v3_12_1=PASSED, v3_13_0=PASSED)
    tree.interpreters("there", v3_15_0=PASSED)
    done, rows = tree.run()
    assert done.returncode == 1
    assert rows["cpython-3.14"][-2:] == ["NOT", "FOUND"]


def test_no_debian_can_be_made(tree):
    tree.interpreters(
        "here", v3_12_1=PASSED, v3_13_0=PASSED, v3_14_8=PASSED, v3_15_0=PASSED
    )
    (tree.root / "can").write_text("77")
    done, rows = tree.run()
    assert done.returncode == 1 and len(rows) == 4


def test_the_short_form_runs_one_file_of_the_debians(tree):
    tree.interpreters("here", v3_12_1=PASSED)
    tree.interpreters("there", v3_14_8=PASSED)
    done, rows = tree.run("--short")
    assert done.returncode == 0 and "cpython-3.12.1" not in rows
    assert "ARGS=tests/python/test_smoke.py" in (tree.root / "calls").read_text()


def test_an_interrupt_ends_all_of_it(tree):
    tree.interpreters("here", v3_12_1=PASSED, v3_13_0=PASSED)
    tree.script("bin/make", f"echo called >>{tree.root}/calls\nkill -INT $PPID\nexit 130")
    done, _ = tree.run()
    assert done.returncode == 130
    assert (tree.root / "calls").read_text() == "called\n"
