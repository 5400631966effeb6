# SPDX-License-Identifier: MIT
"""If Ocular cannot work, its error message says what to do."""

import ast
import re
import sys
import threading
import types
import warnings
from pathlib import Path

import ocular
import pytest
from e2e.counting import EXACT, helper, row
from e2e.program import PYTHON, ROOT, run, script, write
from ocular import _ocular

PACKAGE = ROOT / "python" / "ocular"


# --- Subinterpreters ----------------------------------------------------------


class Subinterpreter:
    """An `isolated` subinterpreter has its own GIL, and a `legacy` subinterpreter shares
    the GIL of the main interpreter."""

    def __init__(self, kind):
        if sys.version_info >= (3, 13):
            import _interpreters

            self.module = _interpreters
            self.id = _interpreters.create(kind)
        else:
            import _xxsubinterpreters

            self.module = _xxsubinterpreters
            self.id = _xxsubinterpreters.create(isolated=kind == "isolated")

    def run(self, source):
        if sys.version_info >= (3, 13):
            failed = self.module.exec(self.id, source)
            assert failed is None, failed.formatted
        else:
            self.module.run_string(self.id, source)

    def close(self):
        self.module.destroy(self.id)


@pytest.fixture(params=["isolated", "legacy"])
def sub(request):
    subinterpreter = Subinterpreter(request.param)
    yield subinterpreter
    subinterpreter.close()


TRIES = """
import sys
sys.path[:] = {path!r}
try:
    import ocular
except ImportError as error:
    words = str(error)
assert "subinterpreter" in words and "main interpreter" in words, words
assert "ocular" not in sys.modules
"""

WORKS = """
import json, os, stat
def helper(n):
    while n:
        n -= 1
    return os.path.join("a", stat.filemode(0))
for number in range(200):
    helper(3)
    json.dumps([number, {}])
"""


def in_a_generator(*moved):
    yield _ocular.check_frames(*moved)


def in_two_deep(*moved):
    return _ocular.check_frames(*moved)


@pytest.mark.parametrize("bytes_", [8, -8, 16, 1])
@pytest.mark.parametrize("field", ["code", "caller", "instruction", "owner"])
@pytest.mark.parametrize("way", [in_two_deep, lambda *moved: next(in_a_generator(*moved))])
def test_frames_that_are_laid_out_in_another_way(way, field, bytes_):
    """If CPython's frames have another layout, Ocular refuses to work, without a crash."""
    fields = ["code", "caller", "instruction", "owner"]
    way()
    with pytest.raises(ImportError, match="frames have another layout"):
        way(*(bytes_ * (field == name) for name in fields))


def test_import_in_a_subinterpreter(sub):
    for _ in range(2):
        sub.run(TRIES.format(path=sys.path))
    ocular.start_tracing(**EXACT)
    helper(1)
    sub.run(TRIES.format(path=sys.path))
    assert ocular.is_tracing()
    helper(1)
    assert row(ocular.stop_tracing(), "helper")["calls"] == 2


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_a_subinterpreters_code_is_not_counted(sub, first):
    """The subinterpreter's function `helper` is not counted, although a function of the
    main interpreter has the same name. The main interpreter's function is counted, also
    while the subinterpreter runs in another thread."""
    if first == "theirs":
        sub.run(WORKS)
    ocular.start_tracing(**{**EXACT, "deinstrument_threshold": 100})
    for _ in range(10):
        helper(1)
    thread = threading.Thread(target=sub.run, args=(WORKS,))
    thread.start()
    for _ in range(10):
        helper(1)
    thread.join()
    sub.run("helper(1)")
    helper(1)
    assert row(ocular.stop_tracing(), "helper")["calls"] == 21
    sub.run("helper(1)")


def test_the_end_of_a_subinterpreter_is_not_ours():
    for kind in ("isolated", "legacy"):
        ocular.start_tracing(**EXACT)
        subinterpreter = Subinterpreter(kind)
        subinterpreter.run(WORKS)
        subinterpreter.close()
        helper(1)
        assert ocular.is_tracing()
        assert row(ocular.stop_tracing(), "helper")["calls"] == 1


# --- Other builds of CPython --------------------------------------------------

FAKED = """
import sys
{change}
try:
    import ocular
except ImportError as error:
    print(error)
print("_thread" in vars(sys.modules.get("ocular", sys)))
"""


@pytest.mark.parametrize(
    "change",
    ["sys.abiflags += 'd'", "sys.implementation.name = 'pypy'", "sys.platform = 'darwin'"],
)
def test_the_command_is_refused_in_one_line(tmp_path, change):
    """`python -m ocular` prints one line and no traceback."""
    start = f"import runpy, sys; {change}; runpy._run_module_as_main('ocular')"
    done = run([PYTHON, "-c", start], cwd=tmp_path)
    assert done.status == 1 and done.out == ""
    assert "ImportError: Ocular " in done.err and done.err.count("\n") == 1


# --- Older Pythons, and others ------------------------------------------------


@pytest.mark.parametrize(
    "change, words",
    [
        (
            "sys.version_info = (3, 11, 7, 'final', 0)",
            "CPython 3.12 or newer.*cpython 3.11",
        ),
        ("sys.implementation.name = 'pypy'", "CPython 3.12 or newer.*pypy 3."),
        ("sys.platform = 'darwin'", "on Linux only, and this is darwin"),
        ("sys.abiflags += 't'", "a free-threaded build.*usual build"),
        ("sys.abiflags += 'd'", "a debug build.*usual build"),
    ],
)
def test_another_python(tmp_path, change, words):
    done = script(tmp_path, FAKED.format(change=change))
    assert re.search(words, done.out)
    assert done.out.endswith("False\n") and done.err == ""


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py"])
def test_an_older_python_can_read_the_check(name):
    """An older Python must be able to compile these files, although it cannot run Ocular.
    If it could not, the user would see only a syntax error."""
    ast.parse((PACKAGE / name).read_text(), feature_version=(3, 8))


def older():
    """Returns an interpreter that is too old, if this machine has one."""
    listed = run([ROOT / "python" / "setup" / "interpreters"], env={"PYTHON": ""})
    for line in listed.out.splitlines():
        verdict, executable, version, *_ = line.split("\t")
        if verdict == "older" and version.startswith("3."):
            return executable, version
    return pytest.skip("no Python before 3.12 here")


@pytest.mark.once
def test_on_an_older_python(tmp_path):
    executable, version = older()
    search = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    short = ".".join(version.split(".")[:2])
    for arguments in (["-c", "import ocular"], ["-m", "ocular", "x.py"]):
        done = run([executable, *arguments], env=search, cwd=tmp_path)
        assert done.status == 1 and done.out == ""
        last = done.err.splitlines()[-1]
        assert "Ocular needs CPython 3.12 or newer" in last and short in last
    done = run(["make", f"PYTHON={executable}", "extension"], cwd=ROOT)
    assert done.status != 0
    assert f"{version}  {executable}: older than 3.12" in done.err


# --- The JIT ------------------------------------------------------------------


@pytest.fixture
def jit(monkeypatch):
    """Sets a fake sys._jit whose JIT is on, as in some builds of 3.14 and newer."""
    faked = types.SimpleNamespace(is_enabled=lambda: True)
    monkeypatch.setattr(sys, "_jit", faked, raising=False)
    monkeypatch.setitem(ocular._kept, "warned of the JIT", False)
    return faked


def trace_three_times():
    for _ in range(3):
        ocular.start_tracing(**EXACT)
        ocular.stop_tracing()


def test_the_jit_is_warned_of_once(jit):
    with pytest.warns(RuntimeWarning) as caught:
        trace_three_times()
    (warning,) = caught
    assert "gh-156319" in str(warning.message)
    assert "PYTHON_JIT=0" in str(warning.message)
    assert warning.filename == __file__


def test_the_warning_can_prevent_the_start(jit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(RuntimeWarning, match="JIT"):
                ocular.start_tracing(**EXACT)
    assert not ocular.is_tracing()


def test_no_warning_without_the_jit(jit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit.is_enabled = lambda: False
        trace_three_times()


def test_the_command_warns_and_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, types\nsys._jit = types.SimpleNamespace(is_enabled=lambda: True)\n"
    )
    path = write(tmp_path, "print('ran')")
    search = f"{tmp_path}:{Path(ocular.__file__).parent.parent}"
    for option, warning in ("default", "RuntimeWarning"), ("error", "tracing is off"):
        done = run(
            [PYTHON, "-W", option, "-m", "ocular", "--no-perfetto", path],
            env={"PYTHONPATH": search},
            cwd=tmp_path,
        )
        assert (done.status, done.out) == (0, "ran\n"), done.err
        assert warning in done.err and "PYTHON_JIT=0" in done.err
        assert "Traceback" not in done.err
