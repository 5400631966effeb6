# SPDX-License-Identifier: MIT
"""One benchmark of pyperformance for test_every_call.py, twice under cProfile and once
under Ocular with a threshold of 0. Prints how they counted its calls, as JSON.

    every_call.py SCRIPT TRACE [the benchmark's arguments]"""

import cProfile
import json
import os
import random
import runpy
import sys

import ocular

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "bench", "stand_in"))
import pyperf  # noqa: E402

script, trace, *arguments = sys.argv[1:]
sys.argv = [script, *arguments]
sys.path.insert(0, os.path.dirname(script))
kept = runpy.run_path(script, run_name="__main__")


def work():
    random.seed(1)
    for bench in pyperf.benches:
        bench(1)


def profiled():
    """{(file, line, name): calls}, without those of C."""
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    try:
        work()
    finally:
        profile.disable()
    counted = {}
    for entry in profile.getstats():
        code = entry.code
        if not isinstance(code, str):
            key = code.co_filename, code.co_firstlineno, code.co_name
            counted[key] = counted.get(key, 0) + entry.callcount
    return counted


work()
first, second = profiled(), profiled()
ocular.start_tracing(deinstrument_threshold=0, output=trace, quiet=True, serve=False)
work()
final = ocular.stop_tracing()
ours = {}
for row in final["functions"] + final["retired"]:
    key = row["file"], row["line"], row["name"].rpartition(".")[2]
    ours[key] = ours.get(key, 0) + row["calls"] + row["resumptions"]
pairs = [
    (*key, calls, ours.get(key, 0))
    for key, calls in first.items()
    if second.get(key) == calls and key[2] not in ("profiled",)
]
result = {"pairs": pairs, "lost": final["lost"], "events": final["events"]}
print(json.dumps(result))
