# SPDX-License-Identifier: MIT
"""speedscope's own importer, of the package that `make` fetches (build/speedscope), under
Node.js."""

import json
import shutil
from pathlib import Path

from e2e.program import BUILD, run

DRIVER = Path(__file__).with_suffix(".mjs")
PACKAGE = BUILD / "speedscope" / "package"


def missing():
    """Why it cannot run here, in words; None if it can."""
    if not shutil.which("node"):
        return "speedscope's importer needs Node.js, which is missing"
    if not PACKAGE.exists():
        return "speedscope's importer, an npm package, could not be fetched"
    return None


def read(path):
    """The one profile in the file: its unit, its total, its frames."""
    done = run(["node", DRIVER, PACKAGE, path])
    assert done.status == 0, done.err
    (profile,) = json.loads(done.out)
    return profile
