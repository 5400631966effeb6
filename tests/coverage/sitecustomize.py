# SPDX-License-Identifier: MIT
"""Has coverage.py in each Python process that `make coverage` starts."""

import contextlib

with contextlib.suppress(ImportError):  # another interpreter than it was installed for
    import coverage

    coverage.process_startup()
