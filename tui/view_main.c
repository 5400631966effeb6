// SPDX-License-Identifier: MIT
// See view_main.h.
#include "tui/view_main.h"

#include "tui/detail.h"
#include "tui/header.h"
#include "tui/keymap.h"
#include "tui/strip.h"
#include "tui/text.h"

#include <stdio.h>
#include <string.h>

// --- The table

static void draw_titles(struct Canvas *canvas, const struct Model *model,
                        const struct Layout *layout, const struct Look *look)
{
    enum ColumnId sort = Model_sort_column(model);
    int y = layout->table_y;
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_HEAD);
    for (int i = 0; i < layout->column_count; i++) {
        const struct LayoutColumn *place = &layout->columns[i];
        const struct Column *column = &COLUMNS[place->id];
        struct Box box = {y, place->x, place->width};
        uint8_t style = place->id == sort ? STYLE_HEAD_SORT : STYLE_HEAD;
        const char *title =
            look->ns && column->time_title ? column->time_title : column->title;
        if (column->left)
            Canvas_fit(canvas, box, style, CUT_END, title);
        else
            Canvas_fit_right(canvas, box, style, title);
        if (place->id != sort)
            continue;
        // The arrow stands behind the title, in the gap if need be.
        int at = place->x + place->width;
        if (column->left)
            at = place->x + Canvas_measure(canvas, title);
        bool up = column->by_text != model->invert;
        Canvas_put(canvas, y, at, at + 1, style, up ? "▲" : "▼");
        box.width = at + 1 - place->x;
        Canvas_paint(canvas, box, style);
    }
}

// A path loses its leading directories rather than half of a name.
static const char *shorten_path(const struct Canvas *canvas, const char *path,
                                int width)
{
    while (Canvas_measure(canvas, path) > width) {
        const char *slash = strchr(*path ? path + 1 : path, '/');
        if (!slash)
            break;
        path = slash + 1;
    }
    return path;
}

static void draw_row(struct Canvas *canvas, const struct Layout *layout,
                     const struct Row *row, const struct Look *look, int y)
{
    struct ColumnText cell;
    for (int i = 0; i < layout->column_count; i++) {
        const struct LayoutColumn *place = &layout->columns[i];
        const struct Column *column = &COLUMNS[place->id];
        struct Box box = {y, place->x, place->width};
        column->format(&cell, row, look);
        const char *text = cell.text;
        if (place->id == COLUMN_FILE)
            text = shorten_path(canvas, text, place->width);
        if (column->left)
            Canvas_fit(canvas, box, cell.style, column->cut, text);
        else
            Canvas_fit_right(canvas, box, cell.style, text);
    }
}

// What to read where there is no row.
static void draw_empty(struct Canvas *canvas, const struct Model *model,
                       const struct Layout *layout, const struct Status *status)
{
    char text[MODEL_TEXT + 80];
    if (!model->snapshot && status->notice)
        Text_clean(text, sizeof text, status->notice);
    else if (!model->snapshot)
        strcpy(text, "Waiting for the first numbers…");
    else if (*model->filter)
        snprintf(text, sizeof text,
                 "No function or path has \"%s\" in it. Esc drops the filter.",
                 model->filter);
    else
        strcpy(text, "No Python function has run since tracing started.");
    Canvas_fit(canvas,
               (struct Box){layout->body_y + (layout->body_height > 2), 2,
                            canvas->width - 3},
               STYLE_FAINT, CUT_END, text);
}

static void draw_body(struct Canvas *canvas, const struct Model *model,
                      const struct Layout *layout, const struct Status *status)
{
    for (int i = 0; i < layout->body_height; i++) {
        size_t index = model->top + (size_t)i;
        const struct Row *row = Model_row(model, index);
        int y = layout->body_y + i;
        if (!row)
            break;
        draw_row(canvas, layout, row, &status->look, y);
        if (index != model->selected || layout->footer_y < 0)
            continue;
        Canvas_put(canvas, y, 0, 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas, (struct Box){y, 0, canvas->width});
    }
    if (model->shown == 0)
        draw_empty(canvas, model, layout, status);
}

// --- The bottom line

static void draw_keys(struct Canvas *canvas, int y)
{
    struct Strip strip;
    char name[KEY_NAME_MAX];
    Strip_init(&strip);
    for (size_t i = 0; i < KEYMAP_COUNT; i++) {
        if (!KEYMAP[i].label)
            continue;
        Strip_item(&strip, KEYMAP[i].importance);
        Strip_add(&strip, STYLE_KEY, "%s", Key_name(name, KEYMAP[i].keys[0]));
        Strip_add(&strip, STYLE_LABEL, " %s", KEYMAP[i].label);
    }
    Strip_draw(&strip, canvas, (struct Box){y, 1, canvas->width - 2}, 2);
}

// What is typed stays in sight up to its end, with a cursor behind it.
static void draw_prompt(struct Canvas *canvas, int y,
                        const struct Status *status)
{
    int end = canvas->width - 2;
    int x = Canvas_put(canvas, y, 1, end, STYLE_KEY, status->prompt);
    if (!status->typed)
        return;
    struct Box box = {y, x + 1, end - x - 1};
    Canvas_fit(canvas, box, STYLE_LABEL, CUT_START, status->typed);
    x += 1 + Canvas_measure(canvas, status->typed);
    x = x < end ? x : end;
    Canvas_paint(canvas, (struct Box){y, x, 1}, STYLE_PROMPT);
    Canvas_put(canvas, y, x, x + 1, STYLE_PROMPT, "_");
}

void ViewMain_draw_bottom(struct Canvas *canvas, int y,
                          const struct Status *status)
{
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_LABEL);
    if (status->prompt)
        draw_prompt(canvas, y, status);
    else if (status->message)
        Canvas_fit(canvas, (struct Box){y, 1, canvas->width - 2},
                   status->alert ? STYLE_ALERT : STYLE_LABEL, CUT_END,
                   status->message);
    else
        draw_keys(canvas, y);
}

void ViewMain_draw_small(struct Canvas *canvas)
{
    char text[80];
    snprintf(text, sizeof text, "ocular-top needs %dx%d, this is %dx%d (q)",
             LAYOUT_MIN_WIDTH, LAYOUT_MIN_HEIGHT, canvas->width,
             canvas->height);
    Canvas_fit(canvas, (struct Box){0, 0, canvas->width}, STYLE_PLAIN, CUT_END,
               text);
}

void ViewMain_draw(struct Canvas *canvas, const struct Model *model,
                   const struct Layout *layout, const struct Status *status)
{
    Header_draw(canvas, model, status);
    draw_titles(canvas, model, layout, &status->look);
    draw_body(canvas, model, layout, status);
    if (layout->detail_y >= 0)
        Detail_draw(canvas, model, layout, &status->look);
    if (layout->footer_y >= 0)
        ViewMain_draw_bottom(canvas, layout->footer_y, status);
}
