// SPDX-License-Identifier: MIT
#include "tui/screen/canvas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct Cell blank = {.code = ' ', .width = 1};

void Canvas_init(struct Canvas *canvas, bool ascii)
{
    *canvas = (struct Canvas){.ascii = ascii};
}

void Canvas_release(struct Canvas *canvas)
{
    free(canvas->cells);
    canvas->cells = NULL;
}

int Canvas_resize(struct Canvas *canvas, int width, int height)
{
    size_t count = (size_t)width * (size_t)height;
    struct Cell *cells = malloc((count ? count : 1) * sizeof *cells);
    if (!cells)
        return -ENOMEM;
    free(canvas->cells);
    canvas->cells = cells;
    canvas->width = width;
    canvas->height = height;
    Canvas_clear(canvas);
    return 0;
}

void Canvas_clear(struct Canvas *canvas)
{
    canvas->overdrawn = 0;
    for (int i = 0; i < canvas->width * canvas->height; i++)
        canvas->cells[i] = blank;
}

struct Cell *Canvas_cell(const struct Canvas *canvas, int y, int x)
{
    if (y < 0 || x < 0 || y >= canvas->height || x >= canvas->width)
        return NULL;
    return &canvas->cells[y * canvas->width + x];
}

// Reads the next glyph in the form in which this canvas draws it.
static bool next_glyph(const struct Canvas *canvas, const char **at,
                       struct Glyph *glyph)
{
    if (!canvas->ascii)
        return Text_next(at, glyph);
    // For ASCII, Text_next is not used, because it needs the widths of glyphs,
    // which the locale may not have.
    uint32_t code = Utf8_decode(at);
    *glyph =
        (struct Glyph){.code = (unsigned char)Text_ascii(code), .width = 1};
    return code != 0;
}

int Canvas_measure(const struct Canvas *canvas, const char *text)
{
    struct Glyph glyph;
    int width = 0;
    while (next_glyph(canvas, &text, &glyph))
        width += glyph.width;
    return width;
}

// If one half of a wide glyph is overwritten, the other half becomes blank.
static void clear_halves(struct Canvas *canvas, int y, int x, int width)
{
    struct Cell *first = Canvas_cell(canvas, y, x);
    struct Cell *after = Canvas_cell(canvas, y, x + width);
    if (first && first->width == 0)
        first[-1] = blank;
    if (after && after->width == 0)
        *after = blank;
}

static void put_glyph(struct Canvas *canvas, int y, int x, uint8_t style,
                      const struct Glyph *glyph)
{
    struct Cell *cell = Canvas_cell(canvas, y, x);
    if (!cell || !Canvas_cell(canvas, y, x + glyph->width - 1))
        return;
    canvas->overdrawn += cell->code != ' ' && glyph->code != cell->code;
    clear_halves(canvas, y, x, glyph->width);
    *cell = (struct Cell){
        .code = glyph->code, .width = (uint8_t)glyph->width, .style = style};
    memcpy(cell->marks, glyph->marks, sizeof cell->marks);
    if (glyph->width == 2)
        cell[1] = (struct Cell){.width = 0, .style = style};
}

int Canvas_put(struct Canvas *canvas, int y, int x, int end, uint8_t style,
               const char *text)
{
    struct Glyph glyph;
    while (x < end && next_glyph(canvas, &text, &glyph)) {
        if (x + glyph.width > end)
            break;
        put_glyph(canvas, y, x, style, &glyph);
        x += glyph.width;
    }
    return x;
}

// Returns the longest end of the text that fits into `width` cells.
static const char *skip_start(const struct Canvas *canvas, const char *text,
                              int width)
{
    struct Glyph glyph;
    int excess = Canvas_measure(canvas, text) - width;
    while (excess > 0 && next_glyph(canvas, &text, &glyph))
        excess -= glyph.width;
    return text;
}

void Canvas_fit(struct Canvas *canvas, struct Box box, uint8_t style,
                enum Cut cut, const char *text)
{
    int end = box.x + box.width;
    if (box.width <= 0)
        return;
    if (Canvas_measure(canvas, text) <= box.width) {
        Canvas_put(canvas, box.y, box.x, end, style, text);
    } else if (cut == CUT_END) {
        int x = Canvas_put(canvas, box.y, box.x, end - 1, style, text);
        Canvas_put(canvas, box.y, x, end, style, "…");
    } else {
        Canvas_put(canvas, box.y, box.x, end, style, "…");
        Canvas_put(canvas, box.y, box.x + 1, end, style,
                   skip_start(canvas, text, box.width - 1));
    }
}

void Canvas_fit_right(struct Canvas *canvas, struct Box box, uint8_t style,
                      const char *text)
{
    int spare = box.width - Canvas_measure(canvas, text);
    if (spare > 0) {
        box.x += spare;
        box.width -= spare;
    }
    Canvas_fit(canvas, box, style, CUT_END, text);
}

int Canvas_fit_path(struct Canvas *canvas, struct Box box, uint8_t style,
                    const char *path)
{
    int width;
    while ((width = Canvas_measure(canvas, path)) > box.width) {
        const char *slash = strchr(*path ? path + 1 : path, '/');
        if (!slash)
            break;
        path = slash + 1;
    }
    Canvas_fit(canvas, box, style, CUT_START, path);
    return width < box.width ? width : box.width;
}

void Canvas_paint(struct Canvas *canvas, struct Box box, uint8_t style)
{
    for (int x = box.x; x < box.x + box.width; x++) {
        struct Cell *cell = Canvas_cell(canvas, box.y, x);
        if (cell)
            cell->style = style;
    }
}

void Canvas_select(struct Canvas *canvas, struct Box box)
{
    for (int x = box.x; x < box.x + box.width; x++) {
        struct Cell *cell = Canvas_cell(canvas, box.y, x);
        if (cell)
            cell->style |= STYLE_SELECTED;
    }
}

static void write_cell(const struct Cell *cell, struct Bytes *out)
{
    char bytes[4];
    if (cell->width == 0)
        return;
    Bytes_put(out, bytes, Text_encode(bytes, cell->code));
    for (int i = 0; i < TEXT_MARKS && cell->marks[i]; i++)
        Bytes_put(out, bytes, Text_encode(bytes, cell->marks[i]));
}

void Canvas_write(const struct Canvas *canvas, struct Bytes *out)
{
    for (int y = 0; y < canvas->height; y++) {
        const struct Cell *row = &canvas->cells[y * canvas->width];
        int end = canvas->width;
        while (end > 0 && row[end - 1].code == ' ')
            end--;
        for (int x = 0; x < end; x++)
            write_cell(&row[x], out);
        Bytes_put(out, "\n", 1);
    }
}
