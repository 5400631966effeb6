# SPDX-License-Identifier: MIT
"""Tests that `ocular agent` finds programs and hands their numbers over."""

import array
import collections
import contextlib
import gzip
import http.server
import os
import re
import select
import shutil
import signal
import socket
import ssl
import sys
import threading
import time
import types
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from e2e import stacks
from e2e.agents import AGENT, agent, fetch, pids, read, series
from e2e.pftrace import fields, varint
from e2e.program import SLOW, Running, run, wait_until
from ocular import _agent_metrics, _agent_profile, _agent_push, _agent_server
from ocular._agent_program import FLAME, NOW, Program

# The names of the functions need escapes. Two functions have the same place.
PROGRAM = r"""
import select, sys
import ocular

ocular.start_tracing(serve=True, quiet=True, perfetto=False, deinstrument_threshold=0,
                     overhead_budget=None)
SOURCE = '''
import time
def twin(): pass
def other(number): return sum(range(number))
def naps(): time.sleep(.03)
'''
kept = []
for _ in range(2):
    exec(compile(SOURCE, 'odd "dir\\\n/app/views.py', "exec"))
    twin()
    kept.append(twin)
for number in range(60):
    space = {}
    exec(f"def hot_{number}(): return sum(range(20000))", space)
    globals().update(space)
for _ in range(7):
    other(3)
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for number in range(60):
        globals()[f"hot_{number}"]()
    naps()
ocular.stop_tracing()
print("ended")
"""


def test_programs_come_and_go_and_have_bounded_series(tmp_path):
    environment = {"OTEL_RESOURCE_ATTRIBUTES": "team=a,service.name=b,deployment.x=te%73t"}
    watch = ["--watch", "app.views.*", "--watch", "nothing.*", "--label", "team=web"]
    with agent(*watch, env=environment) as url:
        assert not pids(url)
        its = "service.name=no,service.version=1.2,pid=7,service=fake,__name__=evil"
        its = {"OTEL_RESOURCE_ATTRIBUTES": its, "OTEL_SERVICE_NAME": "shop"}
        with (
            Running(tmp_path, PROGRAM, env=its) as shop,
            Running(tmp_path, PROGRAM) as other,
        ):
            both = {str(shop.pid), str(other.pid)}
            wait_until(lambda: pids(url) == both)
            hot = "ocular_function_cpu_seconds_total"
            found = wait_until(
                lambda: len(series(read(url), hot, pid=str(shop.pid))) > 20 and read(url)
            )
            usual = {"service": "shop", "pid": str(shop.pid), "team": "web"}
            usual["deployment_x"] = "test"
            ((_, labels),) = series(found, "ocular_program_info", **usual)
            assert labels["version"] == "1.2" and re.match("3[.]", labels["python"])
            assert not {"__name__", "service_name"} & labels.keys()
            # Twenty functions, and three places that the pattern chooses.
            assert len(series(found, hot, **usual)) <= 23
            usual["file"] = r"odd \"dir\\" + "\ufffd/app/views.py"
            calls = series(found, "ocular_function_calls_total", **usual)
            calls = {row["function"]: value for value, row in calls}
            assert calls.pop("naps") > 0 and calls == {"other": 7, "twin": 2}
            del usual["file"]
            # Calls are counted from the agent's request on.
            name, its = "ocular_function_latency_seconds", {"function": "naps"} | usual
            wait_until(
                lambda: any(it > 0.5 for it, _ in series(read(url), name + "_sum", **its))
            )
            latency = read(url)
            ((least, _),) = series(latency, name + "_bucket", le="0.025", **its)
            ((count, _),) = series(latency, name + "_count", **its)
            ((total, _),) = series(latency, name + "_sum", **its)
            assert least == 0 and 3 < count <= total / 0.029
            assert not series(latency, name + "_count", function="hot_1")
            assert series(latency, name + "_count", function="other")[0][0] == 0
            assert series(found, "ocular_overhead_cores", **usual)
            ((cpu, _),) = series(found, "ocular_cpu_seconds_total", **usual)
            parts = [value for value, _ in series(found, hot, **usual)]
            assert 0 < sum(parts) <= cpu + 1
            shop.end()
            wait_until(lambda: pids(url) == {str(other.pid)})
            assert not series(read(url), hot, pid=str(shop.pid))
        wait_until(lambda: not pids(url))


@pytest.mark.once
def test_counters_never_go_back():
    def read(gc_s, ids):
        collected = {"generations": [{"total_s": gc_s, "collections": 1}]}
        its = {"watched": [], "loops": [], "gil": rest, "overhead": rest, "gc": collected}
        its["functions"] = [rest | {"id": id, "name": "f", "calls": 10} for id in ids]
        points = _agent_metrics.points(rest | its, floors)
        return {name: value for name, _, value in points}

    rest, floors = collections.defaultdict(int, file="f.py", calls_exact=True), {}
    assert (first := read(2.0, [1, 2]))["ocular_function_counted_calls"] == 20
    assert "ocular_function_calls" not in read(2.0, []) and read(1.9, [1]) == first


@pytest.mark.once
def test_code_that_is_loaded_again_goes_on_with_its_latencies():
    def read(**calls):
        rows = [
            {"id": id, "latencies": {"sum_s": n, "missed": n, "buckets": {"1": n}}}
            for id, n in calls.items()
        ]
        found = [_agent_metrics._histogram(row, "place", floors) for row in rows]
        assert found[-1][0] == {"1": found[-1][1], "sum": found[-1][1]}
        return found[-1][1]

    floors = {}
    assert [read(a=2, b=3), read(a=2, b=3), read(c=1), read(a=4, c=2)] == [5, 5, 6, 9]
    assert read(c=2**64) == read(c=2**65) == 2**53


@pytest.mark.once
def test_a_stopped_program_costs_no_memory():
    program = Program.__new__(Program)
    program.link = types.SimpleNamespace(ask=lambda request: 1)
    program.waiting, program.asked, profiles = {FLAME: [], NOW: []}, 0, []
    agent = types.SimpleNamespace(at=lambda when, do: None, late=0)
    for kind in "both", "both", "wall", "objects":
        it = _agent_profile.Capture(agent, kind, 0, [program], profiles.append)
        it.end()
        it.finish()
    assert program.waiting == {FLAME: [], NOW: []} and not it.waiting
    assert len(profiles) == agent.late == 4


@pytest.mark.once
def test_a_client_cannot_shut_others_out(monkeypatch, tmp_path):
    def connect(path, host="localhost", end="\r\n\r\n"):
        address = urllib.parse.urlsplit(url)
        client = socket.create_connection((address.hostname, address.port))
        clients.enter_context(client)
        client.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}{end}".encode())
        return client

    def status(*request):
        return int(connect(*request).recv(4096).split()[1])

    profile = "/debug/pprof/profile?seconds="
    with agent() as url, stacks.running(tmp_path), contextlib.ExitStack() as clients:
        wait_until(lambda: pids(url))
        while status(profile + "0.1") != 503:
            connect(profile + "60")
        for host, answer in ("evil.example:80", 403), ("[::1]:80", 200), ("[", 403):
            assert status("/", host) == answer
        clients.close()
        wait_until(lambda: status(profile + "0.1") == 200)
        monkeypatch.setattr(_agent_server, "PATIENCE_S", 0.3)
        with _agent_server.Server(("127.0.0.1", 0), None) as server:
            server.start()
            url = server.url()
            slow = connect("/", end="")
            wait_until(lambda: slow.send(b"x") and select.select([slow], [], [], 0.05)[0])
            server.shutdown()


def numbers(data):
    at, found = 0, []
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def read_pprof(content):
    """Returns the type, and the values and labels by stack, the outermost frame first."""
    found = list(fields(gzip.decompress(content)))
    texts = [value.decode() for number, value in found if number == 6]
    rows = [[], [], [], [], [], []]
    for number, value in found:
        if number in (1, 2, 4, 5):
            rows[number].append(list(fields(value)))
    functions = {dict(row)[1]: texts[dict(row)[2]] for row in rows[5]}
    names = {dict(row)[1]: functions[dict(fields(dict(row)[4]))[1]] for row in rows[4]}
    by_stack = {}
    for row in rows[2]:
        stack = tuple(names[each] for each in reversed(numbers(dict(row)[1])))
        labels = [dict(fields(value)) for number, value in row if number == 3]
        labels = {texts[each[1]]: texts[each[2]] for each in labels}
        assert stack not in by_stack
        by_stack[stack] = numbers(dict(row)[2])[0], labels
    kind = "+".join(texts[dict(row)[1]] for row in rows[1])
    return kind, by_stack, dict(found)


def test_profiles_have_the_stacks_of_a_period(tmp_path):
    def fetched(kind, seconds, **query):
        query = urllib.parse.urlencode({"seconds": seconds, **query})
        return read_pprof(fetch(f"{url}/debug/pprof/{kind}?{query}")[0])

    with agent() as url, stacks.running(tmp_path):
        (pid,) = wait_until(lambda: pids(url))
        kind, found, head = wait_until(lambda: any((it := fetched("profile", 1))[1]) and it)
        assert kind == "cpu" and head[10] == 10**9
        assert abs(head[9] / 1e9 + 1 - time.time()) < SLOW
        begin = stacks.WORK
        assert all(path[:3] in (begin, begin[: len(path)]) for path in found), found
        assert {path[len(begin) :] for path in found} & stacks.PATHS.keys()
        assert all(each == {"service": "program", "pid": pid} for _, each in found.values())
        # A profile does not have the time before it. The process adds samples up late.
        wait_until(lambda: time.clock_gettime(~int(pid) << 3 | 2) > 3)
        again = sum(ns for ns, _ in fetched("profile", 0.2, pid=pid)[1].values())
        assert again < 1.5e9
        wait_until(lambda: set(found) & set(fetched("wall", 1, service="program")[1]))
        if sys.version_info >= (3, 13):
            kind, born, _ = wait_until(lambda: (it := fetched("objects", 3))[1] and it)
            assert kind == "alloc_objects" and any("float" in path for path in born)
        else:
            with pytest.raises(urllib.error.HTTPError, match="501"):
                fetched("objects", 1)
        queries = "seconds=0", "seconds=x", "seconds=301", "other=1", "seconds=1&pid=1"
        for query, status in zip(queries, [400, 400, 400, 400, 404], strict=True):
            with pytest.raises(urllib.error.HTTPError, match=str(status)):
                fetch(f"{url}/debug/pprof/profile?{query}")


@pytest.mark.once
@pytest.mark.skipif(not shutil.which("promtool"), reason="there is no promtool")
def test_promtool_has_no_complaint(tmp_path):
    with agent("--watch", "program.*") as url, stacks.running(tmp_path):
        wait_until(lambda: series(read(url), "ocular_function_latency_seconds_count"))
        text, kind = fetch(url + "/metrics")
        assert kind.startswith("text/plain; version=0.0.4")
    done = run(["promtool", "check", "metrics"], input=text.decode())
    assert (done.status, done.out + done.err) == (0, "")


@pytest.mark.once
@pytest.mark.parametrize(
    "options, why",
    [
        (["--listen", "9466"], "expects ADDRESS:PORT"),
        (["--listen", "127.0.0.1:70000"], "expects ADDRESS:PORT"),
        (["--listen", "no.such.host.invalid:0"], "cannot listen at"),
        (["--listen", "127.0.0.1:TAKEN"], "in use"),
        (["--interval", "nan"], "expects 1 to 60 seconds"),
        (["--label", "team"], "expects NAME=VALUE"),
        (["--label", "_-name=x"], "is the name of another label"),
        (["--watch", ""], "expects a pattern"),
        (["surplus"], "unrecognized arguments"),
        (["--push", "ftp://x"], "it has to begin with http"),
        (["--otlp", "http://x:y"], "cannot be used: Port"),
        (["--push", "http://name:password@x"], "--token-file gives a password"),
        (["--otlp-profiles"], "needs --otlp URL"),
        (["--objects", "--otlp", "http://x"], "--objects needs --push"),
        (["--push", "http://x", "--token-file", "/no"], "No such file or directory: '/no'"),
        (["--push", "http://x", "--token-file", "/dev/null"], "is not a token"),
        (["--push", "http://x", "--ca-file", "/dev/null"], "cannot use the token or"),
    ],
)
def test_bad_options_are_refused(options, why):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        options = [option.replace("TAKEN", port) for option in options]
        done = run([*AGENT, "--listen", "127.0.0.1:0", *options])
    assert done.status == 2 and why in done.err, done.err


# --- Receivers ----------------------------------------------------------------


class Receiver(http.server.ThreadingHTTPServer):
    """Records the requests. Answers with the statuses in `answers`, and then with 200."""

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), ReceiverHandler)
        self.answers, self.requests = list(answers), []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        super().__exit__()

    def bodies(self, path):
        return [body for its, _, body in self.requests if its.startswith(path)]


class ReceiverHandler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size)
        if len(body) < size:
            return  # the test has ended the agent
        self.server.requests.append((self.path, dict(self.headers), body))
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        if status == 503:
            self.send_header("Retry-After", "Mon, 99999999999999999999 Jan 2020 00:00:00")
        self.send_header("Location", self.server.url + "/elsewhere")
        self.send_header(
            "Content-Length", {"/cut": "9", "/partly": "4"}.get(self.path, "0")
        )
        self.end_headers()
        if self.path == "/partly":  # rejects 5 points
            self.wfile.write(b"\n\2\10\5")

    do_GET = do_POST

    def log_message(self, *_):
        pass


def read_otlp(body):
    for _, resource in fields(gzip.decompress(body)):
        resource = dict(fields(resource))
        pairs = [dict(fields(pair)) for _, pair in fields(resource[1])]
        its = {pair[1].decode(): dict(fields(pair[2])) for pair in pairs}
        metrics = [dict(fields(it)) for n, it in fields(resource[2]) if n == 2]
        assert len(its) == len(pairs) and not any(11 in it for it in metrics)  # summaries
        for histogram in (dict(fields(it[9])) for it in metrics if 9 in it):
            assert histogram[2] == 2  # cumulative
            point = dict(fields(histogram[1]))
            calls, bounds = array.array("Q", point[6]), list(array.array("d", point[7]))
            assert len(calls) == len(bounds) + 1 == 16 and bounds == sorted(bounds)
            assert sum(calls) == point[4] and 5 in point and dict(fields(point[9]))[1]
        for cpu in (it[7] for it in metrics if it[1] == b"ocular.cpu_seconds"):
            point = dict(fields(dict(fields(cpu))[1]))
            yield its, point[2], point[3]


def pushed(receiver, name):
    """Returns the profiles that were sent to Pyroscope and whose types have this name."""
    bodies = [body for body in receiver.bodies("/ingest?") if name in body]
    return [read_pprof(it.split(b"\r\n\r\n", 1)[1].split(b"\r\n--")[0]) for it in bodies]


def has_births(receiver):
    found = {path for _, it, _ in pushed(receiver, b'"alloc_objects"') for path in it}
    sent = b"".join(map(gzip.decompress, receiver.bodies("/v1development/profiles")))
    return any("float" in path for path in found) and b"alloc_objects" in sent


def test_receivers_get_profiles_and_metrics(tmp_path, monkeypatch):
    Path("token").write_text("secret\nanother line\n")
    its = "service.name=my shop:1,process.pid=7,__name__=x,odd-name=1,odd_name=2"
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", its)
    with Receiver() as receiver, stacks.running(tmp_path):
        options = ["--push", receiver.url, "--otlp", receiver.url, "--otlp-profiles"]
        options += ["--watch", "program.*", "--label", "team=a b", "--objects"]
        with agent(*options, "--token-file", "token") as url:
            paths = "/ingest?", "/v1/metrics", "/v1development/profiles"
            wait_until(lambda: all(len(receiver.bodies(path)) > 2 for path in paths))
            name = b"ocular.function_latency_seconds"
            wait_until(lambda: name in gzip.decompress(receiver.bodies(paths[1])[-1]))
            assert len(series(read(url), "ocular_agent_sent_total")) == 2
            if sys.version_info >= (3, 13):  # before, programs cannot count objects
                wait_until(lambda: has_births(receiver))
            os.kill(int(*pids(url)), signal.SIGSTOP)  # it gives no new numbers
            wait_until(lambda: not [*read_otlp(receiver.bodies("/v1/metrics")[-1])])
    assert all(h["Authorization"] == "Bearer secret" for _, h, _ in receiver.requests)
    query = next(path for path, _, _ in receiver.requests if path.startswith("/ingest?"))
    query = dict(urllib.parse.parse_qsl(query.partition("?")[2]))
    its = re.fullmatch(r"my_shop_1\{(host_name=.*,python=3[^}]*)\}", query["name"])[1]
    its = sorted(each.split("=")[0] for each in its.split(","))
    assert its == "host_name ocular odd_name pid python team".split()
    assert int(query["until"]) > int(query["from"]) and query["format"] == "pprof"
    kind, profile, _ = pushed(receiver, b'"wall"')[-1]
    assert kind == "cpu+wall" and any(path[-1] == "spin" for path in profile)
    found = receiver.bodies(paths[2])
    body = next(it for it in found if b"alloc_objects" not in gzip.decompress(it))
    request = list(fields(gzip.decompress(body)))
    dictionary = list(fields(dict(request)[2]))
    texts = [value.decode() for number, value in dictionary if number == 5]
    tables = [[dict(fields(v)) for n, v in dictionary if n == each] for each in (2, 3, 7)]
    names = [texts[each.get(1, 0)] for each in tables[1]]
    places = [names[dict(fields(it[3]))[1]] if it else "" for it in tables[0]]
    paths = {tuple(places[each] for each in numbers(it.get(1, b""))) for it in tables[2]}
    assert any(path[:1] + path[-1:] == ("spin", "<module>") for path in paths), paths
    assert all(table[0] == {} for table in tables)
    found = [it for body in receiver.bodies("/v1/metrics") for it in read_otlp(body)]
    assert found[0][0]["process.pid"].keys() == {3} and found[0][0].keys() >= {"host.name"}
    begins, times = {begin for _, begin, _ in found}, [now for _, _, now in found]
    assert len(begins) == 1 and sorted(set(times)) == times and len(times) > 1


@pytest.fixture(autouse=True)
def targets(monkeypatch):
    """Ends the threads that send after each test, because other tests count threads."""
    yield
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    for it in threading.enumerate():
        if isinstance(it, _agent_push.Target):
            it.send = lambda *_: sys.exit()
            it.put("", {}, b"")
            it.join()


def target(receiver, *paths, **settings):
    settings = {"token_file": None, "ca_file": None} | settings
    it = _agent_push.Target(receiver, "otlp", types.SimpleNamespace(**settings))
    for path in paths:
        it.put(path, {}, b"x")
    if paths:
        it.start()
    return it


@pytest.mark.once
def test_failed_requests_are_repeated_and_the_oldest_are_lost(monkeypatch):
    monkeypatch.setattr(_agent_push, "PAUSE_MOST_S", 0.1)
    with Receiver(503, 429, 200, 400, 302) as receiver:
        it = target(receiver.url)
        for number in range(6):
            it.put(f"/{number}", {}, bytes(_agent_push.QUEUE_MOST // 5))
        it.start()
        begin = time.monotonic()
        wait_until(lambda: not it.bytes)
        assert time.monotonic() - begin >= 1  # says Retry-After
    seen = [path for path, _, _ in receiver.requests]
    assert seen == ["/1", "/1", "/1", "/2", "/3", "/4", "/5"]
    assert it.counts == {"lost": 1, "failed": 2, "refused": 2, "sent": 3}
    monkeypatch.setattr(_agent_push, "AGE_MOST_S", 0)
    with Receiver(500, 503) as receiver:
        it = target(receiver.url, "/x", "/old", "/partly", "/cut")
        wait_until(lambda: not it.bytes)
    assert it.counts == {"refused": 2, "failed": 1, "lost": 1, "sent": 1}

    def send(*_):  # put() does not drop the request that is on its way
        it.put("/y", {}, bytes(_agent_push.QUEUE_MOST))
        return "sent", None, ""

    it = target("http://unused")
    it.send = send
    it.put("/x", {}, b"x")
    it.start()
    wait_until(lambda: not it.bytes)
    assert it.counts == {"lost": 1, "sent": 1}


@pytest.mark.once
@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
def test_a_certificate_and_a_proxy(monkeypatch):
    monkeypatch.setattr(_agent_push, "PAUSE_MOST_S", 0.1)
    make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -subj /CN=x"
    assert run([*make.split(), "-addext", "subjectAltName=IP:127.0.0.1"]).status == 0
    with Receiver() as receiver:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain("cert", "key")
        receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
        url = receiver.url.replace("http", "https")
        strange, known = target(url, "/x"), target(url, "/x", ca_file="cert")
        wait_until(lambda: strange.counts["failed"] > 1 and known.counts["sent"])
        assert len(receiver.requests) == 1 and not strange.counts["sent"]
    with Receiver() as proxy, Receiver() as near:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        target("http://receiver.invalid", "/x")
        target(near.url, "/x")
        wait_until(lambda: proxy.requests and near.requests)
        assert proxy.requests[0][0] == "http://receiver.invalid/x"
