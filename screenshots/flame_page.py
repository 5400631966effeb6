# SPDX-License-Identifier: MIT
"""Takes a picture of a flame graph (--output x.html) in Chromium without a window. The
flame graph is of pylint, which checks the standard library's json.

    python screenshots/flame_page.py [--into FOLDER] [--page FILE]

This needs a Python that has Ocular (`make env`) and pylint, and chromium-headless-shell or
chromium (Debian's packages). The script writes flame-page.png. --page FILE takes the
picture of an existing page.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from e2e import browser  # noqa: E402

SIZE = 1240, 680
# Moves the mouse onto a frame.
SHOW = """(async () => {
    const drawn = () => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(done)));
    const canvas = document.querySelector("canvas");
    const {x, y} = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent("mousemove",
        {clientX: x + 560, clientY: y + 270, bubbles: true}));
    await drawn();
    return true;
})()"""


def make_page(folder):
    path = Path(folder, "page.html")
    work = ["-m", "pylint", "-j1", "json", "argparse.py"]
    command = [sys.executable, "-m", "ocular", "--quiet", "--output", path, *work]
    # pylint's exit status is ignored, because it only says what pylint has found.
    subprocess.run(command, cwd=os.path.dirname(os.__file__), stdout=subprocess.DEVNULL)
    return path


def main():
    parser = argparse.ArgumentParser(description="Takes a picture of a flame graph.")
    parser.add_argument("--into", metavar="FOLDER", default=HERE)
    parser.add_argument("--page", metavar="FILE")
    options = parser.parse_args()
    if not browser.program():
        sys.exit(f"there is none of {', '.join(browser.PROGRAMS)}")
    with tempfile.TemporaryDirectory() as folder, browser.Browser(SIZE) as page:
        path = Path(options.page) if options.page else make_page(folder)
        page.ask("Page.navigate", url=path.resolve().as_uri())
        page.wait("document.readyState == 'complete' && !!document.title")
        page.evaluate(SHOW)
        Path(options.into, "flame-page.png").write_bytes(page.picture())


if __name__ == "__main__":
    main()
