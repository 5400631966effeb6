// SPDX-License-Identifier: MIT
// See model.h.
#define _GNU_SOURCE 1 // qsort_r
#include "tui/model/model.h"

#include "tui/model/deopt.h"
#include "tui/model/window.h"
#include "tui/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A function that is missing from so many snapshots is forgotten: the process
// may send its hottest functions only, and their company changes.
#define FORGET_AFTER TREND_LENGTH

void Model_init(struct Model *model)
{
    *model = (struct Model){.sort = COLUMN_SHARE, .window = Window_unknown()};
    for (int i = 0; i < TREND_LENGTH; i++)
        model->trend[i] = NAN;
    Tally_init(&model->tally);
}

void Model_release(struct Model *model)
{
    Snapshot_free(model->snapshot);
    free(model->rows);
    free(model->slots);
    free(model->order);
    Mark_release(&model->reset_mark);
    Mark_release(&model->baseline_mark);
    *model = (struct Model){0};
}

// --- Rows by id

static uint32_t *find_slot(const struct Model *model, uint64_t id)
{
    size_t mask = model->slot_count - 1;
    size_t at = (size_t)(id * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (model->slots[at] && model->rows[model->slots[at] - 1].id != id)
        at = (at + 1) & mask;
    return &model->slots[at];
}

static void rebuild_slots(struct Model *model)
{
    memset(model->slots, 0, model->slot_count * sizeof *model->slots);
    for (size_t i = 0; i < model->row_count; i++)
        *find_slot(model, model->rows[i].id) = (uint32_t)i + 1;
}

// Makes room for `more` new rows, so that what follows cannot fail.
static int reserve(struct Model *model, size_t more)
{
    size_t wanted = model->row_count + more;
    if (wanted <= model->row_capacity)
        return 0;
    size_t slots = 64, capacity;
    while (slots / 2 < wanted)
        slots *= 2;
    capacity = slots / 2;
    if (capacity >= UINT32_MAX)
        return -ENOMEM;
    struct Row *rows = realloc(model->rows, capacity * sizeof *rows);
    if (rows)
        model->rows = rows;
    uint32_t *order = realloc(model->order, capacity * sizeof *order);
    if (order)
        model->order = order;
    uint32_t *table = malloc(slots * sizeof *table);
    if (!rows || !order || !table) {
        free(table);
        return -ENOMEM;
    }
    free(model->slots);
    model->slots = table;
    model->slot_count = slots;
    model->row_capacity = capacity;
    rebuild_slots(model);
    return 0;
}

static void forget(struct Model *model)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->row_count; i++)
        if (model->rows[i].unseen < FORGET_AFTER)
            model->rows[kept++] = model->rows[i];
    if (kept == model->row_count)
        return;
    model->row_count = kept;
    rebuild_slots(model);
}

static struct Row *take_row(struct Model *model, uint64_t id)
{
    uint32_t *slot = find_slot(model, id);
    if (!*slot) {
        Row_init(&model->rows[model->row_count++], id);
        *slot = (uint32_t)model->row_count;
    }
    return &model->rows[*slot - 1];
}

const struct Thread *Model_thread(const struct Model *model)
{
    return model->snapshot && model->one_thread
               ? ThreadKey_find(&model->thread, model->snapshot)
               : NULL;
}

const struct Row *Model_row_of(const struct Model *model, uint64_t id)
{
    uint32_t slot = model->slots ? *find_slot(model, id) : 0;
    const struct Row *row = slot ? &model->rows[slot - 1] : NULL;
    return row && row->now ? row : NULL;
}

// A function that the chosen thread has not been seen in has no share, and is
// not shown.
static void share_out(struct Model *model)
{
    const struct Thread *thread = Model_thread(model);
    if (thread) // it may have ended, or been renamed
        model->thread = ThreadKey_of(thread);
    for (size_t i = 0; i < model->row_count; i++) {
        struct Row *row = &model->rows[i];
        row->part = model->one_thread;
        row->part_share = NAN;
    }
    if (!model->slots) // no function was ever listed
        return;
    for (size_t i = 0; thread && i < thread->function_count; i++) {
        const struct Caller *part = &thread->functions[i];
        uint32_t slot = *find_slot(model, part->id);
        if (slot)
            model->rows[slot - 1].part_share = part->share;
    }
}

static void update_rows(struct Model *model)
{
    const struct Snapshot *snapshot = model->snapshot;
    struct Deopt deopt;
    Deopt_init(&deopt, snapshot); // without memory there are no marks
    for (size_t i = 0; i < model->row_count; i++)
        model->rows[i].now = NULL;
    for (size_t i = 0; i < snapshot->function_count; i++) {
        const struct Function *function = &snapshot->functions[i];
        struct Row *row = take_row(model, function->id);
        row->now = function;
        row->window = model->window;
        row->deopt = Deopt_has(&deopt, function);
    }
    share_out(model);
    for (size_t i = 0; i < model->row_count; i++) {
        struct Row *row = &model->rows[i];
        row->unseen = row->now ? 0 : row->unseen + 1;
        Row_push_trend(row, row->now ? Row_share(row) : NAN);
    }
    Deopt_release(&deopt);
    forget(model);
}

double Model_share(const struct Model *model)
{
    const struct Thread *thread = Model_thread(model);
    if (model->one_thread)
        return thread ? thread->cpu_share : NAN;
    return model->tally.share;
}

double Model_unlisted(const struct Model *model)
{
    const struct Thread *thread = Model_thread(model);
    double sum = NAN;
    for (size_t i = 0; thread && i < thread->function_count; i++)
        if (!Model_row_of(model, thread->functions[i].id))
            sum = (isnan(sum) ? 0 : sum) + thread->functions[i].share;
    return sum;
}

static void update_whole(struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    memmove(model->trend, model->trend + 1,
            sizeof model->trend - sizeof *model->trend);
    model->trend[TREND_LENGTH - 1] = (float)Model_share(model);
    model->sampled = now->function_count == 0 && isfinite(now->sampler_hz);
    for (size_t i = 0; i < now->function_count && !model->sampled; i++)
        model->sampled = isfinite(now->functions[i].share);
}

// --- Order

struct SortItem {
    double key;
    const char *text;
    double share;
    double recent; // cycles a second
    double self;   // cycles
    uint64_t id;
    uint32_t row;
    bool idle;
};

struct SortWay {
    bool by_text;
    bool sinks; // idle functions are last either way
    int sign;   // -1 turns the order round
};

static int larger_first(double a, double b)
{
    return (a < b) - (a > b);
}

// What has no key of its own stands by what it costs. The id is last, so that
// rows do not dance.
static int compare_equals(const struct SortItem *a, const struct SortItem *b)
{
    int result = a->idle - b->idle;
    if (!result)
        result = larger_first(a->share, b->share);
    if (!result)
        result = larger_first(a->recent, b->recent);
    if (!result)
        result = larger_first(a->self, b->self);
    return result ? result : (a->id > b->id) - (a->id < b->id);
}

// Null is last either way.
static int compare(const void *left, const void *right, void *context)
{
    const struct SortItem *a = left, *b = right;
    const struct SortWay *way = context;
    int result = way->sinks ? a->idle - b->idle : 0;
    if (result)
        return result;
    if (way->by_text) {
        result = way->sign * strcmp(a->text, b->text);
    } else if (isnan(a->key) || isnan(b->key)) {
        result = isnan(a->key) - isnan(b->key);
    } else {
        result = way->sign * larger_first(a->key, b->key);
    }
    return result ? result : compare_equals(a, b);
}

static bool matches(const struct Row *row, const char *text)
{
    if (row->part && isnan(row->part_share))
        return false;
    return Text_has(row->now->name, text) || Text_has(row->now->file, text);
}

static void keep_selection(struct Model *model)
{
    if (!model->follows) {
        model->selected = 0;
        return;
    }
    for (size_t i = 0; i < model->shown; i++)
        if (model->rows[model->order[i]].id == model->selected_id) {
            model->selected = i;
            return;
        }
    // It is filtered out or gone: stay where it was.
    if (model->selected >= model->shown)
        model->selected = model->shown ? model->shown - 1 : 0;
}

// What is left of a sample that the window has forgotten is no share.
static double seen_share(const struct Row *row, double share)
{
    return Window_basis(&row->window, share) == BASIS_NONE && share > 0 ? 0
                                                                        : share;
}

static struct SortItem item_of(const struct Model *model, size_t index,
                               enum ColumnId id)
{
    const struct Row *row = &model->rows[index];
    const struct Column *column = &COLUMNS[id];
    double share = Row_share(row), self = Row_self(row);
    struct SortItem item = {
        .share = isnan(share) ? 0 : seen_share(row, share),
        .recent = Row_recent_cost(row),
        .self = isnan(self) ? 0 : self,
        .id = row->id,
        .row = (uint32_t)index,
        .idle = Row_is_idle(row),
    };
    if (column->by_text)
        item.text = Column_text_key(id, row);
    else
        item.key = Column_key(id, row, model->baseline);
    if (id == COLUMN_SHARE && !model->baseline)
        item.key = seen_share(row, item.key);
    else if (id == COLUMN_SHARE && // less than a sample is no change
             Window_basis(&row->window, fabs(item.key)) <= BASIS_TRACE)
        item.key = isnan(item.key) ? NAN : 0;
    return item;
}

static size_t collect(struct Model *model, struct SortItem *items)
{
    enum ColumnId id = Model_sort_column(model);
    size_t count = 0;
    for (size_t i = 0; i < model->row_count; i++) {
        const struct Row *row = &model->rows[i];
        if (!row->now || !matches(row, model->filter))
            continue;
        items[count] = item_of(model, i, id);
        if (model->hide_idle && items[count].idle)
            model->hidden++;
        else
            count++;
    }
    return count;
}

// Without memory for the sort the rows stay in the order of their indexes.
static void arrange(struct Model *model)
{
    struct SortItem *items = malloc((model->row_count + 1) * sizeof *items);
    const struct Column *column = &COLUMNS[Model_sort_column(model)];
    struct SortWay way = {.by_text = column->by_text,
                          .sinks = column->sampled,
                          .sign = model->invert ? -1 : 1};
    model->shown = model->hidden = 0;
    if (!items) {
        for (size_t i = 0; i < model->row_count; i++)
            if (model->rows[i].now && matches(&model->rows[i], model->filter))
                model->order[model->shown++] = (uint32_t)i;
    } else {
        model->shown = collect(model, items);
        qsort_r(items, model->shown, sizeof *items, compare, &way);
        for (size_t i = 0; i < model->shown; i++)
            model->order[i] = items[i].row;
    }
    free(items);
    keep_selection(model);
}

static void drop_baseline(struct Model *model)
{
    model->baseline = false;
    Mark_release(&model->baseline_mark);
}

// Tracing began anew in the process: ids and counts mean other things now.
static void start_over(struct Model *model)
{
    model->row_count = 0;
    model->reset = false;
    Mark_release(&model->reset_mark);
    drop_baseline(model);
    Tally_init(&model->tally);
    if (model->slots)
        rebuild_slots(model);
}

int Model_push(struct Model *model, struct Snapshot *snapshot)
{
    struct Snapshot *before = model->snapshot;
    if (reserve(model, snapshot->function_count)) {
        Snapshot_free(snapshot);
        return -ENOMEM;
    }
    if (before && snapshot->uptime_s < before->uptime_s)
        start_over(model);
    model->snapshot = snapshot;
    Tally_update(&model->tally, snapshot, before);
    model->window = Window_of(snapshot, model->tally.share);
    update_rows(model);
    update_whole(model);
    Snapshot_free(before);
    arrange(model);
    return 0;
}

void Model_reset(struct Model *model)
{
    if (!model->snapshot)
        return;
    for (size_t i = 0; i < model->row_count; i++)
        Row_reset(&model->rows[i]);
    if (model->baseline)
        Model_baseline(model);                      // of counts that are gone
    Mark_take(&model->reset_mark, model->snapshot); // or since the start
    model->reset = true;
    model->base_uptime = model->snapshot->uptime_s;
    model->base_events = model->snapshot->events;
    model->base_lost = model->snapshot->lost;
    arrange(model);
}

void Model_baseline(struct Model *model)
{
    if (!model->snapshot)
        return;
    model->baseline = !model->baseline;
    model->baseline_uptime = model->snapshot->uptime_s;
    Mark_release(&model->baseline_mark);
    for (size_t i = 0; model->baseline && i < model->row_count; i++) {
        struct Row *row = &model->rows[i];
        for (int id = 0; id < COLUMN_COUNT; id++)
            row->mark[id] =
                row->now && COLUMNS[id].key ? COLUMNS[id].key(row) : NAN;
    }
    if (model->baseline)
        Mark_take(&model->baseline_mark, model->snapshot);
    arrange(model);
}

double Model_pair_count(const struct Model *model,
                        const struct TransitionPair *pair)
{
    double before = Mark_pair(&model->reset_mark, pair);
    if (model->baseline)
        before = fmax(before, Mark_pair(&model->baseline_mark, pair));
    return Row_u64(pair->count) - before;
}

// --- The user's choices

enum ColumnId Model_sort_column(const struct Model *model)
{
    return COLUMNS[model->sort].sampled && !model->sampled ? COLUMN_SELF
                                                           : model->sort;
}

void Model_sort_by(struct Model *model, enum ColumnId column)
{
    model->sort = column;
    arrange(model);
}

void Model_invert(struct Model *model)
{
    model->invert = !model->invert;
    arrange(model);
}

void Model_watch(struct Model *model, const struct Thread *thread)
{
    struct ThreadKey key = {0};
    if (thread)
        key = ThreadKey_of(thread);
    if (model->one_thread == (thread != NULL) &&
        ThreadKey_equal(&model->thread, &key))
        return;
    model->one_thread = thread != NULL;
    model->thread = key;
    share_out(model);
    // What the curves show, and what shares were, is of another subject now.
    drop_baseline(model);
    for (int i = 0; i < TREND_LENGTH; i++)
        model->trend[i] = NAN;
    for (size_t i = 0; i < model->row_count; i++) {
        struct Row *row = &model->rows[i];
        for (int k = 0; k < TREND_LENGTH; k++)
            row->trend[k] = NAN;
        Row_push_trend(row, row->now ? Row_share(row) : NAN);
    }
    model->trend[TREND_LENGTH - 1] = (float)Model_share(model);
    arrange(model);
}

void Model_filter(struct Model *model, const char *text)
{
    snprintf(model->filter, sizeof model->filter, "%s", text);
    arrange(model);
}

void Model_toggle_idle(struct Model *model)
{
    model->hide_idle = !model->hide_idle;
    arrange(model);
}

const struct Row *Model_row(const struct Model *model, size_t index)
{
    return index < model->shown ? &model->rows[model->order[index]] : NULL;
}

const struct Row *Model_selected(const struct Model *model)
{
    return Model_row(model, model->selected);
}

static void choose(struct Model *model, size_t index)
{
    const struct Row *row = Model_row(model, index);
    if (!row)
        return;
    model->selected = index;
    model->selected_id = row->id;
    model->follows = true;
}

bool Model_choose(struct Model *model, uint64_t id)
{
    for (size_t i = 0; i < model->shown; i++)
        if (model->rows[model->order[i]].id == id) {
            choose(model, i);
            return true;
        }
    return false;
}

void Model_move(struct Model *model, long rows)
{
    long last = (long)model->shown - 1;
    long index = (long)model->selected + rows;
    index = index > last ? last : index;
    choose(model, (size_t)(index < 0 ? 0 : index));
}

void Model_home(struct Model *model)
{
    model->follows = false;
    model->selected = 0;
}

void Model_end(struct Model *model)
{
    if (model->shown)
        choose(model, model->shown - 1);
}

bool Model_find(struct Model *model, int step, bool here)
{
    size_t count = model->shown;
    if (!count || !*model->search)
        return false;
    for (size_t i = here ? 0 : 1; i <= count; i++) {
        size_t away = i % count;
        size_t index = step > 0 ? (model->selected + away) % count
                                : (model->selected + count - away) % count;
        if (matches(Model_row(model, index), model->search)) {
            choose(model, index);
            return true;
        }
    }
    return false;
}

void Model_scroll(struct Model *model, int height)
{
    size_t rows = height > 0 ? (size_t)height : 1;
    if (model->selected < model->top)
        model->top = model->selected;
    if (model->selected >= model->top + rows)
        model->top = model->selected - rows + 1;
    if (model->top + rows > model->shown)
        model->top = model->shown > rows ? model->shown - rows : 0;
}
