// SPDX-License-Identifier: MIT
// See chooser.h.
#include "tui/chooser.h"

#include "tui/keymap.h"

#include <stdio.h>
#include <stdlib.h>

long Chooser_look(struct Chooser *chooser)
{
    struct Served *list;
    pid_t pid = chooser->selected < chooser->count
                    ? chooser->list[chooser->selected].pid
                    : 0;
    long count = Address_list(&list);
    if (count < 0)
        return count;
    free(chooser->list);
    chooser->list = list;
    chooser->count = count;
    if (chooser->selected >= count)
        chooser->selected = count ? count - 1 : 0;
    for (long i = 0; i < count; i++)
        if (list[i].pid == pid)
            chooser->selected = i;
    return count;
}

void Chooser_release(struct Chooser *chooser)
{
    free(chooser->list);
    *chooser = (struct Chooser){0};
}

static void draw_line(struct Chooser *chooser, struct Canvas *canvas, int y,
                      long index)
{
    const struct Served *served = &chooser->list[index];
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", (long)served->pid);
    Canvas_fit_right(canvas, (struct Box){y, 2, 8}, STYLE_PLAIN, pid);
    Canvas_fit(canvas, (struct Box){y, 12, canvas->width - 13}, STYLE_STRONG,
               CUT_END, served->command);
    if (index != chooser->selected)
        return;
    Canvas_put(canvas, y, 0, 1, STYLE_ACCENT, "▸");
    Canvas_select(canvas, (struct Box){y, 0, canvas->width});
}

void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas)
{
    int width = canvas->width, lines = canvas->height - 4;
    Canvas_clear(canvas);
    Canvas_put(canvas, 0, 1, width, STYLE_ACCENT, "ocular-top");
    Canvas_put(canvas, 0, 13, width - 1, STYLE_FAINT, "which process?");
    Canvas_paint(canvas, (struct Box){2, 0, width}, STYLE_HEAD);
    Canvas_fit_right(canvas, (struct Box){2, 2, 8}, STYLE_HEAD, "PID");
    Canvas_put(canvas, 2, 12, width, STYLE_HEAD, "COMMAND");
    if (lines < 1)
        lines = 1;
    if (chooser->selected < chooser->top)
        chooser->top = chooser->selected;
    if (chooser->selected >= chooser->top + lines)
        chooser->top = chooser->selected - lines + 1;
    for (int i = 0; i < lines && chooser->top + i < chooser->count; i++)
        draw_line(chooser, canvas, 3 + i, chooser->top + i);
    if (!chooser->count)
        Canvas_put(canvas, 4, 2, width - 1, STYLE_FAINT,
                   "No process serves any more.");
    int y = canvas->height - 1, x;
    Canvas_paint(canvas, (struct Box){y, 0, width}, STYLE_LABEL);
    x = Canvas_put(canvas, y, 1, width, STYLE_KEY, "Enter");
    x = Canvas_put(canvas, y, x + 1, width, STYLE_LABEL, "Watch");
    x = Canvas_put(canvas, y, x + 2, width, STYLE_KEY, "q");
    Canvas_put(canvas, y, x + 1, width, STYLE_LABEL, "Quit");
}

int Chooser_key(struct Chooser *chooser, uint32_t key)
{
    if (key == PRESS_ENTER || key == PRESS_RIGHT)
        return chooser->selected < chooser->count;
    if (key == PRESS_ESCAPE)
        return -1;
    switch (Keymap_request(key)) {
    case REQUEST_UP:
        chooser->selected -= chooser->selected > 0;
        break;
    case REQUEST_DOWN:
        chooser->selected += chooser->selected + 1 < chooser->count;
        break;
    case REQUEST_HOME:
        chooser->selected = 0;
        break;
    case REQUEST_END:
        chooser->selected = chooser->count ? chooser->count - 1 : 0;
        break;
    case REQUEST_QUIT:
        return -1;
    default:
        break;
    }
    return 0;
}

void Chooser_write(const struct Chooser *chooser, struct Bytes *out)
{
    for (long i = 0; i < chooser->count; i++) {
        char command[512], line[600];
        Text_clean(command, sizeof command, chooser->list[i].command);
        int size = snprintf(line, sizeof line, "%9ld  %s\n",
                            (long)chooser->list[i].pid, command);
        Bytes_put(out, line, (size_t)size);
    }
}
