# SPDX-License-Identifier: MIT
"""Compares `python -m ocular`, and the installed command `ocular`, with plain python.
stdout, stderr and exit status are identical, no matter how the program is started and how
it ends."""

import os
import pty
import py_compile
import re
import signal
import sys
import textwrap
import zipfile
from dataclasses import replace
from importlib.machinery import BuiltinImporter, FrozenImporter

import ocular
import pytest
from e2e.program import PYTHON, Done, command_in, run, write

OCULAR = [PYTHON, "-m", "ocular"]
SILENT = [*OCULAR, "--quiet", "--no-perfetto"]


@pytest.fixture(autouse=True)
def buffered(monkeypatch):
    """Python and C keep their output in buffers, as they do for most users."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


def printed(command, directory, **more):
    """Returns the command's output with addresses replaced, and its exit status."""
    done = run(command, cwd=directory, **more)
    hide = re.compile("0x[0-9a-f]+")
    return Done(done.status, hide.sub("0x", done.out), hide.sub("0x", done.err))


def same(directory, *arguments, traced=None, flags=(), **more):
    """Checks that all commands have the same output and exit status."""
    plain = printed([PYTHON, *flags, *arguments], directory, **more)
    for command in [traced] if traced else [SILENT, [*command_in(directory), *SILENT[3:]]]:
        ours = printed([PYTHON, *flags, *command[1:], *arguments], directory, **more)
        assert ours.err == plain.err
        assert ours.out == plain.out
        assert ours.status == plain.status
    return plain


# --- How a program ends -------------------------------------------------------

FAULTS = {
    "uncaught": ("def f():\n    raise ValueError(1)\nf()", 1, "in f"),
    "caused": (
        """
        def f():
            try:
                1 / 0
            except ZeroDivisionError as error:
                raise KeyError("k") from error
        try:
            f()
        except KeyError:
            raise ExceptionGroup("many", [OSError(2, "gone"), ValueError("v")])
        """,
        1,
        "direct cause",
    ),
    "exit": ("import sys\nsys.exit(3)", 3, ""),
    "interrupt": ("def f():\n    raise KeyboardInterrupt\nf()", -signal.SIGINT, "in f"),
    "subclass of interrupt": (
        """
        class Stop(KeyboardInterrupt): pass
        def f(): raise Stop
        f()
        """,
        1 if sys.version_info < (3, 14) else -signal.SIGINT,
        "in f",
    ),
    "recursion": ("def f(n): return f(n + 1)\nf(0)", 1, "more times"),
    "stack": (
        """
        import inspect, sys
        def f(): return len(inspect.stack()), sys._getframe(1).f_back
        print(f(), sys.getrecursionlimit(), file=sys.stderr)
        """,
        0,
        "(2, None)",
    ),
    "warning": (
        """
        import warnings
        def f(level): warnings.warn(f"level {level}", stacklevel=level)
        for level in range(1, 6):
            f(level)
        """,
        0,
        "<sys>:0" if os.sys.version_info >= (3, 13) else "sys:1",
    ),
    "depth": (
        """
        import sys
        def f(n):
            try: return f(n + 1)
            except RecursionError: return n
        class Endless:
            count = 0
            def __repr__(self):
                Endless.count += 1
                return repr([self])
        print(f(0), file=sys.stderr)
        # Only CPython's own evaluation function can go this deep without C's stack.
        sys.setrecursionlimit(60_000)
        print(f(0), file=sys.stderr)
        try: repr(Endless())
        except RecursionError as error: shown = Endless.count, str(error)
        if sys.version_info >= (3, 14):  # the depth depends on the size of C's stack
            shown = shown[0] > 1000, shown[1].partition(" (")[0]
        print(*shown, file=sys.stderr)
        """,
        0,
        "59998",
    ),
    "excepthook": (
        """
        import sys, traceback
        def hook(kind, error, where):
            print(kind, error, len(traceback.extract_tb(where)), sys._getframe(1) if
                  sys._getframe().f_back else None, file=sys.stderr)
        sys.excepthook = hook
        def f(): raise ValueError
        f()
        """,
        1,
        "ValueError'>  2 None",
    ),
    "thread": (
        """
        import threading
        def f(): raise ValueError("in a thread")
        thread = threading.Thread(target=f, name="one")
        thread.start()
        thread.join()
        """,
        0,
        "Exception in thread one",
    ),
    "atexit": (
        """
        import atexit, sys, traceback
        def f():
            traceback.print_stack()
            print(sorted(vars(sys.modules["__main__"])), file=sys.stderr)
            raise ValueError("late")
        atexit.register(f)
        1 / 0
        """,
        1,
        "late",
    ),
    "last exception": (
        """
        import atexit, sys
        atexit.register(lambda: print(repr(sys.last_exc), file=sys.stderr))
        1 / 0
        """,
        1,
        "division by zero')",
    ),
}


# The output of these programs can show the frames that have called the program. These
# frames differ between the installed command and `python -m ocular`, so these programs run
# with both commands.
BY_BOTH = {"uncaught", "exit", "stack", "warning"}


@pytest.mark.parametrize("name", FAULTS)
def test_a_program_ends_as_it_does_alone(tmp_path, name):
    source, status, words = FAULTS[name]
    traced = None if name in BY_BOTH else SILENT
    plain = same(tmp_path, write(tmp_path, source), traced=traced)
    assert plain.status == status and words in plain.err


@pytest.mark.parametrize("name", ["uncaught", "exit", "interrupt"])
@pytest.mark.parametrize("way", ["module", "package", "code", "stdin", "zip"])
def test_other_ways_to_give_it(tmp_path, name, way):
    source, status, words = FAULTS[name]
    source = textwrap.dedent(source)
    arguments, more = [], {}
    if way == "module":
        write(tmp_path, source)
        arguments = ["-m", "program"]
    elif way == "package":
        (tmp_path / "pack").mkdir()
        write(tmp_path / "pack", "import sys", "__init__.py")
        write(tmp_path / "pack", source, "__main__.py")
        arguments = ["-m", "pack"]
    elif way == "code":
        arguments = ["-c", source]
    elif way == "stdin":
        arguments, more = ["-"], {"input": source}
    else:
        with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
            archive.writestr("__main__.py", source)
        arguments = ["app.pyz"]
    traced = None if name in BY_BOTH else SILENT
    plain = same(tmp_path, *arguments, traced=traced, **more)
    assert plain.status == status and words in plain.err


def test_a_signal_interrupts_it(tmp_path):
    """Functions of atexit still run, and the buffers of the C library are written."""
    source = """
    import atexit, ctypes, os, signal
    atexit.register(print, "at exit")
    ctypes.CDLL(None).printf(b"of C\\n")
    def f(): os.kill(os.getpid(), signal.SIGINT)
    f()
    """
    source = textwrap.dedent(source)
    path = write(tmp_path, source)
    for arguments in [path], ["-c", source], ["-m", "program"]:
        plain = same(tmp_path, *arguments)
        assert plain.status == -signal.SIGINT and "in f" in plain.err
        assert "of C" in plain.out and "at exit" in plain.out


@pytest.mark.parametrize(
    ("asked", "way"),
    [("-i", "script"), ("-i", "module"), ("-i", "code"), ("PYTHONINSPECT", "script")],
)
@pytest.mark.parametrize("end", ["1 / 0", "sys.exit(4)", "raise KeyboardInterrupt"])
def test_statements_are_asked_for_after_it(tmp_path, way, end, asked):
    """With -i, Python asks for further statements after the program has ended. With
    PYTHONINSPECT, Python does so only on a terminal. If Python does not ask, the exit
    status is the same as without Ocular."""
    source = f"import sys\ndef f():\n    {end}\nf()\n"
    path = write(tmp_path, source)
    arguments = {"script": [path], "module": ["-m", "program"], "code": ["-c", source]}
    more = {"input": "print(f.__name__, sys.argv)\nsys.exit(9)\n"}
    if asked == "PYTHONINSPECT":
        more["env"] = {asked: "1"}
    flags = [asked] if asked == "-i" else []
    ours = [PYTHON, *flags, *SILENT[1:], *arguments[way]]
    plain = printed([PYTHON, *flags, *arguments[way]], tmp_path, **more)
    assert printed(ours, tmp_path, **more) == plain
    assert ("f [" in plain.out) == (asked == "-i")
    # From 3.14 on, Ctrl-C determines the exit status.
    if asked == "-i" and sys.version_info < (3, 14):
        assert plain.status == 9


def test_statements_from_stdin(tmp_path):
    """The output is the same except for the greeting of the interactive mode."""
    more = {"input": "print(1)\nimport sys\nsys.exit(9)\nprint(2)\n"}
    ended = [
        printed([PYTHON, "-i", *ours, "-"], tmp_path, **more) for ours in ([], SILENT[1:])
    ]
    assert [(done.status, done.out) for done in ended] == [(9, "1\n")] * 2


# --- What a program can see of itself -----------------------------------------

SEES = """
import sys
main = sys.modules["__main__"]
print(sys.argv, sys.path, main.__name__, globals() is vars(main))
for name, value in sorted(vars(main).items()):
    print(name, type(value) if name == "__loader__" else value)
print(getattr(__loader__, "path", None), sys._getframe().f_code.co_filename)
"""


ARGUMENTS = ["a", "-m", "--serve", "-c", "-"]
SCRIPT, CODE = ("other", ["../program.py"]), (".", ["-c", SEES])
FOLDER = ("other", ["../app"])
VARIABLES = {"PYTHONSAFEPATH": "1"}, {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
# Each entry has the folder, the first words of the command line, and options of run().
GIVEN = [
    (".", ["HERE/program.py"], {}),
    (*SCRIPT, {}),
    (".", ["-m", "program"], {}),
    (*CODE, {}),
    (".", ["-m", "app"], {}),
    (".", ["-m", "app.__main__"], {}),
    (".", ["-"], {"input": SEES}),
    # A program that comes from a pipe can be read only once.
    (".", ["/dev/stdin"], {"input": "#" * 9000 + SEES}),
    (".", ["./bare"], {}),
    (".", ["code.pyc"], {}),
    (".", ["app.pyz"], {}),
    ("other", ["../link.py"], {}),
    (*FOLDER, {}),
    ("other", ["HERE/app"], {}),
    (*SCRIPT, {"flags": ["-P"]}),
    *((*way, {"env": each}) for each in VARIABLES for way in (SCRIPT, CODE, FOLDER)),
]


@pytest.mark.parametrize("folder, words, more", GIVEN)
def test_its_names_arguments_and_path(tmp_path, folder, words, more):
    path = write(tmp_path, SEES)
    write(tmp_path, SEES, "bare")
    (tmp_path / "link.py").symlink_to("program.py")
    for name in "other", "app":
        (tmp_path / name).mkdir()
    write(tmp_path / "app", "", "__init__.py")
    write(tmp_path / "app", SEES, "__main__.py")
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", SEES)
    py_compile.compile(path, tmp_path / "code.pyc")
    words = [word.replace("HERE", str(tmp_path)) for word in words]
    same(tmp_path / folder, *words, *ARGUMENTS, **more)


def test_its_names_without_arguments(tmp_path):
    assert "argv" not in same(tmp_path, write(tmp_path, SEES)).out
    assert "['']" in same(tmp_path, input=SEES).out


def test_isolated(tmp_path):
    """With -I, Python ignores PYTHONPATH. So start.py adds Ocular's folder to sys.path,
    where an installation would have it."""
    folder = os.path.dirname(os.path.dirname(ocular.__file__))
    start = f"""
    import sys
    sys.path.append({folder!r})
    sys.argv[1:] = {SILENT[3:]} + sys.argv[1:]
    from ocular.__main__ import main
    main()
    """
    start = write(tmp_path, start, "start.py")
    path = write(tmp_path, SEES)
    plain = printed([PYTHON, "-I", path], tmp_path)
    ours = printed([PYTHON, "-I", start, path], tmp_path)
    assert replace(ours, out=ours.out.replace(f", {folder!r}]", "]")) == plain


def modules_of_its_own(folder, without):
    """Writes a module with the name of each standard module, in the program's folder."""
    names = sorted(
        name
        for name in sys.stdlib_module_names
        if re.match("[a-z]+$", name) and name not in without
        if not (BuiltinImporter.find_spec(name) or FrozenImporter.find_spec(name))
    )
    for name in names:
        write(folder, f"print('own', __name__)\nown = {name!r}\n", f"{name}.py")
    return names


IMPORTS = """
import sys
for name in {names}:
    module = __import__(name)
    print(name, getattr(module, "own", None))
"""


@pytest.mark.parametrize("way", ["script", "code", "stdin", "folder"])
def test_modules_with_names_of_the_standard_library(tmp_path, way):
    """The program imports its own modules, and Ocular imports the modules of the
    standard library with the same names."""
    # CPython itself imports some modules for -c, at its end, and for -m before it runs
    # Ocular's code.
    without = "linecache", "threading", "importlib", "types", "warnings", "pkgutil"
    folder = tmp_path / "app"
    folder.mkdir()
    names = modules_of_its_own(folder, without)
    for source in ("print(1)", IMPORTS.format(names=names)):
        write(folder, source, "__main__.py")
        arguments, more = {
            "code": (["-c", source], {}),
            "stdin": (["-"], {"input": source}),
            "folder": (["."], {}),
        }.get(way, (["__main__.py", "a"], {}))
        plain = same(folder, *arguments, **more)
        assert plain.status == 0
    assert "argparse argparse" in plain.out and "enum enum" in plain.out


def test_what_stdin_holds_is_the_program_and_no_more(tmp_path):
    source = "import sys\nprint(repr(sys.stdin.read()))\n"
    assert same(tmp_path, "-", input=source).out == "''\n"
    assert same(tmp_path, "-c", source, input="data").out == "'data'\n"


def test_code_is_traced_however_it_is_given(tmp_path):
    source = """
import json, ocular
def work(): pass
for _ in range(7): work()
seen = ocular.snapshot()
print(json.dumps([seen["command"], [f["calls"] for f in seen["functions"]
                                    if f["name"] == "work"]]))
"""
    write(tmp_path, source)
    for arguments, more, command in (
        (["program.py", "a"], {}, "program.py a"),
        (["-m", "program", "a"], {}, "-m program a"),
        (["-c", source, "a"], {}, "-c a"),
        (["-", "a"], {"input": source}, "- a"),
    ):
        assert run([*SILENT, *arguments], cwd=tmp_path, **more).answer == [command, [7]]


def test_on_a_terminal_it_asks_for_a_program(tmp_path):
    ours, its = pty.openpty()
    try:
        done = run(OCULAR, cwd=tmp_path, stdin=its)
    finally:
        os.close(ours)
        os.close(its)
    assert done.status == 2 and "name a script" in done.err and done.out == ""


# --- Programs that do not compile ---------------------------------------------

BROKEN = {
    "syntax": b"def broken(:\n",
    "cookie": b"# coding: no-such-codec\n",
    "null": b"x = 1\0\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_program_that_does_not_compile(tmp_path, name):
    """The interpreter prints its usual error. Ocular traces, prints and writes nothing."""
    (tmp_path / "program.py").write_bytes(BROKEN[name])
    plain = same(tmp_path, "program.py", traced=[*OCULAR, "--serve"])
    assert plain.status == 1 and "Error" in plain.err
    assert os.listdir(tmp_path) == ["program.py"]


def test_code_that_is_no_text(tmp_path):
    assert same(tmp_path, "-c", "print('\udcff')").status == 1


def test_a_module_that_is_not_there(tmp_path):
    (tmp_path / "no_main").mkdir()
    for name in "no.such.module", "nothing_of_that_name", "no_main":
        assert same(tmp_path, "-m", name, traced=OCULAR).status == 1
    path = write(tmp_path, "print()")
    assert same(tmp_path, "-m", "program", traced=OCULAR, flags=["-P"]).status == 1
    assert set(os.listdir(tmp_path)) == {"no_main", path.name}


# --- Thread states ------------------------------------------------------------


def test_faulthandler_shows_our_thread_and_no_frame_of_ours(tmp_path):
    """The output differs only by the governor's thread, because CPython lists every thread
    state (docs/usage.md, More limits)."""
    path = write(
        tmp_path,
        """
        import faulthandler, sys
        def f(): faulthandler.dump_traceback(sys.stderr)
        f()
        faulthandler.dump_traceback(sys.stderr, all_threads=False)
        """,
    )
    plain = printed([PYTHON, path], tmp_path)
    traced = printed([*SILENT, path], tmp_path)
    # CPython 3.14 adds the thread's name, and 3.15 omits the second line.
    ours = (
        r"Thread 0x(?: \[[^\n]*\])? \(most recent call first\):\n"
        r"(?:  <no Python frame>\n)?\n"
    )
    assert re.sub(ours, "", traced.err, count=1) == plain.err
    assert not re.search(ours, plain.err)
    assert "in f" in plain.err and "in <module>" in plain.err


# --- A second import of the package -------------------------------------------

AGAIN = """
import os, sys
def import_again():
    for name in [name for name in sys.modules if name.split(".")[0] == "ocular"]:
        del sys.modules[name]
    import ocular
    return ocular
ocular = import_again()
"""


def test_settings_outlive_the_package(tmp_path, sockets):
    """--quiet and --no-perfetto stay in effect, also in a forked child."""
    source = AGAIN + textwrap.dedent(
        """
        child = os.fork()
        if not child:
            print("child", bool(ocular.snapshot()["pid"] == os.getpid()), flush=True)
            sys.exit(0)
        print(os.waitpid(child, 0)[1], ocular.is_tracing())
        """
    )
    done = run([*SILENT, "--serve", write(tmp_path, source)], cwd=tmp_path)
    assert (done.status, done.out) == (0, "child True\n0 True\n"), done.err
    assert done.err == ""
    assert os.listdir(tmp_path) == ["program.py"]


def test_serving_outlives_the_package(tmp_path, sockets):
    source = AGAIN + textwrap.dedent(
        """
        ocular.serve(deinstrument_threshold=77)
        ocular = import_again()
        ocular.start_tracing(quiet=True, perfetto=False)  # serves, as serve() was called
        print(ocular._ocular.socket_path() is not None)
        ocular.stop_tracing()
        ocular.stop_serving()
        ocular = import_again()
        ocular.start_tracing(quiet=True, perfetto=False)
        print(ocular._ocular.socket_path() is None)
        """
    )
    done = run([PYTHON, write(tmp_path, source)], cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, "True\nTrue\n", "")
