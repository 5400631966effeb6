// SPDX-License-Identifier: MIT
#include "tui/views/bottom.h"

#include "tui/screen/strip.h"

#include <stdio.h>

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
static void draw_keys(struct Canvas *canvas, int y, struct BottomKeys keys)
{
    const struct View *const *views = keys.views, *view = views[keys.front];
    unsigned can = keys.can;
    struct Strip strip;
    Strip_init(&strip);
    for (size_t i = 0; view->own && view->own[i].keys[0]; i++)
        add_keys(&strip, &view->own[i], keys.front);
    for (int i = 0; i < VIEW_COUNT && !view->alone; i++)
        if (views[i] != view && !is_taken(view, &views[i]->opens) &&
            !(views[i]->opens.ability & ~can))
            add_keys(&strip, &views[i]->opens, keys.front);
    for (size_t i = 0; i < KEYMAP_COUNT && !view->alone; i++)
        if (!(KEYMAP[i].ability & ~can))
            add_keys(&strip, &KEYMAP[i], keys.front);
    Strip_draw(&strip, canvas, (struct Box){y, 1, canvas->width - 2}, 2);
}

// Draws a question, the text that the user has typed so far, and a cursor. If
// the typed text is too long, only its end is drawn.
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

// Draws a message on the bottom line. If the message is too long, the path in
// it is shortened first.
static void draw_message(struct Canvas *canvas, struct Box box,
                         const struct Status *status)
{
    enum Style style = status->alert ? STYLE_ALERT : STYLE_LABEL;
    char part[MESSAGE_MAX], path[MESSAGE_MAX];
    int end = box.x + box.width;
    const char *after = status->message + status->path_at + status->path_length;
    snprintf(part, sizeof part, "%.*s", status->path_at, status->message);
    snprintf(path, sizeof path, "%.*s", status->path_length,
             status->message + status->path_at);
    int room = box.width - Canvas_measure(canvas, part);
    int left = room - Canvas_measure(canvas, after);
    box.x = Canvas_put(canvas, box.y, box.x, end, style, part);
    box.width = left < PATH_LEAST ? PATH_LEAST : left;
    box.x += Canvas_fit_path(canvas, box, style, path);
    box.width = end - box.x;
    Canvas_fit(canvas, box, style, CUT_END, after);
}

void Bottom_draw(struct Canvas *canvas, int y, struct BottomKeys keys,
                 const struct Status *status)
{
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_LABEL);
    if (status->prompt)
        draw_prompt(canvas, y, status);
    else if (status->message)
        draw_message(canvas, (struct Box){y, 1, canvas->width - 2}, status);
    else
        draw_keys(canvas, y, keys);
}
