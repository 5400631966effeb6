# SPDX-License-Identifier: MIT
"""`python -m ocular` has the current directory first on the path. The modules there are
the program's: what we import ourselves is not to be found among them, so this is
imported before all else, and __main__.py gives the directory back."""

import sys

_taken = []


def _is_run():
    """By -m; the interpreter says so until it has imported the package."""
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
    """The same for a folder that is not there yet."""
    _taken.append(folder)


def give_back():
    sys.path[:0] = _taken
    _taken.clear()
