# SPDX-License-Identifier: MIT
"""Runs `ocular agent`, and reads its metrics."""

import contextlib
import math
import re
import urllib.request

from e2e.program import PYTHON, SLOW, start

AGENT = [PYTHON, "-m", "ocular", "agent"]
OPEN = {"Accept": "application/openmetrics-text; version=1.0.0"}


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
SUFFIXES = {"counter": "_total", "info": "_info", "gauge": ""}


def parse(text):
    """Returns the values by name and labels. Refuses all that OpenMetrics 1.0 forbids and
    an exposition of ours could have."""
    lines = text.split("\n")
    assert lines[-2:] == ["# EOF", ""]
    found, families, family, bounds = {}, set(), None, []
    for line in lines[:-2]:
        if line.startswith("# HELP "):
            family = line.split()[2]
            assert family not in families, f"{family} comes twice"
            families.add(family)
        elif line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert name == family and not name.endswith(("_total", "_info", "_count"))
            series = name + SUFFIXES.get(kind, "")
        else:
            sample = SAMPLE.fullmatch(line)
            suffix = sample[1].removeprefix(series)
            assert suffix in (("_bucket", "_count", "_sum") if kind == "histogram" else "")
            pairs = re.findall(LABEL, sample[2] or "")
            labels = dict(pairs)
            assert len(labels) == len(pairs) and ("le" in labels) == (suffix == "_bucket")
            key = sample[1], frozenset(labels.items())
            assert key not in found, f"{line} comes twice"
            found[key] = float(sample.groups()[-1])
            if suffix == "_bucket":
                bounds.append((float(labels["le"]), found[key]))
            elif bounds:
                assert bounds == sorted(bounds) and bounds[-1] == (math.inf, found[key])
                assert sorted(number for _, number in bounds) == [n for _, n in bounds]
                bounds = []
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
