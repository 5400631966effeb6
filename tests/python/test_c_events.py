# SPDX-License-Identifier: MIT
"""Tests events that C extensions report, as Cython's extensions do with profile=True.
If an extension has set an exception before it reports an event, the exception stays set
while Ocular's hooks are called."""

import os
import sys

import extensions
import ocular
import pytest
from e2e.counting import row

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 13), reason="3.12 has no events from C"
)

EVENTS = """
    PY_START PY_RESUME PY_RETURN PY_YIELD CALL JUMP PY_THROW PY_UNWIND
""".split()
WITH_EXCEPTION = {"PY_THROW", "PY_UNWIND"}  # These events always have an exception.
SETTINGS = [{}, {"deinstrument_threshold": 0}, {"mode": "precise"}]


def seen(n):
    return n + 1


def fire(name, code, exception):
    """Reports the event with this exception set. Returns the exception that is set then."""
    module = extensions.load("python", "c_events")
    return module.fire(getattr(module, name), code, exception)


def new_code():
    return compile("def unseen(): pass", __file__, "exec").co_consts[0]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_exception_stays(settings):
    with ocular.tracing(quiet=True, perfetto=False, **settings):
        seen(1), seen(2)
        for code in seen.__code__, new_code():
            for name in EVENTS:
                error = KeyError(name)
                for _ in range(3):
                    assert fire(name, code, error) is error, name
                assert error.__cause__ is error.__context__ is None, name
                if name not in WITH_EXCEPTION:
                    assert fire(name, code, None) is None, name
                assert fire(name, code, error) is error, name


def test_nothing_is_counted_with_an_exception():
    code = new_code()
    with ocular.tracing(quiet=True, perfetto=False):
        seen(1), seen(2)
        for name in set(EVENTS) - WITH_EXCEPTION:
            fire(name, seen.__code__, KeyError())
            fire(name, code, KeyError())
        before = ocular.snapshot()
        fire("PY_START", code, None)
        after = ocular.snapshot()
    assert row(before, "seen")["calls"] == 2
    assert row(before, "unseen") is None
    assert row(after, "unseen")["calls"] == 1


def test_in_a_forked_child():
    """In a forked child, the hooks disable themselves at their next event."""
    with ocular.tracing(quiet=True, perfetto=False):
        seen(1)
        pid = os.fork()
        if not pid:
            for number, name in enumerate(EVENTS * 2, 1):
                error = KeyError(name)
                if fire(name, seen.__code__, error) is not error:
                    os._exit(number)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
