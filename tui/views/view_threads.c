// SPDX-License-Identifier: MIT
// See view_threads.h.
#include "tui/views/view_threads.h"

#include "tui/model/window.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"
#include "tui/views/header_since.h"
#include "tui/views/navigation.h"
#include "tui/views/threads_functions.h"
#include "tui/views/threads_list.h"
#include "tui/views/ui.h"

#define SIDE_BY_SIDE                                                           \
    110 // cells; on a wider screen the functions stand at the right
#define LIST_WIDTH 60

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

static int list_width(const struct Ui *ui)
{
    int width = ui->canvas.width;
    return width >= SIDE_BY_SIDE ? LIST_WIDTH + (width - SIDE_BY_SIDE) / 4
                                 : width - 1;
}

// --- As a view

static void draw_title(struct Ui *ui, const struct ThreadOrder *order)
{
    const struct Snapshot *now = ui->model.snapshot;
    struct Canvas *canvas = &ui->canvas;
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
    HeaderSince_add(&strip, &ui->model);
    if (isfinite(now->sampler_hz)) {
        Strip_item(&strip, 3);
        Strip_add(&strip, STYLE_FAINT, "shares of one core");
        if (*Window_text(text, &ui->model.window))
            Strip_add(&strip, STYLE_FAINT, ", over %s", text);
    }
    Strip_draw(&strip, canvas,
               (struct Box){ui->layout.title_y, 1, canvas->width - 2}, 3);
}

void ViewThreads_show(struct Ui *ui, const struct Status *status)
{
    struct Canvas *canvas = &ui->canvas;
    const struct Layout *layout = &ui->layout;
    struct Box bar = {layout->table_y, 0, canvas->width}, box = bar, side = bar;
    int height = layout->body_height, lower = height;
    Header_draw_process(canvas, &ui->model, status);
    if (!ui->model.snapshot) {
        Canvas_fit(canvas, (struct Box){layout->body_y, 2, canvas->width - 3},
                   STYLE_FAINT, CUT_END, Status_waiting(status));
        return;
    }
    struct ThreadOrder order =
        ThreadOrder_make(&ui->threads, ui->model.snapshot);
    draw_title(ui, &order);
    Canvas_paint(canvas, bar, STYLE_HEAD);
    if (canvas->width >= SIDE_BY_SIDE) {
        box.width = list_width(ui);
        side.x = box.width + 2;
        side.width = canvas->width - side.x - 1;
    } else {
        // The list takes the lines that it needs, and half at most.
        box.width = list_width(ui);
        height = (height - 1) / 2;
        if (height > order.count + 1)
            height = (int)order.count + 1;
        side = (struct Box){box.y + 1 + height, 2, canvas->width - 3};
        lower = lower - 1 - height;
        bar.y = side.y;
        Canvas_paint(canvas, bar, STYLE_HEAD);
    }
    ThreadsList_draw(ui, &order, box, height);
    ThreadsFunctions_draw(ui, &order, side, lower);
    ThreadOrder_release(&order);
}

bool ViewThreads_find(struct Ui *ui, int step, bool here)
{
    struct List *list = &ui->threads.list;
    struct ThreadOrder order =
        ThreadOrder_make(&ui->threads, ui->model.snapshot);
    long rows = order.count + 1;
    bool found = false;
    for (long away = here ? 0 : 1; away <= rows && !found; away++) {
        long index = (list->selected + step * away + 2 * rows) % rows;
        const struct Thread *thread = ThreadOrder_at(&order, index);
        found = thread && Text_has(ThreadOrder_name(thread), ui->model.search);
        if (found)
            List_go(list, index);
    }
    ThreadsState_pin(&ui->threads, &order);
    ThreadOrder_release(&order);
    return found;
}

static void sort_by_neighbour(struct Ui *ui, int step)
{
    struct ThreadsState *state = &ui->threads;
    do
        state->sort = (state->sort + step + THREADS_COLUMNS) % THREADS_COLUMNS;
    while (!ThreadsList_has(list_width(ui), state->sort));
}

void ViewThreads_choose(struct Ui *ui, const struct Thread *thread)
{
    bool compared = ui->model.baseline;
    if (thread && !ui->model.sampled) {
        Ui_say(ui, true,
               "Shares are not sampled: there is nothing to choose by.");
        return;
    }
    Model_watch(&ui->model, thread);
    while (Navigation_back(ui)) // to the main screen
        ;
    if (compared && !ui->model.baseline)
        Ui_say(ui, false,
               "The baseline is dropped: shares are those of %s%s now.",
               thread ? "thread " : "all threads",
               thread ? ThreadOrder_name(thread) : "");
    else if (thread)
        Ui_say(ui, false,
               "Shares are those of thread %s. All else is of all threads. "
               "Esc shows all.",
               ThreadOrder_name(thread));
}

// A click on a title sorts by it, or inverts the order. A click on a thread
// selects it, and one on the selected thread chooses it.
static void click(struct Ui *ui, const struct ThreadOrder *order, int x, int y)
{
    struct ThreadsState *state = &ui->threads;
    struct Box box = {y, 0, list_width(ui)};
    long index = List_at(&state->list, y - ui->layout.body_y);
    for (int i = 0; y == ui->layout.table_y && i < THREADS_COLUMNS; i++) {
        struct Box title = ThreadsList_place(box, i);
        if (!ThreadsList_has(box.width, i) || x < title.x - 1 ||
            x > title.x + title.width || x >= box.width)
            continue;
        state->invert = i == state->sort && !state->invert;
        state->sort = i;
    }
    if (index < 0 || x >= box.width)
        return;
    if (index == state->list.selected)
        ViewThreads_choose(ui, ThreadOrder_at(order, index));
    else
        List_go(&state->list, index);
}

bool ViewThreads_press(struct Ui *ui, int request, uint32_t key)
{
    struct ThreadsState *state = &ui->threads;
    struct ThreadOrder order =
        ThreadOrder_make(&ui->threads, ui->model.snapshot);
    bool done = true;
    if (!order.threads)
        return false;
    if (request == THREADS_CHOOSE)
        ViewThreads_choose(ui, ThreadOrder_at(&order, state->list.selected));
    else if (request == REQUEST_CLICK)
        click(ui, &order, Key_x(key), Key_y(key));
    else if (request == REQUEST_SORT_MENU || request == REQUEST_SORT_NEXT)
        sort_by_neighbour(ui, 1);
    else if (request == REQUEST_SORT_PREVIOUS)
        sort_by_neighbour(ui, -1);
    else if (request == REQUEST_INVERT)
        state->invert = !state->invert;
    else
        done = List_move(&state->list, request);
    if (done)
        ThreadsState_pin(&ui->threads, &order);
    ThreadOrder_release(&order);
    return done;
}
