# SPDX-License-Identifier: MIT
"""A second look, where a first one may be wrong about code that is right: a verdict
that hangs on a measured figure (time, CPU time, shares, samples, cycles, how often
threads have switched or looked, what comes within a time) is also one about who else
had the machine. Each such test allows for that, and there are two hundred of them: now
and then it is too little for one. A neighbour is hardly there at both looks; a fault is.

    from e2e.measured import measured

    @measured
    def test_...

A verdict that is the same on any machine has no second look, nor have tests that are
after races and crashes: those come now and then, and the first time is the finding.

Both looks share the test's timeout. What several tests judge is measured once for
all of them by a fixture, and once more for those that look twice:

    @measured_once
    def run():
        ...
        return figures
"""

import pytest

# Not where something else was raised: that says nothing of a figure.
measured = pytest.mark.flaky(reruns=1, only_rerun=["AssertionError"])


def measured_once(measure):
    """A fixture with what measure() returns, taken once for all first looks and
    once for all second ones."""
    taken = {}

    @pytest.fixture(name=measure.__name__)
    def figures(request):
        look = getattr(request.node, "execution_count", 1)
        if look not in taken:
            taken[look] = measure()
        return taken[look]

    return figures
