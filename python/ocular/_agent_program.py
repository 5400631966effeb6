# SPDX-License-Identifier: MIT
"""A program that `ocular agent` watches, and the programs of this machine that serve."""

import os
import re
import socket
import time
import urllib.parse

from ocular import _agent_metrics, _ocular
from ocular._agent_metrics import clean, is_free

# Numbers of messages (docs/protocol.md).
SNAPSHOT, ERROR, END, STACKS = 2, 4, 5, 8
RATE, FLAME, NOW, OBJECTS, LATENCIES = 16, 22, 24, 30, 32
TOP = 20  # functions with the most CPU time
MESSAGES_MOST = 300  # at once; each of 200 chosen functions can have one
LABELS = 20  # largest number of labels from one environment
CONTAINER = re.compile(r"[0-9a-f]{64}")


def attributes(text):
    """Returns the dict of a text such as "deployment.environment=test,team=a%20b"."""
    found = {}
    for part in text.split(",")[:LABELS]:
        name, equals, value = part.partition("=")
        if equals and name.strip():
            found[clean(name.strip())] = clean(urllib.parse.unquote(value.strip()))
    return found


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:  # the process has ended
        return ""


def _environment(pid):
    pairs = (line.partition("=") for line in _read(f"/proc/{pid}/environ").split("\0"))
    return {name: value for name, _, value in pairs}


def _of_command(command):
    """Returns the name of the program in a command without its interpreter, such as
    "-m app.server --port 80" or "/srv/app.py"."""
    words = command.split()
    if words[:1] == ["-m"] and len(words) > 1:
        return words[1]
    name = os.path.basename(words[0]) if words else ""
    return name.removesuffix(".py") or "python"


def _cpu_s(pid):
    """Returns the CPU time of a process in seconds, or None."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if len(fields) < 13:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Program:
    """A process that serves. Raises OSError if the process refuses the connection."""

    def __init__(self, pid, settings):
        self.pid, self.settings = pid, settings
        self.link = _ocular.Watched(pid)
        self.link.ask(RATE, settings.interval)
        self.snapshot = None
        self.points, self.floors = [], {}
        self.counted = set()  # ids of functions whose latencies were asked for
        self.waiting, self.asked = {FLAME: [], NOW: []}, 0

    def _name(self, snapshot):
        """Finds the labels. `identity` is in each series, and `labels` are all."""
        environment = _environment(self.pid)
        its = attributes(environment.get("OTEL_RESOURCE_ATTRIBUTES", ""))
        service = its.get("service.name") or _of_command(snapshot["command"] or "")
        service = environment.get("OTEL_SERVICE_NAME") or service
        container = CONTAINER.search(_read(f"/proc/{self.pid}/cgroup"))
        self.identity = {"service": clean(service), "pid": str(self.pid)}
        self.identity |= self.settings.labels
        facts = {
            "version": its.get("service.version"),
            "python": clean(snapshot["python"] or "").removeprefix("CPython "),
            "container": container[0][:12] if container else "",
            "ocular": clean(snapshot["version"] or ""),
        }
        self.labels = {"host.name": socket.gethostname()}
        self.labels |= {name: value for name, value in its.items() if is_free(name)}
        self.labels |= {name: value for name, value in facts.items() if value}
        self.labels |= self.identity

    def read(self, now):
        """Takes the messages that have come. Returns False if the process has ended, serves
        no longer, or sends more than a viewer expects."""
        for _ in range(MESSAGES_MOST):
            try:
                message = self.link.next(TOP, self.settings.patterns)
            except OSError:
                return False
            if message is None:
                return True
            kind, request, value = message
            if kind == END:
                return False
            if kind == SNAPSHOT:
                self._take(value, now)
            elif request and request == self.asked and kind in (STACKS, ERROR):
                self._answer(FLAME, value if kind == STACKS else None)
        return False

    def _take(self, snapshot, now):
        uptime_s = snapshot["uptime_s"]
        snapshot["uptime_s"] = uptime_s if uptime_s and uptime_s < 1e9 else 0.0
        self.heard, self.heard_ns = now, time.time_ns()
        if self.snapshot is None:  # a connection ends together with its trace
            self._name(snapshot)
            self.begin_ns = self.heard_ns - int(snapshot["uptime_s"] * 1e9)
        self.snapshot = snapshot
        snapshot["cpu_s"] = _cpu_s(self.pid)
        self.points = _agent_metrics.points(snapshot, self.floors)
        lack = {
            row["id"]
            for row in snapshot["watched"]
            if row["latencies"] is None and row["wall_max_s"] is not None
        }
        # Once is enough: an older program refuses this request.
        asks = {id for id in lack - self.counted if self.ask(LATENCIES, 0.0, id)}
        self.counted = self.counted & lack | asks
        self._answer(NOW, snapshot)

    def ask(self, *request):
        """Sends a request. Returns its number, or 0 if the process cannot take it."""
        try:
            return self.link.ask(*request) if self.link else 0
        except OSError:  # read() finds out why
            return 0

    def get(self, request, take):
        """Calls take(self, stacks) for FLAME, or take(self, snapshot) for NOW, when the
        answer has come, or take(self, None)."""
        self.waiting[request].append(take)
        if request == FLAME and self.asked:
            return
        number = self.ask(request)
        if not number:
            self._answer(request, None)
        elif request == FLAME:
            self.asked = number

    def _answer(self, request, value):
        waiting, self.waiting[request] = self.waiting[request], []
        if request == FLAME:
            self.asked = 0
        for take in waiting:
            take(self, value)

    def forget(self, take):
        for waiting in self.waiting.values():
            if take in waiting:
                waiting.remove(take)

    def close(self):
        self.link = None
        self._answer(FLAME, None)
        self._answer(NOW, None)


def served():
    """Returns the processes that serve. Processes in other mount namespaces are in no
    list, so they are candidates, unless OCULAR_DIR names the only directory."""
    found = set(_ocular.served())
    candidates = set()
    if os.environ.get("OCULAR_DIR"):
        return found - {os.getpid()}, candidates
    try:
        here = os.readlink("/proc/self/ns/mnt")
    except OSError:  # there are no namespaces
        here = None
    for name in os.listdir("/proc") if here else ():
        try:
            if name.isdecimal() and os.readlink(f"/proc/{name}/ns/mnt") != here:
                candidates.add(int(name))
        except OSError:  # the process has ended, or belongs to another user
            pass
    return found - {os.getpid()}, candidates - found
