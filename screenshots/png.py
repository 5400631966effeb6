# SPDX-License-Identifier: MIT
"""Draws a screen as a small PNG with a palette. capture.py uses this module.

The module needs Pillow (tests/requirements.txt) and DejaVu Sans Mono, which has the blocks
and circles (Debian: fonts-dejavu-core). OCULAR_FONT is the path of another font. The module
draws bars itself and not by the font, so that there are no gaps between cells.
"""

import functools
import io
import os
import sys

FONT_SIZE, CELL, MARGIN = 15, (9, 18), 12
COLOURS = 256  # maximum number of colours of a palette
PLACES = (
    "/usr/share/fonts/truetype/dejavu",
    "/usr/share/fonts/dejavu-sans-mono-fonts",
    "/usr/share/fonts/dejavu",
    "/usr/share/fonts/TTF",
    "/Library/Fonts",
)
MISSING = (
    "no PNG: it takes DejaVu Sans Mono (Debian: fonts-dejavu-core), or name "
    "the file of another font: OCULAR_FONT=/path/to/font.ttf"
)


@functools.cache
def font(bold):
    from PIL import ImageFont

    named = os.environ.get("OCULAR_FONT")
    name = "DejaVuSansMono-Bold.ttf" if bold else "DejaVuSansMono.ttf"
    paths = [named] if named else [os.path.join(place, name) for place in PLACES]
    for path in paths:
        if os.path.exists(path):
            return ImageFont.truetype(path, FONT_SIZE)
    sys.exit(MISSING)


def bar(code):
    """Returns the part of a cell that a block character fills, in eighths: (left, top,
    right, bottom). Returns None for other characters."""
    if 0x2581 <= code <= 0x2588:  # the block fills the cell from below
        return 0, 0x2588 - code, 8, 8
    if 0x2589 <= code <= 0x258F:  # the block fills the cell from the left
        return 0, 0, 0x2590 - code, 8
    if code == 0x2595:
        return 7, 0, 8, 8
    return None


def draw_cell(drawing, x, y, char, front, bold):
    """Draws a character with its top left corner at (x, y)."""
    part = bar(ord(char[0]))
    if part:
        left, top, right, bottom = part
        wide, high = CELL
        drawing.rectangle(
            (
                x + left * wide // 8,
                y + round(top * high / 8),
                x + max(right * wide // 8, 1) - 1,
                y + round(bottom * high / 8) - 1,
            ),
            fill=front,
        )
    elif char.strip():
        drawing.text((x, y), char, fill=front, font=font(bold))


def palette(pairs):
    """Returns at most COLOURS colours: the colours of the text, and the colours between
    each of them and its background, which the edges of letters have."""
    from PIL import ImageColor

    steps = max(COLOURS // len(pairs), 2)
    colours = {
        tuple(
            round(back + (front - back) * step / (steps - 1))
            for front, back in zip(*map(ImageColor.getrgb, pair))
        )
        for pair in pairs
        for step in range(steps)
    }
    return sorted(colours)[:COLOURS]


def reduce(image, colours):
    """Returns the image with this palette. Each pixel gets the nearest colour."""
    from PIL import Image

    def nearest(colour):
        return min(
            range(len(colours)),
            key=lambda i: sum((one - other) ** 2 for one, other in zip(colours[i], colour)),
        )

    index = {colour: nearest(colour) for _, colour in image.getcolors(1 << 24)}
    pixels = image.tobytes()
    reduced = Image.frombytes(
        "P",
        image.size,
        bytes(map(index.__getitem__, zip(pixels[::3], pixels[1::3], pixels[2::3]))),
    )
    reduced.putpalette([part for colour in colours for part in colour])
    return reduced


def render(screen, look, background):
    """Returns the bytes of the picture. look(cell) returns (foreground, background, bold)
    of a cell. Exits if no font is found."""
    from PIL import Image, ImageDraw

    wide, high = CELL
    image = Image.new(
        "RGB",
        (screen.columns * wide + 2 * MARGIN, screen.lines * high + 2 * MARGIN),
        background,
    )
    drawing = ImageDraw.Draw(image)
    pairs = {(background, background)}
    for line in range(screen.lines):
        y = MARGIN + line * high
        cells = [screen.buffer[line][column] for column in range(screen.columns)]
        for column, cell in enumerate(cells):
            front, back, _ = look(cell)
            pairs.add((front, back))
            if back != background:
                x = MARGIN + column * wide
                drawing.rectangle((x, y, x + wide - 1, y + high - 1), fill=back)
        for column, cell in enumerate(cells):
            if cell.data:  # the right half of a wide character has no data
                front, _, bold = look(cell)
                draw_cell(drawing, MARGIN + column * wide, y, cell.data, front, bold)
    out = io.BytesIO()
    reduce(image, palette(pairs)).save(out, "PNG", optimize=True)
    return out.getvalue()
