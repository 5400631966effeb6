# SPDX-License-Identifier: MIT
"""Tests the installation by pip into a new environment, whose path has a space and an
accented letter. Other tests check the source archive, `make install` and `make wheel`. The
tests compile nothing, because pip and make use the objects that `make test` has built."""

import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import textwrap
import zipfile
from pathlib import Path

import pytest
from e2e.program import BUILD, PYTHON, ROOT

# The tests run with only one interpreter, because pip is slow.
pytestmark = pytest.mark.once
EXTENSION = "_ocular" + sysconfig.get_config_var("EXT_SUFFIX")
# Without a pip in the tests' environment, uses the interpreter's pip (python/setup/venv).
PIP = [sys.executable if importlib.util.find_spec("pip") else PYTHON, "-m", "pip"]
# The environment variables of the user contain no path of the build tree.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("OCULAR_", "PYTHON"))
} | {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(*command, status=0, **more):
    done = subprocess.run(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
        **{"env": ENVIRONMENT, **more},
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


class Environment:
    """Makes a virtual environment that is empty and has no pip."""

    def __init__(self, path):
        run(PYTHON, "-m", "venv", "--without-pip", path)
        self.path = path
        self.bin = path / "bin"
        self.python = self.bin / "python"
        self.empty = self.files()

    def files(self):
        return {path for path in self.path.rglob("*") if not path.is_dir()}

    def pip(self, *words, **more):
        return run(*PIP, "--python", self.python, *words, **more)

    def install(self, what, **more):
        return self.pip("install", "--no-deps", "--no-compile", what, **more)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("installed") / "an énvironment"


@pytest.fixture(scope="module")
def user(place):
    """Returns an environment into which `pip install .` has installed Ocular."""
    environment = Environment(place / "user")
    environment.install(ROOT, cwd=place)
    return environment


READ_ONLY = "import package; package.is_writable = lambda: False"


def in_setup(code, tree=ROOT, **more):
    """Runs code that can import the modules of python/setup."""
    start = f"import sys; sys.path[:0] = [{str(tree / 'python' / 'setup')!r}]\n"
    return run(PYTHON, "-B", "-c", start + textwrap.dedent(code), **more)


def build(what, directory, tree=ROOT, change="", **more):
    """Calls a function of the build backend as pip does, and returns its output."""
    code = f"{change}\nimport backend\nbackend.build_{what}({str(directory)!r})"
    done = in_setup(code, tree, **more)
    return done.stdout + done.stderr


# --- After pip install ------------------------------------------

PROGRAM = """
import sys
def work(n):
    return sum(range(n))
print(sys.argv, sys.path[0], __name__, [work(n) for n in range(3)])
raise SystemExit(7)
"""


@pytest.mark.parametrize("command", [["ocular"], ["python", "-m", "ocular"]])
def test_the_commands_run_a_program(user, tmp_path, command):
    """The installed commands trace the program. The output, the arguments and the exit
    status of the program are the same as with plain python."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    plain = run(user.python, program, "-x", status=7, cwd=tmp_path)
    done = run(user.bin / command[0], *command[1:], program, "-x", status=7, cwd=tmp_path)
    assert done.stdout == plain.stdout
    assert "1 function" in done.stderr and "work" in done.stderr
    assert json.loads((tmp_path / "ocular_trace.json").read_text())


def test_no_frame_of_the_command_is_in_a_traceback(user, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys\nprint(sys._getframe().f_back)\n1 / 0\n")
    plain = run(user.python, program, status=1)
    done = run(user.bin / "ocular", "--quiet", program, status=1, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)


def test_the_path_in_a_removed_directory(user, tmp_path):
    """sys.path of the program does not contain the folder of the command `ocular`."""
    code = "import sys; print(sys.path)"
    step = f'cd {tmp_path} && mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    shell = ["sh", "-c", step, "sh"]
    plain = run(*shell, user.python, "-c", code)
    done = run(*shell, user.bin / "ocular", "--quiet", "--no-perfetto", "-c", code)
    assert done.stdout == plain.stdout


VIEWED = """
import ocular, subprocess, sys, os
ocular.start_tracing(serve=True, perfetto=False, quiet=True)
sum(abs(n) for n in range(1000))
subprocess.run([sys.argv[1], "--pid", str(os.getpid()), "--once", "--json"], check=True)
print(ocular.__file__, file=sys.stderr)
"""


def test_the_viewer_attaches(user, tmp_path):
    viewer = user.bin / "ocular-top"
    done = run(user.python, "-c", VIEWED, viewer, env=ENVIRONMENT | {"OCULAR_DIR": ""})
    assert json.loads(done.stdout)["functions"]
    assert done.stderr.startswith(str(user.path))
    assert run(viewer, "--version").stdout.startswith("ocular-top ")


def test_the_metadata(user):
    code = """if True:
        from importlib.metadata import distribution
        found = distribution("ocular-top")
        print(found.version, found.metadata["Requires-Python"], *found.entry_points)
    """
    known = run(user.python, "-c", code).stdout
    version = re.search('VERSION "(.*)"', (ROOT / "ipc/version.h").read_text())[1]
    assert known.startswith(f"{version} >=3.12 EntryPoint(name='ocular', ")
    assert "value='ocular_pytest', group='pytest11'" in known
    assert list(user.path.glob("lib/*/site-packages/ocular_pytest.py"))
    (package,) = user.path.glob("lib/*/site-packages/ocular")
    names = {path.name for path in package.iterdir()}
    assert names > {"__init__.py", "__init__.pyi", "py.typed", "demo"}


PLACES = """man/man1/NAME.1 bash-completion/completions/NAME zsh/site-functions/_NAME
    fish/vendor_completions.d/NAME.fish""".split()
SHARED = [
    place.replace("NAME", name) for place in PLACES for name in ("ocular", "ocular-top")
]


def shared(root):
    """Returns the files below share/, except those of CPython itself."""
    share = root / "share"
    return {str(path.relative_to(share)) for path in share.rglob("*") if path.is_file()}


def test_manuals_and_completion(user):
    assert shared(user.path) >= set(SHARED)


def test_another_python_says_so(user, tmp_path):
    """The ImportError says that the extension is for another Python, or that a library is
    missing."""
    (library,) = user.path.glob("lib/*/site-packages/ocular")
    shutil.copytree(library, tmp_path / "ocular")
    (extension,) = (tmp_path / "ocular").glob("_ocular.*.so")
    other = extension.with_name("_ocular.cpython-399-x86_64-linux-gnu.so")
    extension.rename(other)
    done = run(user.python, "-c", "import ocular", status=1, cwd=tmp_path)
    assert f"compiled for another Python ({other.name})" in done.stderr
    assert str(user.python) in done.stderr.splitlines()[-1]
    broken = other.read_bytes().replace(b"liburcu-bp.so", b"liburcu-xx.so")
    extension.write_bytes(broken)
    done = run(user.python, "-c", "import ocular", status=1, cwd=tmp_path)
    assert "needs a shared library that is not on this machine: liburcu-xx" in done.stderr


def test_the_other_ocular_is_named(user):
    """`ocular` on PyPI is another project with a package of the same name."""
    (packages,) = user.path.glob("lib/*/site-packages")
    code = "import ocular"
    assert run(user.python, "-c", code).stderr == ""
    other = packages / "ocular-0.1.7.dist-info"
    other.mkdir()
    run(user.bin / "ocular", "enable")
    try:
        for strict in [], ["-W", "error"]:
            assert run(user.python, *strict, "-c", code).stderr == ""
        run(user.bin / "ocular", "disable")
        said = run(user.python, "-c", code).stderr
        table = run(user.bin / "ocular", "doctor", env=ENVIRONMENT | {"TERM": "xterm"})
    finally:
        other.rmdir()
    assert "limited packages      another project is called ocular" in table.stdout
    assert "RuntimeWarning: the distribution 'ocular' in" in said
    assert said.startswith("<string>:1:") and "pip uninstall ocular ocular-top" in said


def test_uninstalled_nothing_is_left(user):
    """Must be the last test that uses this environment."""
    run(user.python, "-c", "import ocular.demo")
    assert user.files() > user.empty
    user.pip("uninstall", "--yes", "ocular-top")
    assert user.files() == user.empty


def test_editable(tmp_path):
    """pip install -e installs a path to this tree, and a script that starts the viewer."""
    build("editable", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    (link,) = tmp_path.glob("*.pth")
    package = Path(link.read_text().strip(), "ocular")
    assert os.path.realpath(package / "__init__.py") == str(
        ROOT / "python/ocular/__init__.py"
    )
    assert list(package.glob("_ocular.*.so")) and package.is_relative_to(BUILD)
    (viewer,) = tmp_path.glob("ocular_top-*.data/scripts/ocular-top")
    assert run("sh", viewer, "--version").stdout.startswith("ocular-top ")
    assert list(tmp_path.glob("ocular_top-*.dist-info/entry_points.txt"))
    refused = build("editable", tmp_path, change=READ_ONLY, status=1)
    assert "a clone that make can write to" in refused


# --- The source archive -------------------------------------------------------


def test_the_archive_builds_by_itself(tmp_path):
    """The archive holds each file that git tracks, and Ocular can be built from the archive
    in another directory. The test copies the existing objects to this directory. The
    objects are newer than the sources, so make compiles nothing. The build fails if the
    archive lacks a header or a source."""
    build("sdist", tmp_path)
    (path,) = tmp_path.glob("ocular_top-*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.glob("ocular_top-*/")
    names = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    assert "PKG-INFO" in names
    if (ROOT / ".git").exists() and shutil.which("git"):
        known = run("git", "ls-files", "-z", cwd=ROOT).stdout.split("\0")
        assert names > {name for name in known if name and (ROOT / name).exists()}
    tree = tree.rename(tmp_path / "its sourcés")
    # the name of the folder build/cpython-X.Y.Z
    here = Path(os.environ["OCULAR_TEST_EXTENSIONS"])
    for folder in "formats", "tracer", "tui", "ipc":
        shutil.copytree(BUILD / "obj" / folder, tree / "build" / "obj" / folder)
    shutil.copytree(here / "obj", tree / "build" / here.name / "obj")
    for flags in BUILD / "obj" / "flags", here / "flags":
        shutil.copy2(flags, tree / "build" / flags.relative_to(BUILD))
    said = build("wheel", tmp_path, tree)
    assert "LINK  build/bin/ocular-top" in said
    assert "  CC  " not in said, "make compiled again what this test has copied"
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as made:
        assert {f"ocular/{EXTENSION}", "ocular/libocular_formats.so"} <= {*made.namelist()}
    # Without git, the archive contains the same sources.
    again = in_setup("import package\nprint(*package.sources(), sep='\\n')", tree).stdout
    assert {*again.splitlines(), "PKG-INFO"} == names
    # The archive is the same if the files have other dates.
    (tree / "README.md").touch()
    (tmp_path / "again").mkdir()
    build("sdist", tmp_path / "again", tree)
    assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_the_readme_for_pypi():
    """PyPI has no files beside the README, so no link may be relative."""
    code = """
    import package
    print(package.metadata())
    print("====", package.readme("![a](b.png) [c](d.md#e) [f](https://g/h)", "https://x/y"))
    """
    found, _, changed = in_setup(code).stdout.partition("====")
    assert found.startswith("Metadata-Version: 2.4\nName: ocular-top\n")
    assert "Ocular also measures its own cost" in found
    links = re.findall(r"\]\(([^)]*)\)", found)
    assert [link for link in links if not link.startswith("https://")] == []
    assert changed.split() == [
        "![a](https://x/y/raw/HEAD/b.png)",
        "[c](https://x/y/blob/HEAD/d.md#e)",
        "[f](https://g/h)",
    ]


def test_a_read_only_tree_is_copied():
    code = f"""
{READ_ONLY}
with package._workplace() as root:
    assert root != package.ROOT
    print([name for name in package.sources() if not (root / name).is_file()])
print(root.exists())
"""
    assert in_setup(code).stdout == "[]\nFalse\n"


# --- Unsupported systems -----------------------------------------------------------


@pytest.mark.parametrize(
    "change, words",
    [
        ("sys.version_info = (3, 11, 2, 'final', 0)", "CPython 3.12 or newer"),
        ("sys.implementation.name = 'pypy'", "this is pypy 3."),
        ("sys.abiflags += 't'", "free-threaded"),
        ("sys.abiflags += 'd'", "a debug build"),
        ("sys.platform = 'darwin'", "on Linux only: this is darwin"),
    ],
)
def test_an_unsupported_system_is_named(change, words):
    said = build("wheel", "/nowhere", change=change, status=1)
    assert words in said and "Traceback" not in said


def test_missing_packages_are_named(tmp_path):
    """On a machine without make and without a compiler, the error names all missing
    packages at once, and Ocular starts no package manager."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for (
        name
    ) in "bash awk cat cut dirname env grep head id readlink rm sed sort timeout".split():
        (programs / name).symlink_to(shutil.which(name))
    (programs / "apt-get").write_text("#!/bin/sh\necho apt-get was started\n")
    (programs / "apt-get").chmod(0o755)
    poor = ENVIRONMENT | {"PATH": str(programs), "CC": "", "NO_APT": ""}
    said = build("wheel", tmp_path, env=poor, status=1)
    assert re.search("apt-get install -y .*gcc .*make pkg-config .*liburcu-dev", said)
    assert "was started" not in said and "Traceback" not in said


# --- Wheels for other machines, and `make install` for packagers --------------


def test_make_installs_and_removes(tmp_path):
    words = [f"PYTHON={PYTHON}", f"DESTDIR={tmp_path}/a root", "PREFIX=/usr"]
    words += ["PYTHONDIR=/usr/lib/python3/dist-packages", "-s", "-C", ROOT]
    quiet = {**ENVIRONMENT, "MAKEFLAGS": ""}
    root = tmp_path / "a root" / "usr"
    library = root / "lib/python3/dist-packages"
    library.mkdir(parents=True)
    for folder in root, library:
        folder.chmod(0o755)
    run("make", "install", *words, env=quiet)
    assert [folder.stat().st_mode & 0o777 for folder in (root, library)] == [0o755] * 2
    assert shared(root) == set(SHARED)
    path = ENVIRONMENT | {"PYTHONPATH": str(library)}
    assert run(root / "bin/ocular-top", "--version").stdout
    assert run(root / "bin/ocular", "--version", env=path).stdout
    assert len(list(library.glob("ocular_top-*.dist-info/RECORD"))) == 1
    run("make", "install", *words, env=quiet)  # this installs over the first installation
    run("make", "uninstall", *words, env=quiet)
    assert [path for path in root.rglob("*") if path.is_file()] == []
    assert list(library.iterdir()) == []


def test_a_c_library_that_is_too_new_for_a_wheel():
    fails = "echo too-recent versioned symbols >&2; false"
    failed = f"import wheel; wheel.run('sh', '-c', {fails!r})"
    done = subprocess.run(
        [sys.executable, "-B", "-c", failed],
        cwd=ROOT / "python" / "setup",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "an older system" in done.stderr


def test_make_wheel_holds_its_libraries(place):
    """The wheel needs no libraries of the machine except glibc and zlib, and contains the
    licences of its libraries."""
    more = {name: value for name, value in ENVIRONMENT.items() if name != "PIP_NO_INDEX"}
    made = subprocess.run(
        ["make", "-s", "-C", ROOT, "wheel", f"PYTHON={PYTHON}"],
        env={**more, "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
    )
    if "pip could\nnot fetch them" in made.stderr:
        pytest.skip("auditwheel cannot be fetched here")
    if "too-recent versioned symbols" in made.stderr:
        pytest.skip("auditwheel does not know this glibc yet")
    assert made.returncode == 0, made.stderr
    wheel = ROOT / made.stdout.splitlines()[-1]
    assert "-manylinux_" in wheel.name
    if platform.libc_ver() < ("glibc", "2.38"):  # has new versions of strtol() and others
        assert "-manylinux_2_34_" in wheel.name
    environment = Environment(place / "elsewhere")
    environment.install(wheel)
    (extension,) = environment.path.glob("lib/*/site-packages/ocular/_ocular.*.so")
    copies = extension.parent.parent / "ocular_top.libs"
    library = extension.with_name("libocular_formats.so")
    for program in environment.bin / "ocular-top", extension, library, *copies.iterdir():
        linked = dict(re.findall(r"(\S+) => (.*?) \(0x", run("ldd", program).stdout))
        ours = {name for name in linked if re.match("lib(urcu|json|ncurses|tinfo)", name)}
        for name in ours:
            assert os.path.realpath(linked[name]) == str(copies / name)
        assert ours or program.parent == copies
    (licences,) = environment.path.glob("lib/*/site-packages/*/licenses/libraries")
    notice = (licences / "NOTICE").read_text()
    for copy in copies.iterdir():
        (source,) = re.findall(f"^{re.escape(copy.name)}: (\\S+) .* of ", notice, re.M)
        assert list((licences / source).iterdir())
    assert list(licences.glob("*/LGPL-2.1")) or "liburcu" not in notice
    run(environment.python, "-c", VIEWED, environment.bin / "ocular-top")
