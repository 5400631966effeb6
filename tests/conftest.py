# SPDX-License-Identifier: MIT
from pathlib import Path

TESTS = Path(__file__).parent

# The tests in these files take long. Each worker process of pytest takes whole files, and
# begins with these files. If a long file came last, its worker would run alone at the end
# of the test run.
LONG = """
    e2e/test_killed.py python/test_serve.py e2e/test_plain.py python/test_task_groups.py
    tui/test_screen.py attach/test_attach.py tui/test_live.py python/test_windows.py
    e2e/test_questions.py python/test_churn.py attach/test_container.py
    attach/test_moments.py python/test_signals.py test_install.py python/test_report.py
    python/test_gil.py python/test_budget.py attach/test_list.py e2e/test_examples.py
    python/test_profiles.py e2e/test_past_run.py attach/test_sleeping.py
    python/test_coexist.py e2e/test_past_waits.py python/test_listing.py
""".split()


def pytest_collection_modifyitems(items):
    places = {TESTS / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(LONG)))
