# SPDX-License-Identifier: MIT
"""Does the work of `make install` and `make uninstall`, which packagers use. This file
copies the files of a wheel to their places in PREFIX below DESTDIR. Uninstalling
removes the files that the list RECORD names. pip can read the list RECORD as well. PREFIX,
DESTDIR and PYTHONDIR are environment variables.

    install.py EXTENSION VIEWER | --remove
"""

import csv
import os
import re
import shutil
import site
import sys
import sysconfig
import tempfile
from pathlib import Path

import package

PROGRAM = """\
{first}
import sys

from {module} import {function}

sys.exit({function}())
"""


def _python_folder(prefix):
    """Returns the folder for packages below the prefix. If possible, uses the interpreter's
    own list of such folders, because Debian and Fedora differ from CPython's rule."""
    for folder in map(Path, site.getsitepackages()):
        if folder.is_relative_to(prefix / "lib") or folder.is_relative_to(prefix / "lib64"):
            return folder
    places = dict(base=str(prefix), platbase=str(prefix))
    folder = Path(sysconfig.get_path("platlib", "posix_prefix", places))
    print(f"ocular: {sys.executable} does not look in {folder} by itself", file=sys.stderr)
    return folder


def _first_line(python):
    """Returns the first line of a script, which names the interpreter. The kernel refuses a
    path with blanks or a long path in this line. For such a path the line names sh, and sh
    starts the interpreter."""
    if " " not in python and len(python) < 120:
        return f"#!{python}"
    quoted = python.replace("'", "'\\''")
    return f"#!/bin/sh\n'''exec' '{quoted}' \"$0\" \"$@\"\n'''"


def _write_programs(folder):
    for name, where in package.PROJECT["scripts"].items():
        module, _, function = where.partition(":")
        text = PROGRAM.format(
            first=_first_line(sys.executable), module=module, function=function
        )
        (folder / name).write_text(text, "utf-8")
        (folder / name).chmod(0o755)


def _copy(tree, place):
    """Copies the files below a folder. Existing folders keep their modes, which
    shutil.copytree would change."""
    for source in tree.rglob("*"):
        if source.is_file():
            path = place / source.relative_to(tree)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, path)


def remove(packages, root):
    """Removes the installed files that RECORD lists, and the empty folders. Returns the
    number of files."""
    count = 0
    for info in list(packages.glob(f"{package.FILES}-*.dist-info")):
        with (info / "RECORD").open(newline="") as lines:
            names = [line[0] for line in csv.reader(lines)]
        for name in names:
            path = Path(os.path.normpath(packages / name))
            if not path.is_relative_to(root):
                continue  # another package's RECORD
            for made in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                made.unlink()
            count += path.is_file()
            path.unlink(missing_ok=True)
        for top in info, packages / package.PACKAGE:
            for folder, _, _ in list(os.walk(top, topdown=False)):
                if not os.listdir(folder):
                    os.rmdir(folder)
    return count


def install(packages, root, extension, viewer):
    with tempfile.TemporaryDirectory() as tree:
        tree = Path(tree)
        package.write_tree(tree, extension, viewer)
        (tree / package.INFO / "INSTALLER").write_text("make\n")
        _write_programs(tree / package.SCRIPTS)
        lines = package.record(tree)
        for part, place in (package.SCRIPTS, root / "bin"), (package.DATA, root):
            beside = os.path.relpath(place, packages)
            lines = re.sub(f"^{re.escape(part)}", beside, lines, flags=re.M)
            _copy(tree / part, place)
        (tree / package.INFO / "RECORD").write_text(lines)
        shutil.rmtree((tree / package.DATA).parent)
        _copy(tree, packages)


def main(arguments):
    prefix = Path(os.environ["PREFIX"])
    if not prefix.is_absolute():
        sys.exit(f"PREFIX={prefix} is not absolute")
    packages = Path(os.environ.get("PYTHONDIR") or _python_folder(prefix))
    destination = os.environ.get("DESTDIR", "")
    root = Path(os.path.abspath(f"{destination}{prefix}"))
    packages = Path(os.path.abspath(f"{destination}{packages}"))
    removed = remove(packages, Path(os.path.commonpath([root, packages])))
    if arguments == ["--remove"]:
        print(
            f"ocular: {removed} files removed" if removed else f"ocular: not in {packages}"
        )
        return
    install(packages, root, *map(Path, arguments))
    print(
        f"ocular: {packages}/{package.PACKAGE}, {root}/bin/ocular and ocular-top, "
        f"manual pages and completion in {root}/share"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
