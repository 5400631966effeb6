# SPDX-License-Identifier: MIT
"""Tests a start that fails because of the tool ids or the socket. The error message names
the cause, nothing is left behind, and a start works as soon as the cause is gone."""

import itertools
import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

import ocular
import pytest
from e2e.counting import EXACT, traced
from e2e.program import files, leftovers, script

monitoring = sys.monitoring


def helper():
    return 1


def refused(kind, **settings):
    """Checks that a start fails and leaves nothing behind. Returns the error message."""
    open_files = sorted(files())
    with pytest.raises(kind) as raised:
        ocular.start_tracing(**{**EXACT, **settings})
    assert not ocular.is_tracing()
    assert leftovers() == []
    assert sorted(files()) == open_files
    assert monitoring.get_local_events(4, helper.__code__) == 0
    return str(raised.value)


def works(**settings):
    _, final = traced(helper, **settings)
    assert [r["calls"] for r in final["functions"] if r["name"] == "helper"] == [1]


# --- Tool ids -----------------------------------------------------------------


@pytest.fixture
def occupy():
    taken = []

    def take(*ids):
        for tool in ids:
            monitoring.use_tool_id(tool, f"holder of {tool}")
            taken.append(tool)

    yield take
    for tool in taken:
        if monitoring.get_tool(tool):
            monitoring.free_tool_id(tool)


@pytest.mark.parametrize(
    "ids", [c for n in (2, 3) for c in itertools.combinations((3, 4, 5), n)], ids=str
)
def test_too_few_tool_ids(occupy, ids):
    occupy(*ids)
    message = refused(RuntimeError)
    assert "3, 4 and 5" in message
    for tool in (3, 4, 5):
        assert (f"{tool} by 'holder of {tool}'" in message) == (tool in ids)
    for tool in ids:
        assert monitoring.get_tool(tool) == f"holder of {tool}"
    monitoring.free_tool_id(ids[0])
    if len(ids) == 2:
        works()


@pytest.mark.parametrize("held", [3, 4, 5])
def test_one_tool_id_may_be_taken(occupy, held):
    occupy(held)
    ocular.start_tracing(**EXACT)
    names = {monitoring.get_tool(tool) for tool in (3, 4, 5)}
    assert names == {"ocular-discovery", "ocular", f"holder of {held}"}
    ocular.stop_tracing()
    assert monitoring.get_tool(held) == f"holder of {held}"
    works()


def test_a_strangers_events_survive(occupy):
    """Ocular's start and stop do not change the callbacks and events of another tool."""
    occupy(3)
    seen = []
    event = monitoring.events.PY_START
    monitoring.register_callback(3, event, lambda code, offset: seen.append(code))
    monitoring.set_local_events(3, helper.__code__, event)
    try:
        works()
        seen.clear()
        helper()
        assert seen == [helper.__code__]
        assert monitoring.get_local_events(3, helper.__code__) == event
    finally:
        monitoring.set_local_events(3, helper.__code__, 0)
        monitoring.register_callback(3, event, None)


# --- The directory of the socket ----------------------------------------------


def test_directory_of_another_user(sockets):
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    os.chown(sockets, 12345, -1)
    try:
        message = refused(RuntimeError, serve=True)
    finally:
        os.chown(sockets, 0, -1)
    assert str(sockets) in message and "12345" in message
    assert "OCULAR_DIR" in message
    works(serve=True)


@pytest.mark.parametrize("mode", [0o755, 0o701])
def test_directory_open_to_others(sockets, mode):
    sockets.chmod(mode)
    message = refused(RuntimeError, serve=True)
    assert str(sockets) in message and f"{mode:o}" in message
    assert "chmod 700" in message
    sockets.chmod(0o700)
    works(serve=True)


def test_directory_is_a_symlink(sockets, monkeypatch):
    link = sockets / "link"
    (sockets / "real").mkdir(mode=0o700)
    link.symlink_to(sockets / "real")
    monkeypatch.setenv("OCULAR_DIR", str(link))
    message = refused(RuntimeError, serve=True)
    assert "symbolic link" in message and str(link) in message
    monkeypatch.setenv("OCULAR_DIR", str(sockets / "real"))
    works(serve=True)


@pytest.mark.parametrize(
    "name, words",
    [
        ("{}/file", "not a directory"),
        ("{}/no/such", "cannot make.*no/such"),
        ("here", "absolute"),
        ("{}/" + "x" * 100, "too long"),
        ("{}/" + "x" * 5000, "too long"),
    ],
)
def test_directory_that_cannot_be(sockets, monkeypatch, name, words):
    (sockets / "file").touch()
    monkeypatch.setenv("OCULAR_DIR", name.format(sockets))
    assert re.search(words, refused(RuntimeError, serve=True))


def own_path(sockets):
    return sockets / f"{os.getpid()}.sock"


def test_stale_socket_is_replaced(sockets):
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(own_path(sockets)))
    works(serve=True)
    assert not own_path(sockets).exists()


def test_live_socket_of_somebody_else_is_left_alone(sockets):
    with socket.socket(socket.AF_UNIX) as live:
        live.bind(str(own_path(sockets)))
        live.listen()
        with pytest.raises(RuntimeError) as raised:
            ocular.start_tracing(**EXACT, serve=True)
        assert str(own_path(sockets)) in str(raised.value)
        with socket.socket(socket.AF_UNIX) as again:
            again.connect(str(own_path(sockets)))
    own_path(sockets).unlink()
    works(serve=True)


def test_something_else_at_the_path(sockets):
    own_path(sockets).write_text("precious")
    with pytest.raises(RuntimeError, match="sock"):
        ocular.start_tracing(**EXACT, serve=True)
    assert own_path(sockets).read_text() == "precious"
    own_path(sockets).unlink()
    works(serve=True)


def test_modes_of_what_is_made(sockets, monkeypatch):
    place = sockets / "place"
    monkeypatch.setenv("OCULAR_DIR", str(place))
    before = os.umask(0)
    try:
        ocular.start_tracing(**EXACT, serve=True)
    finally:
        os.umask(before)
    try:
        path = Path(ocular._ocular.socket_path())
        assert path == place / f"{os.getpid()}.sock"
        assert path.stat().st_mode & 0o777 == 0o600
        assert place.stat().st_mode & 0o777 == 0o700
    finally:
        ocular.stop_tracing()
    assert not path.exists()


def test_usual_places(sockets, monkeypatch):
    monkeypatch.delenv("OCULAR_DIR")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(sockets))
    ocular.start_tracing(**EXACT, serve=True)
    assert ocular._ocular.socket_path() == f"{sockets}/ocular/{os.getpid()}.sock"
    ocular.stop_tracing()
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    ocular.start_tracing(**EXACT, serve=True)
    path = ocular._ocular.socket_path()
    ocular.stop_tracing()
    assert path == f"/tmp/ocular-{os.geteuid()}/{os.getpid()}.sock"
    assert not os.path.exists(path)


def test_no_socket_or_file_is_inherited(sockets):
    def inheritable():
        return {
            fd
            for fd in range(1000)
            if os.path.exists(f"/proc/self/fd/{fd}") and os.get_inheritable(fd)
        }

    before = inheritable()
    ocular.start_tracing(**EXACT, serve=True)
    during, opened = inheritable(), len(files())
    ocular.stop_tracing()
    assert during == before
    assert len(files()) < opened


# --- The import ---------------------------------------------------------------


def test_an_import_that_failed_is_tried_again(tmp_path):
    result = script(
        tmp_path,
        """
import json, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "ocular._opcodes":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
try:
    import ocular
except KeyboardInterrupt:
    sys.meta_path.pop(0)
for name in [n for n in sys.modules if n.startswith("ocular")]:
    del sys.modules[name]
import ocular
def work(n):
    while n:
        n -= 1
ocular.start_tracing(perfetto=False, quiet=True)
work(5)
final = ocular.stop_tracing()
print(json.dumps([f["sites"] for f in final["functions"] if f["name"] == "work"]))
""",
    ).answer
    assert result and result[0] > 1


# --- Interrupted --------------------------------------------------------------


class Boom(Exception):
    pass


@pytest.mark.parametrize("mode", ["adaptive", "precise"])
def test_an_interrupt_comes_out_as_it_is(mode):
    """A signal handler can raise an exception at any time during the calibration. The
    caller of start_tracing() gets this exception."""

    def boom(*_):
        raise Boom

    def start(delay):
        signal.setitimer(signal.ITIMER_REAL, delay)
        ocular.start_tracing(perfetto=False, quiet=True, mode=mode)
        time.sleep(1 + took)

    began = time.perf_counter()
    ocular.start_tracing(perfetto=False, quiet=True, mode=mode)
    took = time.perf_counter() - began
    ocular.stop_tracing()
    before = signal.signal(signal.SIGALRM, boom)
    try:
        for n in range(40):
            with pytest.raises(Boom):
                start(took * (n + 1) / 40)
            ocular.stop_tracing()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    works()


def test_what_is_served_ends_though_stopping_fails(tmp_path, sockets):
    result = script(
        tmp_path,
        """
import json, ocular
ocular.serve()
print(json.dumps(ocular._ocular.socket_path()))
def fails(seconds):
    raise RuntimeError
ocular._stop = fails
""",
        env={"XDG_RUNTIME_DIR": str(sockets)},
    )
    assert not os.path.exists(result.answer)
    assert "RuntimeError" in result.err


def test_what_an_audit_hook_raises_comes_out(tmp_path):
    """The program's audit hooks run at each registration of a hook, and a signal handler
    can run in them. start_tracing() passes on their exceptions."""
    done = script(
        tmp_path,
        """
import json, ocular, sys
calls = limit = 0
def audit(event, _):
    global calls
    if event == "sys.monitoring.register_callback":
        calls += 1
        if calls == limit:
            raise KeyError("boom")
sys.addaudithook(audit)
def start(at):
    global calls, limit
    calls, limit = 0, at
    try:
        ocular.start_tracing(perfetto=False, quiet=True)
    except KeyError:
        return True
    finally:
        made, limit = calls, 0
        ocular.stop_tracing()
    return made
made = start(0)
print(json.dumps([made > 9, {start(at) for at in range(1, made + 1)} == {True}]))
""",
    )
    assert done.answer == [True, True]
