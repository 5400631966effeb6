// SPDX-License-Identifier: MIT
#include "tui/views/bottom.h"

#include "tui/screen/strip.h"
#include "tui/views/navigation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_LEAST 24 // Least number of cells for a path in a message.

// Adds a key and its label to the bottom line. `front` is the view that is
// shown.
static void add_keys(struct Strip *strip, const struct Binding *binding,
                     enum ViewId front)
{
    char name[KEY_NAME_MAX];
    bool back = binding->request == REQUEST_CLOSE && front != VIEW_MAIN;
    if (!binding->label)
        return;
    Strip_put(strip, binding->importance, STYLE_KEY, "%s",
              Key_name(name, binding->keys[0]));
    Strip_add(strip, STYLE_LABEL, " %s", back ? "Back" : binding->label);
}

// Returns true if the first key of `binding` is also one of the view's own
// keys.
static bool is_taken(const struct View *view, const struct Binding *binding)
{
    for (const struct Binding *own = view->own; own && own->keys[0]; own++)
        if (Binding_has(own, binding->keys[0]))
            return true;
    return false;
}

// Draws the usable keys. The view's own keys come first, then the keys that
// open other views, then the keys of all views.
static void draw_keys(struct Ui *ui, struct Box box)
{
    const struct View *const *views = ui->views, *view = views[ui->view];
    unsigned can = Navigation_can(ui);
    struct Strip strip;
    Strip_init(&strip);
    for (size_t i = 0; view->own && view->own[i].keys[0]; i++)
        add_keys(&strip, &view->own[i], ui->view);
    for (int i = 0; i < VIEW_COUNT && !view->alone; i++)
        if (views[i] != view && !is_taken(view, &views[i]->opens) &&
            !(views[i]->opens.ability & ~can))
            add_keys(&strip, &views[i]->opens, ui->view);
    for (size_t i = 0; i < KEYMAP_COUNT && !view->alone; i++)
        if (!(KEYMAP[i].ability & ~can))
            add_keys(&strip, &KEYMAP[i], ui->view);
    Strip_draw(&strip, &ui->canvas, box, 2);
}

static const char *label_of(const struct Ui *ui, char label[128])
{
    static const char *const labels[] = {
        [PROMPT_SEARCH] = "Search:",
        [PROMPT_FILTER] = "Filter (Esc shows all):",
        [PROMPT_EXPORT] = "Export the timeline to:",
        [PROMPT_SAVE] = "Save as JSON to:",
        [PROMPT_FROM] = "Show from (s, or m:s; none: the beginning):",
        [PROMPT_TO] = "Show up to (s, or m:s; none: the end):",
        [PROMPT_OVERWRITE_EXPORT] = "It exists. Overwrite? y/n ",
        [PROMPT_OVERWRITE_SAVE] = "It exists. Overwrite? y/n ",
    };
    const struct Snapshot *snapshot = ui->model.snapshot;
    double budget = snapshot ? snapshot->overhead_budget : NAN;
    if (ui->prompt.kind != PROMPT_BUDGET)
        return labels[ui->prompt.kind];
    snprintf(label, 128, "Overhead budget, in per cent of CPU time");
    if (budget > 0)
        snprintf(label + strlen(label), 64, " (now %.4g)", budget * 100);
    return strcat(label, ":");
}

// Draws a question, the text that the user has typed so far, and a cursor. If
// the typed text is too long, only its end is drawn.
static void draw_prompt(struct Ui *ui, int y)
{
    struct Canvas *canvas = &ui->canvas;
    const struct Prompt *prompt = &ui->prompt;
    char label[128];
    int end = canvas->width - 2;
    int x = Canvas_put(canvas, y, 1, end, STYLE_KEY, label_of(ui, label));
    struct Box box = {y, x + 1, end - x - 1};
    Canvas_fit(canvas, box, STYLE_LABEL, CUT_START, prompt->text);
    x += 1 + Canvas_measure(canvas, prompt->text);
    x = x < end ? x : end;
    Canvas_paint(canvas, (struct Box){y, x, 1}, STYLE_PROMPT);
    Canvas_put(canvas, y, x, x + 1, STYLE_PROMPT, "_");
}

// Draws a message on the bottom line. If the message is too long, the path in
// it is shortened first.
static void draw_message(struct Ui *ui, struct Box box)
{
    struct Canvas *canvas = &ui->canvas;
    enum Style style = ui->alert ? STYLE_ALERT : STYLE_LABEL;
    char part[MESSAGE_MAX], path[MESSAGE_MAX];
    int end = box.x + box.width;
    const char *after = ui->message + ui->path_at + ui->path_length;
    snprintf(part, sizeof part, "%.*s", ui->path_at, ui->message);
    snprintf(path, sizeof path, "%.*s", ui->path_length,
             ui->message + ui->path_at);
    int room = box.width - Canvas_measure(canvas, part);
    int left = room - Canvas_measure(canvas, after);
    box.x = Canvas_put(canvas, box.y, box.x, end, style, part);
    box.width = left < PATH_LEAST ? PATH_LEAST : left;
    box.x += Canvas_fit_path(canvas, box, style, path);
    box.width = end - box.x;
    Canvas_fit(canvas, box, style, CUT_END, after);
}

void Bottom_draw(struct Ui *ui)
{
    struct Canvas *canvas = &ui->canvas;
    int y = ui->layout.footer_y;
    struct Box box = {y, 1, canvas->width - 2};
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_LABEL);
    if (ui->prompt.kind != PROMPT_NONE)
        draw_prompt(ui, y);
    else if (*ui->message && Feed_now() < ui->message_until)
        draw_message(ui, box);
    else
        draw_keys(ui, box);
}
