# SPDX-License-Identifier: MIT
"""Replaces the package pyperf when a benchmark of pyperformance is loaded. Keeps the
benchmarks that pyperf would have run, as functions that take a number of loops."""

import argparse
import asyncio
from time import perf_counter  # noqa: F401  (the benchmarks take it from here)

benches = []  # the benchmarks, as functions that take a number of loops


def python_implementation():
    return "cpython"


class Runner:
    def __init__(self, **_):
        self.argparser = argparse.ArgumentParser()
        self.metadata = {}
        self.args = None

    def parse_args(self, args=None):
        self.args = self.argparser.parse_args(args)
        return self.args

    def bench_func(self, name, function, *args, **_):
        def run(loops):
            for _ in range(loops):
                function(*args)

        benches.append(run)

    def bench_time_func(self, name, function, *args, **_):
        benches.append(lambda loops: function(loops, *args))

    def bench_async_func(self, name, function, *args, **_):
        async def run(loops):
            for _ in range(loops):
                await function(*args)

        benches.append(lambda loops: asyncio.run(run(loops)))
