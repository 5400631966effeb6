# SPDX-License-Identifier: MIT
"""Root attaches to a process in other namespaces, which has another /tmp, other process
ids, and cannot see the package: it is lent a copy."""

import json
import os
import shutil
import sys
from pathlib import Path

import ocular
import pytest
from attach.programs import WORKS, Program
from e2e.program import PYTHON, run, wait_until

PACKAGE = Path(os.path.abspath(ocular.__file__)).parents[1]
UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
# The interpreter is at /mnt, where every user may read it.
SCRIPT = """
set -e
code=$(cat "$4")
mount --bind "$1" /mnt
mount -t tmpfs none "$2"
mount -t tmpfs -o "mode=1777,$3" none /tmp
mount -t tmpfs -o "mode=1777,$3" none /dev/shm
cd /
export LD_LIBRARY_PATH=/mnt/lib
exec setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups \\
    "/mnt/bin/python$VERSION" -c "$code"
"""


@pytest.fixture(autouse=True)
def allowed():
    if os.geteuid() != 0:
        pytest.skip("only root may enter another user's namespaces")
    if not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
        pytest.skip("no unshare, setpriv or mount")
    done = run([*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"])
    if done.status:
        pytest.skip(f"not allowed here: {done.err.strip()}")


class Inside(Program):
    def __init__(self, directory, user=0, options="exec"):
        prefix = run([PYTHON, "-c", "import sys; print(sys.base_prefix)"]).out.strip()
        command = [*UNSHARE, "sh", "-c", SCRIPT, "sh", prefix, PACKAGE, options]
        env = {"USER_ID": str(user), "OCULAR_DIR": "", "XDG_RUNTIME_DIR": ""}
        env["VERSION"] = "{}.{}".format(*sys.version_info)  # a system has no other name
        env["PYTHONPYCACHEPREFIX"] = ""  # may be in our /tmp, and would be made there
        super().__init__(directory, WORKS, command[0], command[1:], **env)
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        self.pid = int(Path(children).read_text())
        Program.pids.add(self.pid)

    def left(self):
        """What we have left in its folders for temporary files."""
        root = Path(f"/proc/{self.pid}/root")
        return [path for place in ("tmp", "dev/shm") for path in (root / place).iterdir()]


def functions(program):
    done = program.snapshot()
    assert done.status == 0, done.err
    return {row["name"] for row in json.loads(done.out.splitlines()[-1])["functions"]}


@pytest.mark.parametrize("user", [0, 65534], ids=["root", "nobody"])
def test_it_is_lent_a_copy(tmp_path, user):
    with Inside(tmp_path, user) as program:
        before = program.state()
        inside = Path(f"/proc/{program.pid}/status").read_text().split("\nNSpid:")[1]
        assert inside.split()[:2] == [str(program.pid), "1"]
        for _ in range(2):
            done = program.attach()
            assert (done.status, done.err) == (0, "")
            (copy,) = (path for path in program.left() if "package" in path.name)
            assert copy.stat().st_uid == user and copy.stat().st_mode & 0o77 == 0
            for path in copy.rglob("*"):
                assert path.stat().st_uid == user and path.stat().st_mode & 0o77 == 0
            assert "busy" in functions(program)
            done = program.detach()
            assert (done.status, done.err) == (0, "")
            wait_until(lambda: program.state() == before)
            assert [path.name for path in program.left()] in ([], [f"ocular-{user}"])
        assert program.end()[1] == ""


def test_where_no_library_may_be_loaded(tmp_path):
    with Inside(tmp_path, 0, "noexec") as program:
        before = program.state()
        done = program.attach()
        assert done.status == 1 and "there is no Ocular for Python" in done.err
        assert "cannot be copied there: /tmp: mounted noexec, /dev/shm: mounted" in done.err
        assert program.state() == before and program.left() == []
        assert program.end()[1] == ""


def test_a_link_in_the_place_of_the_copy(tmp_path):
    """Whoever is root inside would have root outside write there."""
    target = tmp_path / "outside"
    target.mkdir()
    (target / "kept").write_text("kept")
    with Inside(tmp_path) as program:
        for place in "tmp", "dev/shm":
            root = Path(f"/proc/{program.pid}/root/{place}")
            (root / f"ocular-package-{program.pid}").symlink_to(target)
        done = program.attach()
        assert done.status == 1 and "cannot be copied there: /tmp: File exists" in done.err
        assert [path.name for path in target.iterdir()] == ["kept"]


def test_what_is_left_of_those_that_have_ended(tmp_path):
    gone = run(["sh", "-c", "echo $$"]).out.strip()
    with Inside(tmp_path) as program:
        old = Path(f"/proc/{program.pid}/root/tmp/ocular-package-{gone}")
        (old / "ocular").mkdir(parents=True)
        (old / "ocular" / "file.py").write_text("")
        target = tmp_path / "outside"
        target.mkdir()
        (target / "answer").write_text("kept")
        os.utime(target, (0, 0))
        (old.parent / f"ocular-attach-{gone}-abcdef").symlink_to(target)
        assert program.attach().status == 0
        assert not old.exists() and (target / "answer").exists()
        assert program.detach().status == 0
