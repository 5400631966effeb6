# SPDX-License-Identifier: MIT
"""Contains services that count their own calls and have known faults, and their clients,
for test_services.py and test_answers.py. The interpreter of $OCULAR_BENCHMARKS runs the
services. Each service has the same functions. `slow` waits, `stall` sleeps in its thread,
and `broken` raises a KeyError.

    services.py KIND PORT                serves
    -m gunicorn services:django          serves in the same way
    -m celery --app services:celery      runs tasks, which one of its threads sends
    services.py client KIND PORT [SEED]  sends requests until it is killed

$RATE is the number of requests a second, and $MIX says which functions are called. Each
process of a service counts its calls in a file in $TRUTH, which truth() reads. For each
call of some functions, a second file has the function's name and the seconds that the call
took."""

import asyncio
import contextlib
import mmap
import os
import random
import sqlite3
import sys
import threading
import time

ITEMS = 200
NAMES = "get_item list_items page slow stall broken render to_item".split()
# how often each of the first six functions of NAMES is called
MIXES = {"work": [60, 20, 15, 5, 0, 0], "faults": [15, 0, 0, 10, 1, 2]}
IDLE = 1000  # number of websockets that send nothing
TALKERS = 5
local = threading.local()


# --- The truth ----------------------------------------------------------------------------


def open_counts():
    """Each process has a file of its own, also after a fork."""
    global counts
    with open(f"{os.environ['TRUTH']}/{os.getpid()}.counts", "w+b") as file:
        file.truncate(8 * len(NAMES))
        counts = memoryview(mmap.mmap(file.fileno(), 0)).cast("Q")


def count(name):
    counts[NAMES.index(name)] += 1


@contextlib.contextmanager
def timed(name):
    count(name)
    begin = time.monotonic()
    try:
        yield
    finally:
        with open(f"{os.environ['TRUTH']}/{os.getpid()}.times", "a") as file:
            file.write(f"{name} {time.monotonic() - begin}\n")


def truth(folder):
    """Returns two dicts whose keys are the names of the functions. The first has the number
    of calls, and the second has the seconds of each call."""
    sums, times = dict.fromkeys(NAMES, 0), {name: [] for name in NAMES}
    for file in folder.glob("*.counts"):
        for name, number in zip(NAMES, memoryview(file.read_bytes()).cast("Q")):
            sums[name] += number
    for file in folder.glob("*.times"):
        for line in file.read_text().splitlines():
            name, seconds = line.split()
            times[name].append(float(seconds))
    return sums, times


# --- The functions of all services --------------------------------------------------------


def fill(connection):
    connection.execute("create table item(id integer, name text, price real)")
    values = [(n, f"item {n}", n * 1.5) for n in range(ITEMS)]
    connection.executemany("insert into item values(?, ?, ?)", values)


def rows(query, *arguments):
    """Each thread has its own database."""
    if not hasattr(local, "database"):
        local.database = sqlite3.connect(":memory:")
        fill(local.database)
    return local.database.execute(query, arguments).fetchall()


def to_item(row):
    count("to_item")
    return {"id": row[0], "name": row[1], "price": row[2]}


def render(items):
    from jinja2 import Template

    count("render")
    if not hasattr(local, "template"):
        local.template = Template(
            "{% for i in items %}<p>{{ i.name|upper }} {{ i.price }}</p>{% endfor %}"
        )
    return local.template.render(items=items)


def work():
    return sum(n % 7 for n in range(5000))


def get_item():
    count("get_item")
    number = random.randrange(ITEMS)
    return to_item(rows("select * from item where id = ?", number)[0])


def list_items():
    count("list_items")
    return [to_item(row) for row in rows("select * from item limit 10")]


def page():
    count("page")
    return render([to_item(row) for row in rows("select * from item limit 15")])


def slow():
    with timed("slow"):
        time.sleep(0.05)
        return work()


def stall():
    with timed("stall"):
        time.sleep(0.08)


def broken():
    count("broken")
    return {}["broken"]


FUNCTIONS = {
    each.__name__: each for each in (get_item, list_items, page, slow, stall, broken)
}


def make_coroutines():
    blocking = dict(FUNCTIONS)

    def make(name):
        async def call():
            return blocking[name]()

        return call

    async def slow():
        with timed("slow"):
            await asyncio.sleep(0.05)
            return work()

    async def stall():
        with timed("stall"):
            time.sleep(0.08)

    async def broken():
        count("broken")
        return {}["broken"]

    plain = {name: make(name) for name in FUNCTIONS}
    return {**plain, "slow": slow, "stall": stall, "broken": broken}


def make_models():
    """Returns functions that use a database in the way that is usual with FastAPI."""
    import aiosqlite
    from pydantic import BaseModel

    class Item(BaseModel):
        id: int
        name: str
        price: float

    opened = []

    async def rows(query, *arguments):
        if not opened:
            new = await aiosqlite.connect(":memory:")
            await new._execute(fill, new._conn)
            opened.append(new)
        async with opened[0].execute(query, arguments) as cursor:
            return await cursor.fetchall()

    def to_item(row):
        count("to_item")
        return Item(id=row[0], name=row[1], price=row[2])

    async def get_item() -> Item:
        count("get_item")
        number = random.randrange(ITEMS)
        return to_item((await rows("select * from item where id = ?", number))[0])

    async def list_items() -> list[Item]:
        count("list_items")
        return [to_item(row) for row in await rows("select * from item limit 10")]

    async def page() -> str:
        count("page")
        found = await rows("select * from item limit 15")
        return render([to_item(row) for row in found])

    return {"get_item": get_item, "list_items": list_items, "page": page}


# --- Services -----------------------------------------------------------------------------


def run_uvicorn(functions, port, loop="asyncio"):
    import uvicorn
    from fastapi import FastAPI

    application = FastAPI()
    for name, function in functions.items():
        application.get(f"/{name}")(function)
    uvicorn.run(application, port=int(port), log_level="critical", loop=loop)


def run_fastapi(port, loop="asyncio"):
    run_uvicorn({**make_coroutines(), **make_models()}, port, loop)


def run_uvloop(port):
    run_fastapi(port, "uvloop")


def run_threads(port):
    """FastAPI runs functions that are no coroutines in worker threads."""
    run_uvicorn(FUNCTIONS, port)


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
        return lambda request: JsonResponse(function(), safe=False)

    urls = [path(name, view(function)) for name, function in FUNCTIONS.items()]
    settings.configure(
        ROOT_URLCONF=tuple(urls), ALLOWED_HOSTS=["*"], SECRET_KEY="x", LOGGING_CONFIG=None
    )
    django.setup()
    return get_wsgi_application()


def make_celery():
    from celery import Celery

    application = Celery("services", broker="memory://")
    application.conf.update(
        broker_transport_options={"polling_interval": 0.01}, task_ignore_result=True
    )
    for name, function in FUNCTIONS.items():
        application.task(function, name=name)
    threading.Thread(target=send, args=(application,), daemon=True).start()
    return application


def send(application):
    while True:
        time.sleep(pause())
        application.send_task(choose())


def __getattr__(name):
    """Makes only that application which this process serves."""
    makers = {"django": make_django, "celery": make_celery}
    if name not in makers:
        raise AttributeError(name)
    open_counts()
    os.register_at_fork(after_in_child=open_counts)
    return globals().setdefault(name, makers[name]())


# --- Clients ------------------------------------------------------------------------------


def pause():
    """Returns the seconds until the next request."""
    return random.expovariate(float(os.environ["RATE"]))


def choose():
    """Returns the name of a function at random."""
    mix = MIXES[os.environ["MIX"]]
    return random.choices(NAMES[: len(mix)], mix)[0]


async def get(port, name):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /{name} HTTP/1.0\r\nHost: x\r\n\r\n".encode())
    await reader.read()
    writer.close()


async def ask(port):
    tasks = set()
    while True:
        task = asyncio.create_task(get(port, choose()))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(pause())


async def talk(websocket):
    while True:
        await websocket.send(choose())
        await websocket.recv()
        await asyncio.sleep(pause() * TALKERS)


async def converse(port):
    from websockets.asyncio.client import connect

    places = [await connect(f"ws://127.0.0.1:{port}") for _ in range(IDLE + TALKERS)]
    await asyncio.gather(*map(talk, places[:TALKERS]))


def run_client(kind, port, seed=None):
    random.seed(seed)
    asyncio.run((converse if kind == "websockets" else ask)(int(port)))


if __name__ == "__main__":
    if sys.argv[1] != "client":
        open_counts()
    globals()[f"run_{sys.argv[1]}"](*sys.argv[2:])
