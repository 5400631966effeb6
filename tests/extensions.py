# SPDX-License-Identifier: MIT
"""Loads the C extension modules that are built with the tests."""

import importlib.machinery
import importlib.util
import os


def load(folder, name):
    """Returns the module that was built from tests/FOLDER/NAME.c for this interpreter."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    path = os.path.join(
        os.environ["OCULAR_TEST_EXTENSIONS"], "tests", folder, name + suffix
    )
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
