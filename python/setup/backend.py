# SPDX-License-Identifier: MIT
"""Defines the functions that pip, uv and `python -m build` call (PEP 517 and 660).
pyproject.toml names this file. These functions need no other package, because make compiles
the code, and package.py collects the files. An older Python can also run this file. The
file then tells the user that Ocular needs a newer Python."""

import sys
import tempfile

sys.dont_write_bytecode = True  # write no files into the source tree

if not sys.platform.startswith("linux"):
    sys.exit(f"Ocular works on Linux only: this is {sys.platform}.")
if sys.version_info < (3, 12) or sys.implementation.name != "cpython":
    found = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
    sys.exit(f"Ocular needs CPython 3.12 or newer (sys.monitoring): this is {found}.")
for flag, build in ("t", "free-threaded"), ("d", "debug"):
    if flag in sys.abiflags:
        sys.exit(f"Ocular does not work on a {build} build of CPython.")

from pathlib import Path
from shlex import quote

import package


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = (
    get_requires_for_build_wheel
)


def prepare_metadata_for_build_wheel(directory, config_settings=None):
    package.write_info(Path(directory))
    return package.INFO


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(directory, config_settings=None, metadata_directory=None):
    with package.parts() as (extension, viewer), tempfile.TemporaryDirectory() as tree:
        package.write_tree(tree, extension, viewer)
        return package.pack(tree, directory, f"{package.STEM}-{package.tag()}.whl")


def build_editable(directory, config_settings=None, metadata_directory=None):
    """Makes a wheel that only adds build/ to sys.path, where links to the Python files and
    the extension are. After a change of a C file, `make` must run again."""
    if not package.is_writable():
        sys.exit("An editable Ocular needs a clone that make can write to.")
    with package.parts() as (extension, viewer), tempfile.TemporaryDirectory() as tree:
        path = Path(tree, f"__editable__.{package.STEM}.pth")
        path.write_text(f"{extension.parent.parent}\n")
        package.write_program(tree, f'#!/bin/sh\nexec {quote(str(viewer))} "$@"\n'.encode())
        package.write_info(Path(tree))
        return package.pack(tree, directory, f"{package.STEM}-{package.tag()}.whl")


def build_sdist(directory, config_settings=None):
    return package.write_sdist(directory)
