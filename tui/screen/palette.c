// SPDX-License-Identifier: MIT
#include "tui/screen/palette.h"

#define BOLD PALETTE_BOLD
#define DIM PALETTE_DIM
#define REVERSE PALETTE_REVERSE
#define UNDERLINE PALETTE_UNDERLINE

#define BAR 237      // Background of titles and keys.
#define SELECTED 24  // Background of the selected row.
#define HIGHLIGHT 31 // Background of the sorting column and of prompts.

struct Look {
    struct Paint many; // With 256 colours.
    short selected;    // Foreground in the selected row with 256 colours.
    // With 8 colours. Yellow and cyan are not used, because they are unreadable
    // on white in most terminals. Magenta is readable on black and on white.
    struct Paint few;
    unsigned none; // Attributes without colours.
};

static const struct Look looks[STYLE_COUNT] = {
    [STYLE_PLAIN] = {{-1, -1, 0}, 231, {-1, -1, 0}, 0},
    [STYLE_STRONG] = {{-1, -1, BOLD}, 231, {-1, -1, BOLD}, BOLD},
    [STYLE_FAINT] = {{245, -1, 0}, 152, {-1, -1, DIM}, DIM},
    [STYLE_ACCENT] = {{38, -1, BOLD}, 231, {-1, -1, BOLD}, BOLD},
    [STYLE_HEAT_1] = {{245, -1, 0}, 152, {-1, -1, DIM}, DIM},
    [STYLE_HEAT_2] = {{67, -1, 0}, 153, {-1, -1, 0}, 0},
    [STYLE_HEAT_3] = {{136, -1, 0}, 222, {5, -1, 0}, 0},
    [STYLE_HEAT_4] = {{202, -1, 0}, 215, {1, -1, 0}, BOLD},
    [STYLE_HEAT_5] = {{196, -1, BOLD}, 217, {1, -1, BOLD}, BOLD},
    [STYLE_ARMED] = {{34, -1, 0}, 120, {2, -1, 0}, 0},
    [STYLE_PARTIAL] = {{172, -1, 0}, 222, {5, -1, 0}, 0},
    [STYLE_DARK] = {{243, -1, 0}, 152, {-1, -1, DIM}, DIM},
    [STYLE_ALERT] = {{167, -1, BOLD}, 217, {1, -1, BOLD}, BOLD},
    // No row has the following styles.
    [STYLE_HEAD] = {{252, BAR, 0}, 0, {-1, -1, REVERSE}, REVERSE},
    [STYLE_HEAD_SORT] = {{231, HIGHLIGHT, BOLD},
                         0,
                         {7, 4, BOLD},
                         REVERSE | BOLD | UNDERLINE},
    [STYLE_KEY] = {{117, BAR, BOLD}, 0, {-1, -1, BOLD}, BOLD},
    [STYLE_LABEL] = {{250, BAR, 0}, 0, {-1, -1, 0}, 0},
    [STYLE_PROMPT] = {{231, HIGHLIGHT, BOLD}, 0, {7, 4, BOLD}, REVERSE},
};

struct Paint Palette_paint(uint8_t style, int colours)
{
    bool selected = style & STYLE_SELECTED;
    uint8_t plain = style & (uint8_t)~STYLE_SELECTED;
    const struct Look *look = &looks[plain < STYLE_COUNT ? plain : STYLE_PLAIN];
    struct Paint paint = look->many;
    if (colours >= 256 && selected)
        return (struct Paint){look->selected, SELECTED, paint.attributes};
    if (colours >= 256)
        return paint;
    paint = colours >= 8 ? look->few : (struct Paint){-1, -1, look->none};
    if (!selected)
        return paint;
    // The background of a selected row has one colour, on which red and dim
    // letters are unreadable.
    paint.attributes &= BOLD;
    if (colours >= 8)
        return (struct Paint){7, 4, paint.attributes};
    paint.attributes |= REVERSE;
    return paint;
}
