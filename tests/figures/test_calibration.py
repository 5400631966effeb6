# SPDX-License-Identifier: MIT
"""What hooks are measured to cost at start."""

import statistics

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
    """It is so with a timeline, too: its record has a ring from the start."""
    ratios = []
    for _ in range(8):
        first, *others = undisturbed(lambda: script(tmp_path, FIRST_START).answer, 3)
        ratios.append(first / min(others))
    figure("first/least of the next", statistics.median(ratios))
