# SPDX-License-Identifier: MIT
"""Sends the program's own signals, in addition to the sampler's signals. The parts use
handlers in Python, an interval timer, a wake-up descriptor, threads that block all signals,
and waits that must not end early."""

import collections
import contextlib
import os
import select
import signal
import threading
import time

SLOW = 60  # longest wait for a handler in seconds
OWN = (signal.SIGUSR2, signal.SIGPROF)
PIPE = 1 << 16  # number of bytes that a pipe holds

handled = collections.Counter()


def _handle(number, frame):
    handled[number] += 1


@contextlib.contextmanager
def installed(party):
    """Installs the handlers in the main thread for all rounds. Also sets a descriptor to
    which CPython writes the number of each signal that has a handler in Python."""
    near, far = os.pipe()
    os.set_blocking(near, False)
    os.set_blocking(far, False)
    for number in OWN:
        signal.signal(number, _handle)
    signal.set_wakeup_fd(far, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number in OWN:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        with contextlib.suppress(BlockingIOError):
            if strange := set(os.read(near, PIPE)) - set(OWN):
                party.fail(f"signals {strange} came to the wake-up descriptor")
        os.close(near)
        os.close(far)


def _await(party, number, before):
    """Waits until the handler of the signal has run. Handlers run in the main thread. At
    its end, the main thread waits for the thread that calls this function."""
    limit = time.monotonic() + SLOW
    while handled[number] == before and party.going():
        sum(range(1000))  # the interval timer counts CPU time
        if time.monotonic() > limit:
            party.fail(f"{signal.Signals(number).name} was not handled")
            return
        time.sleep(0)
    party.count("signals handled", handled[number] > before)


def kill(party, dice):
    """Sends signals, some to the process and some to one thread."""
    while party.going(dice.random() * 0.05):
        before = handled[signal.SIGUSR2]
        if dice.random() < 0.5:
            os.kill(os.getpid(), signal.SIGUSR2)
        else:
            signal.pthread_kill(threading.get_ident(), signal.SIGUSR2)
        _await(party, signal.SIGUSR2, before)


def time_cpu(party, dice):
    """Uses an interval timer that counts CPU time, like another sampling profiler."""
    while party.going(dice.random() * 0.1):
        before = handled[signal.SIGPROF]
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001 + dice.random() * 0.01)
        _await(party, signal.SIGPROF, before)
        signal.setitimer(signal.ITIMER_PROF, 0)


def block(party, dice):
    """If a thread blocks all signals for some time, it gets its own signal mask back
    afterwards."""
    every = signal.valid_signals()
    while party.going(dice.random() * 0.05):
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, every)
        limit = time.thread_time() + dice.random() * 0.02
        while time.thread_time() < limit:
            sum(range(1000))
        blocked = signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if unblocked := every - blocked - {signal.SIGKILL, signal.SIGSTOP}:
            party.fail(f"signals {unblocked} were unblocked in a thread of the program")
        party.count("signals blocked")


def wait(party, dice):
    """Waits in many ways. No wait may end early or fail with EINTR."""
    near, far = os.pipe()
    poll = select.poll()
    poll.register(near, select.POLLIN)
    event = threading.Event()
    ways = (
        time.sleep,
        event.wait,
        lambda seconds: select.select([near], [], [], seconds),
        lambda seconds: poll.poll(seconds * 1000),
    )
    while party.going():
        seconds, way = dice.random() * 0.03, dice.choice(ways)
        began = time.monotonic()
        way(seconds)
        if (took := time.monotonic() - began) < seconds - 0.001:
            party.fail(f"a wait of {seconds} s ended after {took} s")
        party.count("waits")
    os.close(near)
    os.close(far)


PARTS = [("kill", kill), ("time CPU", time_cpu), ("block", block), ("wait", wait)]
