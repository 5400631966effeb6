# SPDX-License-Identifier: MIT
"""Runs Chromium without a window, and controls it by its debugging protocol. The Debian
packages are chromium-headless-shell and chromium."""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = "chromium-headless-shell", "chromium", "google-chrome"


def program():
    """Returns the path of the browser, or None if there is no browser."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Failure(Exception):
    """Is raised if the browser has ended or refuses a request."""


class Browser:
    """A context manager for a browser with one page, of width and height `size`."""

    def __init__(self, size, *options):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.out = os.pipe()
        self.answers, theirs_out = os.pipe()
        self.number, self.rest, self.session, self.events = 0, b"", None, []
        command = [
            *("bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", program()),
            *("--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"),
            # The browser must not connect to any other host.
            *("--disable-background-networking", "--no-first-run"),
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--window-size={size[0]},{size[1]}",
            f"--user-data-dir={self.folder.name}",
            *options,
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
        with contextlib.suppress(Failure):
            self.ask("Browser.close")  # the browser also ends its child processes
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.answers)
        self.folder.cleanup()

    def ask(self, method, **parameters):
        """Returns the answer to a request. Events of the page that come before this answer
        are added to `events`."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.answers, 1 << 20)
                if not more:
                    raise Failure("the browser has ended")
                self.rest += more
            answer, _, self.rest = self.rest.partition(b"\0")
            answer = json.loads(answer)
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise Failure(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def evaluate(self, expression):
        """Returns the value of a JavaScript expression in the page."""
        said = self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in said:
            raise Failure(said["exceptionDetails"]["exception"]["description"])
        return said["result"].get("value")

    def wait(self, expression, seconds=60):
        """Waits until the JavaScript expression is true."""
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise Failure(f"never true: {expression}")
            time.sleep(0.02)

    def picture(self):
        """Returns a picture of the page, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])
