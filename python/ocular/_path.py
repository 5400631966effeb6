# SPDX-License-Identifier: MIT
"""Removes the current directory from sys.path, where `python -m ocular` has put it
first. The modules in the current directory are the program's, and Ocular's own imports
must not find them. Therefore __main__.py imports _path before all other modules.
__main__.py puts the current directory back on sys.path."""

import sys

_taken = []


def _is_run():
    """Returns True if this is `python -m ocular`. Until CPython has imported the package,
    sys.argv[0] is "-m"."""
    return (
        sys.argv[:1] == ["-m"]
        and not sys.flags.safe_path
        and ("-mocular" in sys.orig_argv or "ocular" in _after_m())
    )


def _after_m():
    return [
        word for option, word in zip(sys.orig_argv, sys.orig_argv[1:]) if option == "-m"
    ]


if _is_run():
    _taken.append(sys.path.pop(0))


def take(folder):
    """Stores `folder`, so that give_back() puts this folder on sys.path."""
    _taken.append(folder)


def give_back():
    sys.path[:0] = _taken
    _taken.clear()
