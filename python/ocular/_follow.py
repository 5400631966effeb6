# SPDX-License-Identifier: MIT
"""`python -m ocular --follow`: the Python programs that the traced one starts are
traced as well, each for itself. In a fresh interpreter a line in ocular-follow.pth, in
the environment's site-packages, begins that. The line does nothing without
$OCULAR_FOLLOW, which holds the settings."""

import json
import os

from ocular import _pth

VARIABLE = "OCULAR_FOLLOW"
NAME = "ocular-follow.pth"
# The program must not notice if the import fails, for example in a Python of another
# version.
SOURCE = "try: from ocular._follow import _begin; _begin()\nexcept Exception: pass"
LINE = f"import os; os.environ.get({VARIABLE!r}) and exec({SOURCE!r})"


def is_installed():
    """Whether the line is there, for this interpreter."""
    return bool(_pth.find(NAME))


def install():
    """Writes the file: its path. OSError if that is not allowed."""
    return _pth.install(NAME, LINE)


def remove():
    """Removes what install() has written, wherever it is: the paths."""
    return _pth.remove(NAME)


def announce(settings):
    """Puts the settings where programs that are started from now on find them."""
    os.environ[VARIABLE] = json.dumps(settings._asdict())


def _begin():
    """Runs in a program that a followed one has started. The user has not asked for
    this one: if it cannot be traced, it runs untraced, without a message."""
    import ocular
    from ocular import _ocular, _settings

    try:
        wish = _settings.Settings(**json.loads(os.environ[VARIABLE]))
        settings = wish._replace(quiet=True, spill_asked=False)
        by = _ocular.BY_WRITING_CHILD if settings.children else _ocular.BY_CHILD
        ocular._start(settings, by)
    except Exception:
        pass
