# SPDX-License-Identifier: MIT
"""`python -m ocular --follow` also traces the Python programs that the traced program
starts. Each program has its own trace. A line in ocular-follow.pth, in the environment's
site-packages, starts the trace in a new interpreter. The line does nothing without
$OCULAR_FOLLOW, which holds the settings."""

import json
import os

VARIABLE = "OCULAR_FOLLOW"
NAME = "ocular-follow.pth"
# The program must not notice if the import fails, for example in another version of
# Python.
SOURCE = "try: from ocular._follow import _begin; _begin()\nexcept Exception: pass"
LINE = f"import os; os.environ.get({VARIABLE!r}) and exec({SOURCE!r})"


def announce(settings):
    """Puts the settings into the environment. Programs that start later read the settings
    from the environment."""
    os.environ[VARIABLE] = json.dumps(settings._asdict())


def _begin():
    """Starts tracing in a program that a followed program has started. If tracing cannot
    start, the program runs untraced and without a message, because the user has not asked
    for a trace of this program."""
    import ocular
    from ocular import _ocular, _settings

    try:
        request = _settings.Settings(**json.loads(os.environ[VARIABLE]))
        settings = request._replace(quiet=True, spill_asked=False)
        by = _ocular.BY_WRITING_CHILD if settings.children else _ocular.BY_CHILD
        ocular._start(settings, by)
    except Exception:
        pass
