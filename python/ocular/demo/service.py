# SPDX-License-Identifier: MIT
"""Runs the threads of the demo. The workload is divided into rounds, which are the same in
every run. In each round the feeder makes one batch of jobs and the analyst does one
computation. Only the parser that gets a job is random."""

import threading
from queue import Full, Queue

from . import archive, numeric, streams
from .expressions import ExpressionError, evaluate

JOBS_PER_ROUND = 24
PARSERS = 2
BATCH = 48  # Number of results that are packed together.
PAUSE = 0.003  # Seconds between the rounds of an endless run.
END = None  # the last item of a queue

NAMES = ("width", "height", "depth", "mass")
# "mass" is undefined on purpose, so that evaluate() fails.
VARIABLES = {"width": 12, "height": 7, "depth": 3}
SIGNS = "+-*/"


def invent(noise, depth):
    """Makes the text of an expression. A few of the expressions have no value."""
    if depth == 0 or noise.number(5) == 0:
        if noise.number(3):
            return str(noise.number(100))
        return NAMES[noise.number(100) % 34 // 11]
    left = invent(noise, depth - 1)
    right = invent(noise, depth - 1)
    text = f"{left} {SIGNS[noise.number(31) // 10]} {right}"
    return f"({text})" if noise.number(2) else text


def work_out(text):
    """Evaluates the expression of a job and returns the job's result. The archivist then
    packs the result."""
    try:
        return {"text": text, "value": evaluate(text, VARIABLES), "error": None}
    except ExpressionError as error:
        return {"text": text, "value": 0, "error": str(error)}


class Service:
    """Runs until stop() or for a number of rounds. `pause` is the time in seconds that
    feeder and analyst wait between two rounds."""

    def __init__(self, rounds=None, pause=PAUSE):
        self.rounds = rounds
        self.pause = pause
        self.ended = threading.Event()
        self.failure = None
        self.jobs = Queue(maxsize=64)
        self.results = Queue()
        # Holds the numbers of finished items. Each number is written by one thread only.
        self.fed = 0
        self.archived = 0
        self.errors = 0
        self.value = 0
        self.analysed = 0
        tasks = [("feeder", self.feed), ("archivist", self.archive)]
        tasks += [("analyst", self.analyse)]
        tasks += [(f"parser-{n + 1}", self.parse) for n in range(PARSERS)]
        self.threads = [
            threading.Thread(target=self.run, args=(task,), name=name, daemon=True)
            for name, task in tasks
        ]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        """Makes the threads end after the current round. join() waits for the threads of
        the workload."""
        self.ended.set()

    def join(self):
        """Waits until the threads have ended. If a thread has failed, raises the thread's
        exception."""
        for thread in self.threads:
            # If a signal comes just before the wait, CPython handles the signal after the
            # wait. To handle signals soon, each call of Thread.join() waits only for a
            # short time.
            while thread.is_alive():
                thread.join(0.5)
        if self.failure is not None:
            raise self.failure

    def run(self, task):
        try:
            task()
        except BaseException as failure:
            self.failure = self.failure or failure
            self.ended.set()

    def each_round(self):
        """Yields the number of each round and waits between rounds."""
        number = 0
        while self.rounds is None or number < self.rounds:
            yield number
            number += 1
            if self.ended.wait(self.pause):
                return

    def feed(self):
        try:
            for number in self.each_round():
                noise = streams.Noise(number + 1)
                for _ in range(JOBS_PER_ROUND):
                    self.hand_over(invent(noise, 4))
                    self.fed += 1
        finally:
            for _ in range(PARSERS):
                self.hand_over(END)

    def hand_over(self, job):
        """Puts a job into the queue. Waits while the queue is full, unless a thread has
        failed."""
        while True:
            try:
                return self.jobs.put(job, timeout=1)
            except Full:
                if self.failure is not None:
                    raise

    def parse(self):
        try:
            while (text := self.jobs.get()) is not END:
                self.results.put(work_out(text))
        finally:
            self.results.put(END)

    def arriving(self):
        """Yields results until every parser has ended."""
        parsers = PARSERS
        while parsers:
            result = self.results.get()
            if result is END:
                parsers -= 1
            else:
                yield result

    def archive(self):
        for batch in streams.chunks(self.arriving(), BATCH):
            for result in archive.unpack(archive.pack(batch)):
                self.value += result["value"]
                self.errors += result["error"] is not None
            archive.words(result["text"] for result in batch)
            self.archived += len(batch)

    def analyse(self):
        for number in self.each_round():
            numeric.feed_blend(number, 40)
            numeric.sieve(8000)
            numeric.longest_collatz(100)
            numeric.mandelbrot(40, 16)
            for _ in range(10):
                numeric.simpson(numeric.cubic, 0.0, 2.0)
            numeric.fibonacci(15)
            streams.summarise(number, 500)
            archive.shuffle_and_sort(streams.Noise(number), 2000)
            self.analysed += 1
