# SPDX-License-Identifier: MIT
"""`python -m ocular.demo` runs the demo workload. The workload runs until SIGTERM, SIGINT
or the limit of an option ends it, and prints nothing on stdout."""

import argparse
import contextlib
import signal
import sys

from .service import PAUSE, Service


def positive(kind):
    def convert(text):
        value = kind(text)
        if not 0 < value < float("inf"):
            raise ValueError
        return value

    convert.__name__ = f"positive {kind.__name__}"  # argparse shows this name
    return convert


def options(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m ocular.demo",
        description="A busy little service to trace; runs until SIGTERM.",
    )
    parser.add_argument(
        "--seconds", type=positive(float), metavar="S", help="stop after S s"
    )
    parser.add_argument(
        "--rounds",
        type=positive(int),
        metavar="N",
        help="do N rounds of work, the same on every run, without pauses",
    )
    parser.add_argument(
        "--pause",
        type=positive(float),
        metavar="S",
        help=f"between two rounds of an endless run (default {PAUSE} s)",
        default=PAUSE,
    )
    parser.add_argument(
        "--serve",
        action="store_true",
        help="trace itself and answer ocular-top",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="with --serve: the timeline's file (default ocular_trace.json)",
    )
    given = parser.parse_args(arguments)
    if given.output is not None and not given.serve:
        parser.error("--output needs --serve")
    return given


def run(given):
    service = Service(given.rounds, pause=0 if given.rounds else given.pause)

    def end(number, frame):
        service.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    # The handlers are set before the socket exists, because another process may end
    # this process as soon as it sees the socket.
    with tracing(given):
        service.start()
        if given.seconds is not None:
            service.ended.wait(given.seconds)
            service.stop()
        service.join()


@contextlib.contextmanager
def tracing(given):
    if not given.serve:
        yield
        return
    import ocular

    output = {} if given.output is None else {"output": given.output}
    ocular.start_tracing(serve=True, **output)
    try:
        yield
    finally:
        ocular.stop_tracing()


def main(arguments=None):
    run(options(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
