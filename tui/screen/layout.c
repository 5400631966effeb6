// SPDX-License-Identifier: MIT
// See layout.h.
#include "tui/screen/layout.h"

#define MARGIN_LEFT 2 // the marker of the selected row
#define MARGIN_RIGHT 1
#define GAP 2
#define FUNCTION_MOST 64 // beyond it the file had better be near

static void place_lines(struct Layout *layout, bool bare)
{
    int height = layout->height;
    // Air where there is room for it, rows where there is not.
    int air = height >= 20;
    layout->title_y = -1;
    layout->table_y = LAYOUT_HEADER + air;
    layout->body_y = layout->table_y + 1;
    layout->footer_y = bare ? -1 : height - 1;
    layout->detail_height = bare || height < 16 ? 0 : 1 + (height >= 30);
    layout->detail_y =
        layout->detail_height ? height - 1 - layout->detail_height : -1;
    int end = height;
    if (layout->detail_y >= 0)
        end = layout->detail_y - air;
    else if (layout->footer_y >= 0)
        end = layout->footer_y;
    layout->body_height = end > layout->body_y ? end - layout->body_y : 0;
}

// The column of the importance `rank`, or COLUMN_COUNT.
static enum ColumnId ranked(int rank)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (COLUMNS[i].importance == rank)
            return (enum ColumnId)i;
    return COLUMN_COUNT;
}

// Admits columns from the most important on, until one would leave the names
// too little room. Stopping there, not trying smaller ones, means that a wider
// screen never loses a column. Returns the cells left for the names.
static int admit(bool there[COLUMN_COUNT], int text, bool sampled)
{
    there[COLUMN_FUNCTION] = true;
    for (int rank = 1; rank < COLUMN_COUNT; rank++) {
        enum ColumnId id = ranked(rank);
        if (id == COLUMN_COUNT || (COLUMNS[id].sampled && !sampled))
            continue;
        int left = text - COLUMNS[id].width - GAP;
        if (left < COLUMNS[id].room)
            break;
        there[id] = true;
        text = left;
    }
    return text;
}

static void share_text(int text, bool file, int *function, int *file_width)
{
    *function = text;
    *file_width = COLUMNS[COLUMN_FILE].width;
    if (!file)
        return;
    int spare = text - COLUMNS[COLUMN_FILE].room;
    if (spare > 0)
        *function = COLUMNS[COLUMN_FILE].room + spare * 3 / 5;
    if (*function > FUNCTION_MOST)
        *function = FUNCTION_MOST;
    *file_width += text - *function;
}

static void place_columns(struct Layout *layout, bool sampled)
{
    bool there[COLUMN_COUNT] = {false};
    int function, file;
    int text =
        admit(there, layout->width - MARGIN_LEFT - MARGIN_RIGHT, sampled);
    share_text(text, there[COLUMN_FILE], &function, &file);
    int x = MARGIN_LEFT;
    layout->column_count = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (!there[i])
            continue;
        int width = COLUMNS[i].width;
        if (i == COLUMN_FUNCTION)
            width = function;
        else if (i == COLUMN_FILE)
            width = file;
        layout->columns[layout->column_count++] =
            (struct LayoutColumn){(enum ColumnId)i, x, width};
        x += width + GAP;
    }
}

static void start(struct Layout *layout, int width, int height)
{
    *layout = (struct Layout){.width = width, .height = height};
    layout->too_small = width < LAYOUT_MIN_WIDTH || height < LAYOUT_MIN_HEIGHT;
}

void Layout_view(struct Layout *layout, int width, int height)
{
    start(layout, width, height);
    layout->title_y = 1;
    layout->table_y = 2 + (height >= 20);
    layout->body_y = layout->table_y + 1;
    layout->footer_y = height - 1;
    layout->body_height = layout->footer_y - layout->body_y;
    layout->detail_y = -1;
}

void Layout_make(struct Layout *layout, int width, int height,
                 struct LayoutWish wish)
{
    start(layout, width, height);
    if (layout->too_small)
        return;
    place_lines(layout, wish.bare);
    place_columns(layout, wish.sampled);
}
