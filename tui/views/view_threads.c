// SPDX-License-Identifier: MIT
#include "tui/views/view_threads.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Least width in cells of a screen that shows the functions at the right of the
// threads.
#define SIDE_BY_SIDE 110
#define LIST_WIDTH 76
#define FUNCTIONS_MOST 128

enum { THREADS_CHOOSE = REQUEST_OWN };

static const struct Binding KEYS[] = {
    BINDING(THREADS_CHOOSE, 0,
            "the main screen shows this thread alone, or all", NULL, "Choose",
            2, PRESS_ENTER, PRESS_RIGHT),
    {.request = 0},
};

static int list_width(const struct Ui *ui)
{
    int width = ui->canvas.width;
    return width >= SIDE_BY_SIDE ? LIST_WIDTH + (width - SIDE_BY_SIDE) * 3 / 10
                                 : width;
}

// --- The threads

static const struct ListColumn COLUMNS_OF_THREADS[THREADS_COLUMNS] = {
    [THREADS_BY_CPU] = LIST_COLUMN("CPU", 6, 2),
    [THREADS_BY_WAIT] = LIST_COLUMN("WAIT", 6, 2),
    [THREADS_BY_GIL_WAIT] = LIST_COLUMN("FOR GIL", 7, 2),
    [THREADS_BY_GIL_HELD] = LIST_COLUMN("HOLDS", 6, 2),
    [THREADS_BY_TIME] = LIST_COLUMN("CPU TIME", 9, 2),
    [THREADS_BY_SAMPLES] =
        LIST_COLUMN("SAMPLES", 7, 2, .importance = 2, .room = 22),
    [THREADS_BY_TID] =
        LIST_COLUMN("TID", 8, 2, .importance = 1, .room = 11, .a_to_z = true),
    [THREADS_BY_NAME] = LIST_COLUMN("THREAD", 11, 2, .grows = 100, .left = true,
                                    .a_to_z = true),
};

// Writes a share, or its change since the baseline.
static void write_share(struct ListCell *cell, double share, double before)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 1];
    double change = share - before;
    if (isnan(share))
        return;
    if (isnan(before)) {
        ListCell_put(cell, STYLE_PLAIN, Window_plain_share(number, share));
        return;
    }
    Number_percent(number, fabs(change));
    bool none = !strpbrk(number, "123456789");
    const char *sign = change < 0 ? "-" : "+";
    snprintf(text, sizeof text, "%s%s", none ? "" : sign, number);
    ListCell_put(cell,
                 none         ? STYLE_FAINT
                 : change > 0 ? STYLE_HEAT_4
                              : STYLE_ARMED,
                 text);
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct Ui *ui = rows->source;
    const struct Thread *thread = ThreadsState_at(&ui->threads, row);
    return thread && Text_has(ThreadsState_name(thread), text);
}

static void write_thread(struct ListCell *cell, const struct ListRows *rows,
                         long row, int column)
{
    const struct Ui *ui = rows->source;
    const struct Model *model = &ui->model;
    const struct Thread *thread = ThreadsState_at(&ui->threads, row);
    struct ThreadFigures one =
        thread ? ThreadFigures_of(model, thread) : ThreadFigures_of_all(model);
    bool ended = thread && thread->ended == 1;
    bool chosen = thread ? thread == Model_thread(model) : !model->one_thread;
    enum Style style = ended ? STYLE_DARK : STYLE_PLAIN;
    char text[NUMBER_MAX], name[160];
    if (column == THREADS_BY_CPU && isnan(one.cpu_before)) {
        ListCell_share(cell, &model->window, one.cpu);
    } else if (column == THREADS_BY_CPU) {
        write_share(cell, one.cpu, one.cpu_before);
    } else if (column == THREADS_BY_WAIT) {
        write_share(cell, one.wait, one.wait_before);
    } else if (column == THREADS_BY_GIL_HELD) {
        write_share(cell, one.gil_held, NAN);
    } else if (column == THREADS_BY_GIL_WAIT) {
        write_share(cell, one.gil_wait, NAN);
    } else if (column == THREADS_BY_TIME && isfinite(one.seconds)) {
        ListCell_put(cell, style, Number_ns(text, one.seconds * 1e9));
    } else if (column == THREADS_BY_SAMPLES && isfinite(one.samples)) {
        ListCell_put(cell, style, Number_count(text, one.samples));
    } else if (column == THREADS_BY_TID && thread) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)thread->tid);
        ListCell_put(cell, STYLE_FAINT, text);
    } else if (column == THREADS_BY_NAME) {
        snprintf(name, sizeof name, "%s%.100s%s", chosen ? "● " : "",
                 thread ? ThreadsState_name(thread) : "all threads",
                 ended ? " (ended)" : "");
        ListCell_put(cell, chosen ? STYLE_ACCENT : style, name);
    }
}

static struct ListRows rows_of(struct Ui *ui)
{
    struct ThreadsState *state = &ui->threads;
    const struct List *list = &ui->lists[VIEW_THREADS];
    state->sort = list->sort;
    state->invert = list->invert;
    ThreadsState_arrange(state, ui->model.snapshot);
    return (struct ListRows){.source = ui,
                             .count = state->count + 1,
                             .columns = COLUMNS_OF_THREADS,
                             .column_count = THREADS_COLUMNS,
                             .sorts = true,
                             .has = has_text,
                             .write = write_thread};
}

static void follow_pinned(struct Ui *ui)
{
    long row = ThreadsState_row(&ui->threads, ui->model.snapshot);
    if (row >= 0)
        ui->lists[VIEW_THREADS].selected = row;
}

static const struct Thread *selected(const struct Ui *ui)
{
    return ThreadsState_at(&ui->threads, ui->lists[VIEW_THREADS].selected);
}

// --- The functions of the selected thread

struct Functions { // Source of the rows with functions.
    const struct Model *model;
    struct {
        // The row of the function, or NULL for the sum of all other functions.
        const struct Row *row;
        double share;
    } items[FUNCTIONS_MOST];
    long count;
};

static void write_function(struct ListCell *cell, const struct ListRows *rows,
                           long index, int column)
{
    const struct Functions *functions = rows->source;
    const struct Row *row = functions->items[index].row;
    if (column == 0)
        ListCell_share(cell, &functions->model->window,
                       functions->items[index].share);
    else if (!row)
        ListCell_put(cell, STYLE_FAINT, column == 1 ? "others" : "");
    else if (column == 1)
        ListCell_put(cell, STYLE_PLAIN, Column_text_key(COLUMN_FUNCTION, row));
    else
        ListCell_place(cell, STYLE_FAINT, row->now->file, row->now->line);
}

// Collects the functions with the largest shares over all threads.
static void collect_of_all(struct Functions *functions)
{
    const struct Model *model = functions->model;
    for (size_t i = 0; i < model->rows.count; i++) {
        const struct Row *row = &model->rows.items[i];
        long at = functions->count;
        if (!row->now || !Model_shows_file(model, row->now->file) ||
            Window_basis(&row->window, row->now->share) == BASIS_NONE)
            continue;
        while (at > 0 && functions->items[at - 1].share < row->now->share)
            at--;
        if (at >= FUNCTIONS_MOST)
            continue;
        functions->count += functions->count < FUNCTIONS_MOST;
        memmove(&functions->items[at + 1], &functions->items[at],
                (size_t)(functions->count - 1 - at) *
                    sizeof functions->items[0]);
        functions->items[at].row = row;
        functions->items[at].share = row->now->share;
    }
}

static void collect_of_one(struct Functions *functions,
                           const struct Thread *thread)
{
    const struct Model *model = functions->model;
    for (size_t i = 0;
         i < thread->function_count && functions->count < FUNCTIONS_MOST; i++) {
        const struct Caller *part = &thread->functions[i];
        const struct Row *row =
            part->id == NULL_U64 ? NULL : Model_row_of(model, part->id);
        if (Window_basis(&model->window, part->share) == BASIS_NONE ||
            !Model_shows_file(model, row ? row->now->file : NULL))
            continue;
        long at = functions->count++;
        functions->items[at].row = row;
        functions->items[at].share = part->share;
    }
}

static void draw_functions(struct Ui *ui, const struct Thread *thread,
                           struct Box box, int height)
{
    const struct Snapshot *now = ui->model.snapshot;
    struct Functions functions = {.model = &ui->model};
    struct List list = {.unmarked = true};
    char title[128];
    const struct ListColumn columns[] = {
        {.title = "SHARE", .width = 6},
        LIST_COLUMN(title, 20, 2, .grows = 60, .left = true, .cut = CUT_START),
        LIST_COLUMN(NULL, 18, 2, .importance = 1, .room = 30, .grows = 40,
                    .path = true),
    };
    struct ListRows rows = {.source = &functions,
                            .columns = columns,
                            .column_count = 3,
                            .write = write_function};
    snprintf(title, sizeof title, "%sFUNCTIONS OF %.80s",
             ui->model.own_only ? "OWN " : "",
             thread ? ThreadsState_name(thread) : "ALL THREADS");
    if (thread)
        collect_of_one(&functions, thread);
    else
        collect_of_all(&functions);
    rows.count = functions.count;
    List_draw(&list, &rows, &ui->canvas, box, height);
    if (functions.count)
        return;
    bool sampled = isfinite(now->sampler_hz);
    box.y++;
    Canvas_fit(&ui->canvas, box, STYLE_FAINT, CUT_END,
               sampled ? "  It was in no traced function recently."
                       : "  Shares are not sampled.");
    if (sampled || !now->sampler_trouble || height < 2)
        return;
    box = (struct Box){box.y + 1, box.x + 2, box.width - 3};
    Canvas_fit(&ui->canvas, box, STYLE_ALERT, CUT_END, now->sampler_trouble);
}

// --- As a view

// Adds the longest time in which a thread had the GIL while another thread
// waited for it, and the stack of the thread that had it.
static void add_longest_hold(struct Strip *strip, const struct Snapshot *now)
{
    char number[NUMBER_MAX];
    if (!isfinite(now->gil_longest_s))
        return;
    Strip_label(strip, 2, "GIL held up to", "%s",
                Number_ns(number, now->gil_longest_s * 1e9));
    for (size_t i = 0; i < now->gil_longest_count; i++) {
        const struct StackPlace *place = &now->gil_longest[i];
        Strip_add(strip, i ? STYLE_FAINT : STYLE_PLAIN, "%s%.100s",
                  i ? " < " : " in ", place->name ? place->name : "?");
        if (place->line != NULL_U64)
            Strip_add(strip, STYLE_FAINT, ":%llu",
                      (unsigned long long)place->line);
    }
    Strip_flex(strip, 50);
}

static void draw_title(struct Ui *ui)
{
    const struct Snapshot *now = ui->model.snapshot;
    char number[NUMBER_MAX], text[WINDOW_TEXT];
    struct Strip strip;
    long ended = 0;
    for (long i = 0; i < ui->threads.count; i++)
        ended += ui->threads.order[i]->ended == 1;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Threads");
    Strip_put(&strip, 1, STYLE_PLAIN, "%ld", ui->threads.count - ended);
    Strip_add(&strip, STYLE_FAINT, " run");
    if (ended) {
        Strip_add(&strip, STYLE_FAINT, ", ");
        Strip_add(&strip, STYLE_PLAIN, "%ld", ended);
        Strip_add(&strip, STYLE_FAINT, " ended");
    }
    if (now->threads_dropped != NULL_U64 && now->threads_dropped)
        Strip_add(&strip, STYLE_FAINT, ", %s more have, and are not listed",
                  Number_grouped(number, now->threads_dropped));
    Header_add_since(&strip, &ui->model);
    add_longest_hold(&strip, now);
    if (isfinite(now->sampler_hz)) {
        Strip_put(&strip, 3, STYLE_FAINT, "shares of one core");
        if (*Window_text(text, &ui->model.window))
            Strip_add(&strip, STYLE_FAINT, ", over %s", text);
    }
    Ui_draw_title(ui, &strip);
}

static void draw(struct Ui *ui, const struct Status *status)
{
    struct Canvas *canvas = &ui->canvas;
    const struct Layout *layout = &ui->layout;
    struct Box box = {layout->table_y, 0, list_width(ui)}, side = box;
    int height = layout->body_height, lower = height;
    if (!ui->model.snapshot) {
        Ui_draw_nothing(ui, Status_waiting(status));
        return;
    }
    struct ListRows rows = rows_of(ui);
    follow_pinned(ui);
    draw_title(ui);
    if (canvas->width >= SIDE_BY_SIDE) {
        side.x = box.width + 1;
    } else {
        height = List_half(&rows, height);
        side.y = box.y + 1 + height;
        side.x = 2;
        lower = lower - 1 - height;
        Canvas_paint(canvas, (struct Box){side.y, 0, side.x}, STYLE_HEAD);
    }
    side.width = canvas->width - side.x;
    List_draw(&ui->lists[VIEW_THREADS], &rows, canvas, box, height);
    draw_functions(ui, selected(ui), side, lower);
}

static bool find(struct Ui *ui, int step, bool here)
{
    struct ListRows rows = rows_of(ui);
    bool found = List_find(&ui->lists[VIEW_THREADS], &rows, ui->model.search,
                           step, here);
    ThreadsState_pin(&ui->threads, selected(ui));
    return found;
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
    while (Navigation_back(ui)) // Goes back to the main screen.
        ;
    if (compared && !ui->model.baseline)
        Ui_say(ui, false,
               "The baseline is dropped: shares are those of %s%s now.",
               thread ? "thread " : "all threads",
               thread ? ThreadsState_name(thread) : "");
    else if (thread)
        Ui_say(ui, false,
               "Shares are those of thread %s. All else is of all threads. "
               "Esc shows all.",
               ThreadsState_name(thread));
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct ThreadsState *state = &ui->threads;
    struct List *list = &ui->lists[VIEW_THREADS];
    struct ListRows rows = rows_of(ui);
    follow_pinned(ui);
    if (request == REQUEST_SORT_MENU)
        request = REQUEST_SORT_NEXT;
    enum ListAnswer answer = List_press(list, &rows, request, key);
    const struct Thread *thread = selected(ui);
    if (answer != LIST_IGNORES)
        ThreadsState_pin(state, thread);
    if (answer == LIST_OPENS || request == THREADS_CHOOSE)
        ViewThreads_choose(ui, thread);
    return answer != LIST_IGNORES || request == THREADS_CHOOSE;
}

const struct View THREADS_VIEW = {
    .name = "Threads",
    .opens = BINDING(0, 0, "threads: shares of each, one or all", NULL,
                     "Threads", 8, 't'),
    .own = KEYS,
    .can = CAN_SORT | CAN_SEARCH | CAN_COUNT | CAN_RESET | CAN_OWN_CODE,
    .draw = draw,
    .press = press,
    .find = find};
