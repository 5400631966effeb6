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

Both looks share the test's timeout. What a fixture of the module has measured is not
measured again.
"""

import pytest

# Not where something else was raised: that says nothing of a figure.
measured = pytest.mark.flaky(reruns=1, only_rerun=["AssertionError"])
