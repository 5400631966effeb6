# SPDX-License-Identifier: MIT
"""Sends the agent's numbers. Each receiver has a queue of bounded size and a thread, so a
receiver that is slow or gone delays nothing else."""

import collections
import contextlib
import email.utils
import http.client
import ipaddress
import json
import os
import random
import re
import ssl
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import ocular
from ocular import _agent_otlp
from ocular._agent_metrics import label_name
from ocular._agent_profile import TYPES, Profile, pprof

QUEUE_MOST = 8 << 20  # bytes
TIMEOUT_S = 10
PAUSE_MOST_S = 60
AGE_MOST_S = 600  # of a request that is repeated
AGAIN = (429, 502, 503, 504)  # by OTLP; another answer speaks of the request itself
# A receiver of OTLP that rejects points says how many in field 1 of field 1.
REJECTED = re.compile(rb"\x0a[\x80-\xff]*[\0-\x7f]\x08[\x80-\xff]*[\x01-\x7f]")
PROTOBUF = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
SAMPLE_TYPES = {
    name: {"units": "nanoseconds", "aggregation": "sum", "sampled": True}
    for name in ("cpu", "wall")
}
SAMPLE_TYPES["alloc_objects"] = {"units": "objects", "aggregation": "sum"}


def say(text):
    print(f"ocular agent: {text}", file=sys.stderr, flush=True)


def is_loopback(host):
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirection, which could give the token to somebody else."""

    def redirect_request(self, *_):
        return None


def check_url(text):
    """Returns the URL without a slash at its end, or raises ValueError."""
    parts = urllib.parse.urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it has to begin with http://HOST or https://HOST")
    parts.port  # noqa: B018, raises ValueError if the port is no number
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("it has a query or a password; --token-file gives a password")
    return text.rstrip("/")


class Target(threading.Thread):
    """A receiver. `counts` has the requests that were sent, refused for good and lost, and
    the attempts that failed. `signal` is "otlp" or "pyroscope"."""

    def __init__(self, url, signal, settings):
        super().__init__(daemon=True)
        self.url, self.token_file = url, settings.token_file
        self.labels = ("receiver", url), ("signal", signal)
        self.queue, self.bytes = collections.deque(), 0
        self.changed = threading.Condition()
        self.counts = collections.Counter()
        if settings.ca_file:
            open(settings.ca_file).close()  # an error of ssl has no name of a file
        context = ssl.create_default_context(cafile=settings.ca_file)
        handlers = [_NoRedirect, urllib.request.HTTPSHandler(context=context)]
        if is_loopback(urllib.parse.urlsplit(url).hostname):
            handlers.append(urllib.request.ProxyHandler({}))  # no proxy can reach it
        self.opener = urllib.request.build_opener(*handlers)
        self.read_token()

    def read_token(self):
        """Reads the token for each request, because a token file can change."""
        if not self.token_file:
            return {}
        with open(self.token_file, encoding="utf-8", errors="replace") as file:
            token = file.readline().strip()
        if not token or not token.isascii() or not token.isprintable():
            raise ValueError("the first line of the token file is not a token")
        return {"Authorization": f"Bearer {token}"}

    def put(self, path, headers, body):
        """Adds a request. If there is no room, drops the oldest requests, but not the one
        that run() sends, which is not in the queue meanwhile."""
        with self.changed:
            self.queue.append((path, headers, body, time.monotonic()))
            self.bytes += len(body)
            while self.bytes > QUEUE_MOST and self.queue:
                self.bytes -= len(self.queue.popleft()[2])
                self.counts["lost"] += 1
            self.changed.notify()

    def points(self):
        for name in ("sent", "refused", "lost", "failed"):
            yield f"ocular_agent_{name}", self.labels, self.counts[name]
        yield "ocular_agent_queued_bytes", self.labels, self.bytes

    def run(self):
        failures = 0
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.queue)
                item = self.queue.popleft()
            *request, since = item
            outcome, pause, why = self.send(*request)
            self.counts[outcome] += 1
            with self.changed:
                if outcome == "failed" and time.monotonic() < since + AGE_MOST_S:
                    self.queue.appendleft(item)
                else:
                    self.bytes -= len(item[2])
                    self.counts["lost"] += outcome == "failed"
            if outcome == "failed":
                failures += 1
                if failures == 1:
                    say(f"{self.url}: {why}; the agent tries again")
                limit = min(PAUSE_MOST_S, 2 ** min(failures, 10) / 2)
                time.sleep(pause or limit * random.uniform(0.5, 1))
                continue
            if outcome == "refused" and self.counts[outcome] == 1:
                say(f"{self.url} refuses a request: {why}")
            if failures:
                say(f"{self.url} answers again")
            failures = 0

    def send(self, path, headers, body):
        """Returns the outcome, the pause that the receiver asks for, and a reason."""
        try:
            headers = headers | self.read_token()
            headers["User-Agent"] = f"ocular/{ocular.__version__}"
            request = urllib.request.Request(self.url + path, body, headers)
            with self.opener.open(request, timeout=TIMEOUT_S) as answer:
                content = b""
                with contextlib.suppress(OSError, http.client.HTTPException):
                    content = answer.read1(4096)
            if REJECTED.match(content):
                return "refused", None, "it rejects a part of the request"
            return "sent", None, ""
        except urllib.error.HTTPError as error:
            with error:
                why = f"HTTP {error.code} {error.reason}"
                if error.code not in AGAIN:
                    return "refused", None, why
                return "failed", _retry_after(error.headers.get("Retry-After")), why
        except Exception as error:  # whatever a receiver does must not end the thread
            return "failed", None, str(getattr(error, "reason", error))


def _retry_after(text):
    """Returns the seconds of a header, which are a number or a date, or None."""
    try:
        if text.strip().isdecimal():
            return min(max(int(text), 1), 10 * PAUSE_MOST_S)
        when = email.utils.parsedate_to_datetime(text).timestamp()
        return min(max(when - time.time(), 1), 10 * PAUSE_MOST_S)
    except (AttributeError, OverflowError, TypeError, ValueError):
        return None


def push_metrics(target, agent):
    target.put("/v1/metrics", PROTOBUF, _agent_otlp.metrics(agent.by_program()))


def push_profiles(target, profile):
    body = _agent_otlp.profiles(profile)
    target.put("/v1development/profiles", PROTOBUF, body)


def ingest(target, profile):
    """Sends one profile for each program to Pyroscope."""
    types = {name: SAMPLE_TYPES[name] for name, _ in TYPES[profile.kind]}
    for program, samples in profile.parts:
        if not samples:
            continue
        its = {label_name(name): value for name, value in program.labels.items()}
        service = re.sub(r"[^A-Za-z0-9_./-]", "_", its.pop("service"))
        pairs = (f"{name}={_plain(value)}" for name, value in its.items())
        begin = profile.start_ns // 10**9
        query = {
            "name": f"{service}{{{','.join(pairs)}}}",
            "from": begin,
            "until": max(begin + 1, (profile.start_ns + profile.duration_ns) // 10**9),
            "format": "pprof",
            "spyName": "ocular",
            "sampleRate": 100,
        }
        one = Profile(
            profile.kind, [(program, samples)], profile.start_ns, profile.duration_ns
        )
        files = {"profile": pprof(one), "sample_type_config": json.dumps(types)}
        kind, body = _form(files)
        path = f"/ingest?{urllib.parse.urlencode(query)}"
        target.put(path, {"Content-Type": kind}, body)


def _plain(text):
    return re.sub(r"[^\w.:/@+-]", "_", text)


def _form(files):
    """Returns the type and the content of a form with files."""
    boundary = os.urandom(16).hex()
    parts = []
    for name, content in files.items():
        head = f'Content-Disposition: form-data; name="{name}"; filename="{name}"'
        content = content.encode() if isinstance(content, str) else content
        parts.append(f"--{boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n")
    parts.append(f"--{boundary}--\r\n".encode())
    return f"multipart/form-data; boundary={boundary}", b"".join(parts)
