# SPDX-License-Identifier: MIT
"""Runs small programs as processes, and finds what a trace leaves behind in a process."""

import contextlib
import json
import os
import re
import subprocess
import sys
import textwrap
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("OCULAR_BUILD", ROOT / "build"))
TOP = os.environ.get("OCULAR_TOP", str(BUILD / "bin" / "ocular-top"))
PYTHON = os.environ.get("PYTHON", sys.executable)
SLOW = 60  # seconds; more than any test takes


def command_in(folder):
    """Writes the command `ocular` in the form in which pip installs it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, function = project["scripts"]["ocular"].split(":")
    text = f"#!{PYTHON}\nimport sys\nfrom {name} import {function}\n"
    path = Path(folder, "bin", "ocular")
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{text}if __name__ == '__main__':\n    sys.exit({function}())\n")
    return [PYTHON, path]


@dataclass
class Done:
    status: int
    out: str
    err: str

    @property
    def answer(self):
        """Returns the value in the last line on stdout, which is JSON."""
        assert self.status == 0, self.err
        return json.loads(self.out.splitlines()[-1])


def write(directory, source, name="program.py"):
    path = Path(directory, name)
    path.write_text(textwrap.dedent(source))
    return path


def start(command, **more):
    """Returns a Popen object with pipes in text mode. `env` has further variables."""
    settings = dict(
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    environment = {**os.environ, **more.pop("env", {})}
    settings.update(more)
    return subprocess.Popen(list(map(str, command)), env=environment, **settings)


class Running:
    """Runs a program that works until its stdin ends. The class is a context manager, which
    ends the program."""

    def __init__(self, directory, source, command=(PYTHON,), **more):
        self.process = start(
            [*command, write(directory, source)],
            stdin=subprocess.PIPE,
            cwd=directory,
            **more,
        )
        self.said = self.process.stdout.readline().split()
        assert self.said, self.process.stderr.read()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        """Closes the program's stdin, so that the program ends by itself. Returns the last
        line of stdout, and stderr."""
        out, err = self.process.communicate("", timeout=SLOW)
        assert self.process.returncode == 0, err
        return out.splitlines()[-1], err


def run(command, input=None, timeout=SLOW, **more):
    if input is not None:
        more["stdin"] = subprocess.PIPE
    with start(command, **more) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    return Done(process.returncode, out, err)


def script(directory, source, *arguments, **more):
    """Runs a program in `directory` with the tested interpreter."""
    path = write(directory, source)
    return run([PYTHON, path, *arguments], cwd=directory, **more)


def ocular(directory, *arguments, **more):
    """Runs the command `ocular` in `directory` with the tested interpreter."""
    return run([PYTHON, "-m", "ocular", *arguments], cwd=directory, **more)


def top(*arguments, **more):
    return run([TOP, *arguments], **more)


def keys_of(question):
    """Returns the keys with which docs/questions.md answers a question."""
    document = (ROOT / "docs/questions.md").read_text()
    section = document.split(f"\n## {question}\n")[1].split("\n## ")[0]
    keys = re.search(r"ocular-top -p PID --keys '(.*)'", section)[1]
    assert len(re.findall("<[^>]*>|.", keys)) <= 3
    return keys


def diff(folder, *arguments):
    path = f"{Path(TOP).parent}:{os.environ['PATH']}"
    return run([PYTHON, "-m", "ocular", "diff", *arguments], cwd=folder, env={"PATH": path})


def wait_until(condition, seconds=SLOW, what="it"):
    limit = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < limit, f"timed out: {what}"
        time.sleep(0.01)


def cpu_s():
    """Returns the CPU seconds of each of Ocular's threads, by the thread's name."""
    used = {}
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # the thread might have ended
            name = (task / "comm").read_text().strip()
            if name.startswith("ocular-"):
                used[name] = time.clock_gettime(~int(task.name) << 3 | 6)
    return used


# --- Things that a trace leaves behind ----------------------------------------


def threads(pid="self"):
    """Returns the names of Ocular's threads in the process."""
    names = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except OSError:  # the thread ended meanwhile
            pass
    return sorted(name for name in names if name.startswith("ocular-"))


def files(pid="self"):
    """Returns the targets of the process's open file descriptors."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(os.readlink(entry))
        except OSError:
            pass
    return found


def is_writing(pid, directory):
    """Returns True if the process is writing a file in the directory. Until the file is
    complete, it is open but has no name."""
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            link = os.readlink(entry)
            info = Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text()
        except OSError:
            continue
        flags = int(info.split("flags:")[1].split()[0], 8)
        # The file for spilled events has no name either, but it is also open for reading.
        if flags & os.O_ACCMODE == os.O_WRONLY and link.startswith(
            (f"{directory}/#", f"{directory}/.ocular-")
        ):
            return True
    return False


def leftovers():
    """Returns a text for each thread, hook, file or socket of a trace that is left in this
    process. The right result is an empty list."""
    monitoring = sys.monitoring
    left = []
    for tool in (3, 4, 5):
        if monitoring.get_tool(tool) in ("ocular", "ocular-discovery"):
            left.append(f"tool {tool}")
        for name, event in vars(monitoring.events).items():
            if event and event.bit_count() == 1 and name != "BRANCH":
                old = monitoring.register_callback(tool, event, None)
                if type(old).__module__.startswith("ocular"):
                    left.append(f"callback {tool} {name}")
                elif old is not None:
                    monitoring.register_callback(tool, event, old)
    folder = os.environ.get("OCULAR_DIR")
    if folder and os.path.isdir(folder):
        left += [
            f"socket {name}"
            for name in os.listdir(folder)
            if name.split(".")[0] == str(os.getpid())
        ]
    # After a thread has been joined, it takes some time to vanish from /proc.
    for _ in range(100):
        names = threads()
        if not names:
            break
        time.sleep(0.01)
    return left + names
