# SPDX-License-Identifier: MIT
"""What code that is new takes."""

import time
import types

import ocular

# A hundred bytes of bytecode or so, as most functions have.
TYPICAL = """def one(a=1):
    b = [a, 1]
    for c in b:
        a += c * 2
    if a > 5:
        return str(a)
    return b"""


def compiled_anew():
    space = {}
    exec(compile(TYPICAL, "<made>", "exec"), space)
    return space["one"]


def copies(count):
    code = compiled_anew().__code__
    return [
        types.FunctionType(code.replace(co_firstlineno=n + 1), {"str": str}, "one", (1,))
        for n in range(count)
    ]


def seconds(function, *arguments):
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


def call_all(functions):
    for function in functions:
        function()


def test_first_sight(figure):
    """Beside compiling, with which imported code began."""
    count, bare, seen, compiled = 500, [], [], []
    for _ in range(7):
        compiled.append(seconds(lambda: [compiled_anew() for _ in range(20)]) / 20)
        bare.append(seconds(call_all, copies(count)) / count)
        with ocular.tracing(perfetto=False, quiet=True, include_only=["<made>"]):
            seen.append(seconds(call_all, copies(count)) / count)
    ratio = (min(seen) - min(bare)) / min(compiled)
    figure("of what compiling takes", ratio, better="lower", unit="ratio")
