# SPDX-License-Identifier: MIT
"""Takes the picture of the list of processes, processes.png. A person runs this script by
hand:

    eval "$(make -s env)" && python screenshots/processes.py [FOLDER]    # as root

The script runs a few invented services in their own namespaces, in which ocular-top does
not see the other processes of the machine. It needs the Python of build/<interpreter>/venv.
The list has more rows if Ocular is built for several versions.
"""

import os
import shutil
import sys
import tempfile
import time

import capture
from tui.emulated import TOP, Top

SIZE = (110, 14)
WORK = "import time\nwhile True:\n    sum(range(1000))\n    time.sleep(0.01)\n"
# For each service: the environment, the possible versions of Python, and the arguments.
SERVICES = [
    ("", ["3.13", "3.12"], "-m ocular --quiet --serve shop/api.py --port 8000"),
    ("", ["3.13", "3.12"], "shop/manage.py runserver"),
    ("", ["3.12", "3.13"], "worker.py --queue mail"),
    ("", ["3.14", "3.12"], "worker.py --queue images"),
    ("", ["3.12", "3.13"], "scheduler.py"),
    ("PYTHON_DISABLE_REMOTE_DEBUG=1", ["3.13", "3.12"], "billing.py"),
    ("", ["3.11", "3.10", "3.9"], "old/report.py"),
]
WAIT = 12  # seconds; before that, the list calls each process young


def interpreter(versions):
    """Returns the first of these versions that is installed, or None."""
    path = os.path.dirname(os.environ["PYTHON"]) + os.pathsep + os.environ["PATH"]
    found = [shutil.which(f"python{version}", path=path) for version in versions]
    return next(filter(None, found), None)


def script(folder, library):
    lines = [f"cd {folder}", "export OCULAR_DIR=$PWD/s PYTHONDONTWRITEBYTECODE=1"]
    for before, versions, command in SERVICES:
        served = "ocular" in command
        python = os.environ["PYTHON"] if served else interpreter(versions)
        if not python:
            continue
        file = next(word for word in command.split() if word.endswith(".py"))
        os.makedirs(os.path.dirname(os.path.join(folder, file)), exist_ok=True)
        with open(os.path.join(folder, file), "w") as out:
            out.write(WORK)
        where = f"PYTHONPATH={library if served else ''}"
        lines.append(f"{where} {before} {python} {command} </dev/null >log 2>&1 &")
        if file == "scheduler.py":
            lines.append("sleep 1; kill -STOP $!")
    return "\n".join([*lines, f"sleep {WAIT}", f"exec {TOP}"])


def main():
    into = sys.argv[1] if len(sys.argv) > 1 else capture.HERE
    library = os.environ["PYTHONPATH"]
    with tempfile.TemporaryDirectory(prefix="ocular-") as folder:
        os.mkdir(os.path.join(folder, "s"), 0o700)
        command = script(folder, library)
        program = shutil.which("unshare")
        options = "--pid --fork --kill-child --mount-proc sh -c".split()
        top = Top(os.path.join(folder, "s"), *options, command, size=SIZE, program=program)
        try:
            top.wait("SHARE", WAIT + 60)  # ocular-top shows the process that serves at once
            top.press("p")
            top.wait("ATTACHING")
            capture.look_on(top, 2)
            top.press("j")
            top.settle()
            capture.write_picture(top.screen, "processes", into)
            top.press("q")
        finally:
            top.close()
            time.sleep(1)  # the processes of the namespace end with the viewer


if __name__ == "__main__":
    main()
