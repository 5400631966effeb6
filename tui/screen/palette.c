// SPDX-License-Identifier: MIT
#include "tui/screen/palette.h"

#define BOLD PALETTE_BOLD
#define DIM PALETTE_DIM
#define REVERSE PALETTE_REVERSE
#define UNDERLINE PALETTE_UNDERLINE

#define BAR 237      // Background of titles and keys.
#define SELECTED 24  // Background of the selected row.
#define HIGHLIGHT 31 // Background of the sorting column and of prompts.

static const struct Paint many[STYLE_COUNT] = {
    [STYLE_PLAIN] = {-1, -1, 0},
    [STYLE_STRONG] = {-1, -1, BOLD},
    [STYLE_FAINT] = {245, -1, 0},
    [STYLE_ACCENT] = {38, -1, BOLD},
    [STYLE_HEAT_1] = {245, -1, 0},
    [STYLE_HEAT_2] = {67, -1, 0},
    [STYLE_HEAT_3] = {136, -1, 0},
    [STYLE_HEAT_4] = {202, -1, 0},
    [STYLE_HEAT_5] = {196, -1, BOLD},
    [STYLE_ARMED] = {34, -1, 0},
    [STYLE_PARTIAL] = {172, -1, 0},
    [STYLE_DARK] = {243, -1, 0},
    [STYLE_ALERT] = {167, -1, BOLD},
    [STYLE_HEAD] = {252, BAR, 0},
    [STYLE_HEAD_SORT] = {231, HIGHLIGHT, BOLD},
    [STYLE_KEY] = {117, BAR, BOLD},
    [STYLE_LABEL] = {250, BAR, 0},
    [STYLE_PROMPT] = {231, HIGHLIGHT, BOLD},
};

static const struct Paint many_selected[STYLE_COUNT] = {
    [STYLE_PLAIN] = {231, SELECTED, 0},
    [STYLE_STRONG] = {231, SELECTED, BOLD},
    [STYLE_FAINT] = {152, SELECTED, 0},
    [STYLE_ACCENT] = {231, SELECTED, BOLD},
    [STYLE_HEAT_1] = {152, SELECTED, 0},
    [STYLE_HEAT_2] = {153, SELECTED, 0},
    [STYLE_HEAT_3] = {222, SELECTED, 0},
    [STYLE_HEAT_4] = {215, SELECTED, 0},
    [STYLE_HEAT_5] = {217, SELECTED, BOLD},
    [STYLE_ARMED] = {120, SELECTED, 0},
    [STYLE_PARTIAL] = {222, SELECTED, 0},
    [STYLE_DARK] = {152, SELECTED, 0},
    [STYLE_ALERT] = {217, SELECTED, BOLD},
};

// Yellow and cyan are not used, because they are unreadable on white in most
// terminals. Magenta is readable on black and on white.
static const struct Paint few[STYLE_COUNT] = {
    [STYLE_PLAIN] = {-1, -1, 0},      [STYLE_STRONG] = {-1, -1, BOLD},
    [STYLE_FAINT] = {-1, -1, DIM},    [STYLE_ACCENT] = {-1, -1, BOLD},
    [STYLE_HEAT_1] = {-1, -1, DIM},   [STYLE_HEAT_2] = {-1, -1, 0},
    [STYLE_HEAT_3] = {5, -1, 0},      [STYLE_HEAT_4] = {1, -1, 0},
    [STYLE_HEAT_5] = {1, -1, BOLD},   [STYLE_ARMED] = {2, -1, 0},
    [STYLE_PARTIAL] = {5, -1, 0},     [STYLE_DARK] = {-1, -1, DIM},
    [STYLE_ALERT] = {1, -1, BOLD},    [STYLE_HEAD] = {-1, -1, REVERSE},
    [STYLE_HEAD_SORT] = {7, 4, BOLD}, [STYLE_KEY] = {-1, -1, BOLD},
    [STYLE_LABEL] = {-1, -1, 0},      [STYLE_PROMPT] = {7, 4, BOLD},
};

static const struct Paint none[STYLE_COUNT] = {
    [STYLE_PLAIN] = {-1, -1, 0},
    [STYLE_STRONG] = {-1, -1, BOLD},
    [STYLE_FAINT] = {-1, -1, DIM},
    [STYLE_ACCENT] = {-1, -1, BOLD},
    [STYLE_HEAT_1] = {-1, -1, DIM},
    [STYLE_HEAT_2] = {-1, -1, 0},
    [STYLE_HEAT_3] = {-1, -1, 0},
    [STYLE_HEAT_4] = {-1, -1, BOLD},
    [STYLE_HEAT_5] = {-1, -1, BOLD},
    [STYLE_ARMED] = {-1, -1, 0},
    [STYLE_PARTIAL] = {-1, -1, 0},
    [STYLE_DARK] = {-1, -1, DIM},
    [STYLE_ALERT] = {-1, -1, BOLD},
    [STYLE_HEAD] = {-1, -1, REVERSE},
    [STYLE_HEAD_SORT] = {-1, -1, REVERSE | BOLD | UNDERLINE},
    [STYLE_KEY] = {-1, -1, BOLD},
    [STYLE_LABEL] = {-1, -1, 0},
    [STYLE_PROMPT] = {-1, -1, REVERSE},
};

struct Paint Palette_paint(uint8_t style, int colours)
{
    bool selected = style & STYLE_SELECTED;
    uint8_t plain = style & (uint8_t)~STYLE_SELECTED;
    struct Paint paint;
    if (plain >= STYLE_COUNT)
        plain = STYLE_PLAIN;
    if (colours >= 256)
        return selected ? many_selected[plain] : many[plain];
    paint = colours >= 8 ? few[plain] : none[plain];
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
