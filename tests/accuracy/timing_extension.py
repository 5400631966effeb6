# SPDX-License-Identifier: MIT
"""Loads the extension that reads the counter (timing.c), built like the
benchmark's."""

import importlib.machinery
import importlib.util
import os


def load():
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    path = os.path.join(os.environ["OCULAR_TEST_EXTENSIONS"], "tests",
                        "accuracy", "timing" + suffix)
    spec = importlib.util.spec_from_file_location("timing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


timing = load()
