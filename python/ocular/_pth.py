# SPDX-License-Identifier: MIT
"""Writes .pth files into an environment's site-packages. Every interpreter of the
environment runs the lines of these files at its start. --follow (_follow.py) and `ocular
enable` (_commands.py) each have a .pth file."""

import os
import site
import sys
import sysconfig
from pathlib import Path


def _folders():
    """Returns the folders in which CPython looks for .pth files."""
    folders = [sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return [Path(folder) for folder in dict.fromkeys(folders)]


def find(name):
    """Returns the paths of the files called `name` that this interpreter reads."""
    return [folder / name for folder in _folders() if (folder / name).is_file()]


def _write(name, line):
    """Writes the file and returns its path."""
    folder = _folders()[0]
    package = Path(__file__).resolve().parent.parent
    # The folder from which the package is imported, without resolving links.
    imported = Path(os.path.abspath(__file__)).parent.parent
    lines = [line] if package == folder else [str(imported), line]
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def change(name, line=None):
    """Writes the file called `name`. If there is no line for it, removes all files of this
    name that this interpreter reads. Prints what was done, and returns the exit status."""
    try:
        if line:
            print(f"ocular: written: {_write(name, line)}")
            return 0
        found = find(name)
        for path in found:
            path.unlink()
        print(f"ocular: removed: {', '.join(map(str, found)) or 'nothing'}")
    except OSError as error:
        print(f"ocular: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0
