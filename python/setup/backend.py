# SPDX-License-Identifier: MIT
"""What `pip install .` asks to build Ocular (PEP 517, pyproject.toml): there is no
package for pip yet, and this says what to do. Without a build-system pip takes
setuptools, which fails for a reason that helps nobody."""

import sys

ADVICE = (
    "Ocular cannot be installed by pip yet: run `make` in its clone, then "
    '`eval "$(make -s env)"` (README.md, "Try it").'
)


def _refuse(*_, **__):
    sys.exit(ADVICE)


build_wheel = build_sdist = build_editable = _refuse
get_requires_for_build_wheel = get_requires_for_build_sdist = _refuse
get_requires_for_build_editable = _refuse
