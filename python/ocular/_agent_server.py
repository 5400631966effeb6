# SPDX-License-Identifier: MIT
"""Answers requests by HTTP for `ocular agent`. Each connection has a thread, up to
CONNECTIONS_MOST."""

import gzip
import http.server
import io
import socket
import socketserver
import sys
import threading
import time
import urllib.parse

import ocular
from ocular import _agent_profile
from ocular._agent_push import is_loopback

CONNECTIONS_MOST = 32
PROFILES_MOST = 4  # at once; /metrics needs the other connections
PATIENCE_S = 10  # time for a client to send its request, and to read
HEADERS_MOST = 65536  # bytes
TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
INDEX = """\
This is `ocular agent`. It answers at:
/metrics
/debug/pprof/profile?seconds=30   CPU time; wall: also waits; objects: births of objects
The profiles also take pid=PID and service=NAME.
"""
KINDS = "profile", "wall", "objects"
SECONDS_MOST = 300


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = f"ocular/{ocular.__version__}"
    timeout = PATIENCE_S

    def handle_one_request(self):
        """Gives the client PATIENCE_S for the whole request, which has no content."""
        until, head = time.monotonic() + PATIENCE_S, b""
        while b"\r\n\r\n" not in head and len(head) < HEADERS_MOST:
            left = until - time.monotonic()
            self.connection.settimeout(max(left, 0.001))
            more = self.connection.recv(HEADERS_MOST) if left > 0 else b""
            if not more:
                self.close_connection = True
                return
            head += more
        self.connection.settimeout(PATIENCE_S)
        self.rfile = io.BytesIO(head)
        super().handle_one_request()

    def is_meant(self):
        """Says whether the client wants this server. A page in a browser could give its own
        name the address of this machine, and then read the answer."""
        try:
            name = urllib.parse.urlsplit("//" + self.headers.get("Host", "localhost"))
            return not self.server.is_local() or is_loopback(name.hostname)
        except ValueError:
            return False

    def is_there(self):
        """Says whether the client still waits."""
        self.connection.settimeout(0)
        try:
            return self.connection.recv(1, socket.MSG_PEEK) != b""
        except OSError as error:
            return isinstance(error, BlockingIOError)
        finally:
            self.connection.settimeout(PATIENCE_S)

    def do_GET(self):
        if not self.is_meant():
            return self.answer("The Host is not localhost.\n", status=403)
        path, _, query = self.path.partition("?")
        if path == "/metrics":
            return self.metrics()
        kind = path.removeprefix("/debug/pprof/")
        if kind in KINDS and kind != path:
            return self.profile(kind, dict(urllib.parse.parse_qsl(query)))
        if path == "/":
            return self.answer(INDEX)
        return self.answer(f"There is no {path[:100]} here. {INDEX}", status=404)

    def metrics(self):
        wants_open = "application/openmetrics-text" in self.headers.get("Accept", "")
        text = self.server.agent.metrics(wants_open)
        self.answer(text, OPEN_METRICS if wants_open else TEXT)

    def profile(self, kind, query):
        try:
            seconds = float(query.pop("seconds", 30))
        except ValueError:
            seconds = 0
        if not 0 < seconds <= SECONDS_MOST or query.keys() - {"pid", "service"}:
            return self.answer(f"seconds is 1 to {SECONDS_MOST}. {INDEX}", status=400)
        programs = [
            program
            for program in self.server.agent.known()
            if query.items() <= program.identity.items()
        ]
        if not programs:
            return self.answer("No such program serves.\n", status=404)
        if not self.server.profiles.acquire(blocking=False):
            return self.answer(f"{PROFILES_MOST} profiles are taken now.\n", status=503)
        try:
            profile = self.server.agent.profile(kind, seconds, programs, self.is_there)
        finally:
            self.server.profiles.release()
        if profile is None:
            return self.answer("The agent does not answer.\n", status=503)
        if profile.trouble and not any(samples for _, samples in profile.parts):
            return self.answer(f"{profile.trouble}\n", status=501)
        return self.answer(_agent_profile.pprof(profile), "application/octet-stream")

    def answer(self, content, kind="text/plain; charset=utf-8", status=200):
        if isinstance(content, str):
            content = content.encode("utf-8", "replace")
        self.send_response(status)
        wants_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        if kind in (TEXT, OPEN_METRICS) and wants_gzip and not self.server.is_local():
            content = gzip.compress(content, 1)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, agent):
        self.agent = agent
        self.free = threading.BoundedSemaphore(CONNECTIONS_MOST)
        self.profiles = threading.BoundedSemaphore(PROFILES_MOST)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def start(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        host, port = self.server_address[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def is_local(self):
        return is_loopback(self.server_address[0])

    def server_bind(self):  # the base class also looks up the host's name
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def process_request(self, request, client_address):
        if self.free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), OSError):  # a client that has left
            super().handle_error(request, client_address)
