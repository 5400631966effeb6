// SPDX-License-Identifier: MIT
// See view_threads.h.
#define _GNU_SOURCE 1 // qsort_r
#include "tui/views/view_threads.h"

#include "tui/app/screen.h"
#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_BY_SIDE 110 // from here on the functions stand at the right
#define LIST_WIDTH 60
#define FUNCTIONS_MOST 128

enum { THREADS_CHOOSE = REQUEST_OWN };

const struct Binding VIEW_THREADS_KEYS[] = {
    {THREADS_CHOOSE,
     0,
     {PRESS_ENTER, PRESS_RIGHT},
     "the main screen shows this thread alone, or all",
     NULL,
     "Choose",
     2},
    {.request = 0},
};

// --- Columns

enum { BY_CPU, BY_WAIT, BY_TIME, BY_SAMPLES, BY_TID, BY_NAME, COLUMNS_HERE };

static const struct {
    const char *title;
    int width;
    int from; // width of the list from which on it is there
} columns[COLUMNS_HERE] = {
    [BY_CPU] = {"CPU", 6, 0},       [BY_WAIT] = {"WAIT", 6, 0},
    [BY_TIME] = {"CPU TIME", 9, 0}, [BY_SAMPLES] = {"SAMPLES", 7, 68},
    [BY_TID] = {"TID", 8, 50},      [BY_NAME] = {"THREAD", 0, 0},
};

static bool has_column(int width, int column) // a list of that width
{
    return width >= columns[column].from;
}

static struct Box place(struct Box box, int column)
{
    int x = box.x + 2;
    for (int i = 0; i < column; i++)
        if (has_column(box.width, i))
            x += columns[i].width + 2;
    int width =
        column == BY_NAME ? box.x + box.width - x : columns[column].width;
    return (struct Box){box.y, x, width > 0 ? width : 0};
}

static int list_width(const struct Screen *screen)
{
    int width = screen->canvas.width;
    return width >= SIDE_BY_SIDE ? LIST_WIDTH + (width - SIDE_BY_SIDE) / 4
                                 : width - 1;
}

static const char *name_of(const struct Thread *thread)
{
    return thread->name && *thread->name ? thread->name : "(no name)";
}

// --- Order

static double key_of(const struct Thread *thread, int sort)
{
    switch (sort) {
    case BY_WAIT:
        return thread->wait_share;
    case BY_TIME:
        return thread->cpu_s;
    case BY_SAMPLES:
        return Row_u64(thread->samples);
    case BY_TID:
        return -Row_u64(thread->tid);
    default:
        return thread->cpu_share;
    }
}

// Those that have ended come last; equals stand by tid,
// and those that had the same one by name.
static int compare(const void *left, const void *right, void *context)
{
    const struct Thread *a = *(const struct Thread *const *)left;
    const struct Thread *b = *(const struct Thread *const *)right;
    const struct ThreadsView *view = context;
    int sign = view->invert ? -1 : 1;
    int result = (a->ended == 1) - (b->ended == 1);
    if (result)
        return result;
    if (view->sort == BY_NAME) {
        result = sign * strcmp(name_of(a), name_of(b));
    } else {
        double first = key_of(a, view->sort), second = key_of(b, view->sort);
        if (isnan(first) || isnan(second))
            result = isnan(first) - isnan(second);
        else
            result = sign * ((first < second) - (first > second));
    }
    if (!result)
        result = (a->tid > b->tid) - (a->tid < b->tid);
    return result ? result : strcmp(name_of(a), name_of(b));
}

struct Order { // of all threads; `threads` is NULL where memory is out
    const struct Thread **threads;
    long count;
};

static struct Order arrange(struct Screen *screen)
{
    const struct Snapshot *now = screen->model.snapshot;
    size_t count = now ? now->thread_count : 0;
    struct Order order = {malloc((count + 1) * sizeof *order.threads), 0};
    if (!order.threads)
        return order;
    for (size_t i = 0; i < count; i++)
        order.threads[order.count++] = &now->threads[i];
    qsort_r(order.threads, count, sizeof *order.threads, compare,
            &screen->threads);
    return order;
}

// The one in row `index`, NULL for all threads.
static const struct Thread *at(const struct Order *order, long index)
{
    return index > 0 && index <= order->count ? order->threads[index - 1]
                                              : NULL;
}

static void fit(struct Screen *screen, const struct Order *order, long height)
{
    struct ThreadsView *view = &screen->threads;
    if (!view->pinned)
        view->list.selected = 0;
    const struct Thread *pinned =
        view->pinned ? ThreadKey_find(&view->pin, screen->model.snapshot)
                     : NULL;
    if (pinned) // it may have ended, or been renamed
        view->pin = ThreadKey_of(pinned);
    for (long i = 0; pinned && i < order->count; i++)
        if (order->threads[i] == pinned)
            view->list.selected = i + 1;
    List_fit(&view->list, order->count + 1, height);
}

static void pin(struct Screen *screen, const struct Order *order)
{
    const struct Thread *thread = at(order, screen->threads.list.selected);
    screen->threads.pinned = thread != NULL;
    if (thread)
        screen->threads.pin = ThreadKey_of(thread);
}

// --- The list

static void draw_titles(struct Canvas *canvas, struct Box box,
                        const struct ThreadsView *view)
{
    for (int i = 0; i < COLUMNS_HERE; i++) {
        struct Box cell = place(box, i);
        uint8_t style = i == view->sort ? STYLE_HEAD_SORT : STYLE_HEAD;
        bool left = i == BY_NAME;
        if (!has_column(box.width, i))
            continue;
        if (left)
            Canvas_fit(canvas, cell, style, CUT_END, columns[i].title);
        else
            Canvas_fit_right(canvas, cell, style, columns[i].title);
        if (i != view->sort)
            continue;
        int x = cell.x +
                (left ? Canvas_measure(canvas, columns[i].title) : cell.width);
        bool up = (i == BY_NAME || i == BY_TID) != view->invert;
        Canvas_put(canvas, box.y, x, x + 1, style, up ? "▲" : "▼");
        Canvas_paint(canvas, (struct Box){box.y, cell.x, x + 1 - cell.x},
                     style);
    }
}

static void put(struct Canvas *canvas, struct Box box, int column,
                uint8_t style, const char *text)
{
    if (!has_column(box.width, column))
        return;
    if (column == BY_NAME)
        Canvas_fit(canvas, place(box, column), style, CUT_END, text);
    else
        Canvas_fit_right(canvas, place(box, column), style, text);
}

// A share, or how it has changed since the baseline.
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
    put(canvas, box, BY_CPU,
        basis == BASIS_FINE ? Gauge_heat(share) : STYLE_FAINT, number);
}

// One thread's numbers as they are shown: since the reset, or the baseline.
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
    // One that is new since the baseline has come from nothing.
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
        put_share(canvas, box, BY_CPU, figures->cpu, figures->cpu_before);
    put_share(canvas, box, BY_WAIT, figures->wait, figures->wait_before);
    if (isfinite(figures->seconds))
        put(canvas, box, BY_TIME, style,
            Number_ns(text, figures->seconds * 1e9));
    if (isfinite(figures->samples))
        put(canvas, box, BY_SAMPLES, style,
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
    put(canvas, box, BY_TID, STYLE_FAINT, tid);
    snprintf(name, sizeof name, "%s%.100s%s", chosen ? "● " : "",
             name_of(thread), ended ? " (ended)" : "");
    put(canvas, box, BY_NAME, chosen ? STYLE_ACCENT : style, name);
}

static void add(double *sum, double value)
{
    if (isfinite(value))
        *sum = (isfinite(*sum) ? *sum : 0) + value;
}

// Waiting and samples of several threads make no sum that says anything.
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
    put(canvas, box, BY_NAME, model->one_thread ? STYLE_PLAIN : STYLE_ACCENT,
        model->one_thread ? "all threads" : "● all threads");
}

static void draw_list(struct Screen *screen, const struct Order *order,
                      struct Box box, int height)
{
    struct Canvas *canvas = &screen->canvas;
    const struct List *list = &screen->threads.list;
    draw_titles(canvas, box, &screen->threads);
    fit(screen, order, height);
    for (long i = 0; i < height && list->top + i < list->count; i++) {
        long index = list->top + i;
        const struct Thread *thread = at(order, index);
        struct Box line = {box.y + 1 + (int)i, box.x, box.width};
        if (thread)
            draw_thread(canvas, line, &screen->model, thread);
        else
            draw_all(canvas, line, &screen->model);
        if (index != list->selected)
            continue;
        Canvas_put(canvas, line.y, line.x, line.x + 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas, line);
    }
}

// --- The functions of the selected one

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

// All threads': the `height` hottest of all functions.
static int draw_of_all(struct Screen *screen, struct Box box, int height)
{
    const struct Model *model = &screen->model;
    const struct Row *hottest[FUNCTIONS_MOST];
    int count = 0, most = height < FUNCTIONS_MOST ? height : FUNCTIONS_MOST;
    for (size_t i = 0; i < model->row_count; i++) {
        const struct Row *row = &model->rows[i];
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
        draw_function(&screen->canvas, box, &model->window,
                      hottest[i]->now->share, hottest[i]);
    return count;
}

static int draw_of_one(struct Screen *screen, const struct Thread *thread,
                       struct Box box, int height)
{
    int drawn = 0;
    for (size_t i = 0; i < thread->function_count && drawn < height; i++) {
        const struct Caller *part = &thread->functions[i];
        const struct Row *row = part->id == NULL_U64
                                    ? NULL
                                    : Model_row_of(&screen->model, part->id);
        const struct Window *window = &screen->model.window;
        if (Window_basis(window, part->share) == BASIS_NONE)
            continue;
        draw_function(&screen->canvas, box, window, part->share, row);
        box.y++;
        drawn++;
    }
    return drawn;
}

static void draw_functions(struct Screen *screen, const struct Order *order,
                           struct Box box, int height)
{
    const struct Thread *thread = at(order, screen->threads.list.selected);
    struct Canvas *canvas = &screen->canvas;
    char title[128];
    snprintf(title, sizeof title, "FUNCTIONS OF %.80s",
             thread ? name_of(thread) : "ALL THREADS");
    Canvas_fit_right(canvas, (struct Box){box.y, box.x, 6}, STYLE_HEAD,
                     "SHARE");
    Canvas_fit(canvas, (struct Box){box.y, box.x + 8, box.width - 8},
               STYLE_HEAD, CUT_END, title);
    box.y++;
    int drawn = thread ? draw_of_one(screen, thread, box, height)
                       : draw_of_all(screen, box, height);
    if (drawn)
        return;
    const struct Snapshot *now = screen->model.snapshot;
    bool sampled = isfinite(now->sampler_hz);
    Canvas_fit(canvas, box, STYLE_FAINT, CUT_END,
               sampled ? "  It was in no traced function lately."
                       : "  Shares are not sampled.");
    if (sampled || !now->sampler_trouble || height < 2)
        return;
    box = (struct Box){box.y + 1, box.x + 2, box.width - 2};
    Canvas_fit(canvas, box, STYLE_ALERT, CUT_END, now->sampler_trouble);
}

// --- As a view

static void draw_title(struct Screen *screen, const struct Order *order)
{
    const struct Snapshot *now = screen->model.snapshot;
    struct Canvas *canvas = &screen->canvas;
    char number[NUMBER_MAX], text[WINDOW_TEXT];
    struct Strip strip;
    long ended = 0;
    for (long i = 0; i < order->count; i++)
        ended += order->threads[i]->ended == 1;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_STRONG, "Threads");
    Strip_item(&strip, 1);
    Strip_add(&strip, STYLE_PLAIN, "%ld", order->count - ended);
    Strip_add(&strip, STYLE_FAINT, " run");
    if (ended) {
        Strip_add(&strip, STYLE_FAINT, ", ");
        Strip_add(&strip, STYLE_PLAIN, "%ld", ended);
        Strip_add(&strip, STYLE_FAINT, " ended");
    }
    if (now->threads_dropped != NULL_U64 && now->threads_dropped)
        Strip_add(&strip, STYLE_FAINT, ", %s more have, and are not listed",
                  Number_grouped(number, now->threads_dropped));
    Header_add_since(&strip, &screen->model);
    if (isfinite(now->sampler_hz)) {
        Strip_item(&strip, 3);
        Strip_add(&strip, STYLE_FAINT, "shares of one core");
        if (*Window_text(text, &screen->model.window))
            Strip_add(&strip, STYLE_FAINT, ", over %s", text);
    }
    Strip_draw(&strip, canvas,
               (struct Box){screen->layout.title_y, 1, canvas->width - 2}, 3);
}

void ViewThreads_show(struct Screen *screen, const struct Status *status)
{
    struct Canvas *canvas = &screen->canvas;
    const struct Layout *layout = &screen->layout;
    struct Box bar = {layout->table_y, 0, canvas->width}, box = bar, side = bar;
    int height = layout->body_height, lower = height;
    Header_draw_process(canvas, &screen->model, status);
    if (!screen->model.snapshot) {
        Canvas_fit(canvas, (struct Box){layout->body_y, 2, canvas->width - 3},
                   STYLE_FAINT, CUT_END, Status_waiting(status));
        return;
    }
    struct Order order = arrange(screen);
    draw_title(screen, &order);
    Canvas_paint(canvas, bar, STYLE_HEAD);
    if (canvas->width >= SIDE_BY_SIDE) {
        box.width = list_width(screen);
        side.x = box.width + 2;
        side.width = canvas->width - side.x - 1;
    } else {
        // The list takes what it needs, and half at most.
        box.width = list_width(screen);
        height = (height - 1) / 2;
        if (height > order.count + 1)
            height = (int)order.count + 1;
        side = (struct Box){box.y + 1 + height, 2, canvas->width - 3};
        lower = lower - 1 - height;
        bar.y = side.y;
        Canvas_paint(canvas, bar, STYLE_HEAD);
    }
    draw_list(screen, &order, box, height);
    draw_functions(screen, &order, side, lower);
    free(order.threads);
}

bool ViewThreads_find(struct Screen *screen, int step, bool here)
{
    struct List *list = &screen->threads.list;
    struct Order order = arrange(screen);
    long rows = order.count + 1;
    bool found = false;
    for (long away = here ? 0 : 1; away <= rows && !found; away++) {
        long index = (list->selected + step * away + 2 * rows) % rows;
        const struct Thread *thread = at(&order, index);
        found = thread && Text_has(name_of(thread), screen->model.search);
        if (found)
            List_select(list, index);
    }
    pin(screen, &order);
    free(order.threads);
    return found;
}

static void sort_by_neighbour(struct Screen *screen, int step)
{
    struct ThreadsView *view = &screen->threads;
    do
        view->sort = (view->sort + step + COLUMNS_HERE) % COLUMNS_HERE;
    while (!has_column(list_width(screen), view->sort));
}

void ViewThreads_choose(struct Screen *screen, const struct Thread *thread)
{
    bool compared = screen->model.baseline;
    if (thread && !screen->model.sampled) {
        Screen_say(screen, true,
                   "Shares are not sampled: there is nothing to choose by.");
        return;
    }
    Model_watch(&screen->model, thread);
    while (View_back(screen)) // to the main screen
        ;
    if (compared && !screen->model.baseline)
        Screen_say(screen, false,
                   "The baseline is dropped: shares are those of %s%s now.",
                   thread ? "thread " : "all threads",
                   thread ? name_of(thread) : "");
    else if (thread)
        Screen_say(screen, false,
                   "Shares are those of thread %s. All else is of all threads. "
                   "Esc shows all.",
                   name_of(thread));
}

// On a title: sort by it, or turn the order round. On a thread: select it; on
// the one that is selected: choose it.
static void click(struct Screen *screen, const struct Order *order, int x,
                  int y)
{
    struct ThreadsView *view = &screen->threads;
    struct Box box = {y, 0, list_width(screen)};
    long index = List_at(&view->list, y - screen->layout.body_y);
    for (int i = 0; y == screen->layout.table_y && i < COLUMNS_HERE; i++) {
        struct Box title = place(box, i);
        if (!has_column(box.width, i) || x < title.x - 1 ||
            x > title.x + title.width || x >= box.width)
            continue;
        view->invert = i == view->sort && !view->invert;
        view->sort = i;
    }
    if (index < 0 || x >= box.width)
        return;
    if (index == view->list.selected)
        ViewThreads_choose(screen, at(order, index));
    else
        List_select(&view->list, index);
}

bool ViewThreads_press(struct Screen *screen, int request, uint32_t key)
{
    struct ThreadsView *view = &screen->threads;
    struct Order order = arrange(screen);
    bool done = true;
    if (!order.threads)
        return false;
    if (request == THREADS_CHOOSE)
        ViewThreads_choose(screen, at(&order, view->list.selected));
    else if (request == REQUEST_CLICK)
        click(screen, &order, Key_x(key), Key_y(key));
    else if (request == REQUEST_SORT_NEXT)
        sort_by_neighbour(screen, 1);
    else if (request == REQUEST_SORT_PREVIOUS)
        sort_by_neighbour(screen, -1);
    else if (request == REQUEST_INVERT)
        view->invert = !view->invert;
    else
        done = List_move(&view->list, request);
    if (done)
        pin(screen, &order);
    free(order.threads);
    return done;
}
