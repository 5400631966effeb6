// SPDX-License-Identifier: MIT
// See help_text.h.
#include "tui/views/help_text.h"

#include <stdio.h>
#include <string.h>

void HelpText_add(struct HelpText *help, enum Style style, const char *term,
                  const char *text)
{
    do {
        if (help->count == HELP_LINES)
            return;
        struct HelpLine *line = &help->lines[help->count++];
        snprintf(line->term, sizeof line->term, "%s", term);
        line->style = (uint8_t)style;
        line->text = text;
        if (!text)
            return;
        line->length = (int)strlen(text);
        if (line->length > help->room) {
            line->length = help->room;
            while (line->length > 1 && text[line->length] != ' ')
                line->length--;
        }
        text += line->length;
        text += *text == ' ';
        term = "";
    } while (*text);
}

void HelpText_heading(struct HelpText *help, const char *heading)
{
    if (help->count)
        HelpText_add(help, STYLE_PLAIN, "", "");
    HelpText_add(help, STYLE_ACCENT, heading, NULL);
}

void HelpText_draw(const struct HelpText *help, struct Canvas *canvas, int top,
                   struct Box box)
{
    int lines = canvas->height - 2 - box.y;
    for (int i = 0; i < lines && top + i < help->count; i++) {
        const struct HelpLine *line = &help->lines[top + i];
        struct Box place = {box.y + i, box.x, box.width};
        if (line->text) {
            place.x += 2;
            place.width = help->term;
        }
        Canvas_fit(canvas, place, line->style, CUT_END, line->term);
        if (!line->text)
            continue;
        place.x += help->term + 1;
        place.width = box.x + box.width - place.x;
        char text[256];
        snprintf(text, sizeof text, "%.*s", line->length, line->text);
        Canvas_fit(canvas, place, STYLE_PLAIN, CUT_END, text);
    }
}
