# SPDX-License-Identifier: MIT
"""Root attaches to a process in other namespaces than root's. The process has a different
/tmp and different process ids. The process cannot read the package, so it gets a copy."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ocular
import pytest
from attach.programs import WORKS, Program
from e2e.program import PYTHON, TOP, run, start, wait_until

PACKAGE = Path(os.path.abspath(ocular.__file__)).parents[1]
UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
# The interpreter is bind-mounted to /mnt, where every user may read it.
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
        # on some systems, the name without the version does not exist
        env["VERSION"] = "{}.{}".format(*sys.version_info)
        # the interpreter's prefix could be in the /tmp of this test; then it is created in
        # the program's /tmp
        env["PYTHONPYCACHEPREFIX"] = ""
        super().__init__(directory, WORKS, command[0], command[1:], **env)
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        self.pid = int(Path(children).read_text())
        Program.pids.add(self.pid)

    def left(self):
        """Returns the files of Ocular in the program's folders for temporary files."""
        root = Path(f"/proc/{self.pid}/root")
        return [path for place in ("tmp", "dev/shm") for path in (root / place).iterdir()]


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
            program.functions("busy")
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
    """A container's root must not be able to make the host's root write to a file outside
    of the container."""
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


def test_places_too_small(tmp_path):
    with Inside(tmp_path, 0, "exec,size=64k") as program:
        done = program.attach()
        assert done.status == 1 and "/tmp: No space left on device" in done.err
        assert program.left() == []
        assert program.end()[1] == ""


def test_a_full_place(tmp_path):
    """The program's /tmp is full, so ocular-top cannot write its script there."""
    with Inside(tmp_path, 0, "exec,size=32m") as program:
        full = Path(f"/proc/{program.pid}/root/tmp/full")
        with open(full, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        done = program.attach()
        assert done.status == 1 and "No space left on device" in done.err
        assert [path.name for path in program.left()] == ["full"]
        assert program.end()[1] == ""


# Another program makes a folder in the directory `place`. Until stdin has input, this
# program exchanges the folder with a link as fast as possible.
SWAPS = """
import ctypes, os, select, sys
place, prefix, inner, outside = sys.argv[1:]
os.chdir(place)
os.symlink(outside, "link")
exchange = ctypes.CDLL(None).renameat2
swaps = 0
print("ready", flush=True)
while not select.select([0], [], [], 0)[0]:
    for name in os.listdir():
        if name.startswith(prefix):
            path = os.fsencode(name + inner)
            for _ in range(5000):
                swaps += exchange(-100, path, -100, b"link", 2) == 0
print(swaps)
"""


# While the folder is exchanged, the script cannot answer. So the attaching program is
# killed after 2 s.
@pytest.mark.once
@pytest.mark.parametrize("user", [0, 65534], ids=["root", "nobody"])
@pytest.mark.parametrize(
    "prefix, inner, rounds",
    [
        ("ocular-package-", "", 5),
        ("ocular-package-", "/ocular", 5),
        ("ocular-attach-", "", 2),
    ],
    ids=["copy", "copy/ocular", "script"],
)
def test_names_change_while_we_work(tmp_path, user, prefix, inner, rounds):
    """If folders are renamed while root attaches, attaching can fail. Then the files
    outside of the container do not change, and the program continues to run."""
    target = tmp_path / "outside"
    (target / "ocular").mkdir(parents=True)
    names = "answer", "wanted", "__init__.py", "ocular/__init__.py", "ocular/_attach.py"
    for name in names:
        (target / name).write_text("kept")
    for path in target, target / "ocular":
        path.chmod(0o777)
    before = sorted(path.relative_to(target) for path in target.rglob("*"))
    with Inside(tmp_path, user) as program:
        place = f"/proc/{program.pid}/root/tmp"
        arguments = [PYTHON, "-c", SWAPS, place, prefix, inner, target]
        swapper = start(arguments, stdin=subprocess.PIPE)
        try:
            assert swapper.stdout.readline() == "ready\n"
            for _ in range(rounds):
                for what in "--attach-only", "--detach":
                    run(["timeout", "-s", "KILL", "2", TOP, what, "--pid", program.pid])
        finally:
            out, err = swapper.communicate("x")
        assert err == "" and int(out) > 100
        assert before == sorted(path.relative_to(target) for path in target.rglob("*"))
        assert all((target / name).read_text() == "kept" for name in names)
        assert program.process.poll() is None


def test_another_users_folder_of_that_name(tmp_path):
    """A user who can make folders in /tmp must not be able to make root delete the
    files in these folders."""
    gone = run(["sh", "-c", "echo $$"]).out.strip()
    with Inside(tmp_path) as program:
        trap = Path(f"/proc/{program.pid}/root/tmp/ocular-package-{gone}")
        (trap / "ocular").mkdir(parents=True)
        (trap / "ocular" / "file").write_text("root's")
        os.chown(trap, 65534, 65534)
        program.comes_and_goes()
        assert (trap / "ocular" / "file").read_text() == "root's"


def test_links_in_its_root(tmp_path):
    """A link is resolved inside the container, as the program would resolve it. So the link
    does not lead outside."""
    shutil.copytree(PACKAGE / "ocular", tmp_path / "ocular")
    with Inside(tmp_path) as program:
        root = f"/proc/{program.pid}/root"
        hidden = Path(root + str(PACKAGE))
        # ocular-top searches for the package relative to this folder
        for path in hidden, Path(root + os.path.dirname(TOP)):
            path.mkdir(parents=True, exist_ok=True)
        (hidden / "ocular").symlink_to(tmp_path / "ocular")
        done = program.attach()
        assert (done.status, done.err) == (0, "")
        assert any("package" in path.name for path in program.left())
        assert program.detach().status == 0


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
