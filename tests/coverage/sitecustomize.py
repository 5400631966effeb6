# SPDX-License-Identifier: MIT
"""Starts coverage.py in each Python process of the tests, if `make coverage` counts the
package's lines. In other processes this module imports nothing."""

import os

if "COVERAGE_PROCESS_START" in os.environ:
    try:
        import coverage
    # this is another interpreter than the one for which coverage.py was installed
    except ImportError:
        pass
    else:
        coverage.process_startup()
