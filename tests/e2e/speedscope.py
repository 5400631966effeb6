# SPDX-License-Identifier: MIT
"""Runs speedscope's own importer with Node.js. The importer is in the package that `make`
downloads (build/speedscope)."""

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


def read_all(path):
    """Returns a list with name, unit, total and frames of each profile in the file."""
    done = run(["node", DRIVER, PACKAGE, path])
    assert done.status == 0, done.err
    return json.loads(done.out)


def read(path):
    """Returns the file's first profile, which has CPU time."""
    return read_all(path)[0]
