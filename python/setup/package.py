# SPDX-License-Identifier: MIT
"""Collects the files of a wheel in a folder, packs the folder, and packs the sources.
make compiles the code. backend.py (pip), wheel.py (make wheel) and install.py (make
install) use this file.

    package.py sdist DIRECTORY
"""

import base64
import fcntl
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
import zipfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Lists the files and folders that an archive of the sources contains. A test compares this
# list with the files that git tracks.
SOURCES = (
    ".ci .clang-format .clang-tidy .editorconfig .gitignore CHANGELOG.md LICENSE Makefile "
    "README.md docs formats ipc pyproject.toml python screenshots tests tracer tui"
).split()

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAME = PROJECT["name"]
PACKAGE = "ocular"  # the name by which programs import it
FILES = NAME.replace("-", "_")  # the name in the names of files
URLS = PROJECT.get("urls", {})
VERSION = re.search(
    '^#define OCULAR_VERSION "(.*)"', (ROOT / "ipc" / "version.h").read_text("utf-8"), re.M
)[1]
STEM = f"{FILES}-{VERSION}"
INFO = f"{STEM}.dist-info"
SCRIPTS = f"{STEM}.data/scripts"
DATA = f"{STEM}.data/data"
# Other files to install, as {folder of the sources: folder below the prefix}.
SHARED = {
    "docs/man": "share/man/man1",
    "docs/completion/bash": "share/bash-completion/completions",
    "docs/completion/zsh": "share/zsh/site-functions",
    "docs/completion/fish": "share/fish/vendor_completions.d",
}


def metadata():
    """Returns the text of METADATA in a wheel and of PKG-INFO in an sdist."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {VERSION}",
        f"Summary: {PROJECT['description']}",
        f"License-Expression: {PROJECT['license']}",
        *(f"License-File: {name}" for name in PROJECT["license-files"]),
        f"Keywords: {','.join(PROJECT['keywords'])}",
        *(f"Classifier: {text}" for text in PROJECT["classifiers"]),
        *(f"Project-URL: {name}, {url}" for name, url in URLS.items()),
        f"Requires-Python: {PROJECT['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    text = (ROOT / PROJECT["readme"]).read_text("utf-8")
    return "\n".join(lines) + "\n\n" + readme(text, URLS.get("Source"))


def readme(text, source):
    """Returns the README as PyPI has to get it. PyPI has only this one file, so links to
    files of the sources must name the repository. Without a repository, links become plain
    text and pictures are left out."""

    def change(found):
        mark, words, name = found.groups()
        if source:
            return f"{mark}[{words}]({source}/{'raw' if mark else 'blob'}/HEAD/{name})"
        return "" if mark else words

    text = re.sub(r"(!?)\[([^]]*)\]\((?![a-z]+:|#)([^)]*)\)", change, text)
    return re.sub(r"\n{3,}", "\n\n", text)


def tag():
    """Returns the part of a wheel's name that names the Python version and the machine."""
    # "cp312d" in a debug build
    python = "cp" + sysconfig.get_config_var("SOABI").split("-")[1]
    plain = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = re.sub(r"\W", "_", sysconfig.get_platform())
    return f"{plain}-{python}-{platform}"


def seconds():
    """Returns the time stamp of all files in an archive. The stamp is constant, so that the
    same files make the same archive. SOURCE_DATE_EPOCH sets another stamp."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", 1580601600))  # 2020-02-02


# --- What is compiled ---------------------------------------------------------


def interpreter():
    """Returns the interpreter for which make builds. A virtual environment's interpreter is
    not used, because make keeps a file for each interpreter's path, and pip soon deletes
    the environment."""
    base = getattr(sys, "_base_executable", None)
    return base if base and os.access(base, os.X_OK) else sys.executable


def is_writable(root=ROOT):
    """Returns True if make can build in this tree. Another user may own the tree or its
    build/."""
    build = root / "build"
    folders = [root, build, *build.glob("*"), *build.glob("*/*")]
    return all(os.access(path, os.W_OK) for path in folders if path.is_dir())


@contextmanager
def _workplace():
    """Yields a source tree in which make can write. The source tree is this one or a copy
    of it."""
    if is_writable():
        build = ROOT / "build"
        build.mkdir(exist_ok=True)
        with (build / "package.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another pip may build here, too
            yield ROOT
        return
    with tempfile.TemporaryDirectory(prefix="ocular-build-") as copy:
        for name in sources():
            path = Path(copy, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, path)
            path.chmod(0o755 if os.access(ROOT / name, os.X_OK) else 0o644)
        yield Path(copy)


def _run_make(root, into):
    """Runs `make parts`, which compiles and makes two links in `into`. Exits if make
    fails. make must not install packages here, because users of pip do not expect that."""
    environment = {
        name: value
        for name, value in os.environ.items()
        # If another make has started pip, the environment has flags that are meant for the
        # other make only.
        if name
        not in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKE_RESTARTS", "MFLAGS")
    }
    environment |= {"NO_APT": "1", "INTO": into}
    python = interpreter()
    command = ["make", "-C", root, f"PYTHON={python.replace('$', '$$')}", "parts"]
    if shutil.which("bash") is None:
        sys.exit("Ocular is compiled by make and bash: install them.")
    if shutil.which("make") is None:  # configure names all missing packages
        environment["PYTHON"] = python
        command = [root / "python/setup/configure", "--no-venv", f"{into}/setup.mk"]
    if subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode:
        sys.exit("Ocular was not compiled: the reason stands above.")


@contextmanager
def parts():
    """Compiles Ocular and yields the paths of the extension and of the viewer."""
    with _workplace() as root, tempfile.TemporaryDirectory() as into:
        _run_make(root, into)
        name = "_ocular" + sysconfig.get_config_var("EXT_SUFFIX")
        extension = Path(into, "lib").resolve() / PACKAGE / name
        if not extension.exists():
            sys.exit(f"make has built for {interpreter()}, and not for {sys.executable}.")
        yield extension, Path(into, "ocular-top").resolve()


# --- What is installed --------------------------------------------------------


def modules():
    """Returns the files of the package without the extension, and pytest's plugin, relative
    to python/."""
    places = "python/ocular", "python/ocular_pytest.py"
    files = (path for place in places for path in _walk(place))
    return sorted(str(path.relative_to(ROOT / "python")) for path in files)


def libraries(extension):
    """Returns the paths of the extension and of the library for file formats, which the
    extension loads."""
    return extension, extension.with_name("libocular_formats.so")


def write_info(tree):
    """Writes the .dist-info folder, without RECORD."""
    info = tree / INFO
    (info / "licenses").mkdir(parents=True)
    (info / "METADATA").write_text(metadata(), "utf-8")
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    points = [
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in rows.items())
        for group, rows in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(points), "utf-8")
    for name in PROJECT["license-files"]:
        shutil.copyfile(ROOT / name, info / "licenses" / name)
    lines = "Wheel-Version: 1.0", "Generator: ocular", "Root-Is-Purelib: false"
    (info / "WHEEL").write_text("\n".join([*lines, f"Tag: {tag()}"]) + "\n")


def write_tree(tree, extension, viewer):
    """Writes all files of a wheel, without RECORD, into a folder."""
    tree = Path(tree)
    for name in modules():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "python" / name, path)
    for path in libraries(extension):
        shutil.copyfile(path, tree / PACKAGE / path.name)
        (tree / PACKAGE / path.name).chmod(0o755)
    write_program(tree, viewer.read_bytes())
    write_shared(tree)
    write_info(tree)


def write_program(tree, content):
    """Writes `ocular-top` into the folder that an installer copies to bin/."""
    path = Path(tree, SCRIPTS, "ocular-top")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    path.chmod(0o755)


def write_shared(tree):
    """Writes manual pages and completion into the folder that an installer copies to
    the prefix."""
    for folder, place in SHARED.items():
        for source in _walk(folder):
            path = Path(tree, DATA, place, source.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, path)


def record(tree):
    """Returns the text of RECORD, which has a line with a digest for each file."""
    lines = []
    for path in sorted(path for path in Path(tree).rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
        name = path.relative_to(tree).as_posix()
        lines.append(f"{name},sha256={digest.decode().rstrip('=')},{len(content)}")
    return "\n".join([*lines, f"{INFO}/RECORD,,"]) + "\n"


def pack(tree, directory, name):
    """Writes RECORD, and packs the folder as a wheel. Returns the wheel's name."""
    tree = Path(tree)
    (tree / INFO / "RECORD").unlink(missing_ok=True)
    (tree / INFO / "RECORD").write_text(record(tree))
    # A zip file has no dates before 1980.
    stamp = time.gmtime(max(seconds(), 315532800))[:6]
    with zipfile.ZipFile(Path(directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in tree.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(tree).as_posix(), stamp)
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return name


# --- The sources --------------------------------------------------------------


def _walk(folder):
    """Yields the files below a folder of the root, or a single file, without compiled
    Python."""
    top = ROOT / folder
    for path in [top] if top.is_file() else top.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if path.is_file() and "__pycache__" not in parts and path.suffix != ".pyc":
            yield path


def _git(*arguments):
    """Returns the names that a git command prints, or None if the command fails."""
    command = ["git", "-C", ROOT, *arguments, "-z"]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def sources():
    """Returns the names of the source files. In a clone these are the files that git tracks
    and new files in the source folders that git does not ignore."""
    known = _git("ls-files") if (ROOT / ".git").exists() else None
    if known is None:
        found = (path for name in SOURCES for path in _walk(name))
        return sorted(str(path.relative_to(ROOT)) for path in found)
    new = _git("ls-files", "--others", "--exclude-standard") or []
    new = [name for name in new if name.split("/")[0] in SOURCES]
    return sorted(name for name in known + new if (ROOT / name).is_file())


def write_sdist(directory):
    """Packs the sources. Returns the archive's name."""
    now = seconds()
    name = f"{STEM}.tar.gz"
    packed = io.BytesIO()
    # An explicit time stamp and name make two runs produce the same archive.
    with (
        gzip.GzipFile("", "wb", 6, packed, now) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):

        def add(name, content, mode):
            entry = tarfile.TarInfo(f"{STEM}/{name}")
            entry.size, entry.mode, entry.mtime = len(content), mode, now
            archive.addfile(entry, io.BytesIO(content))

        for source in sources():
            mode = 0o755 if (ROOT / source).stat().st_mode & 0o100 else 0o644
            add(source, (ROOT / source).read_bytes(), mode)
        add("PKG-INFO", metadata().encode(), 0o644)
    Path(directory, name).write_bytes(packed.getvalue())
    return name


if __name__ == "__main__":
    if sys.argv[1:2] != ["sdist"] or len(sys.argv) != 3:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    print(os.path.join(sys.argv[2], write_sdist(sys.argv[2])))
