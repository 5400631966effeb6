# SPDX-License-Identifier: MIT
"""Tests Ocular's hook objects when other tools use them. A tool that replaces Ocular's
callback gets this callback from sys.monitoring, and can call it with any arguments."""

import gc
import sys

import ocular
import pytest
from e2e.counting import EXACT, helper, row

monitoring = sys.monitoring
NAMES = ["PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "JUMP", "PY_THROW", "PY_UNWIND"]
NAMES += ["RAISE"]
NAMES += (
    ["BRANCH_LEFT", "BRANCH_RIGHT"]
    if hasattr(monitoring.events, "BRANCH_LEFT")
    else ["BRANCH"]
)


def borrowed():
    """Returns Ocular's hooks. To get the hooks, this function unregisters the callbacks and
    registers them again."""
    found = []
    for tool in 3, 4:
        for name in NAMES:
            event = getattr(monitoring.events, name)
            hook = monitoring.register_callback(tool, event, None)
            monitoring.register_callback(tool, event, hook)
            if hook is not None:
                found.append(hook)
    return found


NUMBERS = 1.5, -1, -2, 2**15, 2**31, 2**62, 2**64, 2**600, True, 3j
ODD = [None, object(), "text", b"", *NUMBERS, (), type, helper, helper.__code__, [2]]
MORE = [(0, 0), (0, 2, 4, 6), (2**40, 2**40)]
MORE += [(first, second()) for first in (2, object()) for second in (object, KeyError)]


@pytest.mark.parametrize("threshold", [0, 2])
@pytest.mark.parametrize("perfetto", [False, True])
def test_called_with_anything(threshold, perfetto):
    """No call of a hook raises an exception. A false event does no lasting harm, because
    the program's next event corrects the shadow stack."""
    ocular.start_tracing(
        **{**EXACT, "deinstrument_threshold": threshold, "perfetto": perfetto}
    )
    hooks = borrowed()
    assert len(hooks) >= 8
    helper(3)
    own = sys._getframe().f_code
    for hook in hooks:
        for first in helper.__code__, own, *ODD:
            for arguments in (), *[(odd,) for odd in ODD], *MORE, (object(), 2):
                assert hook(first, *arguments) in (None, monitoring.DISABLE)
        assert hook() in (None, monitoring.DISABLE)
        assert hook(helper.__code__, offset=2) in (None, monitoring.DISABLE)
    for _ in range(5):
        helper(3)
    assert ocular.snapshot()
    assert row(ocular.stop_tracing(), "helper")["total_cycles"] >= 0
    for hook in hooks:  # The calls are also harmless when nothing is traced.
        assert hook(helper.__code__, 0, 0) in (None, monitoring.DISABLE)
    ocular.start_tracing(**EXACT)
    helper(3)
    assert row(ocular.stop_tracing(), "helper")["calls"] == 1


def test_the_collector_does_not_list_them():
    ocular.start_tracing(**EXACT)
    kinds = {type(hook) for hook in borrowed()}
    assert len(kinds) == 1
    assert not [thing for thing in gc.get_objects() if type(thing) in kinds]
    ocular.stop_tracing()
    with pytest.raises(TypeError):
        kinds.pop()()
