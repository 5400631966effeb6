// SPDX-License-Identifier: MIT
// See chooser.h.
#include "tui/app/chooser.h"

#include "ipc/process.h"
#include "tui/screen/keymap.h"
#include "tui/screen/layout.h"
#include "tui/screen/too_small.h"
#include "tui/text/text.h"
#include "tui/views/help_page.h"
#include "tui/views/view_table.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_LINE 3 // line of the list's first row
#define USER_WIDTH 12
#define COMMAND_LEAST 20
#define DEPTH_MOST 16 // deeper children stand beside their parents

// --- The list

static bool is_below(const struct ChooserRow *row, pid_t parent,
                     const struct ChooserRow *all, long count)
{
    if (parent)
        return row->parent == parent;
    for (long i = 0; i < count; i++)
        if (all[i].served.pid == row->parent)
            return false;
    return true;
}

// Appends the children of `parent` to `rows`, each with its own children. /proc
// changes while we read it and may show a ring of parents, so a row is taken
// once.
static long add_children(struct ChooserRow *rows, long used, pid_t parent,
                         struct ChooserRow *all, long count)
{
    int depth = 0;
    if (parent)
        depth = rows[used - 1].depth + (rows[used - 1].depth < DEPTH_MOST);
    for (long i = 0; i < count; i++) {
        if (all[i].depth < 0 || !is_below(&all[i], parent, all, count))
            continue;
        rows[used] = all[i];
        rows[used++].depth = depth;
        all[i].depth = -1; // taken
        used = add_children(rows, used, all[i].served.pid, all, count);
    }
    return used;
}

static void name_user(struct ChooserRow *row)
{
    const struct passwd *user = getpwuid(row->served.uid);
    if (user)
        Text_clean(row->user, sizeof row->user, user->pw_name);
    else
        snprintf(row->user, sizeof row->user, "%u", (unsigned)row->served.uid);
}

static struct ChooserRow *arrange(const struct Served *served, long count)
{
    struct ChooserRow *all = calloc((size_t)count + 1, sizeof *all);
    struct ChooserRow *rows = calloc((size_t)count + 1, sizeof *rows);
    if (all && rows) {
        for (long i = 0; i < count; i++)
            all[i] = (struct ChooserRow){
                .served = served[i], .parent = Process_parent(served[i].pid)};
        long used = add_children(rows, 0, 0, all, count);
        for (long i = 0; i < count; i++)
            if (all[i].depth >= 0)
                rows[used++] = all[i];
    } else {
        free(rows);
        rows = NULL;
    }
    free(all);
    return rows;
}

const struct Served *Chooser_selected(const struct Chooser *chooser)
{
    return chooser->list.selected < chooser->count
               ? &chooser->rows[chooser->list.selected].served
               : NULL;
}

void Chooser_select(struct Chooser *chooser, pid_t pid)
{
    for (long i = 0; i < chooser->count; i++)
        if (chooser->rows[i].served.pid == pid)
            chooser->list.selected = i;
}

long Chooser_refresh(struct Chooser *chooser)
{
    const struct Served *selected = Chooser_selected(chooser);
    pid_t pid = selected ? selected->pid : 0;
    struct Served *list;
    long count = Address_list(&list);
    if (count < 0)
        return count;
    struct ChooserRow *rows = arrange(list, count);
    free(list);
    if (!rows)
        return -ENOMEM;
    free(chooser->rows);
    chooser->rows = rows;
    chooser->count = count;
    chooser->users = false;
    for (long i = 0; i < count; i++)
        chooser->users |= rows[i].served.uid != geteuid();
    for (long i = 0; chooser->users && i < count; i++)
        name_user(&rows[i]);
    Chooser_select(chooser, pid);
    List_fit(&chooser->list, count, chooser->list.height);
    return count;
}

void Chooser_release(struct Chooser *chooser)
{
    free(chooser->rows);
    *chooser = (struct Chooser){0};
}

// --- The screen

static int command_at(const struct Chooser *chooser)
{
    return chooser->users ? 12 + USER_WIDTH + 2 : 12;
}

// Leaves out the program's folder, which says the least.
static const char *short_command(const char *command)
{
    const char *name = command;
    for (const char *at = command; *at && *at != ' '; at++)
        if (*at == '/' && at[1] && at[1] != ' ')
            name = at + 1;
    return name;
}

static void draw_line(const struct Chooser *chooser, struct Canvas *canvas,
                      int y, long index)
{
    const struct ChooserRow *row = &chooser->rows[index];
    int x = command_at(chooser), end = canvas->width - 1;
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", (long)row->served.pid);
    Canvas_fit_right(canvas, (struct Box){y, 2, 8}, STYLE_PLAIN, pid);
    if (chooser->users)
        Canvas_fit(canvas, (struct Box){y, 12, USER_WIDTH}, STYLE_PLAIN,
                   CUT_END, row->user);
    if (row->depth) { // indents while a command has room
        int depth = (end - x - COMMAND_LEAST) / 2;
        x += 2 * (row->depth < depth ? row->depth : depth);
        Canvas_put(canvas, y, x - 2, end, STYLE_FAINT, "└ ");
    }
    Canvas_fit(canvas, (struct Box){y, x, end - x}, STYLE_STRONG, CUT_END,
               short_command(row->served.command));
    if (index != chooser->list.selected)
        return;
    Canvas_put(canvas, y, 0, 1, STYLE_ACCENT, "▸");
    Canvas_select(canvas, (struct Box){y, 0, canvas->width});
}

static int draw_key(struct Canvas *canvas, int x, const char *key,
                    const char *label)
{
    int y = canvas->height - 1, width = canvas->width;
    x = Canvas_put(canvas, y, x, width, STYLE_KEY, key);
    return Canvas_put(canvas, y, x + 1, width, STYLE_LABEL, label) + 2;
}

static void draw_bottom(const struct Chooser *chooser, struct Canvas *canvas)
{
    int width = canvas->width, y = canvas->height - 1, x = 1;
    Canvas_paint(canvas, (struct Box){y, 0, width}, STYLE_LABEL);
    if (*chooser->message && !chooser->help) {
        Canvas_fit(canvas, (struct Box){y, 1, width - 2}, STYLE_ALERT, CUT_END,
                   chooser->message);
        return;
    }
    if (chooser->help) {
        draw_key(canvas, x, "Esc", "Back");
        return;
    }
    if (chooser->count)
        x = draw_key(canvas, x, "Enter", "Watch");
    x = draw_key(canvas, x, "F1", "Help");
    if (chooser->back)
        x = draw_key(canvas, x, "Esc", "Back");
    draw_key(canvas, x, "q", "Quit");
}

void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas)
{
    int width = canvas->width, lines = canvas->height - FIRST_LINE - 1;
    char count[64];
    Canvas_clear(canvas);
    chooser->too_small =
        width < LAYOUT_MIN_WIDTH || canvas->height < LAYOUT_MIN_HEIGHT;
    if (chooser->too_small) {
        TooSmall_draw(canvas);
        return;
    }
    if (chooser->help) {
        HelpPage_draw(canvas, VIEWS, &chooser->help_top, CAN_REACH);
        draw_bottom(chooser, canvas);
        return;
    }
    Canvas_put(canvas, 0, 1, width, STYLE_ACCENT, "ocular-top");
    Canvas_put(canvas, 0, 13, width - 1, STYLE_FAINT, "which process?");
    snprintf(count, sizeof count, "%ld serve", chooser->count);
    if (chooser->count > 1)
        Canvas_fit_right(canvas, (struct Box){0, 30, width - 31}, STYLE_FAINT,
                         count);
    Canvas_paint(canvas, (struct Box){FIRST_LINE - 1, 0, width}, STYLE_HEAD);
    Canvas_fit_right(canvas, (struct Box){FIRST_LINE - 1, 2, 8}, STYLE_HEAD,
                     "PID");
    if (chooser->users)
        Canvas_put(canvas, FIRST_LINE - 1, 12, width, STYLE_HEAD, "USER");
    Canvas_put(canvas, FIRST_LINE - 1, command_at(chooser), width, STYLE_HEAD,
               "COMMAND");
    List_fit(&chooser->list, chooser->count, lines);
    for (int i = 0; i < lines && chooser->list.top + i < chooser->count; i++)
        draw_line(chooser, canvas, FIRST_LINE + i, chooser->list.top + i);
    if (!chooser->count)
        Canvas_put(canvas, FIRST_LINE + 1, 2, width - 1, STYLE_FAINT,
                   "No process serves just now. One that begins to comes up "
                   "here.");
    draw_bottom(chooser, canvas);
}

static void press_in_help(struct Chooser *chooser, uint32_t key)
{
    struct List lines = {.count = 1 << 16,
                         .height = chooser->list.height,
                         .selected = chooser->help_top};
    if (List_move(&lines, Keymap_request(key)))
        chooser->help_top = (int)lines.selected;
    else
        chooser->help = false;
}

enum ChooserAnswer Chooser_key(struct Chooser *chooser, uint32_t key)
{
    int request = Keymap_request(key);
    *chooser->message = 0;
    if (chooser->too_small)
        return request == REQUEST_QUIT ? CHOOSER_QUIT : CHOOSER_NONE;
    if (chooser->help) {
        press_in_help(chooser, key);
        return CHOOSER_NONE;
    }
    if (key == PRESS_ENTER || key == PRESS_RIGHT)
        return chooser->count > 0 ? CHOOSER_CHOSEN : CHOOSER_NONE;
    if (request == REQUEST_CLICK) {
        long index = List_at(&chooser->list, Key_y(key) - FIRST_LINE);
        bool again = index == chooser->list.selected;
        if (index >= 0)
            List_select(&chooser->list, index);
        return index >= 0 && again ? CHOOSER_CHOSEN : CHOOSER_NONE;
    }
    if (View_opened_by(VIEWS, key) == VIEW_HELP)
        chooser->help = true;
    else if (request == REQUEST_BACK && chooser->back)
        return CHOOSER_BACK;
    else if (request == REQUEST_QUIT || key == PRESS_ESCAPE)
        return CHOOSER_QUIT;
    else
        List_move(&chooser->list, request);
    return CHOOSER_NONE;
}

void Chooser_write(const struct Chooser *chooser, struct Bytes *out)
{
    for (long i = 0; i < chooser->count; i++) {
        char command[512], line[600];
        const struct ChooserRow *row = &chooser->rows[i];
        Text_clean(command, sizeof command, row->served.command);
        int size = snprintf(line, sizeof line, "%9ld  %*s%s\n",
                            (long)row->served.pid, 2 * row->depth, "", command);
        Bytes_put(out, line, (size_t)size);
    }
}
