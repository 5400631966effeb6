# SPDX-License-Identifier: MIT
from pathlib import Path

TESTS = Path(__file__).parent

# The tests in these files take long. Each worker process of pytest takes whole files, and
# begins with these files. If a long file came last, its worker would run alone at the end
# of the test run.
LONG = """
    python/test_serve.py tui/test_live.py attach/test_attach.py python/test_task_groups.py
    tui/test_screen.py python/test_c_functions.py python/test_waits.py e2e/test_plain.py
    python/test_budget.py python/test_churn.py e2e/test_questions.py python/test_native.py
    e2e/test_killed.py attach/test_moments.py e2e/test_diff.py attach/test_sleeping.py
    python/test_awaits.py python/test_gil.py python/test_windows.py attach/test_list.py
    e2e/test_past_waits.py e2e/test_trace_processor.py test_install.py e2e/test_fleet.py
    python/test_listing.py attach/test_container.py e2e/test_protocol.py
""".split()


def pytest_collection_modifyitems(items):
    places = {TESTS / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(LONG)))
