// SPDX-License-Identifier: MIT
// See too_small.h.
#include "tui/screen/too_small.h"

#include "tui/screen/layout.h"

#include <stdio.h>

void TooSmall_draw(struct Canvas *canvas)
{
    char text[80];
    snprintf(text, sizeof text, "ocular-top needs %dx%d, this is %dx%d (q)",
             LAYOUT_MIN_WIDTH, LAYOUT_MIN_HEIGHT, canvas->width,
             canvas->height);
    Canvas_fit(canvas, (struct Box){0, 0, canvas->width}, STYLE_PLAIN, CUT_END,
               text);
}
