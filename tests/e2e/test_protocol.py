# SPDX-License-Identifier: MIT
"""Tests the server by a viewer that was written from docs/protocol.md."""

import contextlib
import os
import socket
import struct

import ocular
import pytest
from e2e import client
from e2e.client import Client, Ended, Refused
from e2e.counting import row
from e2e.program import wait_until
from ocular.demo import pure

pytestmark = pytest.mark.once


@pytest.fixture
def path(sockets):
    ocular.start_tracing(
        quiet=True, serve=True, deinstrument_threshold=50, output="stop.json"
    )
    pure.CASES["recursion"]()
    yield ocular._ocular.socket_path()
    ocular.stop_tracing()


def test_hello_and_the_first_snapshot(path):
    with Client(path) as viewer:
        kind, request, hello = viewer.receive()
        assert (kind, request) == (client.HELLO, 0)
        assert hello == (client.VERSION, os.getpid(), ocular.__version__)
        kind, request, snapshot = viewer.receive()
        assert (kind, request) == (client.SNAPSHOT, 0)
        assert row(snapshot, "fibonacci")


def test_now():
    """If the viewer requests a snapshot, the snapshot comes at once, although the next
    regular one would come in a minute."""
    with (
        ocular.tracing(serve=True, quiet=True, perfetto=False, deinstrument_threshold=0),
        Client(ocular._ocular.socket_path()) as viewer,
    ):
        viewer.rate(60)
        times = [(viewer.snapshots or [viewer.snapshot()])[0]["uptime_s"]]
        for _ in range(3):
            assert 0 <= viewer.ask(client.NOW)[1] <= 0.1
            times.append(viewer.snapshot()["uptime_s"])
        assert times == sorted(set(times))
        assert times[-1] - times[0] < 50


WINDOW = ("share", "cpu_share", "wait_share", "c_share", "total_share", "gil_blocked_share")


def times(value, factor):
    return None if value is None else value * factor


def faded(function, changes):
    """Changes the values of a function that has no new hits, as the section Changes of
    docs/protocol.md says."""
    kept = changes["window_kept"]
    new = dict(function, **{name: times(function[name], kept) for name in WINDOW})
    new["callers"] = [
        dict(caller, share=caller["share"] * kept) for caller in function["callers"]
    ]
    for name in ("waits", "total_parts"):
        new[name] = function[name] and {
            key: times(value, kept) for key, value in function[name].items()
        }
    if function["rate_estimated"] and function["calls_per_s_error"] is None:
        new["calls_per_s"] = times(function["calls_per_s"], kept)
    if (function["missed_per_s"] or 0) > 0:
        missed = function["calls_estimated"] - function["calls"]
        grown = missed + function["missed_per_s"] * changes["elapsed_s"]
        error = function["calls_error"] * function["calls_estimated"] * grown / missed
        new["calls_estimated"] = function["calls"] + grown
        new["calls_error"] = error / new["calls_estimated"]
    new["run_share"] = times(function["run_share"], changes["run_kept"])
    if function["age_s"] is not None:
        new["age_s"] = max(function["age_s"] + changes["elapsed_s"], 0)
    return new


def applied(base, changes, snapshot):
    """Waits for the next snapshot, and returns {id: function}."""
    assert changes["base_s"] == base["uptime_s"]
    functions = {function["id"]: function for function in base["functions"]}
    for gone in changes["gone"]:
        functions.pop(gone["id"], None)
    new = {function["id"]: function for function in snapshot["functions"]}
    for id in functions.keys() - new.keys():
        functions[id] = faded(functions[id], changes)
    functions.update(new)
    assert len(functions) == snapshot["functions_total"]
    return functions


def expect_alike(one, other):
    for name, value in one.items():
        if name == "callers":
            for caller, same in zip(value, other[name], strict=True):
                expect_alike(caller, same)
        elif name in ("waits", "total_parts"):
            expect_alike(value or {}, other[name] or {})
        elif isinstance(value, float):
            assert value == pytest.approx(other[name], rel=1e-9, abs=1e-12), name
        else:
            assert value == other[name], name


def make_some():
    space = {}
    exec("def made():\n    return 1", space)
    return [space["made"]() for _ in range(3)]


def test_changes(path):
    """A viewer that receives CHANGES has the same functions as one that gets SNAPSHOTs."""
    with Client(path) as follower, Client(path) as other:
        for viewer in (follower, other):
            viewer.rate(0.1)
        follower.send(client.FOLLOW, request=99)
        base, followed = None, 0
        while followed < 8:
            pure.CASES["recursion"]()
            make_some()
            kind, _, value = follower.receive()
            if kind == client.SNAPSHOT:
                assert not followed
                base = value
            if kind != client.CHANGES:
                continue
            changes, next = value
            functions = applied(base, changes, next)
            followed += 1
            base = dict(next, functions=list(functions.values()))
            whole = other.snapshot()
            while whole["uptime_s"] < base["uptime_s"]:
                whole = other.snapshot()
            if whole["uptime_s"] == base["uptime_s"]:
                assert whole["functions_total"] == len(functions)
                for function in whole["functions"]:
                    expect_alike(function, functions[function["id"]])
        # this request says that the viewer has lost its snapshot
        follower.send(client.FOLLOW, request=100)
        while kind != client.SNAPSHOT:  # CHANGES can already have been sent
            kind, _, _ = follower.receive()


def test_wrong_version(path):
    with Client(path, hello=False) as viewer:
        viewer.send(client.HELLO, viewer.hello(version=999))
        with pytest.raises(Refused) as refused:
            viewer.snapshot()
        assert refused.value.args[0] == 93  # 93 is EPROTONOSUPPORT
        with pytest.raises(Ended):
            viewer.snapshot()


def test_no_hello(path):
    with Client(path, hello=False) as viewer:
        viewer.send(client.RATE, struct.pack("<d", 1), 1)
        with pytest.raises(Refused) as refused:
            viewer.snapshot()
        assert refused.value.args[0] == 71  # 71 is EPROTO


def test_unknown_request(path):
    with Client(path) as viewer:
        with pytest.raises(Refused) as refused:
            viewer.ask(77, b"whatever")
        assert refused.value.args[0] == 95  # 95 is EOPNOTSUPP.
        assert viewer.rate(1)  # The connection stays open.


def test_budget(path):
    with Client(path) as viewer:
        assert viewer.ask(client.BUDGET, struct.pack("<d", 0.05))[1] == 0.05
        viewer.wait_for(lambda s: s["overhead"]["budget"] == 0.05)
        for wrong in 0, 2, float("nan"):
            with pytest.raises(Refused) as refused:
                viewer.ask(client.BUDGET, struct.pack("<d", wrong))
            assert refused.value.args[0] == 22  # 22 is EINVAL
        assert viewer.snapshot()["overhead"]["budget"] == 0.05


@pytest.mark.parametrize(
    "bytes_",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        b"Oc" + struct.pack("<HII", client.RATE, 1 << 20, 1),
        b"Oc" + struct.pack("<HII", client.RATE, 3, 1) + b"abc",
        b"Oc" + struct.pack("<HIII", client.EXPORT, 4, 1, 1 << 30),
        os.urandom(4096),
    ],
    ids=["http", "long", "short", "claim", "noise"],
)
def test_garbage(path, bytes_):
    with Client(path) as viewer:
        viewer.snapshot()
        viewer.socket.sendall(bytes_)
        with pytest.raises(Refused) as refused:
            while True:
                viewer.snapshot()
        assert refused.value.args[0] in (71, 90)
        with pytest.raises((Ended, Refused)):
            while True:
                viewer.snapshot()
    with Client(path) as viewer:  # the errors do not affect other viewers
        assert viewer.snapshot()


@contextlib.contextmanager
def files_of_all_kinds(folder):
    """Yields {kind: descriptors}."""
    with contextlib.ExitStack() as stack:

        def held(fd):
            stack.callback(os.close, fd)
            return fd

        plain = held(os.open(folder / "plain", os.O_WRONLY | os.O_CREAT))
        pair = socket.socketpair()
        stack.callback(pair[0].close)
        stack.callback(pair[1].close)
        pipe = os.pipe()
        yield {
            "none": [],
            "two": [plain, plain],
            "many": [plain] * 50,
            "a pipe": [held(pipe[1])],
            "a pipe's other end": [held(pipe[0])],
            "a socket": [pair[0].fileno()],
            "a directory": [held(os.open(folder, os.O_RDONLY))],
            "a device": [held(os.open("/dev/null", os.O_WRONLY))],
            "only read": [held(os.open(folder / "plain", os.O_RDONLY))],
            "only named": [held(os.open(folder / "plain", os.O_PATH))],
        }


def descriptors():
    """Returns the targets of all descriptors of this process. This process is also the
    traced process."""
    return sorted(
        os.readlink(f"/proc/self/fd/{fd}")
        for fd in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{fd}")
    )


def test_no_descriptor_of_a_viewer_is_kept(path, tmp_path):
    with Client(path) as viewer, files_of_all_kinds(tmp_path) as kinds:
        viewer.snapshot()
        before = descriptors()
        for files in kinds.values():
            assert viewer.ask(client.RATE, struct.pack("<d", 1), files)
        assert os.path.getsize(tmp_path / "plain") == 0
        assert descriptors() == before


def test_no_descriptor_of_a_recording_is_kept(path):
    """The process closes its descriptor of the recording, even if the viewer disconnects at
    an unexpected time."""
    before = descriptors()
    for _ in range(20):
        with Client(path) as viewer:
            viewer.snapshot()
            viewer.send(client.HANDOUT, struct.pack("<Q", client.TIMELINE), 1)
            viewer.send(client.HANDOUT, struct.pack("<Q", client.SAMPLED), 2)
    wait_until(lambda: descriptors() == before)
    with Client(path) as viewer:
        for _ in range(3):
            os.close(viewer.hand_out()[2])
    wait_until(lambda: descriptors() == before)


@pytest.mark.parametrize(
    "kind, payload",
    [
        (client.EXPORT_PATH, struct.pack("<Q", 1) + client.pack_text("x.json")),
        (client.EXPORT, client.pack_text("x.json")),
        (client.CANCEL, b""),
    ],
    ids=["older", "old", "cancel"],
)
def test_an_old_viewer_cannot_export(path, tmp_path, kind, payload):
    """Viewers of older versions ask the process to write the file."""
    with Client(path) as viewer, open(tmp_path / "x.json", "wb") as file:
        viewer.snapshot()
        before = descriptors()
        with pytest.raises(Refused, match="this viewer is too old") as refused:
            viewer.ask(kind, payload, [file.fileno()])
        assert refused.value.args[0] == 95  # 95 is EOPNOTSUPP.
        assert viewer.rate(1)  # The connection stays open.
        assert descriptors() == before
    assert os.path.getsize(tmp_path / "x.json") == 0


def test_export_without_a_timeline(sockets, tmp_path):
    ocular.start_tracing(quiet=True, perfetto=False, serve=True)
    try:
        with Client(ocular._ocular.socket_path()) as viewer:
            with pytest.raises(Refused, match="perfetto=True"):
                viewer.export(tmp_path / "x.json")
    finally:
        ocular.stop_tracing()


def test_the_end(path):
    with Client(path) as viewer:
        first = viewer.snapshot()
        pure.CASES["generators"]()
        final = ocular.stop_tracing()
        kinds, last = [], None
        with pytest.raises(Ended):
            while True:
                kind, _, value = viewer.receive()
                kinds.append(kind)
                last = value if kind == client.SNAPSHOT else last
        assert kinds[-1] == client.END and client.SNAPSHOT in kinds
        assert last["uptime_s"] > first["uptime_s"]
        assert row(last, "countdown")["calls"] == row(final, "countdown")["calls"]
    assert not os.path.exists(path)


def test_many_viewers_of_which_some_never_read(path):
    deaf = [Client(path) for _ in range(20)]
    try:
        with Client(path) as viewer:
            viewer.rate(0.1)
            for _ in range(5):
                viewer.snapshot()
        ocular.stop_tracing()  # stop_tracing() does not wait for these viewers
        with pytest.raises(OSError):
            Client(path)
    finally:
        for viewer in deaf:
            viewer.close()


def test_too_many(path):
    some = []
    try:
        for _ in range(128):
            some.append(Client(path))
            some[-1].snapshot()
        some.append(Client(path, hello=False))
        with pytest.raises(Refused) as refused:
            some[-1].snapshot()
        assert refused.value.args[0] == 87  # 87 is EUSERS
    finally:
        for viewer in some:
            viewer.close()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_another_user_may_not(path):
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    os.chmod(os.path.dirname(path), 0o755)
    os.chmod(path, 0o666)
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(12345)
            client.schema = dict  # this user is perhaps not allowed to read the document
            with Client(path, timeout=5, hello=False) as viewer:
                viewer.snapshot()
            os._exit(1)
        except Refused as refused:
            os._exit(42 if refused.args[0] == 13 else 2)
        except BaseException:
            os._exit(3)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        os.chmod(os.path.dirname(path), 0o700)
    assert status == 42
