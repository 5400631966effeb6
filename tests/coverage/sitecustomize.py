# SPDX-License-Identifier: MIT
"""Has coverage.py in each Python process of the tests that `make coverage` counts the
package's lines in; in others it imports nothing."""

import os

if "COVERAGE_PROCESS_START" in os.environ:
    try:
        import coverage
    except ImportError:  # another interpreter than it was installed for
        pass
    else:
        coverage.process_startup()
