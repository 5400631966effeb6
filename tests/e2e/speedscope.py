# SPDX-License-Identifier: MIT
"""speedscope's own importer, from the package that `make` fetches (build/speedscope),
run with Node.js."""

import json
import shutil
from pathlib import Path

from e2e.program import BUILD, run

DRIVER = Path(__file__).with_suffix(".mjs")
PACKAGE = BUILD / "speedscope" / "package"


def missing():
    """Returns the reason why the importer cannot run, or None."""
    if not shutil.which("node"):
        return "speedscope's importer needs Node.js, which is missing"
    if not PACKAGE.exists():
        return "speedscope's importer, an npm package, could not be fetched"
    return None


def read(path):
    """Returns unit, total and frames of the only profile in the file."""
    done = run(["node", DRIVER, PACKAGE, path])
    assert done.status == 0, done.err
    (profile,) = json.loads(done.out)
    return profile
