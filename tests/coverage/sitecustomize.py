# SPDX-License-Identifier: MIT
"""If `make coverage` counts the lines of the package, starts coverage.py in each Python
process of the tests. In all other processes this module imports nothing."""

import os

if "COVERAGE_PROCESS_START" in os.environ:
    try:
        import coverage
    # the process runs another interpreter than the one for which coverage.py was installed
    except ImportError:
        pass
    else:
        coverage.process_startup()
