# SPDX-License-Identifier: MIT
"""Writes .pth files into an environment's site-packages. Every interpreter of the
environment runs the lines of these files at its start. --follow (_follow.py) and `ocular
enable` (_commands.py) each have a .pth file."""

import os
import site
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


def install(name, line):
    """Writes the file and returns its path. Raises OSError if the file cannot be
    written."""
    folder = _folders()[0]
    package = Path(__file__).resolve().parent.parent
    lines = [line] if package == folder else [str(_import_path()), line]
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def _import_path():
    """Returns the folder from which the package is imported, without resolving links."""
    return Path(os.path.abspath(__file__)).parent.parent


def remove(name):
    """Removes all files called `name` that this interpreter reads. Returns the removed
    paths."""
    found = find(name)
    for path in found:
        path.unlink()
    return found
