# SPDX-License-Identifier: MIT
from pathlib import Path

TESTS = Path(__file__).parent

# Files that take long with few tests. A worker takes whole files, in this order: at
# the end it would be alone with one of them.
LONG = [
    "e2e/test_rigs.py",
    "tui/test_live.py",
    "python/test_calibration.py",
    "python/test_serve.py",
    "e2e/test_beside.py",
    "python/test_churn.py",
    "tui/test_capture.py",
    "python/test_descriptors.py",
    "python/test_report.py",
]


def pytest_collection_modifyitems(items):
    places = {TESTS / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(LONG)))
