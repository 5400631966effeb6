# SPDX-License-Identifier: MIT
"""Takes the pictures of docs/questions.md. A person runs this script by hand:

    eval "$(make -s env)" && python screenshots/questions.py [FOLDER]

This needs the Python of build/<interpreter>/venv. Each picture is that of a program of
tests/e2e/test_questions.py or of this script, after the keys that docs/questions.md gives.
"""

import sys
import tempfile

import capture
from e2e import test_questions as tests
from e2e.program import PYTHON, Running, write
from tui.emulated import Top

FULL = "Why is one core full and nothing gets faster?"
SIZE, SERVES_S = (100, 20), 30
ORDERS = tests.ORDERS.replace("sys.argv[1]", "'page'").replace("sys.argv[2]", "0.1")
BEGIN = "import os, ocular\nocular.start_tracing(serve=True, quiet=True, perfetto=False)\n"
BEGIN += "print(os.getpid(), flush=True)\n"
RAISES = f"""
import json, random, time
{tests.SHOP_PRICES}
def reads(text):
    return json.loads(text)
def tries(function, argument):
    try:
        function(argument)
    except (ValueError, LookupError, OutOfStock):
        pass
{BEGIN}
while True:
    time.sleep(0.006)
    tries(price, "wood")
    if random.random() < 0.17:
        tries(take, "tea")
    if random.random() < 0.02:
        tries(reads, "[")
"""
PACKS = f"""
import hashlib, random, zlib
data = random.randbytes(50_000) + b"ocular " * 20_000
def packs():
    return zlib.compress(data, 6)
def signs(text):
    return hashlib.sha256(text).hexdigest()
def serve():
    while True:
        signs(packs())
{BEGIN}
serve()
"""
# For each picture: the question, the program, its name, and a text on the screen.
PICTURES = {
    "latency": ("Which endpoint is slow?", tests.SERVICE, "service.py", "awaiting sleep"),
    "database": ("Is it the database?", ORDERS, "orders.py", "awaiting a socket"),
    "loops": ("What blocks my loop?", tests.SERVICE, "service.py", "OF THE STALL"),
    "gil": (FULL, tests.SHOP, "shop.py", "HOLDS"),
    "tasks": ("What leaks?", tests.LEAK, "leak.py", "leaks"),
    "exceptions": ("Which exceptions are raised?", RAISES, "shop.py", "OutOfStock"),
    "native": ("What runs inside C?", PACKS, "packs.py", "deflate"),
}


def take(name, into):
    question, source, file, wanted = PICTURES[name]
    with tempfile.TemporaryDirectory(prefix="ocular-") as place:
        # The program runs with its own name, and its messages are not seen.
        run = f"import runpy\nrunpy.run_path({file!r}, run_name='__main__')\n"
        write(place, source, file)
        with Running(place, run, (PYTHON,), env={"OCULAR_DIR": place}) as program:
            top = Top(place, "--pid", str(program.pid), size=SIZE)
            try:
                top.wait("SHARE", 30)
                top.press(*tests.keys_of(question))
                capture.look_on(top, SERVES_S)
                top.wait(wanted, 60)
                capture.write_picture(top.screen, name, into)
            finally:
                top.close()


def main():
    for name in PICTURES:
        take(name, sys.argv[1] if len(sys.argv) > 1 else capture.HERE)


if __name__ == "__main__":
    main()
