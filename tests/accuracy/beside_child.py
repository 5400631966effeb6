# SPDX-License-Identifier: MIT
"""Runs a program for beside.py, in its interpreter:

    beside_child.py plain|traced|counted OUT script.py|-m module [arguments]

Says "ready" and waits for a line, runs the program, says "over" and waits for another.
OUT gets JSON: what Ocular says of the whole run, or each function's calls as cProfile
counts them. SIGTERM ends the program."""

import cProfile
import json
import os
import runpy
import signal
import sys
import time

kind, out, *arguments = sys.argv[1:]


def run():
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


def say(word):
    os.write(result, f"{word}\n".encode())
    sys.stdin.readline()


def traced():
    cpu = time.process_time() - began
    snapshot = ocular.stop_tracing()
    return {
        "cpu_s": cpu,
        "overhead": snapshot["overhead"]["mean"],
        "samples": snapshot["sampler"]["samples"],
        "functions": [
            [row["name"], row["file"], row["run_share"], calls, row["calls_error"]]
            for row in snapshot["functions"]
            for calls in [None if row["calls_exact"] else row["calls_estimated"]]
        ],
    }


def counted():
    profile.create_stats()
    return [
        [name, file, total] for (file, _, name), (_, total, *_) in profile.stats.items()
    ]


# The program may print what it likes.
result = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
profile = cProfile.Profile()
if kind == "traced":
    import ocular

    ocular.start_tracing(serve=True, perfetto=False, quiet=True)
say("ready")
began = time.process_time()
if kind == "counted":
    profile.enable()
try:
    run()
except SystemExit:
    pass
if kind == "counted":
    profile.disable()
say("over")
if kind != "plain":
    with open(out, "w") as file:
        json.dump(traced() if kind == "traced" else counted(), file)
os._exit(0)
