# SPDX-License-Identifier: MIT
"""Tests the work that `make` does before it builds (python/setup), on simulated machines.
On a simulated machine, PATH has only chosen programs, and interpreters and package tools
are shell scripts."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent
SETUP = ROOT / "python" / "setup"
TOOLS = (
    "awk basename bash cat cmp cut dirname env grep head id make mkdir mv "
    "readlink rm sed sh sort timeout true uname"
).split()


class Machine:
    def __init__(self, directory):
        self.directory = directory
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.calls = directory / "calls"
        self.calls.touch()
        self.output = directory / "setup.mk"
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.environment = {"PATH": str(self.bin), "HOME": str(directory)}

    def program(self, path, script):
        path = self.bin / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{self.bin}/bash\n{script}\n")
        path.chmod(0o755)
        return path

    def compiler(self):
        self.program("gcc", "exit 0")
        self.program("pkg-config", "exit 0")

    def interpreter(self, path, version, verdict="ok", venv=1):
        """Makes a program that answers like an interpreter of this version."""
        path = self.bin / path
        fields = [verdict, str(path), version]
        if verdict == "ok":
            fields += [f"cpython-{version}", "/include", "/include", ".x.so"]
            fields += [str(venv)]
        self.program(path, "printf '%s\\n' '" + "\t".join(fields) + "'")
        return str(path)

    def kept(self, manager, name, version, **more):
        place = {"pyenv": ".pyenv/versions", "uv": ".local/share/uv/python"}[manager]
        path = self.directory / place / name / "bin" / "python3"
        return self.interpreter(path, version, **more)

    def apt(self, provides=("gcc", "pkg-config"), status=0):
        """Makes a program apt-get that records its calls and "installs" other programs."""
        making = "\n".join(
            f"echo '#!{self.bin}/bash' >{self.bin}/{name}\nchmod +x {self.bin}/{name}"
            for name in provides
        )
        (self.bin / "chmod").symlink_to(shutil.which("chmod"))
        self.program(
            "apt-get",
            f'echo "$DEBIAN_FRONTEND $*" >>{self.calls}\n'
            f'case "$*" in *install*) {making}\nexit {status} ;; esac',
        )

    def user(self, uid):
        (self.bin / "id").unlink()
        self.program("id", f"echo {uid}")

    def configure(self, *options, **environment):
        return subprocess.run(
            [SETUP / "configure", *options, self.output],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def chosen(self, **environment):
        done = self.configure(**environment)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        for line in self.output.read_text().splitlines():
            if line.startswith("interpreter := "):
                return line.removeprefix("interpreter := ")

    def refused(self, *options, **environment):
        done = self.configure(*options, **environment)
        assert done.returncode == 1 and done.stdout == ""
        assert not self.output.exists()
        return done.stderr


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


# --- The search for an interpreter --------------------------------------------


@pytest.fixture
def built(machine):
    machine.compiler()
    return machine


def test_the_newest_on_path(built):
    built.interpreter("python3", "3.12.9")
    built.interpreter("python3.12", "3.12.9")
    newest = built.interpreter("python3.14", "3.14.1")
    built.kept("uv", "cpython-3.15.0-linux", "3.15.0")
    assert built.chosen() == newest


def test_one_line_is_said_and_the_file_kept(built):
    path = built.interpreter("python3", "3.13.2")
    assert built.configure().stderr == f"CPython 3.13.2 ({path})\n"
    before = built.output.stat().st_mtime_ns
    assert built.configure(MAKE_RESTARTS="1").stderr == ""
    assert built.output.stat().st_mtime_ns == before
    built.program("pkg-config", '[ "$2" != libdw ]')
    assert "elfutils is missing (Debian: libdw-dev)" in built.configure().stderr


def test_then_the_newest_that_pyenv_or_uv_keep(built):
    built.interpreter("python3", "3.11.2", verdict="older")
    built.kept("pyenv", "3.9.18", "3.9.18", verdict="older")
    built.kept("pyenv", "3.12.1", "3.12.1")
    built.kept("uv", "cpython-3.13.2-linux-x86_64", "3.13.2")
    newest = built.kept("pyenv", "3.13.10", "3.13.10")
    assert built.chosen() == newest


def test_without_a_home(built):
    """HOME is not set in services and cron jobs."""
    built.interpreter("python3", "3.11.2", verdict="older")
    kept = built.kept("pyenv", "3.12.1", "3.12.1")
    del built.environment["HOME"]
    assert built.chosen(PYENV_ROOT=str(built.directory / ".pyenv")) == kept


def test_unfit_ones_are_passed_over(built):
    built.interpreter("python3.14", "3.14.0", verdict="nogil")
    built.interpreter("python3.13", "3.13.0", verdict="headers")
    fit = built.interpreter("python3.12", "3.12.0")
    assert built.chosen() == fit


def test_shims_without_a_version_do_not_fool_it(built):
    built.program("shims/python3.13", "echo 'not found' >&2; exit 127")
    built.environment["PATH"] = f"{built.bin}/shims:{built.bin}"
    real = built.interpreter("python3.13", "3.13.0")
    assert built.chosen() == real
    assert built.chosen(PYTHON="python3.13") == real


def test_python_overrides_or_is_refused(built):
    built.interpreter("python3.14", "3.14.1")
    other = built.kept("pyenv", "3.12.1", "3.12.1")
    assert built.chosen(PYTHON=other) == other
    built.output.unlink()
    old = built.interpreter("old", "3.10.2", verdict="older")
    said = built.refused(PYTHON=old)
    assert f"3.10.2  {old}: older than 3.12" in said
    assert "3.14" not in said
    assert "no such program" in built.refused(PYTHON="/nowhere/python3")


def test_what_was_found_is_said_where_nothing_fits(built):
    built.interpreter("python3", "3.11.2", verdict="older")
    built.kept("uv", "cpython-3.14.0t", "3.14.0", verdict="nogil")
    built.kept("pyenv", "3.13.1-debug", "3.13.1", verdict="debug")
    built.kept("pyenv", "pypy3.11", "3.11.4", verdict="other")
    said = built.refused()
    whys = "older than 3.12", "a free-threaded build", "a debug build", "not CPython"
    for words in "CPython 3.12 or newer with its headers", "PYTHON=":
        assert words in said
    assert all(f"python3: {why}" in said for why in whys)


def test_headers_in_a_path_with_a_blank(built):
    fields = "ok", "/python3", "3.13.0", "tag", "/in clude", "/plat", ".so", "1"
    built.program("python3", "printf '%s\\n' '" + "\t".join(fields) + "'")
    built.chosen()
    line = "python_includes := -isystem '/in clude' -isystem '/plat'"
    assert line in built.output.read_text().splitlines()


# --- The packages -------------------------------------------------------------


@pytest.fixture
def bare(machine):
    """Returns a simulated Debian machine that has no compiler. The machine has a suitable
    Python that Debian has not installed."""
    machine.interpreter("python3", "3.13.0")
    machine.apt()
    machine.user(0)
    return machine


def test_missing_packages_are_installed(bare):
    assert bare.configure().returncode == 0
    assert "libcmocka-dev" not in bare.calls.read_text()
    for name in ("gcc", "pkg-config"):
        (bare.bin / name).unlink()
    done = bare.configure("--tests")
    assert done.returncode == 0, done.stderr
    calls = bare.calls.read_text().splitlines()
    install = calls[-1]
    assert install.startswith("noninteractive ") and " install -y " in install
    for package in ("gcc", "pkg-config", "liburcu-dev", "libcmocka-dev"):
        assert f" {package}" in install
    assert "python3-dev" not in install
    # The runner printed the command before it ran the command.
    assert "apt-get install -y --no-install-recommends gcc" in done.stderr


def test_the_readme_names_all_packages(bare):
    """On a fresh Debian, the line names all packages, except those that only the tests
    need."""
    bare.program("python3", "echo 'headers\t/usr/bin/python3\t3.12.3'")
    (missing,) = re.findall("--no-install-recommends (.*)", bare.refused(NO_APT="1"))
    wanted = re.sub(r"python3\.12", "python3", missing).split()
    readme = (ROOT / "README.md").read_text("utf-8")
    (line,) = re.findall(r"apt-get install -y (.*?) &&", readme, re.S)
    assert len(wanted) > 6 and {*wanted, "make"} == {*line.replace("\\", "").split()}


@pytest.mark.parametrize(
    "answer, wanted",
    [
        ("headers\t/usr/bin/python3\t3.12.3", {"dev", "venv"}),
        ("ok\t/usr/bin/python3\t3.12.3\tt\ti\ti\ts\t0", {"venv"}),
        ("ok\t/usr/bin/python3\t3.12.3\tt\ti\ti\ts\t1", set()),
        ("ok\t/opt/bin/python3\t3.12.3\tt\ti\ti\ts\t0", set()),
    ],
)
def test_the_systems_python_is_completed(bare, answer, wanted):
    bare.program("python3", f"echo '{answer}'")
    bare.configure()
    installed = bare.calls.read_text()
    found = re.findall(r" python3(?:\.12)?-(dev|venv)", installed)
    assert set(found) == wanted


def test_the_venv_module_is_optional(bare):
    for answer in (
        "ok\t/usr/bin/python3\t3.12.3\tt\ti\ti\ts\t0",
        "headers\t/usr/bin/python3\t3.12",
    ):
        bare.program("python3", f"echo '{answer}'")
        bare.configure("--no-venv")
    installed = bare.calls.read_text()
    assert "python3.12-dev" in installed and "-venv" not in installed


def test_no_apt_forbids(bare):
    said = bare.refused(NO_APT="1")
    assert "NO_APT" in said and "apt-get install -y" in said
    assert bare.calls.read_text() == ""


@pytest.mark.parametrize("sudo", [None, "exit 1"])
def test_without_rights_the_command_is_named(bare, sudo):
    bare.user(1000)
    if sudo:
        bare.program("sudo", sudo)
    said = bare.refused()
    assert "sudo apt-get install -y" in said or "sudo apt-get update" in said
    assert bare.calls.read_text() == ""


def test_sudo_without_a_password_is_used(bare):
    bare.user(1000)
    bare.program("sudo", f'echo "sudo $1" >>{bare.calls}\nshift; exec "$@"')
    assert bare.configure().returncode == 0
    assert "sudo -n" in bare.calls.read_text()
    assert "noninteractive" in bare.calls.read_text()


def test_a_failed_installation_stops(bare):
    (bare.bin / "chmod").unlink()
    bare.apt(provides=(), status=100)
    said = bare.refused()
    assert "could not be installed" in said
    calls = bare.calls.read_text()
    assert calls.count(" install ") == 2 and "update" in calls


def test_elsewhere_the_needs_are_named(bare):
    (bare.bin / "apt-get").unlink()
    said = bare.refused("--tests")
    for words in ("no apt-get", "json-c", "userspace-rcu", "cmocka"):
        assert words in said


def test_a_named_compiler_that_is_missing(bare):
    assert "CC=icc: there is no such compiler" in bare.refused(CC="icc")
    assert bare.calls.read_text() == ""


# --- The runner of the unit tests ---------------------------------------------


@pytest.mark.parametrize(
    "variables, strict",
    [
        ("CI= WERROR=", False),
        ("CI=true WERROR=", True),
        ("CI= WERROR=1", True),
        ("CI=false WERROR=0", False),
        ("CI=0 WERROR=0", False),
    ],
)
def test_a_warning_is_an_error_for_us_alone(variables, strict):
    """Reads the compiler's flags from the data base that make prints. This target of make
    needs no set-up, so build/ does not change."""
    done = subprocess.run(
        ["make", "--print-data-base", "--dry-run", "help", *variables.split()],
        cwd=SETUP.parent.parent,
        env={**os.environ, "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    (flags,) = re.findall("^common := (.*)$", done.stdout, re.M) or ["none"]
    assert "-Wall" in flags
    assert ("-Werror" in flags.split()) == strict
