// SPDX-License-Identifier: MIT
#include "tui/model/model.h"

#include "ipc/own_file.h"
#include "tui/model/deopt.h"
#include "tui/model/window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void Model_init(struct Model *model)
{
    *model = (struct Model){.sort = COLUMN_SHARE,
                            .other_sort = COLUMN_WALL_P99,
                            .window = Window_unknown()};
    for (int i = 0; i < TREND_LENGTH; i++)
        model->trend[i] = NAN;
    Tally_init(&model->tally);
}

void Model_release(struct Model *model)
{
    Snapshot_free(model->snapshot);
    RowTable_release(&model->rows);
    free(model->order);
    Mark_release(&model->reset_mark);
    Mark_release(&model->baseline_mark);
    *model = (struct Model){0};
}

const struct Thread *Model_thread(const struct Model *model)
{
    return model->snapshot && model->one_thread
               ? ThreadKey_find(&model->thread, model->snapshot)
               : NULL;
}

const struct Row *Model_row_of(const struct Model *model, uint64_t id)
{
    const struct Row *row = RowTable_find(&model->rows, id);
    return row && row->now ? row : NULL;
}

// Sets the share of each row to the function's share in the chosen thread. If
// no sample has found a function in this thread, the function's share is NaN
// and the function is not shown.
static void share_out(struct Model *model)
{
    const struct Thread *thread = Model_thread(model);
    if (thread) // The thread may have ended or changed its name.
        model->thread = ThreadKey_of(thread);
    for (size_t i = 0; i < model->rows.count; i++) {
        struct Row *row = &model->rows.items[i];
        row->part = model->one_thread;
        row->part_share = NAN;
    }
    for (size_t i = 0; thread && i < thread->function_count; i++) {
        const struct Caller *part = &thread->functions[i];
        struct Row *row = RowTable_find(&model->rows, part->id);
        if (row)
            row->part_share = part->share;
    }
}

static void update_rows(struct Model *model)
{
    const struct Snapshot *snapshot = model->snapshot;
    for (size_t i = 0; i < model->rows.count; i++)
        model->rows.items[i].now = NULL;
    for (size_t i = 0; i < snapshot->function_count; i++) {
        const struct Function *function = &snapshot->functions[i];
        struct Row *row = RowTable_take(&model->rows, function->id);
        Row_take(row, function, model->window, model->fleet);
        row->uptime_s = snapshot->uptime_s;
        row->deopt = false;
    }
    for (size_t i = 0; i < snapshot->transition_count; i++) {
        const struct Transition *one = &snapshot->transitions[i];
        struct Row *row = RowTable_find(&model->rows, one->id);
        if (row && Deopt_is_recent(snapshot, one))
            row->deopt = true;
    }
    share_out(model);
    for (size_t i = 0; i < model->rows.count; i++) {
        struct Row *row = &model->rows.items[i];
        row->unseen = row->now ? 0 : row->unseen + 1;
        Trend_push(row->trend, row->now && !model->past ? Row_share(row) : NAN);
    }
    RowTable_forget(&model->rows);
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
            sum = Row_sum(sum, thread->functions[i].share);
    return sum;
}

static void update_whole(struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    if (!model->past)
        Trend_push(model->trend, Model_share(model));
    model->sampled = now->function_count == 0 && isfinite(now->sampler_hz);
    for (size_t i = 0; i < now->function_count && !model->sampled; i++)
        model->sampled = isfinite(now->functions[i].share);
}

// --- Order

static void arrange(struct Model *model)
{
    struct OrderRequest request = {.column = Model_sort_column(model),
                                   .invert = model->invert,
                                   .baseline = model->baseline,
                                   .hide_idle = model->hide_idle,
                                   .own_only = model->own_only,
                                   .filter = model->filter};
    model->shown =
        RowOrder_make(model->order, &model->rows, &request, &model->hidden);
}

static void drop_baseline(struct Model *model)
{
    model->baseline = false;
    Mark_release(&model->baseline_mark);
}

void Model_start_over(struct Model *model)
{
    RowTable_clear(&model->rows);
    model->reset = false;
    Mark_release(&model->reset_mark);
    drop_baseline(model);
    Tally_init(&model->tally);
}

// Allocates the memory that is needed for the snapshot's functions. If this
// allocation works, taking the snapshot cannot fail.
static int reserve(struct Model *model, size_t functions)
{
    if (RowTable_reserve(&model->rows, functions))
        return -ENOMEM;
    size_t capacity = model->rows.capacity;
    if (model->order_capacity >= capacity)
        return 0;
    uint32_t *order = realloc(model->order, capacity * sizeof *order);
    if (!order)
        return -ENOMEM;
    model->order = order;
    model->order_capacity = capacity;
    return 0;
}

int Model_push(struct Model *model, struct Snapshot *snapshot)
{
    struct Snapshot *before = model->snapshot;
    if (reserve(model, snapshot->function_count)) {
        Snapshot_free(snapshot);
        return -ENOMEM;
    }
    if (before && snapshot->uptime_s < before->uptime_s)
        Model_start_over(model); // The process has begun a new trace.
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
    for (size_t i = 0; i < model->rows.count; i++)
        Row_reset(&model->rows.items[i]);
    if (model->baseline)
        // The counts of the old baseline are no longer valid.
        Model_baseline(model);
    // If memory is out, the numbers of threads and transitions are still those
    // since the start of tracing.
    Mark_take(&model->reset_mark, model->snapshot);
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
    for (size_t i = 0; model->baseline && i < model->rows.count; i++) {
        struct Row *row = &model->rows.items[i];
        for (int id = 0; id < COLUMN_COUNT; id++)
            row->mark[id] = row->now ? COLUMNS[id].key(row) : NAN;
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
    bool sampled = model->sampled || !model->snapshot;
    return Column_in(model->sort, model->fleet != NULL, sampled);
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

void Model_show_latency(struct Model *model, bool latency)
{
    enum ColumnId sort = model->sort;
    bool invert = model->invert;
    if (model->latency == latency)
        return;
    model->latency = latency;
    model->sort = model->other_sort;
    model->invert = model->other_invert;
    model->other_sort = sort;
    model->other_invert = invert;
    arrange(model);
}

void Model_take_calls(struct Model *model, const struct Calls *calls, double s,
                      double samples)
{
    double all = 0;
    for (size_t i = 0; i < calls->function_count; i++)
        all += calls->functions[i].self;
    for (size_t i = 0; i < model->rows.count; i++) {
        struct Row *row = &model->rows.items[i];
        double share = Calls_of(calls, row->id).total;
        row->cpu_s = share * s;
        row->cpu_samples = all > 0 ? share / all * samples : 0;
    }
    if (model->sort == COLUMN_CPU)
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
    // The curves and the baseline were those of the previously chosen thread.
    drop_baseline(model);
    for (int i = 0; i < TREND_LENGTH && !model->past; i++)
        model->trend[i] = NAN;
    for (size_t i = 0; i < model->rows.count; i++) {
        struct Row *row = &model->rows.items[i];
        for (int k = 0; k < TREND_LENGTH; k++)
            row->trend[k] = NAN;
        Trend_push(row->trend, row->now && !model->past ? Row_share(row) : NAN);
    }
    if (!model->past)
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

void Model_set_own(struct Model *model, bool only)
{
    model->own_only = only;
    arrange(model);
}

bool Model_shows_file(const struct Model *model, const char *file)
{
    return !model->own_only || OwnFile_is(file);
}

const struct Row *Model_row(const struct Model *model, size_t index)
{
    return index < model->shown ? &model->rows.items[model->order[index]]
                                : NULL;
}

bool Model_shows(const struct Model *model, uint64_t id)
{
    for (size_t i = 0; i < model->shown; i++)
        if (model->rows.items[model->order[i]].id == id)
            return true;
    return false;
}
