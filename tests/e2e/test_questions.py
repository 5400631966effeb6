# SPDX-License-Identifier: MIT
"""Asks the questions of docs/questions.md about programs with a known answer, with the keys
that the document gives."""

import json
import os
import re

import pytest
from e2e.program import PYTHON, TOP, Running, keys_of, top, wait_until

pytestmark = pytest.mark.skipif(not os.path.exists(TOP), reason="not built")


def screen(pid, keys, *options):
    where = "-p", pid, "--once", "--size", "150x40", "--keys", keys
    done = top(*where, *options, env={"LC_ALL": "C.UTF-8"}, timeout=120)
    assert done.status == 0, done.err
    return done.out


SERVICE = """
import asyncio, os, ocular, sys, time
async def fast():
    await asyncio.sleep(0.001)
async def slow():
    await asyncio.sleep(0.2)
async def blocks():
    time.sleep(0.15)
async def main():
    ended = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_reader(0, ended.set_result, None)
    print(os.getpid(), flush=True)
    while not ended.done():
        await asyncio.gather(fast(), fast(), slow(), blocks())
    asyncio.get_running_loop().remove_reader(0)
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
asyncio.run(main())
"""


def test_which_endpoint_is_slow_and_what_blocks(tmp_path):
    """The slowest coroutine waits, and the coroutine that blocks has all stalls. Enter
    selects the line of the newest stall."""
    line = 1 + SERVICE.split("\n").index("    time.sleep(0.15)")

    def answer():
        calls = screen(program.pid, keys_of("Which endpoint is slow?"))
        loops = screen(program.pid, keys_of("What blocks my loop?"))
        rows = re.findall(r"^[ ▸] .* (fast|slow|blocks) +\S+:\d+$", calls, re.M)
        stalls = re.findall(rf" 1\d\dms .* Task-\d+ +blocks +\S+:{line}$", loops, re.M)
        code = screen(program.pid, keys_of("What blocks my loop?") + "<Enter><Frame:3>")
        return (
            rows[:1] == ["slow"]
            and len(stalls) > 2
            and re.search(rf"^▸ +{line} +time\.sleep\(0\.15\)", code, re.M)
        )

    with Running(tmp_path, SERVICE, (PYTHON,)) as program:
        assert wait_until(answer)


HANGS = """
import asyncio, ocular, os, sys, threading
def stays(lock):
    lock.acquire()
async def ask(event):
    await event.wait()
async def handler(event, number):
    if number == 20:
        await ask(event)
    await asyncio.sleep(0.01)
async def main():
    event = asyncio.Event()
    ended = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_reader(0, ended.set_result, None)
    for number in range(30):
        task = asyncio.create_task(handler(event, number), name=f"request {number}")
        await (asyncio.sleep(0.01) if number == 20 else task)
    print(os.getpid(), flush=True)
    await ended
    event.set()
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
lock = threading.Lock()
lock.acquire()
threading.Thread(target=stays, args=(lock,), daemon=True).start()
asyncio.run(main())
"""


def test_where_a_call_hangs(tmp_path):
    """The handler is at the top of the slow functions, and its code has a mark at the line
    at which it is suspended. So has the code of a function that waits in a thread."""

    def answer(name="handler", mark=r"await ask\(event\) +◂ request 20 waits, age "):
        keys = keys_of("Which endpoint is slow?") + f"/{name}<Enter><Enter><Frame:3>"
        return re.search(mark, screen(program.pid, keys))

    with Running(tmp_path, HANGS) as program:
        assert wait_until(answer)
        assert wait_until(lambda: answer("stays", r"acquire\(\) +◂ a thread stays, age >"))


SHOP = """
import json, ocular, os, random, sys, threading
prices = [random.random() for _ in range(300_000)]
order = json.dumps([{"id": i, "price": i / 7} for i in range(50)])
def handle():
    return sum(item["price"] for item in json.loads(order))
def report():
    return sorted(prices)[0]
def serve(reports):
    while True:
        for _ in range(1000):
            handle()
        if reports:
            report()
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
for number in range(4):
    threading.Thread(target=serve, args=(number == 0,), daemon=True).start()
print(os.getpid(), flush=True)
sys.stdin.read()
"""


def test_why_one_core_is_full(tmp_path):
    """The threads wait for the GIL. A C function holds the GIL for the longest time, and
    the view shows the line that calls it."""
    keys = keys_of("Why is one core full and nothing gets faster?")
    line = 1 + SHOP.split("\n").index("    return sorted(prices)[0]")

    longest = rf"FOR GIL|GIL held up to \S+ in report:{line} < serve:\d+ <"
    blocked = r"^[ ▸] +\S+ +\S+ +([\d.]+)% .* report +\S+:\d+$"
    waits = r"▸ +\S+ +([\d.]+)% .*● all threads"

    def above(least, pattern, drawn):
        found = re.search(pattern, drawn, re.M)
        return found and float(found[1]) > least

    def answer():
        threads = screen(program.pid, keys)
        return (
            len(re.findall(longest, threads)) == 2
            and above(50, waits, threads)
            and above(50, r"GIL held [\d.]+%, waited ([\d.]+)%", screen(program.pid, ""))
            and above(5, blocked, screen(program.pid, "", "-s", "gil%"))
        )

    with Running(tmp_path, SHOP) as program:
        assert wait_until(answer)


LEAK = """
import asyncio, logging, os, ocular, sys, time, warnings
async def leaks(event):
    await event.wait()
async def works():
    await asyncio.sleep(0.01)
async def fails():
    raise ValueError
async def main():
    works(), works(), works()
    failed = asyncio.create_task(fails())
    await asyncio.sleep(0.01)
    del failed
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    event, begun, tasks = asyncio.Event(), time.monotonic(), []
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    loop.add_reader(0, ended.set_result, None)
    print(os.getpid(), flush=True)
    while not ended.done():
        while len(tasks) < 30 * (time.monotonic() - begun):
            tasks.append(asyncio.create_task(leaks(event)))
        await asyncio.gather(*(works() for _ in range(50)))
    loop.remove_reader(0)
    event.set()
logging.disable()
warnings.simplefilter("ignore")
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
asyncio.run(main())
"""


def test_what_leaks(tmp_path):
    def answer():
        drawn = screen(program.pid, keys_of("What leaks?") + "<Frame:9>")
        found = re.search(r"OLDEST .*\n▸ +\d+ +\+(\S+) +\S.* leaks +Event.wait:\d+ ", drawn)
        growth = float(found[1].replace("k", "e3")) if found else 0
        assert "   3 never awaited   2 unhandled errors" in drawn
        # Enter shows all tasks of the group. Each key waits until the tasks are read.
        drawn = screen(program.pid, keys_of("What leaks?") + "<Enter>")
        title = r"^ Tasks +leaks +(\d+)(?:, the oldest 500)?\n+.*\n"
        listed = re.search(title + r"▸ .* Task-\d+ ", drawn, re.M)
        return abs(growth - 1800) < 180 and listed and int(listed[1]) > 50

    with Running(tmp_path, LEAK, (PYTHON,)) as program:
        first = json.loads(top("-p", program.pid, "--once", "--json").out)
        assert "leaks" in {group["coroutine"] for group in first["tasks"]["groups"]}
        assert wait_until(answer)


SHOP_PRICES = """
prices = {"tea": 3}
class OutOfStock(Exception):
    pass
def price(name):
    return prices[name]
def take(name):
    raise OutOfStock(name)
"""
RAISES = f"""
import json, os, ocular, select
{SHOP_PRICES}
def order(number):
    for name in ("tea", "wood", "wood", "wood"):
        try:
            price(name)
        except KeyError:
            pass
    try:
        take("tea")
    except OutOfStock:
        pass
    if number == 5:
        try:
            json.loads("[")
        except ValueError:
            pass
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
for number in range(10):
    order(number)
print(os.getpid(), flush=True)
select.select([0], [], [])
"""


def test_which_exceptions_are_raised(tmp_path):
    with Running(tmp_path, RAISES, (PYTHON,)) as program:
        keys = keys_of("Which exceptions are raised?")
        drawn = screen(program.pid, keys)
        code = screen(program.pid, keys + "/price<Enter><Enter><Frame:3>")
    assert re.search(r"^▸ +\d+ +return prices\[name\]", code, re.M), code
    rows = re.findall(r"\n[▸ ] +now +\S+ +(\d+) +(\d+)  (\S+) +(\S+) ", drawn)
    begun = [(function, raised) for raised, _, _, function in rows if raised != "0"]
    # The newest kind of exception is at the top.
    assert begun == [("JSONDecoder.raw_decode", "1"), ("take", "10"), ("price", "30")], (
        drawn
    )
    passed = {(function, passed) for _, passed, _, function in rows if passed != "0"}
    assert {("order", "30"), ("loads", "1")} <= passed, drawn


ORDERS = """
import asyncio, json, ocular, os, socket, sys, threading, time
DELAY_S = float(sys.argv[2])  # time that the database needs for each query
def answers(peer):
    while peer.recv(100):
        time.sleep(DELAY_S)
        peer.sendall(b"[1, 2, 3]")
ours, theirs = socket.socketpair()
threading.Thread(target=answers, args=(theirs,), daemon=True).start()
def query(text):
    ours.sendall(text)
    return json.loads(ours.recv(100))
def handle():
    rows = query(b"select")
    return [json.dumps({"row": row}) for row in rows * 3000]
async def fetch(reader, writer):
    writer.write(b"select")
    return json.loads(await reader.read(100))
async def page(reader, writer):
    rows = await fetch(reader, writer)
    return [json.dumps({"row": row}) for row in rows * 3000]
async def main():
    streams = await asyncio.open_connection(sock=ours)
    while True:
        await page(*streams)
def serve():
    while True:
        handle()
ocular.start_tracing(serve=True, quiet=True, perfetto=False)
work = serve if sys.argv[1] == "handle" else lambda: asyncio.run(main())
threading.Thread(target=work, daemon=True).start()
print(os.getpid(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    "name, delay_s, part",
    [
        ("handle", 0.5, "socket"),
        ("page", 0.5, "awaiting a socket"),
        ("handle", 0, "(?:Python|C|for the GIL|for a CPU)"),
    ],
)
def test_is_it_the_database(tmp_path, name, delay_s, part):
    """The slowest function is the handler, and the largest part of its time is the wait for
    a slow database, or its own work if the database is fast."""
    keys = keys_of("Is it the database?")

    def answer():
        drawn = screen(program.pid, keys)
        bar = re.search(r"^  [█▓▒░]+  [█▓▒░] (\D+) (\d+)%", drawn, re.M)
        slowest = re.search(rf"^▸ .* {name} +\S+:\d+$", drawn, re.M)
        return (
            bar
            and slowest
            and re.fullmatch(part, bar[1])
            and (not delay_s or int(bar[2]) > 50)
        )

    source = ORDERS.replace("sys.argv[1]", repr(name)).replace("sys.argv[2]", repr(delay_s))
    with Running(tmp_path, source) as program:
        assert wait_until(answer)
