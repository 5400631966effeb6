# SPDX-License-Identifier: MIT
"""Takes the picture compare.png, which shows two runs that are compared. A person runs this
script by hand:

    eval "$(make -s env)" && python screenshots/compare.py [FOLDER]

This needs the Python of build/<interpreter>/venv. The script records a small program twice.
In the second run one of the program's functions takes three times as long.
"""

import os
import subprocess
import sys
import tempfile

import capture
from tui.emulated import Top

SIZE = (110, 13)
SOURCE = """\
import sys
def parse(row): return [int(cell) for cell in row.split(",")]
def price(cells, factor):
    total = 0
    for i in range(int(250 * factor)):
        total += cells[i % len(cells)] * i
    return total
def tax(total): return sum(total * rate // 100 for rate in range(120))
def render(total): return "".join(str(total + i) for i in range(60))
def store(text, shop): shop[hash(text) % 100] = sorted(text, key=ord)
shop = {}
for i in range(12000):
    total = price(parse("1,22,333,4444," + str(i)), float(sys.argv[1]))
    store(render(tax(total)), shop)
"""


def main():
    into = sys.argv[1] if len(sys.argv) > 1 else capture.HERE
    with tempfile.TemporaryDirectory(prefix="ocular-") as place:
        with open(os.path.join(place, "shop.py"), "w") as file:
            file.write(SOURCE)
        for name, factor in ("before", "1"), ("after", "3"):
            command = [os.environ["PYTHON"], "-m", "ocular", "--threshold", "0", "--quiet"]
            command += ["--output", f"{name}.ocular", "shop.py", factor]
            subprocess.run(command, cwd=place, check=True)
        files = [os.path.join(place, f"{name}.ocular") for name in ("before", "after")]
        top = Top(place, *files, size=SIZE)
        try:
            top.wait("price", 60)
            top.settle()
            capture.write_picture(top.screen, "compare", into)
        finally:
            top.close()


if __name__ == "__main__":
    main()
