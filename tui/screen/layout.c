// SPDX-License-Identifier: MIT
#include "tui/screen/layout.h"

#include <stdio.h>

static void place_lines(struct Layout *layout, bool bare)
{
    int height = layout->height;
    // Number of blank lines above and below the table, which is 1 if there is
    // room.
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

void Layout_main(struct Layout *layout, int width, int height, bool bare)
{
    start(layout, width, height);
    if (!layout->too_small)
        place_lines(layout, bare);
}

void Layout_draw_too_small(struct Canvas *canvas)
{
    char text[80];
    snprintf(text, sizeof text, "ocular-top needs %dx%d, this is %dx%d (q)",
             LAYOUT_MIN_WIDTH, LAYOUT_MIN_HEIGHT, canvas->width,
             canvas->height);
    Canvas_fit(canvas, (struct Box){0, 0, canvas->width}, STYLE_PLAIN, CUT_END,
               text);
}
