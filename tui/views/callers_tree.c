// SPDX-License-Identifier: MIT
// See callers_tree.h.
#include "tui/views/callers_tree.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/text/number.h"
#include "tui/text/text.h"

#include <stdio.h>

#define FILE_FROM 90 // cells; a wider screen has a column for the file

static void put_share(struct Canvas *canvas, struct Box box,
                      const struct Window *window, double share)
{
    char text[NUMBER_MAX];
    enum Basis basis = Window_share(text, window, share);
    Canvas_fit_right(canvas, box,
                     basis == BASIS_FINE ? Gauge_heat(share) : STYLE_FAINT,
                     text);
}

static void put_part(struct Canvas *canvas, struct Box box, double part)
{
    char text[NUMBER_MAX];
    Canvas_fit_right(canvas, box, STYLE_FAINT, Window_plain_share(text, part));
}

// Draws "│ ├─ ▸ " and returns the x after it.
static int put_limbs(struct Canvas *canvas, int y, int x, int end,
                     const struct Branch *branch)
{
    for (int i = 1; i < branch->depth; i++)
        x = Canvas_put(canvas, y, x, end, STYLE_FAINT,
                       branch->bars & 1u << i ? "│  " : "   ");
    if (branch->depth)
        x = Canvas_put(canvas, y, x, end, STYLE_FAINT,
                       branch->last ? "└─ " : "├─ ");
    if (branch->opens)
        x = Canvas_put(canvas, y, x, end, STYLE_ACCENT,
                       branch->open ? "▾ " : "▸ ");
    return x;
}

static void put_file(struct Canvas *canvas, struct Box box,
                     const struct Function *function)
{
    char file[1024];
    const char *path = function->file ? function->file : "?";
    if (function->line != NULL_U64)
        snprintf(file, sizeof file, "%s:%llu", Text_tail(path, 960),
                 (unsigned long long)function->line);
    else
        snprintf(file, sizeof file, "%s", Text_tail(path, 960));
    Canvas_fit_path(canvas, box, STYLE_FAINT, file);
}

static void put_function(struct Ui *ui, struct Box box, int x,
                         const struct Branch *branch)
{
    struct Canvas *canvas = &ui->canvas;
    const struct Row *row = Model_row_of(&ui->model, branch->id);
    int end = box.x + box.width, file = 0;
    char text[1024];
    if (!row || !row->now) {
        Canvas_put(canvas, box.y, x, end, STYLE_FAINT,
                   "a function that is not listed");
        return;
    }
    if (canvas->width >= FILE_FROM)
        file = (end - box.x) * 2 / 5;
    snprintf(text, sizeof text, "%s%s",
             Text_tail(Column_text_key(COLUMN_FUNCTION, row), 960),
             branch->again ? " (again)" : "");
    if (end - file - x > 3)
        Canvas_fit(canvas, (struct Box){box.y, x, end - file - x - 2},
                   branch->kind == BRANCH_ROOT ? STYLE_STRONG : STYLE_PLAIN,
                   CUT_START, text);
    if (file)
        put_file(canvas, (struct Box){box.y, end - file, file}, row->now);
}

void CallersTree_draw(struct Ui *ui, int y, const struct Branch *branch)
{
    static const char *const words[] = {
        [BRANCH_CALLERS] = "CALLERS, whom its time is for",
        [BRANCH_CALLEES] = "CALLEES, where its time goes",
        [BRANCH_SELF] = "(itself)",
        [BRANCH_BOTTOM] = "(nobody: the bottom of a stack)",
        [BRANCH_OTHERS] = "(others, each too small)",
    };
    struct Canvas *canvas = &ui->canvas;
    struct Box box = {y, 17, canvas->width - 18};
    int end = box.x + box.width;
    int x = put_limbs(canvas, y, box.x, end, branch);
    put_share(canvas, (struct Box){y, 2, 6}, &ui->callers.window,
              branch->share);
    put_part(canvas, (struct Box){y, 9, 6}, branch->part);
    if (branch->kind == BRANCH_FUNCTION || branch->kind == BRANCH_ROOT)
        put_function(ui, box, x, branch);
    else
        Canvas_fit(canvas, (struct Box){y, x, end - x}, STYLE_FAINT, CUT_END,
                   words[branch->kind]);
}
