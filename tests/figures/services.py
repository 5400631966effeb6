# SPDX-License-Identifier: MIT
"""A FastAPI service that counts its own calls, and its client, for test_services.py;
run by the interpreter of $OCULAR_BENCHMARKS.

    uvicorn services:app       the service; GET /truth answers what it has counted
    services.py PORT RATE      a client that asks so often a second, until it is killed
"""

import asyncio
import collections
import random
import sys
import time

ITEMS = 200
counts = collections.Counter()


def service():
    import aiosqlite
    from fastapi import FastAPI
    from fastapi.responses import HTMLResponse
    from jinja2 import Template
    from pydantic import BaseModel

    class Item(BaseModel):
        id: int
        name: str
        price: float

    application = FastAPI()
    template = Template(
        "{% for i in items %}<p>{{ i.name|upper }} {{ i.price }}</p>{% endfor %}"
    )
    database = []

    async def rows(query, *arguments):
        if not database:
            database.append(await aiosqlite.connect(":memory:"))
            await database[0].execute(
                "create table item(id integer, name text, price real)"
            )
            values = [(n, f"item {n}", n * 1.5) for n in range(ITEMS)]
            await database[0].executemany("insert into item values(?, ?, ?)", values)
        async with database[0].execute(query, arguments) as cursor:
            return await cursor.fetchall()

    def to_item(row):
        counts["to_item"] += 1
        return Item(id=row[0], name=row[1], price=row[2])

    def render(items):
        counts["render"] += 1
        return template.render(items=items)

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
        return {"slow": sum(n % 7 for n in range(5000))}

    @application.get("/truth")
    async def truth():
        return {"s": time.monotonic(), "cpu_s": time.process_time(), "counts": counts}

    return application


def path():
    kind = random.random()
    if kind < 0.6:
        return f"/items/{random.randrange(ITEMS)}"
    return "/items" if kind < 0.8 else "/page" if kind < 0.95 else "/slow"


async def ask(port, rate):
    import httpx

    address = f"http://127.0.0.1:{port}"
    tasks = set()
    async with httpx.AsyncClient(base_url=address) as client:
        while True:
            await asyncio.sleep(random.expovariate(rate))
            task = asyncio.create_task(client.get(path()))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


if __name__ == "__main__":
    asyncio.run(ask(int(sys.argv[1]), float(sys.argv[2])))
else:
    app = service()
