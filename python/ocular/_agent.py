# SPDX-License-Identifier: MIT
"""`ocular agent` watches the programs of this machine that serve, and hands their numbers
over: to Prometheus, which asks for /metrics, and to receivers, to which it sends them.

One thread, in Agent.run(), speaks to the programs. Other threads answer requests by HTTP
and send; they give functions to the first thread by Agent.call()."""

import argparse
import collections
import contextlib
import gc
import heapq
import itertools
import os
import queue
import selectors
import signal
import socket
import time

from ocular import _agent_metrics, _agent_push, _agent_server
from ocular._agent_metrics import clean, is_free
from ocular._agent_profile import PATIENCE_S, Capture
from ocular._agent_program import Program, attributes, served
from ocular._agent_push import say

DESCRIPTION = """\
Watches the programs of this user that serve (as root: of all users and containers), and
answers /metrics for Prometheus and /debug/pprof/ for pprof, Pyroscope and Parca."""
EPILOG = "Tracing begins in a program that waits for viewers: see docs/fleet.md."
INTERVAL_S = 10.0
PROGRAMS_MOST = 256
PAUSE_MOST_S = 600  # longest pause between two tries to connect


class Agent:
    """The programs, and what has to be done at which time."""

    def __init__(self, settings):
        self.settings = settings
        self.programs, self.retries, self.beyond = {}, {}, 0
        self.timers, self.order = [], itertools.count()
        self.calls = collections.deque()
        self.selector = selectors.DefaultSelector()
        self.ours, self.theirs = socket.socketpair()
        for end in self.ours, self.theirs:
            end.setblocking(False)
        self.selector.register(self.ours, selectors.EVENT_READ)
        self.targets, self.takers, self.late = [], [], 0
        self.kinds = ("both", "objects") if settings.objects else ("both",)
        self.stopped, self.start_ns, self.pushed = False, time.time_ns(), 0

    # --- The first thread ---

    def at(self, when, do):
        heapq.heappush(self.timers, (when, next(self.order), do))

    def call(self, do):
        """Lets the first thread call do(). Any thread and a signal handler may call
        this function."""
        self.calls.append(do)
        with contextlib.suppress(BlockingIOError):
            self.theirs.send(b"\0")

    def stop(self, *_):
        self.stopped = True
        self.call(lambda: None)

    def run(self):
        self.look()
        while not self.stopped:
            pause = max(0, self.timers[0][0] - time.monotonic())
            for key, _ in self.selector.select(pause):
                if key.data is None:
                    with contextlib.suppress(BlockingIOError):
                        self.ours.recv(4096)
                elif not self.safely(lambda it=key.data: it.read(time.monotonic())):
                    self.drop(key.data)
            while self.calls:
                self.safely(self.calls.popleft())
            while self.timers and self.timers[0][0] <= time.monotonic():
                self.safely(heapq.heappop(self.timers)[2])

    def safely(self, do):
        """Returns do(). A program can send numbers that make no sense, and must not end the
        agent by them."""
        try:
            return do()
        except Exception as error:
            say(f"{type(error).__name__}: {error}")

    def look(self):
        """Finds programs that have begun to serve, and comes again."""
        now = time.monotonic()
        self.at(now + self.settings.interval, self.look)
        found, candidates = served()
        for pid in self.retries.keys() - found - candidates:
            del self.retries[pid]
        self.beyond = 0
        for pid in sorted((found | candidates) - self.programs.keys()):
            when, pause = self.retries.get(pid, (0, self.settings.interval))
            if when > now:
                continue
            if len(self.programs) == PROGRAMS_MOST:
                self.beyond += pid in found
                continue
            try:
                self.add(pid)
            except OSError as error:
                if not when and pid in found:
                    say(error.strerror)
                self.retries[pid] = now + pause, min(2 * pause, PAUSE_MOST_S)

    def add(self, pid):
        program = Program(pid, self.settings)
        self.programs[pid] = program
        self.selector.register(program.link, selectors.EVENT_READ, program)

    def push(self):
        """Sends the metrics and the profiles of the last interval, and comes again. The
        answers with which one profile ends also begin the next one."""
        for kind in self.kinds if self.takers else ():
            Capture(self, kind, self.settings.interval, self.known(), self.hand_over)
        self.at(time.monotonic() + self.settings.interval, self.push)
        if self.settings.otlp:
            _agent_push.push_metrics(self.otlp, self)

    def hand_over(self, profile):
        if any(samples for _, samples in profile.parts):
            for target, take in self.takers:
                take(target, profile)

    def send_to(self, settings):
        """Makes the receivers. Raises OSError if a file cannot be read."""
        if settings.push:
            target = _agent_push.Target(settings.push, "pyroscope", settings)
            self.targets.append(target)
            self.takers.append((target, _agent_push.ingest))
        if settings.otlp:
            self.otlp = _agent_push.Target(settings.otlp, "otlp", settings)
            self.targets.append(self.otlp)
            if settings.otlp_profiles:
                self.takers.append((self.otlp, _agent_push.push_profiles))
        for target in self.targets:
            target.start()
        if self.targets:
            self.at(time.monotonic() + settings.interval, self.push)

    def drop(self, program):
        self.selector.unregister(program.link)
        del self.programs[program.pid]
        program.close()

    # --- Any thread ---

    def known(self):
        """Returns the programs whose labels are known."""
        return [each for each in list(self.programs.values()) if each.snapshot]

    def points(self):
        """Yields the points of the agent itself."""
        yield "ocular_agent_programs", (), len(self.known())
        yield "ocular_agent_programs_beyond", (), self.beyond
        yield "ocular_agent_cpu_seconds", (), time.process_time()
        yield "ocular_agent_late", (), self.late
        for target in self.targets:
            yield from target.points()

    def by_program(self):
        """Yields (labels, Unix times in ns of the begin and of now, points) for each
        program with a new snapshot, and for the agent."""
        since, self.pushed = self.pushed, time.monotonic()
        for each in self.known():
            if each.heard >= since:
                yield each.labels, each.begin_ns, each.heard_ns, each.points
        own = {"host.name": socket.gethostname(), **self.settings.labels}
        own["service"] = "ocular-agent"
        yield own, self.start_ns, time.time_ns(), self.points()

    def groups(self):
        """Yields all points with the labels that they have in common."""
        now = time.monotonic()
        for each in self.known():
            shared = tuple(each.identity.items())
            age = max(0, now - each.heard)
            yield tuple(each.labels.items()), [("ocular_program", (), 1)]
            yield shared, [("ocular_snapshot_age_seconds", (), age), *each.points]
        yield tuple(self.settings.labels.items()), self.points()

    def profile(self, kind, seconds, programs, is_wanted):
        """Takes a profile. Returns None if the agent ends meanwhile, or if nobody wants the
        profile any longer."""
        answer, captures = queue.SimpleQueue(), []
        self.call(
            lambda: captures.append(Capture(self, kind, seconds, programs, answer.put))
        )
        until = time.monotonic() + seconds + 2 * PATIENCE_S
        while time.monotonic() < until and is_wanted():
            with contextlib.suppress(queue.Empty):
                return answer.get(timeout=0.5)
        self.call(lambda: [capture.finish() for capture in captures])
        return None

    def metrics(self, open_metrics):
        return _agent_metrics.text(self.groups(), open_metrics)


# --- The command --------------------------------------------------------------


def _address(text):
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"expects ADDRESS:PORT, not {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _url(text):
    try:
        return _agent_push.check_url(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} cannot be used: {error}") from None


def _interval(text):
    with contextlib.suppress(ValueError):
        if 1 <= float(text) <= 60:
            return float(text)
    raise argparse.ArgumentTypeError(f"expects 1 to 60 seconds, not {text!r}")


def _label(text):
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"expects NAME=VALUE, not {text!r}")
    if not is_free(name):
        raise argparse.ArgumentTypeError(f"{name!r} is the name of another label")
    return clean(name), clean(value)


def _pattern(text):
    if not text or len(text) > 200:
        raise argparse.ArgumentTypeError("expects a pattern of 1 to 200 characters")
    return os.fsencode(text)


def _parser():
    parser = argparse.ArgumentParser(
        prog="ocular agent",
        allow_abbrev=False,
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "--listen",
        metavar="ADDRESS:PORT",
        type=_address,
        default=("127.0.0.1", 9466),
        help="where to answer (127.0.0.1:9466); everybody who can connect there can read "
        "the names of functions",
    )
    add(
        "--watch",
        metavar="PATTERN",
        action="append",
        default=[],
        type=_pattern,
        dest="patterns",
        help="functions whose latency has a histogram, as 'app.views.*'; can be repeated",
    )
    add(
        "--label",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_label,
        dest="labels",
        help="a label for all numbers, also by OTEL_RESOURCE_ATTRIBUTES; can be repeated",
    )
    add(
        "--interval",
        metavar="SEC",
        type=_interval,
        default=INTERVAL_S,
        help="seconds between two snapshots of a program, 1 to 60 (10)",
    )
    add(
        "--push",
        metavar="URL",
        type=_url,
        help="send profiles to this Pyroscope, by its interface /ingest",
    )
    add(
        "--otlp",
        metavar="URL",
        type=_url,
        help="send metrics to this receiver of OpenTelemetry, by http/protobuf",
    )
    add(
        "--otlp-profiles",
        action="store_true",
        help="send it profiles, too (v1development: experimental)",
    )
    add(
        "--objects",
        action="store_true",
        help="send births of objects, too, which each program counts within its budget",
    )
    add("--token-file", metavar="FILE", help="the file with a bearer token for receivers")
    add("--ca-file", metavar="FILE", help="certificates that sign those of receivers")
    return parser


def main(arguments):
    parser = _parser()
    settings = parser.parse_args(arguments)
    if settings.otlp_profiles and not settings.otlp:
        parser.error("--otlp-profiles needs --otlp URL")
    if settings.objects and not settings.push and not settings.otlp_profiles:
        parser.error("--objects needs --push URL or --otlp-profiles")
    settings.patterns = tuple(settings.patterns)
    shared = attributes(os.environ.get("OTEL_RESOURCE_ATTRIBUTES", ""))
    shared = {name: value for name, value in shared.items() if is_free(name)}
    settings.labels = shared | dict(settings.labels)
    agent = Agent(settings)
    try:
        server = _agent_server.Server(settings.listen, agent)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        say("cannot listen at {}:{}: {}".format(*settings.listen, why))
        return 2
    try:
        agent.send_to(settings)
    except (OSError, ValueError) as error:
        say(f"cannot use the token or the certificates: {error}")
        return 2
    if not server.is_local():
        say("everybody who can connect to this address can read the names of functions")
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, agent.stop)
    server.start()
    say(f"answers at {server.url()}/metrics")
    gc.freeze()  # what is there now stays, and snapshots have no cycles
    gc.set_threshold(20_000)
    agent.run()
    server.shutdown()
    return 0
