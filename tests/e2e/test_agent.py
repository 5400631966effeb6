# SPDX-License-Identifier: MIT
"""Tests that `ocular agent` finds programs and hands their numbers over."""

import contextlib
import gzip
import re
import shutil
import socket
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from e2e import stacks
from e2e.pftrace import varint
from e2e.program import PYTHON, SLOW, Running, run, start, wait_until

AGENT = [PYTHON, "-m", "ocular", "agent"]
OPEN = {"Accept": "application/openmetrics-text; version=1.0.0"}

# The names of the functions need escapes. Two functions have the same place.
PROGRAM = r"""
import sys, time
import ocular

ocular.start_tracing(serve=True, quiet=True, perfetto=False, deinstrument_threshold=0,
                     overhead_budget=None)
SOURCE = "def twin(): pass\ndef other(number): return sum(range(number))"
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
ended = []
import threading
threading.Thread(target=lambda: ended.append(sys.stdin.read()), daemon=True).start()
while not ended:
    for number in range(60):
        globals()[f"hot_{number}"]()
ocular.stop_tracing()
print("ended")
"""


@contextlib.contextmanager
def agent(*options, **more):
    """Runs an agent, and yields its address."""
    command = [*AGENT, "--listen", "127.0.0.1:0", "--interval", "1", *options]
    with start(command, **more) as process:
        try:
            line = process.stderr.readline()
            yield re.search(r"answers at (http://\S+)/metrics", line)[1]
        finally:
            process.terminate()
            _, err = process.communicate(timeout=SLOW)
    assert process.returncode == 0, err


def fetch(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=SLOW) as answer:
        return answer.read(), answer.headers["Content-Type"]


LABEL = r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"'
SAMPLE = re.compile(rf"([a-z_]+)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
SUFFIXES = {"counter": "_total", "info": "_info", "gauge": "", "summary": ""}


def parse(text):
    """Returns the values by name and labels. Refuses all that OpenMetrics 1.0 forbids and
    an exposition of ours could have."""
    lines = text.split("\n")
    assert lines[-2:] == ["# EOF", ""]
    found, families, family = {}, set(), None
    for line in lines[:-2]:
        if line.startswith("# HELP "):
            family = line.split()[2]
            assert family not in families, f"{family} comes twice"
            families.add(family)
        elif line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert name == family and not name.endswith(("_total", "_info", "_count"))
            series = name + SUFFIXES[kind]
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample and sample[1] == series, line
            pairs = re.findall(LABEL, sample[2] or "")
            labels = dict(pairs)
            assert len(labels) == len(pairs) and ("quantile" in labels) == (
                kind == "summary"
            ), line
            key = sample[1], frozenset(labels.items())
            assert key not in found, f"{line} comes twice"
            found[key] = float(sample.groups()[-1])
            assert found[key] >= 0 and (kind != "info" or found[key] == 1)
    return found


def read(url):
    text, kind = fetch(url + "/metrics", **OPEN)
    assert kind.startswith("application/openmetrics-text; version=1.0.0")
    return parse(text.decode())


def series(found, name, **labels):
    """Returns the values of the series that have these labels, with all their labels."""
    wanted = set(labels.items())
    return [
        (value, dict(key))
        for (each, key), value in found.items()
        if each == name and wanted <= key
    ]


def pids(url):
    return {labels["pid"] for _, labels in series(read(url), "ocular_program_info")}


def test_programs_come_and_go_and_have_bounded_series(tmp_path):
    environment = {"OTEL_RESOURCE_ATTRIBUTES": "team=a%20b,deployment.environment=test"}
    watch = ["--watch", "app.views.*", "--watch", "nothing.*", "--label", "team=web"]
    with agent(*watch, env=environment) as url:
        assert not pids(url)
        its = {"OTEL_RESOURCE_ATTRIBUTES": "service.name=shop,service.version=1.2"}
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
            usual["deployment_environment"] = "test"
            ((_, labels),) = series(found, "ocular_program_info", **usual)
            assert labels["version"] == "1.2" and re.match("3[.]", labels["python"])
            # Twenty functions, and two places that the pattern chooses.
            assert len(series(found, hot, **usual)) <= 22
            calls = "ocular_function_calls_total"
            file = r"odd \"dir\\" + "\ufffd/app/views.py"
            assert [
                v for v, _ in series(found, calls, function="other", file=file, **usual)
            ] == [7]
            assert [v for v, _ in series(found, calls, function="twin", **usual)] == [2]
            latency = "ocular_function_latency_seconds"
            chosen = series(found, latency, function="other", **usual)
            assert {labels["quantile"] for _, labels in chosen} == {"0.5", "0.99"}
            assert not series(found, latency, function="hot_1")
            ((cpu, _),) = series(found, "ocular_cpu_seconds_total", **usual)
            parts = [value for value, _ in series(found, hot, **usual)]
            assert 0 < sum(parts) <= cpu + 1
            check_by_promtool(url)
            shop.end()
            wait_until(lambda: pids(url) == {str(other.pid)})
            assert not series(read(url), hot, pid=str(shop.pid))
        wait_until(lambda: not pids(url))


def fields(data):
    """Yields (number, value) of each field of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        yield key >> 3, value


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
    (kind,) = [texts[dict(row)[1]] for row in rows[1]]
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
        assert {path[: len(begin)] for path in found} <= {begin, begin[:2]}
        assert {path[len(begin) :] for path in found} & stacks.PATHS.keys()
        assert all(each == {"service": "program", "pid": pid} for _, each in found.values())
        # A second profile does not have the time of the first. 0.1 s is for samples that
        # the process adds up late.
        clock = ~int(pid) << 3 | 2
        used = time.clock_gettime(clock)
        again = sum(ns for ns, _ in fetched("profile", 0.2, pid=pid)[1].values())
        assert again / 1e9 < time.clock_gettime(clock) - used + 0.1
        kind, waited, _ = fetched("wall", 1, service="program")
        assert kind == "wall" and set(found) & set(waited)
        if sys.version_info >= (3, 13):
            kind, born, _ = wait_until(lambda: (it := fetched("objects", 3))[1] and it)
            assert kind == "alloc_objects" and any("float" in path for path in born)
        else:
            with pytest.raises(urllib.error.HTTPError, match="501"):
                fetched("objects", 1)
        for query, status in (
            ("seconds=0", 400),
            ("seconds=x", 400),
            ("seconds=301", 400),
            ("other=1", 400),
            ("seconds=1&pid=1", 404),
        ):
            with pytest.raises(urllib.error.HTTPError, match=str(status)):
                fetch(f"{url}/debug/pprof/profile?{query}")


def check_by_promtool(url):
    """The format that Prometheus asks for has to be clean, if Prometheus is there."""
    if shutil.which("promtool"):
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
        (["--interval", "nan"], "expects 1 to 60 seconds"),
        (["--label", "team"], "expects NAME=VALUE"),
        (["--watch", ""], "expects a pattern"),
        (["surplus"], "unrecognized arguments"),
    ],
)
def test_bad_options_are_refused(options, why):
    done = run([*AGENT, *options])
    assert done.status == 2 and why in done.err, done.err


@pytest.mark.once
def test_a_taken_port_and_a_wrong_path():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        host, port = taken.getsockname()
        done = run([*AGENT, "--listen", f"{host}:{port}"])
        assert (done.status, "in use" in done.err) == (2, True)
    with agent() as url, pytest.raises(urllib.error.HTTPError, match="404"):
        fetch(url + "/nothing")
