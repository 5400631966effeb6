# SPDX-License-Identifier: MIT
"""Adds the options of `pytest --ocular` to pytest. pytest imports this module in every run
of an environment that has Ocular. The module is not in the package, because an import of
the package loads the extension. Without --ocular the package is not imported."""

OPTIONS = {
    "--ocular": {
        "action": "store_true",
        "help": "count calls in each test, and show the slowest functions and tests",
    },
    "--ocular-top": {
        "type": int,
        "default": 10,
        "metavar": "N",
        "help": "number of functions and of tests that --ocular shows (default 10)",
    },
    "--ocular-baseline": {
        "metavar": "FILE",
        "help": "fail a test in which a function of this project has more calls than in "
        "FILE; write FILE if it does not exist",
    },
    "--ocular-baseline-update": {
        "action": "store_true",
        "help": "write the calls of the tests that pass into the baseline's file",
    },
    "--ocular-grow": {
        "type": float,
        "default": 0,
        "metavar": "PERCENT",
        "help": "growth of a function's calls that does not fail a test (default 0)",
    },
}


def pytest_addoption(parser):
    group = parser.getgroup("ocular", "counted calls")
    for name, details in OPTIONS.items():
        group.addoption(name, **details)


def pytest_configure(config):
    options = config.option
    if options.ocular or options.ocular_baseline or options.ocular_baseline_update:
        import pytest

        try:
            from ocular import _pytest_plugin
        except ImportError as error:
            raise pytest.UsageError(f"--ocular: {error}") from None
        config.pluginmanager.register(_pytest_plugin.Plugin(config), "ocular tests")
