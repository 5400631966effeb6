# SPDX-License-Identifier: MIT
import functools

import pytest
from e2e.fixtures import own_place, sockets  # noqa: F401
from figures import record
from python.conftest import tracing  # noqa: F401


@pytest.fixture
def figure(request):
    """Returns the function figure(name, value, better="lower", unit="", goal=None) of
    record.py. The name of a figure begins with the name of the test."""
    place = request.node.name.removeprefix("test_")

    def note(name, value, *args, **options):
        record.figure(f"{place}/{name}" if name else place, value, *args, **options)

    return functools.wraps(record.figure)(note)
