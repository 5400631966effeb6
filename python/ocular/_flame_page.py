# SPDX-License-Identifier: MIT
"""Draws a flame graph from a Flame (_stacks.py), as an .html page that needs no network
or as an .svg picture. The page consists of _flame_page.html, .css and .js. This module
imports only os and Ocular's modules, because a program may have a module of any other
name."""

import os

from ocular import _stacks

LISTED = 100  # Number of functions in the table that the page shows without JavaScript.
# Sizes in the picture, in pixels.
WIDTH, MARGIN, HEAD, ROW = 1200, 10, 64, 18
LETTER = 6.7  # Width of a wide letter in pixels.
LEAST = 1  # Width in pixels of the narrowest frame that is drawn.


# Replaces characters that would end a text in HTML, XML or JSON, and characters that XML
# does not allow.
IN_HTML = {ord(each): f"&#{ord(each)};" for each in "&<>\"'"}
IN_HTML |= dict.fromkeys((*range(32), 127, 0xFFFE, 0xFFFF), "\ufffd")
IN_JSON = {code: f"\\u{code:04x}" for code in (*range(32), *b'"\\<')}


class Facts:
    """Holds the head of a page, which has a title, short sentences, the unit of the stacks'
    numbers ("us" of CPU time, or "samples"), and the number of samples if the unit is
    "us"."""

    def __init__(self, title, sentences=(), unit="samples", samples=0):
        self.title, self.sentences = title, list(sentences)
        self.unit, self.samples = unit, samples


def _escaped(text):
    return text.encode("utf-8", "replace").decode().translate(IN_HTML)


# --- Figures ------------------------------------------------------------------

# Each row is (least total in us, unit, factor for the numbers, digits).
UNITS = (1e6, "s", 1e-6, 3), (1e3, "ms", 1e-3, 1), (0, "µs", 1, 0)


class Figures:
    """Formats all numbers of a page in the same unit."""

    def __init__(self, total, unit):
        self.total = total
        self.name, self.scale, self.digits = "samples", 1, 0
        if unit == "us":
            _, *found = next(each for each in UNITS if total >= each[0])
            self.name, self.scale, self.digits = found

    def amount(self, number):
        text = f"{number * self.scale:,.{self.digits}f}".replace(",", "\u202f")
        return f"{text} {self.name}"

    def share(self, number):
        return f"{100 * number / self.total if self.total else 0:.2f} %"


# --- Colours ------------------------------------------------------------------

HUES, TONES = 20, 2
LIGHT = (0.885, 0.05), (0.835, 0.065)  # (lightness, chroma) of each tone
DARK = (0.45, 0.055), (0.39, 0.065)
GREY = HUES * TONES  # number of the colour for frames without a file


def _hex(lightness, chroma, hue):
    """Returns an OKLCH colour as #rrggbb. In OKLCH all hues look equally light."""
    point = chroma * 1j ** (4 * hue)  # a hue of 1 is a full turn of the colour circle
    a, b = point.real, point.imag
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    gamma = [12.92 * x if x < 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055 for x in linear]
    return "#" + "".join(f"{round(255 * min(max(x, 0), 1)):02x}" for x in gamma)


def palette(tones):
    """Returns the list of a page's colours. `tones` is LIGHT or DARK."""
    colours = [_hex(*tone, hue / HUES) for hue in range(HUES) for tone in tones]
    return [*colours, _hex(tones[0][0], 0, 0)]


def colour(name):
    """Returns the number of a label's colour. The colour depends on the name of the label's
    file or module. So files of the same name have the same colour in all graphs."""
    function, file, _ = _stacks.split(name)
    if function.startswith("<") and not file:
        return GREY
    whose = file.rpartition("/")[2] or function.rpartition("::")[0] or function
    number = 0
    for byte in whose.encode():  # The FNV hash of the name.
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return number % GREY


# --- The page -----------------------------------------------------------------


def _part(ending):
    path = os.path.splitext(__file__)[0] + ending
    with open(path, encoding="utf-8") as file:
        return file.read()


def _row(flame, figures, number):
    function, file, line = map(_escaped, _stacks.split(flame.names[number]))
    columns = "".join(
        f"<td>{figures.share(value)}<td>{figures.amount(value)}"
        for value in (flame.own[number], flame.whole[number])
    )
    return f"<tr>{columns}<td>{function}<td>{file}{line and ':'}{line}"


def _json(value):
    """Returns the value as JSON without "<", which could end the HTML element."""
    if isinstance(value, str):
        return f'"{value.translate(IN_JSON)}"'
    return (
        f"[{','.join(map(_json, value))}]"
        if isinstance(value, (list, tuple))
        else str(value)
    )


def _data(flame, facts, figures):
    """Returns the data for the page's script as JSON."""
    fields = {
        "unit": (figures.name, figures.scale, figures.digits),
        "samples": facts.samples,
        "names": [_stacks.split(name) for name in flame.names],
        "colours": [GREY, *map(colour, flame.names[1:])],
        "own": flame.own,
        "whole": flame.whole,
        "light": palette(LIGHT),
        "dark": palette(DARK),
        "depths": flame.depths,
        "labels": flame.labels,
        "selfs": flame.selfs,
    }
    return (
        "{" + ",".join(f'"{name}":{_json(value)}' for name, value in fields.items()) + "}"
    )


def _sentences(facts, figures):
    time = " of CPU time" if facts.unit == "us" else ""
    return [figures.amount(figures.total) + time, *facts.sentences]


def page(flame, facts, wall=None):
    """Returns the text of the .html file. If `wall` has the Flame of the wall time, the
    page can show that one instead."""
    figures = Figures(flame.total, facts.unit)
    listed = flame.by_self()
    count = len(listed)
    parts = {
        "title": _escaped(facts.title),
        "facts": "".join(f"<li>{_escaped(text)}" for text in _sentences(facts, figures)),
        "wall": _data(wall, facts, Figures(wall.total, facts.unit)) if wall else "",
        "listed": f"{LISTED} of {count}" if count > LISTED else str(count),
        "rows": "\n".join(_row(flame, figures, number) for number in listed[:LISTED]),
        "style": _part(".css"),
        "script": _part(".js"),
        "nonce": os.urandom(16).hex(),  # the browser runs only scripts with this nonce
        "data": _data(flame, facts, figures),
    }
    text = _part(".html").split("{{")
    for at in range(1, len(text)):
        name, _, rest = text[at].partition("}}")
        text[at] = parts[name] + rest
    return "".join(text)


# --- The picture --------------------------------------------------------------


def _style():
    def rules(colours, ink, ground):
        fills = "".join(f".c{n}{{fill:{each}}}" for n, each in enumerate(colours))
        return f"text{{fill:{ink}}}.ground{{fill:{ground}}}{fills}"

    return (
        "text{font:12px system-ui,'DejaVu Sans',sans-serif}"
        ".title{font-size:17px;font-weight:600}"
        + rules(palette(LIGHT), "#23282f", "#fdfcfa")
        + "@media(prefers-color-scheme:dark){"
        + rules(palette(DARK), "#e4e6ea", "#16181c")
        + "}"
    )


def _fit(text, width):
    """Returns the text, shortened to the width in pixels."""
    room = int((width - 6) / LETTER)
    return text if len(text) <= room else text[: room - 1] + "…" if room > 2 else ""


def places(flame):
    """Yields (frame, left edge) for each frame. The left edge is in the unit of the
    stacks."""
    # The left edge of the next frame at each depth.
    next_left = [0] * (max(flame.depths) + 2)
    for frame, (depth, total) in enumerate(zip(flame.depths, flame.totals)):
        left = next_left[depth]
        next_left[depth] = left + total
        next_left[depth + 1] = left
        yield frame, left


def _box(flame, figures, frame, left, width):
    number = flame.labels[frame]
    name = _escaped(flame.names[number])
    figure = f"{figures.share(flame.totals[frame])}, {figures.amount(flame.totals[frame])}"
    text = _escaped(_fit(_stacks.split(flame.names[number])[0], width))
    kind = colour(flame.names[number]) if frame else GREY
    top = HEAD + ROW * flame.depths[frame]
    # If the font is wide, the inner <svg> hides the end of the text.
    return (
        f'<svg x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW - 1}">'
        f"<title>{name}\n{figure}</title>"
        f'<rect class="c{kind}" width="100%" height="100%" rx="1"/>'
        f"{text and f'''<text x="3" y="12.5">{text}</text>'''}</svg>"
    )


def picture(flame, facts):
    """Returns the text of the .svg file."""
    figures = Figures(flame.total, facts.unit)
    scale = (WIDTH - 2 * MARGIN) / (flame.total or 1)
    boxes, depth = [], 0
    for frame, left in places(flame):
        width = flame.totals[frame] * scale
        if width >= LEAST:
            depth = max(depth, flame.depths[frame])
            box = _box(flame, figures, frame, MARGIN + left * scale, width - 0.5)
            boxes.append(box)
    height = HEAD + ROW * (depth + 1) + MARGIN
    title = _escaped(_fit(facts.title, 0.8 * WIDTH))
    sentences = _escaped(_fit(" · ".join(_sentences(facts, figures)), WIDTH))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img">',
            f"<title>{_escaped(facts.title)}</title>",
            f"<style>{_style()}</style>",
            '<rect class="ground" width="100%" height="100%"/>',
            f'<text class="title" x="{MARGIN}" y="28">{title}</text>',
            f'<text x="{MARGIN}" y="49">{sentences}</text>',
            *boxes,
            "</svg>\n",
        ]
    )
