# SPDX-License-Identifier: MIT
"""Tests python -m ocular. The program has the same __main__, sys.path and sys.argv as
without Ocular."""

import py_compile
import zipfile

import pytest
from e2e.program import PYTHON, run

DUMP = """
import sys, json, re
names = {name: re.sub("0x[0-9a-f]+", "0x", repr(value)) for name, value in globals().items()
         if name.startswith("__") and name not in ("__builtins__", "__loader__")}
main = sys.modules["__main__"]
print(json.dumps([names, type(__loader__).__name__, type(__builtins__).__name__,
                  vars(main) is globals(), sys.argv, sys.path,
                  __loader__.__dict__.get("path"), sys._getframe().f_code.co_filename],
                 sort_keys=True, default=str))
"""


def place(directory):
    (directory / "script.py").write_text(DUMP)
    (directory / "bare").write_text(DUMP)
    (directory / "sub").mkdir()
    (directory / "link.py").symlink_to("sub/real.py")
    (directory / "sub" / "real.py").write_text(DUMP)
    (directory / "app").mkdir()
    (directory / "app" / "__main__.py").write_text(DUMP)
    (directory / "pack").mkdir()
    (directory / "pack" / "__init__.py").write_text("")
    (directory / "pack" / "__main__.py").write_text(DUMP)
    with zipfile.ZipFile(directory / "app.pyz", "w") as archive:
        archive.write(directory / "app" / "__main__.py", "__main__.py")
    py_compile.compile(directory / "script.py", directory / "code.pyc")


PROGRAMS = [
    "script.py",
    "./script.py",
    "sub/../script.py",
    "bare",
    "link.py",
    "app",
    "app.pyz",
    "code.pyc",
    "-m pack",
    "-m script",
    "-m pack.__main__",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_without_us(program, tmp_path):
    place(tmp_path)
    for flags in [], ["-P"]:
        if flags and program in ("-m pack", "-m script", "-m pack.__main__"):
            # with -P Python does not find such a module, as test_a_safe_path shows
            continue
        words = [*program.split(), "-m", "x"]
        plain = run([PYTHON, *flags, *words], cwd=tmp_path)
        ours = run(
            [PYTHON, *flags, "-m", "ocular", "--quiet", "--no-perfetto", *words],
            cwd=tmp_path,
        )
        assert ours.err == plain.err == ""
        assert ours.answer == plain.answer


def test_by_its_whole_path(tmp_path):
    place(tmp_path)
    words = [tmp_path / "script.py"]
    plain = run([PYTHON, *words], cwd="/")
    ours = run([PYTHON, "-m", "ocular", "--quiet", "--no-perfetto", *words], cwd="/")
    assert ours.answer == plain.answer


def test_a_safe_path(tmp_path):
    """Neither the script's directory nor the current directory is on sys.path."""
    place(tmp_path)
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "imports.py").write_text("import beside\n")
    options = ["-m", "ocular", "--quiet", "--no-perfetto"]
    for flags, environment in (["-P"], {}), ([], {"PYTHONSAFEPATH": "1"}):
        for program in ["imports.py"], ["-m", "beside"]:
            done = run([PYTHON, *flags, *options, *program], cwd=tmp_path, env=environment)
            assert done.status == 1 and "No module named" in done.err


def test_isolated(tmp_path):
    """With -I, Python ignores PYTHONPATH. So start.py adds Ocular's folder to sys.path,
    where an installation would have it."""
    place(tmp_path)
    import ocular

    folder = ocular.__file__.rpartition("/ocular/")[0]
    (tmp_path / "start.py").write_text(
        "import sys, runpy\n"
        f"sys.path.append({folder!r})\n"
        "sys.argv[:] = ['ocular', '--quiet', '--no-perfetto', 'script.py']\n"
        "from ocular.__main__ import main\nmain()\n"
    )
    plain = run([PYTHON, "-I", "script.py"], cwd=tmp_path).answer
    ours = run([PYTHON, "-I", "start.py"], cwd=tmp_path).answer
    assert ours[5].pop() == folder
    assert ours == plain


def test_errors_of_a_module_are_the_interpreters(tmp_path):
    place(tmp_path)
    for words in ["-m", "no.such"], ["-m", "sub"]:
        plain = run([PYTHON, *words], cwd=tmp_path)
        ours = run(
            [PYTHON, "-m", "ocular", "--quiet", "--no-perfetto", *words], cwd=tmp_path
        )
        assert ours.status == plain.status == 1
        assert ours.err.split(": ", 1)[1] == plain.err.split(": ", 1)[1]
