# SPDX-License-Identifier: MIT
"""`make bench ARGS='--only timeline'` measures the size of a timeline in each format, and
the speed of writing it. If the benchmarks' environment has viztracer, the results are
compared with viztracer's."""

import os
import subprocess
import sys
import tempfile

from figures.record import figure

BUILD = os.environ.get("OCULAR_BUILD", "build")
WRITE = os.path.join(BUILD, "obj", "tests", "bench", "write_timeline")
ENDINGS = ("json", "pftrace", "json.gz", "pftrace.gz")
EVENTS = 5_000_000
LONG = 20_000_000  # writing so many events takes no more memory than fewer
SPANS = 500_000
MOST_MIB = 64

# A *span* is a call. A call is two events in Ocular and one event in viztracer.
VIZTRACER = """
import os, sys, time
from viztracer import VizTracer
def called(number):
    return number
def calls(count):
    for number in range(count):
        called(number)
path, count = sys.argv[1], int(sys.argv[2])
tracer = VizTracer(tracer_entries=2 * count, verbose=0, output_file=path,
                   dump_raw=sys.argv[3] == "raw")
tracer.start()
calls(count)
tracer.stop()
began = time.process_time()
tracer.save()
print(os.path.getsize(path), time.process_time() - began)
"""


def numbers(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def show_viztracer(directory):
    python = os.path.join(os.environ.get("OCULAR_BENCHMARKS", ""), "bin", "python")
    for kind in ("", "raw"):
        try:
            path = os.path.join(directory, "viztracer.json")
            size, s = numbers(python, "-c", VIZTRACER, path, str(SPANS), kind)
        except (OSError, subprocess.CalledProcessError):
            print("viztracer is not there: make bench ARGS='--only timeline' installs it")
            return
        name = "viztracer" + (", dump_raw" if kind else "")
        print(f"{name:24}{SPANS:12}{size / SPANS / 2:12.1f}{SPANS / s / 1e6:14.2f}")


def show_format(directory, ending, events, *loops):
    path = os.path.join(directory, f"x.{ending}")
    size, written, s, before, peak = numbers(WRITE, path, str(events), *loops)
    os.unlink(path)
    each, speed = size / written, written / 2 / s / 1e6
    print(
        f"{', '.join((ending, *loops)):24}{events:12}{each:12.1f}{speed:14.2f}"
        f"{peak - before:10.0f}"
    )
    if events == EVENTS:
        name = "/".join(("timeline", ending, *loops))
        figure(f"{name}/bytes", each, unit="an event")
        figure(f"{name}/speed", speed, "higher", "M spans a second")
    if events == LONG:
        figure(f"timeline/{ending}/{LONG // 10**6}M/mib", peak - before, unit="MiB more")


def show():
    print("\nwriting a timeline of calls, and with a loop event for each four, CPU time")
    print(f"{'':24}{'events':>12}{'bytes each':>12}{'M spans a s':>14}{'MiB more':>10}")
    with tempfile.TemporaryDirectory(prefix="oc-") as directory:
        for ending in ENDINGS:
            show_format(directory, ending, EVENTS // 5)
            show_format(directory, ending, EVENTS)
            show_format(directory, ending, EVENTS, "loops")
        for ending in "json", "pftrace":  # With this many events, the JSON file has 2.5 GB.
            show_format(directory, ending, LONG)
        show_viztracer(directory)
    print(
        f"target: JSON 10 x viztracer's spans, pftrace 50 x, calls of at most 14 bytes an "
        f"event, {MOST_MIB} MiB"
    )


if __name__ == "__main__":
    sys.exit(show())
