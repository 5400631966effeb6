# SPDX-License-Identifier: MIT
"""Contains services whose faults are known, for test_answers.py, and their clients. The
interpreter of $OCULAR_BENCHMARKS runs them. Each service has the same four functions:

    fast    answers at once
    slow    waits for 50 ms
    stall   sleeps for 80 ms in its thread
    broken  raises a KeyError

Each process of a service appends a line to a file in $TRUTH for each call: the function's
name and the seconds that the call took.

    answering.py KIND PORT          serves; gunicorn and celery import this file instead
    answering.py client KIND PORT   sends about 14 requests a second until it is killed.
                                    celery needs no client, because one of its threads sends
"""

import asyncio
import contextlib
import itertools
import os
import sys
import threading
import time

MIX = ["fast"] * 15 + ["slow"] * 10 + ["stall"] + ["broken"] * 2
IDLE = 1000  # websockets that say nothing
TALKERS = 5
EVERY_S = 1 / 14


@contextlib.contextmanager
def counted(name):
    begin = time.monotonic()
    try:
        yield
    finally:
        with open(f"{os.environ['TRUTH']}/{os.getpid()}", "a") as file:
            file.write(f"{name} {time.monotonic() - begin}\n")


def fast():
    with counted("fast"):
        return {}


def slow():
    with counted("slow"):
        time.sleep(0.05)
        return {}


def stall():
    with counted("stall"):
        time.sleep(0.08)
        return {}


def broken():
    with counted("broken"):
        return {}["broken"]


FUNCTIONS = {"fast": fast, "slow": slow, "stall": stall, "broken": broken}


def make_coroutines():
    async def fast():
        with counted("fast"):
            return {}

    async def slow():
        with counted("slow"):
            await asyncio.sleep(0.05)
            return {}

    async def stall():
        with counted("stall"):
            time.sleep(0.08)
            return {}

    async def broken():
        with counted("broken"):
            return {}["broken"]

    return {"fast": fast, "slow": slow, "stall": stall, "broken": broken}


# --- Services -----------------------------------------------------------------------------


def run_fastapi(port, loop="asyncio"):
    import uvicorn
    from fastapi import FastAPI

    application = FastAPI()
    for name, function in make_coroutines().items():
        application.get(f"/{name}")(function)
    uvicorn.run(application, port=int(port), log_level="critical", loop=loop)


def run_uvloop(port):
    run_fastapi(port, "uvloop")


def run_threads(port):
    """FastAPI runs functions that are no coroutines in worker threads."""
    import uvicorn
    from fastapi import FastAPI

    application = FastAPI()
    for name, function in FUNCTIONS.items():
        application.get(f"/{name}")(function)
    uvicorn.run(application, port=int(port), log_level="critical")


def run_aiohttp(port):
    from aiohttp import web

    def handler(function):
        async def handle(request):
            return web.json_response(await function())

        return handle

    application = web.Application()
    for name, function in make_coroutines().items():
        application.router.add_get(f"/{name}", handler(function))
    web.run_app(application, host="127.0.0.1", port=int(port), print=None, access_log=None)


def run_websockets(port):
    from websockets.asyncio.server import serve

    functions = make_coroutines()

    async def connected(websocket):
        async for name in websocket:
            with contextlib.suppress(KeyError):
                await functions[name]()
            await websocket.send(name)

    async def main():
        async with serve(connected, "127.0.0.1", int(port), backlog=IDLE) as server:
            await server.serve_forever()

    asyncio.run(main())


def make_django():
    import django
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.http import JsonResponse
    from django.urls import path

    def view(function):
        return lambda request: JsonResponse(function())

    urls = [path(name, view(function)) for name, function in FUNCTIONS.items()]
    settings.configure(
        ROOT_URLCONF=tuple(urls),
        ALLOWED_HOSTS=["*"],
        SECRET_KEY="x",
        LOGGING_CONFIG=None,
    )
    django.setup()
    return get_wsgi_application()


def make_celery():
    from celery import Celery

    application = Celery("answering", broker="memory://")
    application.conf.update(
        broker_transport_options={"polling_interval": 0.01}, task_ignore_result=True
    )
    for name, function in FUNCTIONS.items():
        application.task(function, name=name)
    threading.Thread(target=send, args=(application,), daemon=True).start()
    return application


def send(application):
    for name in itertools.cycle(spread()):
        time.sleep(EVERY_S)
        application.send_task(name)


def __getattr__(name):
    """Makes only that application which this process serves."""
    makers = {"django": make_django, "celery": make_celery}
    if name not in makers:
        raise AttributeError(name)
    return globals().setdefault(name, makers[name]())


# --- Clients ------------------------------------------------------------------------------


async def get(port, name):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /{name} HTTP/1.0\r\nHost: x\r\n\r\n".encode())
    await reader.read()
    writer.close()


async def ask(port):
    tasks = set()
    for name in itertools.cycle(spread()):
        task = asyncio.create_task(get(port, name))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(EVERY_S)


def spread():
    """Returns the names of MIX, so that equal names are far from each other."""
    return [MIX[place * 9 % len(MIX)] for place in range(len(MIX))]


async def talk(websocket):
    for name in itertools.cycle(spread()):
        await websocket.send(name)
        await websocket.recv()
        await asyncio.sleep(EVERY_S * TALKERS)


async def converse(port):
    from websockets.asyncio.client import connect

    places = [await connect(f"ws://127.0.0.1:{port}") for _ in range(IDLE + TALKERS)]
    await asyncio.gather(*map(talk, places[:TALKERS]))


def run_client(kind, port):
    asyncio.run((converse if kind == "websockets" else ask)(int(port)))


def truth(folder):
    """Returns {name of a function: [seconds of each call]}."""
    times = {name: [] for name in FUNCTIONS}
    for file in folder.iterdir():
        for line in file.read_text().splitlines():
            name, seconds = line.split()
            times[name].append(float(seconds))
    return times


if __name__ == "__main__":
    globals()[f"run_{sys.argv[1]}"](*sys.argv[2:])
