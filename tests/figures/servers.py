# SPDX-License-Identifier: MIT
"""Web servers that know nothing of Ocular, and a client that counts what they fail:
run by the interpreter of $OCULAR_BENCHMARKS.

    servers.py flask|aiohttp PORT
    gunicorn --chdir HERE --workers 2 --threads 2 servers:application()
    servers.py client PORT      until its stdin ends; a line of JSON a second
"""

import hashlib
import http.client
import json
import os
import sys
import threading
import time


def digest(number):
    text = b"%d" % number
    for _ in range(1500):
        text = hashlib.sha256(text).hexdigest().encode()
    return text.decode()


def table(number):
    return [[(row * column) % (number + 7) for column in range(12)] for row in range(200)]


def render(rows):
    out = []
    for row in rows:
        for value in row:
            out.append(f"<td>{value}</td>")
    return "".join(out)


def page(number):
    return json.dumps({"digest": digest(number), "page": render(table(number))})


def application():
    import flask

    app = flask.Flask("servers")
    app.add_url_rule("/<int:number>", "page", page)
    return app


def run_flask(port):
    import logging

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application().run(port=port, threaded=True)


def run_aiohttp(port):
    from aiohttp import web

    async def answer(request):
        return web.Response(text=page(int(request.match_info["number"])))

    app = web.Application()
    app.router.add_get("/{number}", answer)
    web.run_app(app, host="127.0.0.1", port=port, print=None)


def run_client(port):
    done, failed = [0] * 4, [0] * 4

    def ask(which):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for number in range(10**9):
            try:
                connection.request("GET", f"/{500 + number % 10}")
                answer = connection.getresponse()
                whole = json.loads(answer.read())["page"].endswith("</td>")
                done[which] += answer.status == 200 and whole
                failed[which] += not (answer.status == 200 and whole)
            except (OSError, ValueError, http.client.HTTPException):
                failed[which] += 1
                connection.close()
            time.sleep(0.002)

    for which in range(4):
        threading.Thread(target=ask, args=(which,), daemon=True).start()
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    while True:
        time.sleep(1)
        line = {"s": time.monotonic(), "done": sum(done), "failed": sum(failed)}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    globals()[f"run_{sys.argv[1]}"](int(sys.argv[2]))
