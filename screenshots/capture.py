# SPDX-License-Identifier: MIT
"""Takes pictures of ocular-top, and a short recording of its screen, while it shows the
bundled workload.

    make screenshots              # or, with the environment of `make env`:
    python screenshots/capture.py [NAME...] [--wait 20] [--into FOLDER]

The script runs `python -m ocular.demo --serve`, runs ocular-top on a pseudo-terminal, and
reads the screen through pyte. Each picture is written as NAME.png, and the recording as
tour.svg, an animation.
"""

import argparse
import html
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "tests")]

import png  # noqa: E402
from tui.emulated import Top  # noqa: E402

# For each picture: the keys that lead to it from the main screen, a text on the screen,
# and the seconds until the view has data.
PICTURES = {
    "main": ([], "SHARE", 1),
    "annotate": (["Enter"], "OFFS", 3),
}
# The keys of the recording, and the seconds for which their effect is shown.
TOUR = [
    ([], 2),
    (["j"], 0.7),
    (["j"], 0.7),
    (["Enter"], 3),
    (["Esc"], 1),
    (["Esc", "o"], 3),
    (["Esc"], 0.7),
    (["f"], 4),
    (["Esc"], 0.7),
    (["t"], 0.7),
    (["j"], 2),
    (["Esc"], 0.7),
    (["b"], 3),
    (["b"], 1),
]
SIZE, TOUR_SIZE = (150, 36), (110, 30)

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE, MARGIN = 8.4, 18, 14, 12
BACKGROUND, FOREGROUND = "#16181d", "#d6d8dc"
COLOURS = {
    "black": "#16181d",
    "red": "#e0606a",
    "green": "#7fc46f",
    "brown": "#dcb25c",
    "blue": "#6f9fe0",
    "magenta": "#c07fd0",
    "cyan": "#5fbfc0",
    "white": "#d6d8dc",
    "brightblack": "#6b7078",
    "brightred": "#ff7a84",
    "brightgreen": "#98e086",
    "brightbrown": "#ffd27a",
    "brightyellow": "#ffd27a",
    "brightblue": "#8fb8ff",
    "brightmagenta": "#dc9aec",
    "brightcyan": "#7fe0e0",
    "brightwhite": "#ffffff",
}


def colour(name, default):
    if name == "default":
        return default
    if name in COLOURS:
        return COLOURS[name]
    return "#" + name  # pyte gives the 256 colours as hex digits


def look(char):
    """Returns (foreground, background, bold) of a cell."""
    front, back = colour(char.fg, FOREGROUND), colour(char.bg, BACKGROUND)
    return (back, front, char.bold) if char.reverse else (front, back, char.bold)


def runs(row, columns):
    """Yields (first column, text, look) of each run of cells with the same look."""
    start, text, current = 0, "", None
    for column in range(columns):
        char = row[column]
        if look(char) != current:
            if text:
                yield start, text, current
            start, text, current = column, "", look(char)
        text += char.data
    yield start, text, current


def drawing(screen):
    """Returns the screen's cells as SVG, without the frame around the screen."""
    parts = []
    for line in range(screen.lines):
        y = MARGIN + line * CELL_HEIGHT
        for column, text, (front, back, bold) in runs(screen.buffer[line], screen.columns):
            x, wide = MARGIN + column * CELL_WIDTH, len(text) * CELL_WIDTH
            if back != BACKGROUND:
                parts.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" '
                    f'height="{CELL_HEIGHT}" fill="{back}"/>'
                )
            blank = len(text) - len(text.lstrip())
            if word := text.strip():
                weight = ' font-weight="bold"' if bold else ""
                parts.append(
                    f'<text x="{x + blank * CELL_WIDTH:.1f}" y="{y + 13.5}" '
                    f'fill="{front}"{weight} '
                    f'textLength="{len(word) * CELL_WIDTH:.1f}" '
                    f'xml:space="preserve">{html.escape(word)}</text>'
                )
    return "\n".join(parts)


def moving(columns, lines, frames):
    """Returns an SVG that shows each (drawing, seconds) in turn, again and again."""
    total = sum(seconds for _, seconds in frames)
    style, inside, at = [], [], 0.0
    for number, (picture, seconds) in enumerate(frames):
        begin, end = 100 * at / total, 100 * (at + seconds) / total
        hidden = "" if begin == 0 else "0%{visibility:hidden}"
        style.append(
            f"@keyframes f{number}{{{hidden}{begin:.3f}%{{visibility:visible}}"
            f"{end:.3f}%{{visibility:hidden}}100%{{visibility:hidden}}}}"
            f"#f{number}{{visibility:hidden;"
            f"animation:f{number} {total:.2f}s step-end infinite}}"
        )
        inside.append(f'<g id="f{number}">\n{picture}\n</g>')
        at += seconds
    width = columns * CELL_WIDTH + 2 * MARGIN
    height = lines * CELL_HEIGHT + 2 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
            f'font-size="{FONT_SIZE}"><style>{"".join(style)}</style>',
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
            *inside,
            "</svg>\n",
        ]
    )


def look_on(top, seconds):
    """Reads the screen for `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        top.read(0.05)


def is_within_budget(text):
    found = re.search(r"overhead .*?([\d.]+)% of ([\d.]+)%", text)
    return found and float(found[1]) <= float(found[2])


def settle_down(top, patience):
    """Waits until the overhead is within the budget, for `patience` seconds at most. At the
    start of a program all its code is new, so the overhead is larger."""
    for _ in range(patience):
        if is_within_budget(top.text()):
            return
        look_on(top, 1)


def write_picture(screen, name, folder):
    with open(os.path.join(folder, f"{name}.png"), "wb") as file:
        file.write(png.render(screen, look, BACKGROUND))


def take_pictures(top, names, folder):
    for name in names:
        keys, wanted, seconds = PICTURES[name]
        top.press(*keys)
        top.wait(re.escape(wanted))
        look_on(top, seconds)
        write_picture(top.screen, name, folder)
        for _ in keys:
            top.press("Esc")
        top.settle()


def take_tour(top, folder):
    frames = []
    for keys, seconds in TOUR:
        top.press(*keys)
        look_on(top, seconds)
        frames.append((drawing(top.screen), seconds))
    with open(os.path.join(folder, "tour.svg"), "w") as file:
        file.write(moving(*TOUR_SIZE, frames))


def watch(sockets, pid, options, size, work):
    # The filter shows only the workload's own functions.
    top = Top(sockets, "--pid", str(pid), "-F", "demo/", size=size)
    try:
        top.wait("SHARE", 30)
        look_on(top, options.wait)
        settle_down(top, options.patience)
        work(top)
        top.press("q")
        top.wait_gone()
    finally:
        top.close()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="of " + ", ".join([*PICTURES, "tour"])
    )
    parser.add_argument(
        "--wait", type=float, default=20, help="seconds that the program runs before"
    )
    parser.add_argument(
        "--patience",
        type=int,
        default=60,
        help="seconds after that until the overhead has come into the budget, at most",
    )
    parser.add_argument("--into", default=HERE)
    options = parser.parse_args()
    names = options.names or [*PICTURES, "tour"]
    if unknown := set(names) - {*PICTURES, "tour"}:
        parser.error("no such picture: " + ", ".join(sorted(unknown)))
    folder = os.path.abspath(options.into)
    pictures = [name for name in names if name != "tour"]
    with tempfile.TemporaryDirectory(prefix="ocular-") as place:
        sockets = os.path.join(place, "s")
        os.mkdir(sockets, 0o700)
        # The pictures must not show the folder of the user who takes them.
        package = os.path.dirname(importlib.util.find_spec("ocular").origin)
        shutil.copytree(
            package,
            os.path.join(place, "lib", "ocular"),
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        demo = subprocess.Popen(
            [os.environ.get("PYTHON", sys.executable), "-m", "ocular.demo", "--serve"],
            cwd=place,
            env={
                **os.environ,
                "OCULAR_DIR": sockets,
                "PYTHONPATH": os.path.join(place, "lib"),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            socket = os.path.join(sockets, f"{demo.pid}.sock")
            for _ in range(300):
                if os.path.exists(socket):
                    break
                time.sleep(0.1)
            if pictures:
                watch(
                    sockets,
                    demo.pid,
                    options,
                    SIZE,
                    lambda top: take_pictures(top, pictures, folder),
                )
            if "tour" in names:
                options.wait = min(options.wait, 9)
                watch(
                    sockets,
                    demo.pid,
                    options,
                    TOUR_SIZE,
                    lambda top: take_tour(top, folder),
                )
        finally:
            demo.terminate()
            demo.wait()


if __name__ == "__main__":
    main()
