# SPDX-License-Identifier: MIT
"""The server against docs/protocol.md, by a viewer that was written after it."""

import os
import socket
import struct

import ocular
import pytest
from e2e import client, trace
from e2e.client import Client, Ended, Refused
from e2e.counting import row
from e2e.program import wait_until
from ocular.demo import pure


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


def test_rate():
    """How often they come is held in tests/ipc/test_server.c."""
    with (
        ocular.tracing(serve=True, quiet=True, perfetto=False, deinstrument_threshold=0),
        Client(ocular._ocular.socket_path()) as viewer,
    ):
        viewer.snapshot()
        assert viewer.rate(0.1)[1] == pytest.approx(0.1)
        times = [viewer.snapshot()["uptime_s"] for _ in range(3)]
        assert times == sorted(set(times))


def test_wrong_version(path):
    with Client(path, hello=False) as viewer:
        viewer.send(client.HELLO, viewer.hello(version=999))
        with pytest.raises(Refused) as refused:
            viewer.snapshot()
        assert refused.value.args[0] == 93  # EPROTONOSUPPORT
        with pytest.raises(Ended):
            viewer.snapshot()


def test_no_hello(path):
    with Client(path, hello=False) as viewer:
        viewer.send(client.RATE, struct.pack("<d", 1), 1)
        with pytest.raises(Refused) as refused:
            viewer.snapshot()
        assert refused.value.args[0] == 71  # EPROTO


def test_unknown_request(path):
    with Client(path) as viewer:
        with pytest.raises(Refused) as refused:
            viewer.ask(77, b"whatever")
        assert refused.value.args[0] == 95  # EOPNOTSUPP
        assert viewer.rate(1)  # the connection goes on


def test_budget(path):
    with Client(path) as viewer:
        assert viewer.ask(client.BUDGET, struct.pack("<d", 0.05))[1] == 0.05
        viewer.wait_for(lambda s: s["overhead"]["budget"] == 0.05)
        for wrong in 0, 2, float("nan"):
            with pytest.raises(Refused) as refused:
                viewer.ask(client.BUDGET, struct.pack("<d", wrong))
            assert refused.value.args[0] == 22  # EINVAL
        assert viewer.snapshot()["overhead"]["budget"] == 0.05


@pytest.mark.parametrize(
    "bytes_",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        b"Oc" + struct.pack("<HII", client.RATE, 1 << 20, 1),
        b"Oc" + struct.pack("<HII", client.RATE, 3, 1) + b"abc",
        b"Oc" + struct.pack("<HIIQI", client.EXPORT, 12, 1, 0, 1 << 30),
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
    with Client(path) as viewer:  # nobody else suffers
        assert viewer.snapshot()


def test_export(path, tmp_path):
    with Client(path) as viewer:
        target = str(tmp_path / "viewer.json")
        size, done, name = viewer.export(target)
        assert (done, name) == (1, target)
        assert size == os.path.getsize(target)
        trace.read(target)
        with pytest.raises(Refused) as refused:
            viewer.export(target)
        assert refused.value.args[0] == 17  # EEXIST
        assert viewer.export(target, overwrite=True)[1] == 1
        # A relative path is the traced process's.
        assert viewer.export("here.json.gz")[2] == str(tmp_path / "here.json.gz")
        trace.read(tmp_path / "here.json.gz")
        with pytest.raises(Refused) as refused:
            viewer.export("/no/such/place.json")
        assert refused.value.args[0] == 2 and "/no/such" in refused.value.args[1]
        viewer.ask(client.CANCEL)
    assert ocular.is_tracing()


def test_export_without_a_timeline(sockets):
    ocular.start_tracing(quiet=True, perfetto=False, serve=True)
    try:
        with Client(ocular._ocular.socket_path()) as viewer:
            with pytest.raises(Refused, match="perfetto=True"):
                viewer.export("x.json")
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
        ocular.stop_tracing()  # which waits for none of them
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
        assert refused.value.args[0] == 87  # EUSERS
    finally:
        for viewer in some:
            viewer.close()


def test_the_socket_is_bound_again(path):
    os.unlink(path)

    def connects():
        try:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(path)
                return True
        except OSError:
            return False

    wait_until(connects)


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
            client.schema = dict  # the page may not be his to read
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
