# SPDX-License-Identifier: MIT
import gc
import sys

import ocular
import pytest
from e2e.fixtures import own_place, sockets  # noqa: F401


@pytest.fixture
def tracing(request):
    """Returns a function that starts a trace, which ends with the test. A test file can
    have further settings in TRACED."""
    usual = {"quiet": True, "perfetto": False, **getattr(request.module, "TRACED", {})}

    def start(**settings):
        ocular.start_tracing(**{**usual, **settings})

    yield start
    ocular.stop_tracing()


@pytest.fixture
def no_turns():
    """Sets a switch interval that is longer than any call, so that no call counts as
    waiting for another thread. The test runner can have another thread, for example with
    pytest-xdist."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def no_collections():
    """The garbage collector does not run during a test. In a test process with a large
    heap, a garbage collection can take 100 ms."""
    gc.disable()
    yield
    gc.enable()
