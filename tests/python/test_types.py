# SPDX-License-Identifier: MIT
"""The stub python/ocular/__init__.pyi and __init__.py have the same public names,
arguments, kinds and defaults. These tests do not check the types themselves."""

import ast
import inspect
from pathlib import Path

import ocular
import pytest

STUB = Path(ocular.__file__).with_name("__init__.pyi")
TREE = ast.parse(STUB.read_text())


def functions():
    """Returns the definitions of each function in the stub, by name. An overloaded function
    has several definitions."""
    found = {}
    for node in TREE.body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def declared(node):
    """Returns the name, kind and default of each argument. The default is `empty` if the
    argument has none."""
    kinds = inspect.Parameter
    arguments = node.args
    plain = arguments.posonlyargs + arguments.args
    missing = [inspect.Parameter.empty] * (len(plain) - len(arguments.defaults))
    defaults = missing + [ast.literal_eval(value) for value in arguments.defaults]
    result = [
        (
            one.arg,
            kinds.POSITIONAL_ONLY
            if one in arguments.posonlyargs
            else kinds.POSITIONAL_OR_KEYWORD,
            default,
        )
        for one, default in zip(plain, defaults, strict=True)
    ]
    if arguments.kwarg:
        result.append((arguments.kwarg.arg, kinds.VAR_KEYWORD, kinds.empty))
    return result


def test_the_names_are_the_same():
    (names,) = [
        ast.literal_eval(node.value)
        for node in TREE.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    ]
    assert names == ocular.__all__
    assert set(functions()) == set(names) - {"__version__"}


@pytest.mark.parametrize("name", sorted(functions()))
def test_the_arguments_are_the_same(name):
    real = inspect.signature(getattr(ocular, name)).parameters.values()
    real = [(one.name, one.kind, one.default) for one in real]
    for node in functions()[name]:
        if len(functions()[name]) == 1:
            assert declared(node) == real
        else:  # An overload may lack a default.
            assert [one[:2] for one in declared(node)] == [one[:2] for one in real]


def test_settings_are_those_of_start_tracing():
    """tracing(**settings) and traced(**settings) accept the settings of start_tracing()."""
    (settings,) = [node for node in TREE.body if isinstance(node, ast.ClassDef)]
    names = [node.target.id for node in settings.body]
    (start,) = functions()["start_tracing"]
    assert names == [name for name, _, _ in declared(start)]
    types = [ast.unparse(node.annotation) for node in settings.body]
    assert types == [ast.unparse(one.annotation) for one in start.args.args]


def test_the_package_says_that_it_is_typed():
    assert STUB.with_name("py.typed").exists()
