// SPDX-License-Identifier: MIT
// See view_help.h.
#include "tui/view_help.h"

#include "tui/column.h"
#include "tui/keymap.h"

#include <stdio.h>
#include <string.h>

#define LINES 100
#define TERM_WIDTH 14 // the keys, the column, the mark
#define SIDE_BY_SIDE 132

struct HelpLine {
    char term[64];
    uint8_t style;    // of the term
    const char *text; // NULL: the term is a heading
};

struct HelpText {
    struct HelpLine lines[LINES];
    int count;
};

static void add(struct HelpText *help, enum Style style, const char *term,
                const char *text)
{
    if (help->count == LINES)
        return;
    struct HelpLine *line = &help->lines[help->count++];
    snprintf(line->term, sizeof line->term, "%s", term);
    line->style = (uint8_t)style;
    line->text = text;
}

static void add_heading(struct HelpText *help, const char *heading)
{
    if (help->count)
        add(help, STYLE_PLAIN, "", "");
    add(help, STYLE_ACCENT, heading, NULL);
}

static void add_binding(struct HelpText *help, const struct Binding *binding)
{
    char term[64] = "", name[KEY_NAME_MAX];
    size_t used = 0;
    for (int i = 0; i < BINDING_KEYS && binding->keys[i]; i++)
        used +=
            (size_t)snprintf(term + used, sizeof term - used, "%s%s",
                             i ? "  " : "", Key_name(name, binding->keys[i]));
    add(help, STYLE_STRONG, term, binding->about);
}

// A group is printed where its first key is, with all of its keys.
static void add_keys(struct HelpText *help)
{
    for (size_t i = 0; i < KEYMAP_COUNT; i++) {
        const char *group = KEYMAP[i].group;
        bool printed = false;
        for (size_t k = 0; k < i; k++)
            printed |= strcmp(KEYMAP[k].group, group) == 0;
        if (printed)
            continue;
        add_heading(help, group);
        for (size_t k = i; k < KEYMAP_COUNT; k++)
            if (strcmp(KEYMAP[k].group, group) == 0)
                add_binding(help, &KEYMAP[k]);
    }
}

static void add_legend(struct HelpText *help)
{
    add_heading(help, "Columns");
    for (int i = 0; i < COLUMN_COUNT; i++)
        add(help, STYLE_STRONG, COLUMNS[i].title, COLUMNS[i].about);
    add_heading(help, "Marks");
    add(help, STYLE_ARMED, "● armed", "every call is counted and timed");
    add(help, STYLE_PARTIAL, "◐ partial", "some of its hooks are taken out");
    add(help, STYLE_DARK, "○ dark",
        "all are: it runs at full speed and is only sampled");
    add(help, STYLE_ALERT, "61s!", "old numbers: a re-arms the function");
    add(help, STYLE_STRONG, ">= 512",
        "at least so many: it was dark for a time");
    add(help, STYLE_STRONG, "~ 8.1G", "an estimate from samples and mean cost");
    add(help, STYLE_STRONG, "cyc",
        "ticks of the time stamp counter: wall clock, not CPU time");
}

static void draw_text(struct Canvas *canvas, const struct HelpText *help,
                      int top, struct Box box)
{
    int lines = canvas->height - 2 - box.y;
    for (int i = 0; i < lines && top + i < help->count; i++) {
        const struct HelpLine *line = &help->lines[top + i];
        struct Box place = {box.y + i, box.x, box.width};
        if (!line->text) {
            Canvas_fit(canvas, place, line->style, CUT_END, line->term);
            continue;
        }
        place.x += 2;
        place.width = TERM_WIDTH;
        Canvas_fit(canvas, place, line->style, CUT_END, line->term);
        place.x += TERM_WIDTH + 1;
        place.width = box.x + box.width - place.x;
        Canvas_fit(canvas, place, STYLE_PLAIN, CUT_END, line->text);
    }
}

static int clamp(int top, int count, int lines)
{
    int most = count > lines ? count - lines : 0;
    if (top > most)
        top = most;
    return top < 0 ? 0 : top;
}

void ViewHelp_draw(struct Canvas *canvas, int *top)
{
    struct HelpText keys = {.count = 0}, legend = {.count = 0};
    int width = canvas->width, lines = canvas->height - 4;
    struct Box box = {2, 2, width - 3};
    add_keys(&keys);
    struct HelpText *right = width >= SIDE_BY_SIDE ? &legend : &keys;
    add_legend(right);
    int count = keys.count > legend.count ? keys.count : legend.count;
    *top = clamp(*top, count, lines);
    if (right == &legend) {
        box.width = 60;
        draw_text(canvas, &legend, *top, (struct Box){2, 66, width - 67});
    }
    draw_text(canvas, &keys, *top, box);
    Canvas_put(canvas, 0, 1, width, STYLE_ACCENT, "ocular-top");
    Canvas_put(canvas, 0, 13, width, STYLE_FAINT, "keys, columns and marks");
    Canvas_paint(canvas, (struct Box){canvas->height - 1, 0, width},
                 STYLE_LABEL);
    Canvas_put(canvas, canvas->height - 1, 1, width - 1, STYLE_LABEL,
               count > lines ? "Up Down PgUp PgDn scroll   Esc or q: back"
                             : "Esc or q: back");
}
