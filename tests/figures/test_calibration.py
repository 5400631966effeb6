# SPDX-License-Identifier: MIT
"""What hooks are measured to cost at start and again while the program runs."""

import statistics

import pytest
from e2e.program import script
from e2e.steady import undisturbed

FIRST_START = """
import json, ocular
costs = []
for _ in range(6):
    ocular.start_tracing(quiet=True)
    costs.append(sum(ocular._ocular.hook_cost()[:2]))
    ocular.stop_tracing()
print(json.dumps(costs))
"""


def test_the_first_start_is_like_the_next(tmp_path, figure):
    """Where there is a timeline, too: its record has a ring from the start."""
    ratios = []
    for _ in range(8):
        first, *others = undisturbed(lambda: script(tmp_path, FIRST_START).answer, 3)
        ratios.append(first / min(others))
    figure("first/least of the next", statistics.median(ratios))


# The measuring programs' callee takes longer by turns.
FOLLOWS = """
import json, time, types, ocular
from ocular import _ocular, _probes

made, slow = _probes.table, [1]

def compiled(source, **names):
    "As if it stood there."
    exec(compile(source, _probes.__file__, "exec"), names)
    return names

def either():
    return compiled('''
def either(x):
    if slow:
        for _ in (1, 2, 3, 4, 5):
            pass
''', slow=slow)["either"]

_probes.table = lambda: [
    (kind, *runs, either(), either(), numbers) if kind == "call" else
    (kind, *runs, callee, hooked_callee, numbers)
    for kind, *runs, callee, hooked_callee, numbers in made()]

def f(x):
    return x

def work(seconds=0.02):
    "New functions all the time: their hooks go in and come out."
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        new = types.FunctionType(f.__code__.replace(), {})
        for x in range(30):
            new(x)

def cost():
    before, end = _ocular.hooks_timed(), time.monotonic() + 20
    while _ocular.hooks_timed() == before and time.monotonic() < end:
        work()
    return sum(_ocular.hook_cost()[:2])

ocular.start_tracing(perfetto=False, deinstrument_threshold=20, overhead_budget=0.5,
                     quiet=True)
costs = [sum(_ocular.hook_cost()[:2])]
for _ in range(15):
    costs.append(cost())
    slow.clear()
    costs.append(cost())
    slow.append(1)
print(json.dumps(costs))
"""


@pytest.mark.timeout(300)
def test_costs_follow(tmp_path, figure):
    """What the hooks' own span takes longer or shorter than at start, they do: the
    callee's is two to three times as long by turns."""
    at_start, *costs = script(tmp_path, FOLLOWS).answer
    longer, shorter = map(statistics.median, (costs[::2], costs[1::2]))
    figure("slow/quick callee", longer / shorter, "higher")
    figure("slow callee/at start", longer / at_start, "nearer", goal=1)
