# SPDX-License-Identifier: MIT
from pathlib import Path

TESTS = Path(__file__).parent

# The tests in these files take long. Each worker process of pytest takes whole files, and
# begins with these files. If a long file came last, its worker would run alone at the end
# of the test run.
LONG = [
    "python/test_serve.py",
    "python/test_churn.py",
    "e2e/test_beside.py",
    "python/test_coexist.py",
    "python/test_specialisation.py",
    "tui/test_live.py",
    "tui/test_screen.py",
    "test_install.py",
    "e2e/test_trace_processor.py",
    "e2e/test_plain.py",
    "python/test_stacks.py",
    "python/test_listing.py",
    "python/test_windows.py",
    "python/test_signals.py",
    "python/test_fork.py",
    "python/test_descriptors.py",
]


def pytest_collection_modifyitems(items):
    places = {TESTS / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(LONG)))
