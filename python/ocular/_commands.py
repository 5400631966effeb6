# SPDX-License-Identifier: MIT
"""Runs the commands `ocular attach PID`, `detach PID`, `enable`, `disable`, `status`,
`convert`, `merge`, `diff`, `doctor` and `agent`. For a command that acts on other
processes or needs the viewer, this process executes ocular-top."""

import argparse
import os
import shutil
import sys
import sysconfig

from ocular import _pth

NAME = "ocular-serve.pth"
# If the program cannot serve, it runs without a message, because the user has not asked for
# a trace of this program.
SOURCE = "try: import ocular; ocular.serve()\nexcept Exception: pass"
LINE = f"import os; os.environ.get('OCULAR_SERVE') != '0' and exec({SOURCE!r})"
TAKES_PID = ("attach", "detach")
USAGE = (
    "usage: ocular attach PID | detach PID | enable | disable | status | convert ... | "
    "merge ... | diff ... | doctor | agent ..."
)
NO_VIEWER = (
    "this needs ocular-top, which is neither beside this command nor on PATH: it comes "
    "with Ocular where pip has installed that, and is in build/bin after `make`"
)


def viewer():
    """Looks for ocular-top beside this command, in this environment and on PATH.
    Returns the path of ocular-top, or None."""
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
    path = viewer()
    if path is not None:
        sys.stdout.flush()
        os.execv(path, ["ocular-top", *arguments])
    print(f"ocular: {NO_VIEWER}", file=sys.stderr)
    return 1


def _attach(verb, pid):
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    option = "--attach-only" if verb == "attach" else "--detach"
    return _become_viewer(option, "--pid", pid, "--package", package)


def _diff(arguments):
    parser = argparse.ArgumentParser(
        prog="ocular diff",
        allow_abbrev=False,
        description="Compare two recordings (x.ocular), function by function: the share "
        "of the CPU time, the CPU time of a call, calls a second, waits.",
        epilog="The exit status is 1 if a function is slower by more than --fail-above, "
        "two standard errors beside, and 2 if a file cannot be read.",
    )
    add = parser.add_argument
    add("before", metavar="a.ocular", help="the recording of a run")
    add("after", metavar="b.ocular", help="... and of a later one")
    add("--json", action="store_true", help="print it as JSON")
    add("--fail-above", metavar="N%", help="fail if a function is slower by more, as 10%%")
    options = parser.parse_args(arguments)
    words = ["--json"] * options.json
    if options.fail_above is not None:
        words += ["--fail-above", options.fail_above]
    _become_viewer("--diff", *words, "--", options.before, options.after)
    return 2  # status 2, because status 1 means that the program has become slower


def _enable():
    status = _pth.change(NAME, LINE)
    if status == 0:
        print("ocular: Python programs of this environment serve from their next start on")
    return status


def _status():
    found = ", ".join(map(str, _pth.find(NAME)))
    print(f"enabled for this environment: {found or 'no'}")
    print("processes that serve:")
    return _become_viewer("--list")


def run(arguments):
    """Runs a command and returns the exit status."""
    verb, *rest = arguments
    if verb in ("convert", "merge"):
        from ocular import _convert

        return _convert.main(rest, verb)
    if verb == "doctor":
        from ocular import _doctor

        return _doctor.main(rest)
    if verb == "agent":
        from ocular import _agent

        return _agent.main(rest)
    if verb == "diff":
        return _diff(rest)
    if len(rest) != (verb in TAKES_PID):
        print(f"{USAGE}\nocular: {verb} takes {_takes(verb)}", file=sys.stderr)
        return 2
    try:
        if verb in TAKES_PID:
            return _attach(verb, rest[0])
        if verb == "disable":
            return _pth.change(NAME)
        return _enable() if verb == "enable" else _status()
    except OSError as error:
        print(f"ocular: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1


def _takes(verb):
    if verb in TAKES_PID:
        return "the id of one process"
    return f"nothing else (a script of that name: ./{verb})"
