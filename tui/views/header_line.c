// SPDX-License-Identifier: MIT
// See header_line.h.
#include "tui/views/header_line.h"

void HeaderLine_draw(struct Strip *strip, struct Canvas *canvas, int y)
{
    struct Box box = {y, 1, canvas->width - 2};
    Strip_draw(strip, canvas, box, canvas->width < HEADER_WIDE ? 2 : 3);
}

void HeaderLine_label(struct Strip *strip, int importance, const char *label,
                      const char *value)
{
    Strip_item(strip, importance);
    Strip_add(strip, STYLE_FAINT, "%s ", label);
    Strip_add(strip, STYLE_PLAIN, "%s", value);
}
