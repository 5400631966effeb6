# SPDX-License-Identifier: MIT
import sys

import pytest
from e2e.fixtures import own_place, sockets  # noqa: F401


@pytest.fixture
def no_turns():
    """No call takes longer than a thread's turn, so that none is taken to have waited
    for another thread. The test runner may have one: pytest-xdist has."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)
