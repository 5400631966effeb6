# SPDX-License-Identifier: MIT
"""An output file never replaces the file of another run. The output file is written
completely or not at all. If the disk is full, the program still goes on."""

import os
import subprocess
from pathlib import Path

import ocular
import pytest
from e2e import trace
from e2e.counting import row
from e2e.program import script
from ocular import _ocular
from ocular.demo import pure

# The recording has this name until stop_tracing() is called.
RECORDING = f"trace.{os.getpid()}.ocular"


@pytest.fixture
def tracing(tmp_path):
    def start(**settings):
        output = settings.pop("output", tmp_path / "trace.json")
        ocular.start_tracing(
            **{"quiet": True, "deinstrument_threshold": 0, "output": output, **settings}
        )
        pure.CASES["recursion"]()

    yield start
    ocular.stop_tracing()


def test_an_existing_file_is_never_overwritten(tracing, tmp_path):
    Path(tmp_path, "trace.json").write_text("precious")
    names = []
    for _ in range(3):
        tracing()
        ocular.stop_tracing()
        names.append(sorted(os.listdir(tmp_path)))
    assert Path(tmp_path, "trace.json").read_text() == "precious"
    pid = os.getpid()
    assert f"trace.{pid}.json" in names[0]
    assert len(names[2]) == 4
    for name in names[2]:
        assert str(pid) in name or name == "trace.json"
        if str(pid) in name:
            trace.read(tmp_path / name)


@pytest.mark.parametrize(
    "name, other",
    [
        ("a.json.gz", "a.PID.json.gz"),
        ("a.pftrace", "a.PID.pftrace"),
        ("a.b.pftrace.gz", "a.b.PID.pftrace.gz"),
        ("plain", "plain.PID"),
        (".hidden", ".hidden.PID"),
        ("a.b.json", "a.b.PID.json"),
        ("1.default.trace.json", "1.default.trace.PID.json"),
    ],
)
def test_the_pid_goes_before_the_ending(tracing, tmp_path, name, other):
    for _ in range(2):
        tracing(output=tmp_path / name)
        ocular.stop_tracing()
    other = other.replace("PID", str(os.getpid()))
    assert set(os.listdir(tmp_path)) == {name, other}
    for each in (name, other):
        trace.read(tmp_path / each)


def test_a_device_is_written_to(tracing, tmp_path, capfd):
    """Writes to a device through a link, so that a failing test leaves no file in /dev."""
    (tmp_path / "null.json").symlink_to("/dev/null")
    tracing(output=tmp_path / "null.json", quiet=False)
    ocular.export(tmp_path / "null.json")
    ocular.stop_tracing()
    assert f"timeline: {tmp_path}/null.json\n" in capfd.readouterr().err
    assert os.listdir(tmp_path) == ["null.json"]
    assert (tmp_path / "null.json").is_char_device()


def test_where_a_device_is_nothing_else_is_written(tmp_path):
    before = sorted(os.listdir("/dev"))
    source = "import ocular\nocular.start_tracing(quiet=True, output='/dev/null')\n"
    done = script(tmp_path, source)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert sorted(os.listdir("/dev")) == before and Path("/dev/null").is_char_device()


def test_a_full_device(tracing, capfd):
    tracing(output="/dev/full")
    ocular.stop_tracing()
    assert "could not be written to /dev/full: No space left" in capfd.readouterr().err


@pytest.mark.parametrize("path", ["-", "/dev/stdout", b"-"])
def test_stdout_is_the_programs(path):
    with pytest.raises(ValueError, match="stdout belongs to the program; name a file"):
        ocular.start_tracing(output=path)
    assert not ocular.is_tracing()


def test_permissions_follow_the_umask(tracing, tmp_path):
    before = os.umask(0o027)
    try:
        tracing()
        ocular.stop_tracing()
    finally:
        os.umask(before)
    assert (tmp_path / "trace.json").stat().st_mode & 0o777 in (0o640, 0o600)


# --- export() -----------------------------------------------------------------


def test_export_goes_on_tracing(tracing, tmp_path):
    tracing()
    size = ocular.export(tmp_path / "one.json")
    assert size == (tmp_path / "one.json").stat().st_size > 1000
    assert ocular.is_tracing()
    one = trace.read(tmp_path / "one.json")
    pure.CASES["recursion"]()
    ocular.export(str(tmp_path / "two.json.gz"))
    two = trace.read(tmp_path / "two.json.gz")
    assert two.names()["fibonacci"] == 2 * one.names()["fibonacci"]
    # If the name is given as bytes, export() also replaces an existing file.
    ocular.export(os.fsencode(tmp_path / "one.json"))
    again = trace.read(tmp_path / "one.json")
    assert again.names()["fibonacci"] == two.names()["fibonacci"]
    final = ocular.stop_tracing()
    assert row(final, "fibonacci")["calls"] == two.names()["fibonacci"]
    assert sorted(os.listdir(tmp_path)) == ["one.json", "trace.json", "two.json.gz"]


@pytest.mark.parametrize(
    "path, kind",
    [
        ("no/such/place.json", FileNotFoundError),
        (".", OSError),
        ("/proc/self/trace.json", OSError),
        ("x" * 300, OSError),
    ],
)
def test_export_to_where_it_cannot(tracing, tmp_path, path, kind):
    tracing()
    with pytest.raises(kind) as raised:
        ocular.export(path)
    assert raised.value.filename == path
    assert raised.value.errno and path in str(raised.value)
    ocular.export("fine.json")  # the next export works again
    trace.read(tmp_path / "fine.json")
    assert sorted(os.listdir(tmp_path)) == ["fine.json", RECORDING]


def test_export_wrong_path(tracing):
    tracing()
    for path in (3, None):
        with pytest.raises(TypeError):
            ocular.export(path)
    with pytest.raises(ValueError, match="null"):
        ocular.export("a\0b")


def test_export_without_a_timeline(tracing, tmp_path):
    tracing(perfetto=False)
    with pytest.raises(RuntimeError, match="perfetto=True"):
        ocular.export(tmp_path / "x.json")
    assert os.listdir(tmp_path) == []


# --- A full disk --------------------------------------------------------------

TOO_BIG = """
import ocular, resource, signal, sys
from ocular.demo import pure
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ocular.start_tracing(deinstrument_threshold=0, output=sys.argv[1])
for _ in range(3):
    pure.CASES["loops"]()
if len(sys.argv) == 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    ocular.export("x" + sys.argv[1])
except OSError as error:
    print("export:", error)
final = ocular.stop_tracing()
print("goes on", len(final["functions"]) > 3)
"""


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_file_that_may_not_grow(tmp_path, name):
    done = script(tmp_path, TOO_BIG, name)
    assert done.status == 0
    assert "export:" in done.out and "too large" in done.out
    assert "goes on True" in done.out
    assert f"could not be written to {tmp_path / name}: File too large" in done.err
    # No incomplete file is left, because a user could mistake it for a complete one. The
    # recording stays.
    left = {path for path in tmp_path.iterdir() if path.name != "program.py"}
    (recording,) = left
    assert f"; what was recorded is there: ocular convert {recording}\n" in done.err
    assert _ocular.convert((os.fsencode(recording),), os.fsencode(tmp_path / "x.json"))[1]
    trace.read(tmp_path / "x.json")


def test_a_full_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user cannot mount a small disk")
    try:
        done = script(tmp_path, TOO_BIG.replace('"x" + ', ""), disk / "t.json", "full")
        left = os.listdir(disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert done.status == 0
    assert "No space left" in done.out and "goes on True" in done.out
    assert f"could not be written to {disk}/t.json: No space left" in done.err
    assert [Path(name).suffix for name in left] == [".ocular"]


def test_a_directory_takes_the_name_meanwhile(tracing, tmp_path):
    tracing()
    (tmp_path / "trace.json").mkdir()
    ocular.stop_tracing()
    trace.read(tmp_path / f"trace.{os.getpid()}.json")
