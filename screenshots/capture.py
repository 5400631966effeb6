# SPDX-License-Identifier: MIT
"""Pictures of ocular-top, from the real program on the bundled workload.

    python screenshots/capture.py NAME [--size 150x36] [--wait 20] [--keys jj]

Runs `python -m ocular.demo --serve`, ocular-top on a pseudo-terminal against
it, reads the screen through pyte and writes screenshots/NAME.svg. Needs the
environment of `make env`, and pyte.
"""

import argparse
import fcntl
import html
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte

HERE = os.path.dirname(os.path.abspath(__file__))
CELL_WIDTH, CELL_HEIGHT, FONT_SIZE, MARGIN = 8.4, 18, 14, 12
BACKGROUND, FOREGROUND = "#16181d", "#d6d8dc"
COLOURS = {
    "black": "#16181d", "red": "#e0606a", "green": "#7fc46f",
    "brown": "#dcb25c", "blue": "#6f9fe0", "magenta": "#c07fd0",
    "cyan": "#5fbfc0", "white": "#d6d8dc", "brightblack": "#6b7078",
    "brightred": "#ff7a84", "brightgreen": "#98e086",
    "brightbrown": "#ffd27a", "brightyellow": "#ffd27a",
    "brightblue": "#8fb8ff", "brightmagenta": "#dc9aec",
    "brightcyan": "#7fe0e0", "brightwhite": "#ffffff",
}


def colour(name, default):
    if name == "default":
        return default
    if name in COLOURS:
        return COLOURS[name]
    return "#" + name  # 256 colours come as hex digits


def look(char):
    """(foreground, background, bold) of a cell."""
    front, back = colour(char.fg, FOREGROUND), colour(char.bg, BACKGROUND)
    return (back, front, char.bold) if char.reverse else \
        (front, back, char.bold)


def runs(row, columns):
    """(first column, text, look) of neighbours that look alike."""
    start, text, current = 0, "", None
    for column in range(columns):
        char = row[column]
        if look(char) != current:
            if text:
                yield start, text, current
            start, text, current = column, "", look(char)
        text += char.data
    yield start, text, current


def svg(screen):
    width = screen.columns * CELL_WIDTH + 2 * MARGIN
    height = screen.lines * CELL_HEIGHT + 2 * MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" '
             f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
             f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
             f'font-size="{FONT_SIZE}">',
             f'<rect width="100%" height="100%" rx="8" '
             f'fill="{BACKGROUND}"/>']
    for line in range(screen.lines):
        y = MARGIN + line * CELL_HEIGHT
        for column, text, (front, back, bold) in runs(screen.buffer[line],
                                                      screen.columns):
            x, wide = MARGIN + column * CELL_WIDTH, len(text) * CELL_WIDTH
            if back != BACKGROUND:
                parts.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" '
                             f'height="{CELL_HEIGHT}" fill="{back}"/>')
            if text.strip():
                weight = ' font-weight="bold"' if bold else ""
                parts.append(
                    f'<text x="{x:.1f}" y="{y + 13.5}" fill="{front}"{weight} '
                    f'textLength="{wide:.1f}" xml:space="preserve">'
                    f'{html.escape(text)}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def watch(pid, columns, lines, wait, keys):
    """The screen of ocular-top after `wait` seconds and then the keys."""
    screen = pyte.Screen(columns, lines)
    stream = pyte.ByteStream(screen)
    child, master = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp("ocular-top", ["ocular-top", "--pid", str(pid)])
    fcntl.ioctl(master, termios.TIOCSWINSZ,
                struct.pack("HHHH", lines, columns, 0, 0))

    def feed(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                stream.feed(os.read(master, 65536))

    feed(wait)
    for key in keys:
        os.write(master, key.encode())
        feed(0.5)
    picture = svg(screen)
    os.write(master, b"q")
    os.waitpid(child, 0)
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--size", default="150x36")
    parser.add_argument("--wait", type=float, default=20)
    parser.add_argument("--keys", default="")
    options = parser.parse_args()
    columns, lines = map(int, options.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        demo = subprocess.Popen(
            [sys.executable, "-m", "ocular.demo", "--serve"], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(2)
            picture = watch(demo.pid, columns, lines, options.wait,
                            options.keys)
        finally:
            demo.terminate()
            demo.wait()
    with open(os.path.join(HERE, options.name + ".svg"), "w") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
