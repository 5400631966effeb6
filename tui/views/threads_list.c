// SPDX-License-Identifier: MIT
// See threads_list.h.
#include "tui/views/threads_list.h"

#include "tui/model/mark.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/text/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *title;
    int width;
    int from; // least width of a list that has the column
} columns[THREADS_COLUMNS] = {
    [THREADS_BY_CPU] = {"CPU", 6, 0},
    [THREADS_BY_WAIT] = {"WAIT", 6, 0},
    [THREADS_BY_TIME] = {"CPU TIME", 9, 0},
    [THREADS_BY_SAMPLES] = {"SAMPLES", 7, 68},
    [THREADS_BY_TID] = {"TID", 8, 50},
    [THREADS_BY_NAME] = {"THREAD", 0, 0},
};

bool ThreadsList_has(int width, int column)
{
    return width >= columns[column].from;
}

struct Box ThreadsList_place(struct Box box, int column)
{
    int x = box.x + 2;
    for (int i = 0; i < column; i++)
        if (ThreadsList_has(box.width, i))
            x += columns[i].width + 2;
    int width = column == THREADS_BY_NAME ? box.x + box.width - x
                                          : columns[column].width;
    return (struct Box){box.y, x, width > 0 ? width : 0};
}

static void draw_titles(struct Canvas *canvas, struct Box box,
                        const struct ThreadsState *state)
{
    for (int i = 0; i < THREADS_COLUMNS; i++) {
        struct Box cell = ThreadsList_place(box, i);
        uint8_t style = i == state->sort ? STYLE_HEAD_SORT : STYLE_HEAD;
        bool left = i == THREADS_BY_NAME;
        if (!ThreadsList_has(box.width, i))
            continue;
        if (left)
            Canvas_fit(canvas, cell, style, CUT_END, columns[i].title);
        else
            Canvas_fit_right(canvas, cell, style, columns[i].title);
        if (i != state->sort)
            continue;
        int x = cell.x +
                (left ? Canvas_measure(canvas, columns[i].title) : cell.width);
        bool up =
            (i == THREADS_BY_NAME || i == THREADS_BY_TID) != state->invert;
        Canvas_put(canvas, box.y, x, x + 1, style, up ? "▲" : "▼");
        Canvas_paint(canvas, (struct Box){box.y, cell.x, x + 1 - cell.x},
                     style);
    }
}

static void put(struct Canvas *canvas, struct Box box, int column,
                uint8_t style, const char *text)
{
    if (!ThreadsList_has(box.width, column))
        return;
    if (column == THREADS_BY_NAME)
        Canvas_fit(canvas, ThreadsList_place(box, column), style, CUT_END,
                   text);
    else
        Canvas_fit_right(canvas, ThreadsList_place(box, column), style, text);
}

// Draws a share, or how it has changed since the baseline.
static void put_share(struct Canvas *canvas, struct Box box, int column,
                      double share, double before)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 1];
    double change = share - before;
    if (isnan(share))
        return;
    if (isnan(before)) {
        put(canvas, box, column, STYLE_PLAIN,
            Window_plain_share(number, share));
        return;
    }
    Number_percent(number, fabs(change));
    bool none = !strpbrk(number, "123456789");
    snprintf(text, sizeof text, "%s%s",
             none         ? ""
             : change < 0 ? "-"
                          : "+",
             number);
    put(canvas, box, column,
        none         ? STYLE_FAINT
        : change > 0 ? STYLE_HEAT_4
                     : STYLE_ARMED,
        text);
}

static void put_cpu(struct Canvas *canvas, struct Box box,
                    const struct Window *window, double share)
{
    char number[NUMBER_MAX];
    enum Basis basis = Window_share(number, window, share);
    put(canvas, box, THREADS_BY_CPU,
        basis == BASIS_FINE ? Gauge_heat(share) : STYLE_FAINT, number);
}

// One thread's numbers since the reset, or the baseline.
struct Figures {
    struct Window window;
    double cpu, cpu_before;
    double wait, wait_before;
    double seconds;
    double samples;
};

static struct Figures figures_of(const struct Model *model,
                                 const struct Thread *thread)
{
    const struct ThreadMark *base = Mark_thread(&model->baseline_mark, thread);
    const struct ThreadMark *since =
        base ? base : Mark_thread(&model->reset_mark, thread);
    // A thread that began after the baseline had 0 then.
    double before = model->baseline ? 0 : NAN;
    return (struct Figures){
        .window = model->window,
        .cpu = thread->cpu_share,
        .cpu_before = base ? base->cpu_share : before,
        .wait = thread->wait_share,
        .wait_before = base ? base->wait_share : before,
        .seconds = thread->cpu_s - (since ? since->cpu_s : 0),
        .samples = Row_u64(thread->samples) - (since ? since->samples : 0)};
}

static void draw_figures(struct Canvas *canvas, struct Box box,
                         const struct Figures *figures, uint8_t style)
{
    char text[NUMBER_MAX];
    if (isnan(figures->cpu_before))
        put_cpu(canvas, box, &figures->window, figures->cpu);
    else
        put_share(canvas, box, THREADS_BY_CPU, figures->cpu,
                  figures->cpu_before);
    put_share(canvas, box, THREADS_BY_WAIT, figures->wait,
              figures->wait_before);
    if (isfinite(figures->seconds))
        put(canvas, box, THREADS_BY_TIME, style,
            Number_ns(text, figures->seconds * 1e9));
    if (isfinite(figures->samples))
        put(canvas, box, THREADS_BY_SAMPLES, style,
            Number_count(text, figures->samples));
}

static void draw_thread(struct Canvas *canvas, struct Box box,
                        const struct Model *model, const struct Thread *thread)
{
    char tid[24], name[160];
    bool ended = thread->ended == 1;
    bool chosen = Model_thread(model) == thread;
    uint8_t style = ended ? STYLE_DARK : STYLE_PLAIN;
    struct Figures figures = figures_of(model, thread);
    draw_figures(canvas, box, &figures, style);
    snprintf(tid, sizeof tid, "%llu", (unsigned long long)thread->tid);
    put(canvas, box, THREADS_BY_TID, STYLE_FAINT, tid);
    snprintf(name, sizeof name, "%s%.100s%s", chosen ? "● " : "",
             ThreadOrder_name(thread), ended ? " (ended)" : "");
    put(canvas, box, THREADS_BY_NAME, chosen ? STYLE_ACCENT : style, name);
}

static void add(double *sum, double value)
{
    if (isfinite(value))
        *sum = (isfinite(*sum) ? *sum : 0) + value;
}

// The list shows no sum of waiting or samples: it would mean nothing.
static void draw_all(struct Canvas *canvas, struct Box box,
                     const struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    struct Figures all = {model->window, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < now->thread_count; i++) {
        struct Figures one = figures_of(model, &now->threads[i]);
        add(&all.cpu, one.cpu);
        add(&all.cpu_before, one.cpu_before);
        add(&all.seconds, one.seconds);
    }
    draw_figures(canvas, box, &all, STYLE_PLAIN);
    put(canvas, box, THREADS_BY_NAME,
        model->one_thread ? STYLE_PLAIN : STYLE_ACCENT,
        model->one_thread ? "all threads" : "● all threads");
}

void ThreadsList_draw(struct Ui *ui, const struct ThreadOrder *order,
                      struct Box box, int height)
{
    struct Canvas *canvas = &ui->canvas;
    const struct List *list = &ui->threads.list;
    draw_titles(canvas, box, &ui->threads);
    ThreadsState_fit(&ui->threads, order, ui->model.snapshot, height);
    for (long i = 0; i < height && list->top + i < list->count; i++) {
        long index = list->top + i;
        const struct Thread *thread = ThreadOrder_at(order, index);
        struct Box line = {box.y + 1 + (int)i, box.x, box.width};
        if (thread)
            draw_thread(canvas, line, &ui->model, thread);
        else
            draw_all(canvas, line, &ui->model);
        if (index != list->selected)
            continue;
        Canvas_put(canvas, line.y, line.x, line.x + 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas, line);
    }
}
