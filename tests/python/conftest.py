# SPDX-License-Identifier: MIT
import gc
import sys

import pytest
from e2e.fixtures import own_place, sockets  # noqa: F401


@pytest.fixture
def no_turns():
    """Sets a switch interval longer than any call, so that no call counts as waiting
    for another thread. The test runner may have another thread, as pytest-xdist has."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def no_collections():
    """The garbage collector does not run. In a test process with a large heap a
    collection may take 100 ms."""
    gc.disable()
    yield
    gc.enable()
