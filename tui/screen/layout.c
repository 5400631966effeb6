// SPDX-License-Identifier: MIT
// See layout.h.
#include "tui/screen/layout.h"

#define MARGIN_LEFT 2 // the marker of the selected row
#define MARGIN_RIGHT 1
#define GAP 2
#define NAME_MOST 64 // cells; a wider name would push the place far away

static void place_lines(struct Layout *layout, bool bare)
{
    int height = layout->height;
    // A blank line, where there is room for it.
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

// Returns the column of that importance, or -1.
static int ranked(const struct LayoutWish *wish, int importance)
{
    for (int i = 0; i < wish->column_count; i++)
        if (wish->columns[i].importance == importance)
            return i;
    return -1;
}

// Admits the first column, and others from the most important on, until one
// would leave the texts too little room. It stops there and does not try
// narrower columns, so a wider screen never loses a column. Returns the cells
// left for the texts.
static int admit(bool there[LAYOUT_COLUMNS], int text,
                 const struct LayoutWish *wish)
{
    there[wish->name] = true;
    if (!there[wish->first] && wish->columns[wish->first].width) {
        there[wish->first] = true;
        text -= wish->columns[wish->first].width + GAP;
    }
    for (int rank = 1; rank < wish->column_count; rank++) {
        int id = ranked(wish, rank);
        if (id < 0 || there[id] || !wish->columns[id].width)
            continue;
        int left = text - wish->columns[id].width - GAP;
        if (left < wish->columns[id].room ||
            left < wish->columns[wish->name].width)
            break;
        there[id] = true;
        text = left;
    }
    return text;
}

// Splits the cells that are left between the name and the place.
static void share_text(int text, bool both, const struct LayoutWish *wish,
                       int *name, int *place)
{
    const struct LayoutSpace *space = &wish->columns[wish->place];
    *name = text;
    *place = space->width;
    if (!both)
        return;
    int spare = text - space->room;
    if (spare > 0)
        *name = space->room + spare * 3 / 5;
    if (*name > NAME_MOST)
        *name = NAME_MOST;
    *place += text - *name;
}

static void place_columns(struct Layout *layout, const struct LayoutWish *wish)
{
    bool there[LAYOUT_COLUMNS] = {false};
    int name, place, x = MARGIN_LEFT;
    int text = admit(there, layout->width - MARGIN_LEFT - MARGIN_RIGHT, wish);
    share_text(text, there[wish->place], wish, &name, &place);
    layout->column_count = 0;
    for (int i = 0; i < wish->column_count; i++) {
        if (!there[i])
            continue;
        int width = wish->columns[i].width;
        if (i == wish->name)
            width = name;
        else if (i == wish->place)
            width = place;
        layout->columns[layout->column_count++] =
            (struct LayoutColumn){i, x, width};
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
    place_columns(layout, &wish);
}
