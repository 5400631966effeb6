# SPDX-License-Identifier: MIT
"""The commands `ocular attach PID`, `detach PID`, `enable`, `disable`, `status`, `convert`
and `merge`. If a command acts on other processes, this process executes ocular-top."""

import os
import shutil
import sys
import sysconfig

from ocular import _pth

NAME = "ocular-serve.pth"
# The user has not named this program, so it runs without a message if it cannot serve.
SOURCE = "try: import ocular; ocular.serve()\nexcept Exception: pass"
LINE = f"import os; os.environ.get('OCULAR_SERVE') != '0' and exec({SOURCE!r})"
TAKES_PID = ("attach", "detach")
USAGE = (
    "usage: ocular attach PID | detach PID | enable | disable | status | convert ... | "
    "merge ..."
)


def _viewer():
    """Returns the path of ocular-top beside this command, in this environment or on PATH,
    or None if ocular-top is not found."""
    folders = [
        os.path.dirname(os.path.abspath(sys.argv[0])),
        sysconfig.get_path("scripts"),
        os.path.dirname(sys.executable),
    ]
    for folder in folders:
        path = os.path.join(folder, "ocular-top")
        if os.access(path, os.X_OK):
            return path
    return shutil.which("ocular-top")


def _become_viewer(*arguments):
    """Executes ocular-top in place of this process. Returns an exit status only if
    ocular-top is not found."""
    path = _viewer()
    if path is not None:
        sys.stdout.flush()
        os.execv(path, ["ocular-top", *arguments])
    print(
        "ocular: this needs ocular-top, which is neither beside this command nor on PATH: "
        "it comes with Ocular where pip has installed that, and is in build/bin after "
        "`make`",
        file=sys.stderr,
    )
    return 1


def _attach(verb, pid):
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    option = "--attach-only" if verb == "attach" else "--detach"
    return _become_viewer(option, "--pid", pid, "--package", package)


def _enable():
    print(f"ocular: written: {_pth.install(NAME, LINE)}")
    print("ocular: Python programs of this environment serve from their next start on")
    return 0


def _disable():
    removed = ", ".join(map(str, _pth.remove(NAME)))
    print(f"ocular: removed: {removed or 'nothing'}")
    return 0


def _status():
    found = ", ".join(map(str, _pth.find(NAME)))
    print(f"enabled for this environment: {found or 'no'}")
    print("processes that serve:")
    return _become_viewer("--list")


def run(arguments):
    """Runs a command and returns the exit status."""
    verb, *rest = arguments
    if verb == "merge":
        from ocular import _merge

        return _merge.main(rest)
    if verb == "convert":
        from ocular import _convert

        return _convert.main(rest)
    if len(rest) != (verb in TAKES_PID):
        print(f"{USAGE}\nocular: {verb} takes {_takes(verb)}", file=sys.stderr)
        return 2
    try:
        if verb in TAKES_PID:
            return _attach(verb, rest[0])
        return {"enable": _enable, "disable": _disable, "status": _status}[verb]()
    except OSError as error:
        print(f"ocular: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1


def _takes(verb):
    if verb in TAKES_PID:
        return "the id of one process"
    return f"nothing else (a script of that name: ./{verb})"
