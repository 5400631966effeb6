# SPDX-License-Identifier: MIT
"""Makes and drops code objects in many ways. A round frees all that it has made."""

import collections
import dataclasses
import gc
import importlib
import pathlib
import pickle
import sys
import tempfile
import types


def by_exec(n):
    space = {}
    exec(f"def made(a):\n    return a + {n}\nvalue = made(1)", space)
    return space["value"]


def by_eval(n):
    return eval(f"(lambda a: a * {n})(2)")


def by_lambda(n):
    return (lambda a: a + n)(1)


def in_a_loop(n):
    total = 0
    for i in range(3):

        def inner(a, i=i):
            return a + i

        total += inner(n)
    return total


def by_closure(n):
    def outer():
        count = n

        def step():
            nonlocal count
            count += 1
            return count

        return step

    return [outer()() for _ in range(3)]  # These three functions share one code object.


def by_class_body(n):
    space = {"n": n}
    exec(
        "class Made:\n    size = n\n    def twice(self):\n"
        "        return 2 * self.size\nvalue = Made().twice()",
        space,
    )
    return space["value"]


def by_generator_expression(n):
    return eval("sum(a for a in range(b))", {"b": n % 20})


def by_comprehension(n):
    return eval("[a + c for a in range(3) for c in {d: 1 for d in b}]", {"b": range(n % 5)})


def by_dataclass(n):
    made = dataclasses.make_dataclass("Point", [("x", int), ("y", int, n)])
    return made(1) == made(1, n) and repr(made(2))


def by_namedtuple(n):
    made = collections.namedtuple("Pair", "left right")
    return made(1, n)._replace(left=2)._asdict()


def by_pickle(n):
    return pickle.loads(pickle.dumps(in_a_loop))(n)


def by_replace(n):
    code = by_lambda.__code__.replace(
        co_name="copied", co_qualname="copied", co_firstlineno=n % 3 + 1
    )
    return types.FunctionType(code, {})(n)


def by_suspension(n):
    space = {}
    exec("def made(a):\n    while True:\n        a = yield a", space)
    running = space.pop("made")(n)
    next(running)
    running.send(1)
    # The generator is suspended, and is freed together with its code.
    return running


def by_recursion(n):
    space = {}
    exec("def made(a):\n    globals().pop('made', None)\n    return a", space)
    return space["made"](n)  # The function's name is removed before the return.


class Reloaded:
    """Makes a module that is reloaded many times."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name, "reloaded_by_churning.py")
        self.path.write_text("def hello(a):\n    return a\nvalue = hello(1)\n")
        sys.path.insert(0, self.folder.name)
        sys.dont_write_bytecode = True
        self.module = importlib.import_module("reloaded_by_churning")

    def __call__(self, n):
        return importlib.reload(self.module).hello(n)

    def close(self):
        sys.path.remove(self.folder.name)
        sys.modules.pop("reloaded_by_churning", None)
        self.folder.cleanup()


WAYS = [by_exec, by_eval, by_lambda, in_a_loop, by_closure, by_class_body]
WAYS += [by_generator_expression, by_comprehension, by_dataclass, by_namedtuple]
WAYS += [by_pickle, by_replace, by_suspension, by_recursion]


def rounds(count, first=0, ways=WAYS):
    for n in range(first, first + count):
        for way in ways:
            way(n)


def rss():
    """Returns the resident memory in bytes after a garbage collection."""
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096
