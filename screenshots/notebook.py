# SPDX-License-Identifier: MIT
"""Takes a picture of %%ocular in JupyterLab, in Chromium without a window.

    python screenshots/notebook.py [--into FOLDER]

This needs a Python that has Ocular (`make env`) and jupyterlab, and chromium-headless-shell
or chromium (Debian's packages). The script writes notebook.png.
"""

import argparse
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from e2e import browser  # noqa: E402

SIZE = 1240, 1000
CELLS = (
    "%load_ext ocular",
    """\
%%ocular -o run
import json

def tree(depth):
    return {"left": tree(depth - 1), "right": tree(depth - 1)} if depth else {}

def leaves(node):
    return sum(map(leaves, node.values())) if node else 1

for _ in range(60):
    text = json.dumps(tree(13), indent=1)
    leaves(json.loads(text))""",
)
READY = "!!document.querySelector('iframe[title=\"flame graph\"]')"
# Removes the news, and waits until the flame graph is drawn.
SHOW = """(async () => {
    document.querySelector(".Toastify")?.remove();
    await new Promise((done) => setTimeout(done, 3000));
    return true;
})()"""


def write_notebook(path):
    cells = [
        {"cell_type": "code", "id": str(number), "metadata": {}, "outputs": []}
        | {"execution_count": None, "source": text}
        for number, text in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    content = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content))


def jupyter(*arguments, start=subprocess.check_call):
    return start([sys.executable, "-m", "jupyter", *arguments])


def wait_for(port):
    """Returns when the server listens."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > deadline:
                sys.exit("JupyterLab does not start")
            time.sleep(0.1)


def picture(url):
    with browser.Browser(SIZE) as page:
        page.ask("Page.navigate", url=url)
        deadline = time.monotonic() + 120
        while not page.evaluate(READY):
            if time.monotonic() > deadline:
                sys.exit("JupyterLab does not show the flame graph")
            time.sleep(0.5)
        page.evaluate(SHOW)
        return page.picture()


def main():
    parser = argparse.ArgumentParser(description="Takes a picture of a notebook.")
    parser.add_argument("--into", metavar="FOLDER", default=HERE)
    options = parser.parse_args()
    if not browser.program():
        sys.exit(f"there is none of {', '.join(browser.PROGRAMS)}")
    with tempfile.TemporaryDirectory() as folder:
        for name in "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR":
            os.environ[name] = os.environ["IPYTHONDIR"] = folder
        notebook = Path(folder, "notebook.ipynb")
        write_notebook(notebook)
        jupyter("nbconvert", "--execute", "--inplace", "--to", "notebook", str(notebook))
        jupyter("trust", str(notebook))  # otherwise JupyterLab shows no <iframe>
        token, port = secrets.token_hex(), 18888
        serve = ["--no-browser", "--allow-root", f"--port={port}", "--port-retries=0"]
        serve += ["--ip=127.0.0.1", f"--notebook-dir={folder}"]
        os.environ["JUPYTER_TOKEN"] = token
        server = jupyter("lab", *serve, start=subprocess.Popen)
        try:
            url = f"http://127.0.0.1:{port}/doc/tree/notebook.ipynb?token={token}"
            wait_for(port)
            Path(options.into, "notebook.png").write_bytes(picture(url))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
