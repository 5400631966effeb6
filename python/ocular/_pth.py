# SPDX-License-Identifier: MIT
"""Lines in an environment's site-packages that every interpreter of it runs at its
start: .pth files. Those of --follow (_follow.py) and of `ocular enable`
(_commands.py)."""

import os
import site
import sysconfig
from pathlib import Path


def _folders():
    """The folders in which CPython looks for .pth files."""
    folders = [sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return [Path(folder) for folder in dict.fromkeys(folders)]


def find(name):
    """The files of that name that are there, for this interpreter."""
    return [folder / name for folder in _folders() if (folder / name).is_file()]


def install(name, line):
    """Writes the file: its path. OSError if that is not allowed."""
    folder = _folders()[0]
    package = Path(__file__).resolve().parent.parent
    lines = [line] if package == folder else [str(_import_path()), line]
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def _import_path():
    """The folder that the package is imported from, links kept."""
    return Path(os.path.abspath(__file__)).parent.parent


def remove(name):
    """Removes what install() has written, wherever it is: the paths."""
    found = find(name)
    for path in found:
        path.unlink()
    return found
