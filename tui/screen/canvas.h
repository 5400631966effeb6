// SPDX-License-Identifier: MIT
// A canvas is a picture of the screen in memory. A canvas is a grid of cells,
// each of which has a glyph and a style. Views draw on the canvas. terminal.c
// shows it on the terminal, and batch.c prints it as text. Everything outside
// of the grid is cut off.
#pragma once

#include "ipc/base/bytes.h"
#include "tui/text/text.h"

#include <stdbool.h>
#include <stdint.h>

// A style says what a cell means, for example an alert. The palette decides how
// a style looks.
enum Style {
    STYLE_PLAIN,
    STYLE_STRONG,
    STYLE_FAINT,
    STYLE_ACCENT, // Style of the program's name and of the selected function.
    STYLE_HEAT_1, // Styles of shares, from the smallest to the largest.
    STYLE_HEAT_2,
    STYLE_HEAT_3,
    STYLE_HEAT_4,
    STYLE_HEAT_5,
    STYLE_ARMED,
    STYLE_PARTIAL,
    STYLE_DARK,
    // Style of old data, lost events, lost specialisations and failures.
    STYLE_ALERT,
    STYLE_HEAD, // Style of the line of column titles.
    // Style of the title of the column by which rows are sorted.
    STYLE_HEAD_SORT,
    STYLE_KEY,   // Style of a key's name on the bottom line.
    STYLE_LABEL, // Style of other text on the bottom line.
    STYLE_PROMPT,
    STYLE_COUNT,
    // Is added to the style of a cell in the selected row.
    STYLE_SELECTED = 0x80
};

struct Cell {
    uint32_t code;
    uint32_t marks[TEXT_MARKS];
    // Width of the glyph in cells (0 = the right half of a wide glyph).
    uint8_t width;
    uint8_t style;
};

struct Canvas {
    int width;
    int height;
    bool ascii; // True if every glyph is drawn as an ASCII character.
    // For tests: number of glyphs that have replaced another glyph since
    // Canvas_clear.
    unsigned overdrawn;
    struct Cell *cells;
};

enum Cut {
    CUT_END,  // Cuts the end: "EqualityConstr…".
    CUT_START // Cuts the beginning: "…straint.execute".
};

void Canvas_init(struct Canvas *canvas, bool ascii);
void Canvas_release(struct Canvas *canvas);
// Sets the canvas's size and makes all cells blank. Returns 0, or -ENOMEM with
// the canvas unchanged.
int Canvas_resize(struct Canvas *canvas, int width, int height);
void Canvas_clear(struct Canvas *canvas);
// Returns the cell, or NULL if the position is outside of the canvas.
struct Cell *Canvas_cell(const struct Canvas *canvas, int y, int x);

// Returns the number of cells that the text needs on this canvas.
int Canvas_measure(const struct Canvas *canvas, const char *text);
// Draws text from the column `x` to the column before `end`. Returns the screen
// column after the text.
int Canvas_put(struct Canvas *canvas, int y, int x, int end, uint8_t style,
               const char *text);

struct Box { // A box is a part of one screen line.
    int y;
    int x;
    int width;
};

// Draws text inside the box. If the text is too long, one end of it is replaced
// by an ellipsis.
void Canvas_fit(struct Canvas *canvas, struct Box box, uint8_t style,
                enum Cut cut, const char *text);
void Canvas_fit_right(struct Canvas *canvas, struct Box box, uint8_t style,
                      const char *text);
// Draws a path inside the box. If the path is too long, its leading directories
// are dropped before a name is cut. Returns the number of cells used.
int Canvas_fit_path(struct Canvas *canvas, struct Box box, uint8_t style,
                    const char *path);
// Sets the style of every cell in the box and keeps the glyphs.
void Canvas_paint(struct Canvas *canvas, struct Box box, uint8_t style);
// Adds STYLE_SELECTED to every cell of the box.
void Canvas_select(struct Canvas *canvas, struct Box box);

// Appends the frame as lines of UTF-8 without trailing blanks.
void Canvas_write(const struct Canvas *canvas, struct Bytes *out);
