# SPDX-License-Identifier: MIT
"""Contains services that count their own calls, and the client of these services, for
test_services.py. The interpreter of $OCULAR_BENCHMARKS runs them. Each service has the same
six functions.

    uvicorn services:fastapi               serves HTTP; GET /truth returns the counts.
    gunicorn services:django               serves HTTP in the same way.
    services.py aiohttp PORT               serves HTTP in the same way.
    celery --app services:celery worker    runs $RATE tasks a second, which one of its
                                           threads sends; $PORT returns the counts.
    services.py client PORT RATE [SEED]    sends RATE requests a second until it is
                                           killed; prints when each answer came, and
                                           after how many seconds
"""

import asyncio
import collections
import json
import os
import random
import sqlite3
import sys
import threading
import time

ITEMS = 200
counts = collections.Counter()


def truth():
    return {"s": time.monotonic(), "cpu_s": time.process_time(), "counts": counts}


def fill(connection):
    connection.execute("create table item(id integer, name text, price real)")
    values = [(n, f"item {n}", n * 1.5) for n in range(ITEMS)]
    connection.executemany("insert into item values(?, ?, ?)", values)


def database():
    """Returns the connection that belongs to the calling thread."""
    if not hasattr(local, "database"):
        local.database = sqlite3.connect(":memory:")
        fill(local.database)
    return local.database


local = threading.local()


def rows(query, *arguments):
    return database().execute(query, arguments).fetchall()


def to_item(row):
    counts["to_item"] += 1
    return {"id": row[0], "name": row[1], "price": row[2]}


def render(items):
    from jinja2 import Template

    counts["render"] += 1
    if not hasattr(local, "template"):
        local.template = Template(
            "{% for i in items %}<p>{{ i.name|upper }} {{ i.price }}</p>{% endfor %}"
        )
    return local.template.render(items=items)


def work():
    return sum(n % 7 for n in range(5000))


def make_fastapi():
    import aiosqlite
    from fastapi import FastAPI
    from fastapi.responses import HTMLResponse
    from pydantic import BaseModel

    class Item(BaseModel):
        id: int
        name: str
        price: float

    application = FastAPI()
    opened = []

    async def rows(query, *arguments):
        if not opened:
            new = await aiosqlite.connect(":memory:")
            await new._execute(fill, new._conn)
            opened.append(new)
        async with opened[0].execute(query, arguments) as cursor:
            return await cursor.fetchall()

    def to_item(row):
        counts["to_item"] += 1
        return Item(id=row[0], name=row[1], price=row[2])

    @application.get("/items/{number}")
    async def get_item(number: int) -> Item:
        counts["get_item"] += 1
        return to_item((await rows("select * from item where id = ?", number))[0])

    @application.get("/items")
    async def list_items(limit: int = 10) -> list[Item]:
        counts["list_items"] += 1
        return [to_item(row) for row in await rows("select * from item limit ?", limit)]

    @application.get("/page")
    async def page():
        counts["page"] += 1
        found = await rows("select * from item limit 15")
        return HTMLResponse(render([to_item(row) for row in found]))

    @application.get("/slow")
    async def slow():
        counts["slow"] += 1
        await asyncio.sleep(0.05)
        return {"slow": work()}

    application.get("/truth")(truth)
    return application


def get(number):
    counts["get_item"] += 1
    return to_item(rows("select * from item where id = ?", number)[0])


def list_them(limit=10):
    counts["list_items"] += 1
    return [to_item(row) for row in rows("select * from item limit ?", limit)]


def show():
    counts["page"] += 1
    return render([to_item(row) for row in rows("select * from item limit 15")])


def make_django():
    import django
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse, JsonResponse
    from django.urls import path

    def get_item(request, number):
        return JsonResponse(get(number))

    def list_items(request):
        return JsonResponse(list_them(), safe=False)

    def page(request):
        return HttpResponse(show())

    def slow(request):
        counts["slow"] += 1
        time.sleep(0.05)
        return JsonResponse({"slow": work()})

    urls = [
        path("items/<int:number>", get_item),
        path("items", list_items),
        path("page", page),
        path("slow", slow),
        path("truth", lambda request: JsonResponse(truth())),
    ]
    settings.configure(ROOT_URLCONF=tuple(urls), ALLOWED_HOSTS=["*"], SECRET_KEY="x")
    django.setup()
    return get_wsgi_application()


def run_aiohttp(port):
    from aiohttp import web

    async def get_item(request):
        return web.json_response(get(int(request.match_info["number"])))

    async def list_items(request):
        return web.json_response(list_them())

    async def page(request):
        return web.Response(text=show())

    async def slow(request):
        counts["slow"] += 1
        await asyncio.sleep(0.05)
        return web.json_response({"slow": work()})

    async def tell(request):
        return web.json_response(truth())

    application = web.Application()
    for place, answer in {
        "/items/{number}": get_item,
        "/items": list_items,
        "/page": page,
        "/slow": slow,
        "/truth": tell,
    }.items():
        application.router.add_get(place, answer)
    web.run_app(application, host="127.0.0.1", port=int(port), print=None)


def make_celery():
    from celery import Celery

    application = Celery("services", broker="memory://")
    application.conf.update(
        broker_transport_options={"polling_interval": 0.01}, task_ignore_result=True
    )

    @application.task(name="get_item")
    def get_item(number):
        return get(number)

    @application.task(name="list_items")
    def list_items():
        return list_them()

    @application.task(name="page")
    def page():
        return show()

    @application.task(name="slow")
    def slow():
        counts["slow"] += 1
        time.sleep(0.01)
        return work()

    tell_truth(int(os.environ["PORT"]))
    threading.Thread(target=send, args=(application,), daemon=True).start()
    return application


def send(application):
    while True:
        time.sleep(random.expovariate(float(os.environ["RATE"])))
        application.send_task(*choose())


def tell_truth(port):
    import http.server

    class Teller(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(truth()).encode())

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", port), Teller)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def choose():
    """Returns (function, its arguments) at random."""
    kind = random.random()
    if kind < 0.6:
        return "get_item", [random.randrange(ITEMS)]
    return "list_items" if kind < 0.8 else "page" if kind < 0.95 else "slow", []


def path_of(name, arguments):
    name = {"get_item": "items", "list_items": "items"}.get(name, name)
    return "/".join(["", name, *map(str, arguments)])


async def ask(port, rate):
    import httpx

    async def time_one(path):
        begin = time.monotonic()
        await client.get(path)
        end = time.monotonic()
        print(end, end - begin, flush=True)

    tasks = set()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        while True:
            await asyncio.sleep(random.expovariate(rate))
            task = asyncio.create_task(time_one(path_of(*choose())))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


def run_client(port, rate, seed=None):
    random.seed(seed)
    asyncio.run(ask(int(port), float(rate)))


def __getattr__(name):
    """Makes only that service which this process serves."""
    makers = {"fastapi": make_fastapi, "django": make_django, "celery": make_celery}
    if name not in makers:
        raise AttributeError(name)
    return globals().setdefault(name, makers[name]())


if __name__ == "__main__":
    globals()[f"run_{sys.argv[1]}"](*sys.argv[2:])
