# SPDX-License-Identifier: MIT
"""Ocular works with a process after the end of the login that started it, with a service,
with another user's process, in a container, and on a read-only root. In these tests,
processes run in namespaces instead of containers."""

import json
import os
import shutil
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from e2e.agents import agent, pids
from e2e.client import Client
from e2e.program import BUILD, PYTHON, ROOT, TOP, run, start, top, wait_until

pytestmark = pytest.mark.once

SERVE = """
import os, sys, time
import ocular
if len(sys.argv) > 1:
    os.setgroups([])
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
def work(n):
    while n:
        n -= 1
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
print(os.getpid(), os.environ.get("HOSTNAME"), ocular._ocular.socket_path(),
      flush=True)
while True:
    work(300)
    time.sleep(0.001)
"""
PLACES = ("OCULAR_DIR", "XDG_RUNTIME_DIR")
IS_ROOT = os.geteuid() == 0
# To make these namespaces, a user other than root must be root of a user namespace.
NAMESPACES = (
    "unshare --mount --pid --fork --kill-child --mount-proc --net --ipc --uts".split()
)
NAMESPACES += [] if IS_ROOT else ["--map-root-user"]


@pytest.fixture
def short():
    """Returns a directory whose path is short enough for a socket's address."""
    path = Path(tempfile.mkdtemp(prefix="oc-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    """Removes the environment variables that name a folder, so that neither the program nor
    the viewer has them unless a test sets them."""
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)


class Served:
    def __init__(self, process):
        self.process = process
        line = process.stdout.readline()
        if not line:
            process.kill()
            pytest.fail(process.communicate()[1])
        self.inner_pid, _, self.path = line.split()
        self.inner_pid = int(self.inner_pid)
        self.pid = process.pid

    def look(self, **more):
        """Returns ocular-top's exit status, its snapshot and its stderr."""
        done = top("--pid", self.pid, "--once", "--json", **more)
        return done.status, json.loads(done.out or "null"), done.err


@contextmanager
def serving(command=(), argument=(), **more):
    """Runs a program that serves. `command` starts the program."""
    process = start([*command, PYTHON, "-c", SERVE, *argument], **more)
    served = None
    try:
        served = Served(process)
        if "unshare" in command:
            served.pid = child_of(process.pid)
        yield served
    finally:
        if served and served.pid != process.pid:
            # the first process of a pid namespace ignores other signals
            os.kill(served.pid, signal.SIGKILL)
        process.terminate()
        process.communicate()


def child_of(pid):
    """unshare has forked. Returns the pid of the child of unshare. The child of unshare is
    the first process in the pid namespace."""
    done = run(["ps", "-o", "pid=", "--ppid", pid])
    return int(done.out) if done.out.strip() else pid


def is_watched(served, **more):
    def works():
        status, snapshot, words = served.look(**more)
        assert status == 0, words
        assert snapshot["pid"] == served.inner_pid
        return any(row["name"] == "work" for row in snapshot["functions"])

    return wait_until(works)  # the program listens before its main function runs


def usual(uid=None):
    return f"/tmp/ocular-{os.geteuid() if uid is None else uid}"


def needs(command):
    """Skips the test if the kernel or the machine's owner forbids this command."""
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    done = run([*command, "true"])
    if done.status:
        pytest.skip(f"not allowed here: {done.err.strip()}")


# --- Logins, services, users --------------------------------------------------


def test_it_outlives_the_login(short):
    """logind removes /run/user/UID, but viewers that are connected stay connected."""
    runtime = short / "runtime"
    runtime.mkdir(mode=0o700)
    with serving(env={"XDG_RUNTIME_DIR": str(runtime)}) as served:
        assert served.path == f"{runtime}/ocular/{served.pid}.sock"
        assert is_watched(served, env={"XDG_RUNTIME_DIR": str(runtime)})
        with Client(served.path) as client:
            client.rate(0.1)
            before = client.snapshot()
            # This call removes the folder together with its content.
            runtime.rename(short / "unmounted")
            wait_until(lambda: served.look()[0] == 0)
            assert os.path.exists(f"{usual()}/{served.pid}.sock")
            assert is_watched(served)
            client.wait_for(lambda s: s["uptime_s"] > before["uptime_s"] + 1)
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(20) == -signal.SIGINT
        assert not os.path.exists(f"{usual()}/{served.pid}.sock")


# Makes a private /tmp that keeps those files of the old /tmp that the test needs.
PRIVATE_TMP = """
set -e
mount -t tmpfs none /mnt
mkdir /mnt/old
mount --bind /tmp /mnt/old
mount -t tmpfs -o mode=1777 none /tmp
for kept in $KEPT; do
    case $kept in
    /tmp/*) mkdir -p "$kept" && mount --bind "/mnt/old${kept#/tmp}" "$kept" ;;
    esac
done
exec "$@"
"""


def in_a_container(script, *command):
    return [*command, "sh", "-c", script, "sh"]


def test_a_service_with_a_private_tmp():
    needs(NAMESPACES)
    unshared = ["unshare", "--mount", *([] if IS_ROOT else ["--map-root-user"])]
    with serving(
        in_a_container(PRIVATE_TMP, *unshared), env={"KEPT": f"{ROOT} {BUILD}"}
    ) as served:
        inside = "/tmp/ocular-0"
        assert served.path == f"{inside}/{served.inner_pid}.sock"
        assert not os.path.exists(served.path)  # the path exists only for the process
        assert is_watched(served)


@pytest.mark.skipif(not IS_ROOT, reason="only root can be somebody else")
@pytest.mark.parametrize("has_runtime", [False, True])
def test_root_looks_at_a_user(short, has_runtime):
    """Runs ocular-top by sudo, with the pid of another user's process."""
    user = 54321
    environment = {}
    if has_runtime:
        short.chmod(0o755)
        runtime = short / "runtime"
        runtime.mkdir(mode=0o700)
        os.chown(runtime, user, user)
        environment["XDG_RUNTIME_DIR"] = str(runtime)
    with serving(argument=[user], env=environment) as served:
        assert served.path.startswith(environment.get("XDG_RUNTIME_DIR", usual(user)))
        assert is_watched(served)
        assert is_watched(served, env={"SUDO_UID": "1000", "HOME": "/root"})
        # the socket is in one of the usual folders, so the process is listed, too
        if not has_runtime:
            listed = top("--once", "--json")
            if listed.status == 0:
                assert listed.answer["pid"] == served.pid
            else:  # another process serves on this machine
                assert str(served.pid) in listed.err
    shutil.rmtree(usual(user), ignore_errors=True)


# --- Containers ---------------------------------------------------------------

CONTAINER = """
set -e
mount -t tmpfs none /run
mkdir -p /run/user/0
chmod 700 /run/user/0
exec "$@"
"""


def test_a_container_from_the_host():
    """The process has a root directory, a pid and a network of its own."""
    needs(NAMESPACES)
    with serving(
        in_a_container(CONTAINER, *NAMESPACES), env={"XDG_RUNTIME_DIR": "/run/user/0"}
    ) as served:
        assert served.inner_pid != served.pid
        assert served.path == f"/run/user/0/ocular/{served.inner_pid}.sock"
        assert not os.path.exists(served.path)
        assert is_watched(served)
        with agent() as url:
            wait_until(lambda: str(served.pid) in pids(url))


def test_a_container_from_inside():
    """Enters all namespaces of the process, like docker exec, and uses the process's pid
    inside the namespace."""
    needs(NAMESPACES)
    needs(["nsenter", "--mount", "--target", os.getpid()] if IS_ROOT else ["nsenter"])
    with serving(
        in_a_container(CONTAINER, *NAMESPACES), env={"XDG_RUNTIME_DIR": "/run/user/0"}
    ) as served:
        more = "" if IS_ROOT else "--user --preserve-credentials"
        inside = ["nsenter", "--target", served.pid]
        inside += f"--mount --pid --net --ipc --uts {more}".split()
        done = run([*inside, TOP, "--pid", served.inner_pid, "--once", "--json"])
        assert done.status == 0, done.err
        assert json.loads(done.out)["pid"] == served.inner_pid


def test_two_in_containers_of_the_same_number():
    """The kernel tells the viewer which process listens, so the viewer does not confuse the
    two processes."""
    needs(NAMESPACES)
    command = in_a_container(CONTAINER, *NAMESPACES)
    environment = {"XDG_RUNTIME_DIR": "/run/user/0"}
    with (
        serving(command, env=environment) as one,
        serving(command, env={**environment, "HOSTNAME": "two"}) as other,
    ):
        assert one.inner_pid == other.inner_pid
        assert one.pid != other.pid
        assert is_watched(one) and is_watched(other)


def test_a_user_whom_the_container_does_not_know():
    """If a user of the host has no number in a container, the container shows the user as
    "nobody". So inside the container, the user's identity is unknown. The process refuses a
    viewer of such a user, and the message says what to do."""
    unknown = ["unshare", "--user"]
    needs(unknown)
    directory = Path(tempfile.mkdtemp(prefix="oc-"))
    try:
        with serving(unknown, env={"OCULAR_DIR": str(directory)}) as served:
            status, snapshot, words = served.look()
            assert status == 1 and snapshot is None
            assert "nobody" in words and "container" in words, words
            # The process continues to serve users whom it knows.
            assert os.path.exists(served.path)
    finally:
        shutil.rmtree(directory)


# --- Read-only roots ----------------------------------------------------------

READ_ONLY = """
set -e
mkdir -p "$WRITABLE"
mount -t tmpfs -o mode=700 none "$WRITABLE"
mount --bind "$BEFORE" "$BEFORE"
mount -o remount,bind,ro "$BEFORE"
exec "$@"
"""


@pytest.mark.parametrize("was_there", [False, True])
def test_a_read_only_root(short, was_there):
    needs(NAMESPACES)
    locked = short / "locked"
    locked.mkdir(mode=0o700)
    if was_there:
        (locked / "ocular").mkdir(mode=0o700)
    writable = short / "writable"
    environment = {
        "WRITABLE": str(writable),
        "BEFORE": str(locked),
        "XDG_RUNTIME_DIR": str(locked),
    }
    command = in_a_container(READ_ONLY, *NAMESPACES)
    done = run([*command, PYTHON, "-c", SERVE], env=environment)
    assert done.status == 1
    assert "Read-only file system" in done.err and "OCULAR_DIR" in done.err
    with serving(command, env={**environment, "OCULAR_DIR": str(writable)}) as served:
        assert not list(writable.iterdir())  # for the process, another folder has this path
        assert is_watched(served)
