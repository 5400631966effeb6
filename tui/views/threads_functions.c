// SPDX-License-Identifier: MIT
// See threads_functions.h.
#include "tui/views/threads_functions.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/text/number.h"
#include "tui/text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS_MOST 128

static void draw_function(struct Canvas *canvas, struct Box box,
                          const struct Window *window, double share,
                          const struct Row *row)
{
    char number[NUMBER_MAX], file[1024], line[24] = "";
    int x = box.x + 8, width = box.x + box.width - x;
    int names = width >= 50 ? width * 3 / 5 : width;
    enum Basis basis = Window_share(number, window, share);
    Canvas_fit_right(canvas, (struct Box){box.y, box.x, 6},
                     basis == BASIS_FINE ? Gauge_heat(share) : STYLE_FAINT,
                     number);
    if (!row) {
        Canvas_fit(canvas, (struct Box){box.y, x, width}, STYLE_FAINT, CUT_END,
                   "others");
        return;
    }
    Canvas_fit(canvas, (struct Box){box.y, x, names}, STYLE_PLAIN, CUT_START,
               Text_tail(Column_text_key(COLUMN_FUNCTION, row), 960));
    if (names == width)
        return;
    if (row->now->line != NULL_U64)
        snprintf(line, sizeof line, ":%llu",
                 (unsigned long long)row->now->line);
    snprintf(file, sizeof file, "%s%s",
             Text_tail(Column_text_key(COLUMN_FILE, row), 960), line);
    Canvas_fit_path(canvas,
                    (struct Box){box.y, x + names + 2, width - names - 2},
                    STYLE_FAINT, file);
}

// Draws the `height` hottest functions of all threads. Returns how many.
static int draw_of_all(struct Ui *ui, struct Box box, int height)
{
    const struct Model *model = &ui->model;
    const struct Row *hottest[FUNCTIONS_MOST];
    int count = 0, most = height < FUNCTIONS_MOST ? height : FUNCTIONS_MOST;
    for (size_t i = 0; i < model->rows.count; i++) {
        const struct Row *row = &model->rows.items[i];
        int at = count;
        if (!row->now ||
            Window_basis(&row->window, row->now->share) == BASIS_NONE)
            continue;
        while (at > 0 && hottest[at - 1]->now->share < row->now->share)
            at--;
        if (at >= most)
            continue;
        count += count < most;
        memmove(&hottest[at + 1], &hottest[at],
                (size_t)(count - 1 - at) * sizeof *hottest);
        hottest[at] = row;
    }
    for (int i = 0; i < count; i++, box.y++)
        draw_function(&ui->canvas, box, &model->window, hottest[i]->now->share,
                      hottest[i]);
    return count;
}

static int draw_of_one(struct Ui *ui, const struct Thread *thread,
                       struct Box box, int height)
{
    int drawn = 0;
    for (size_t i = 0; i < thread->function_count && drawn < height; i++) {
        const struct Caller *part = &thread->functions[i];
        const struct Row *row =
            part->id == NULL_U64 ? NULL : Model_row_of(&ui->model, part->id);
        const struct Window *window = &ui->model.window;
        if (Window_basis(window, part->share) == BASIS_NONE)
            continue;
        draw_function(&ui->canvas, box, window, part->share, row);
        box.y++;
        drawn++;
    }
    return drawn;
}

void ThreadsFunctions_draw(struct Ui *ui, const struct ThreadOrder *order,
                           struct Box box, int height)
{
    const struct Thread *thread =
        ThreadOrder_at(order, ui->threads.list.selected);
    struct Canvas *canvas = &ui->canvas;
    char title[128];
    snprintf(title, sizeof title, "FUNCTIONS OF %.80s",
             thread ? ThreadOrder_name(thread) : "ALL THREADS");
    Canvas_fit_right(canvas, (struct Box){box.y, box.x, 6}, STYLE_HEAD,
                     "SHARE");
    Canvas_fit(canvas, (struct Box){box.y, box.x + 8, box.width - 8},
               STYLE_HEAD, CUT_END, title);
    box.y++;
    int drawn = thread ? draw_of_one(ui, thread, box, height)
                       : draw_of_all(ui, box, height);
    if (drawn)
        return;
    const struct Snapshot *now = ui->model.snapshot;
    bool sampled = isfinite(now->sampler_hz);
    Canvas_fit(canvas, box, STYLE_FAINT, CUT_END,
               sampled ? "  It was in no traced function lately."
                       : "  Shares are not sampled.");
    if (sampled || !now->sampler_trouble || height < 2)
        return;
    box = (struct Box){box.y + 1, box.x + 2, box.width - 2};
    Canvas_fit(canvas, box, STYLE_ALERT, CUT_END, now->sampler_trouble);
}
