// SPDX-License-Identifier: MIT
#include "tui/model/since.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t less(uint64_t value, double base)
{
    if (value == NULL_U64 || base <= 0)
        return value;
    return (double)value > base ? value - (uint64_t)base : 0;
}

// Returns a copy of the function with its counts since Row_reset.
static struct Function count_function(const struct Row *row)
{
    struct Function function = *row->now;
    function.calls = less(function.calls, row->base.calls);
    function.calls_estimated = Row_estimated(row);
    function.calls_error *=
        row->now->calls_estimated / function.calls_estimated;
    function.self_cycles = less(function.self_cycles, row->base.self);
    function.total_cycles = less(function.total_cycles, row->base.total);
    function.waited_cycles = less(function.waited_cycles, row->base.waited);
    function.samples = less(function.samples, row->base.samples);
    function.raised = less(function.raised, row->base.raised);
    return function;
}

// For a single thread, only the CPU share is known.
static void take_part(struct Function *function, const struct Row *row)
{
    if (!row->part)
        return;
    function->share = function->cpu_share = row->part_share;
    function->wait_share = function->c_share = function->total_share = NAN;
    function->gil_blocked_share = NAN;
    function->wait_count = function->total_part_count = 0;
}

static struct Thread count_thread(struct Thread thread, const struct Mark *mark)
{
    const struct ThreadMark *then = Mark_thread(mark, &thread);
    if (!then)
        return thread;
    if (isfinite(then->samples))
        thread.samples = less(thread.samples, then->samples);
    if (isfinite(then->cpu_s))
        thread.cpu_s -= then->cpu_s;
    return thread;
}

static void fill(struct Since *since, const struct Model *model, bool shown)
{
    const struct Snapshot *now = model->snapshot;
    const struct Mark *mark = &model->reset_mark;
    struct Snapshot *out = &since->snapshot;
    for (size_t i = 0; i < out->function_count; i++) {
        const struct Row *row = shown
                                    ? Model_row(model, i)
                                    : Model_row_of(model, now->functions[i].id);
        since->functions[i] = count_function(row);
        if (shown)
            take_part(&since->functions[i], row);
    }
    for (size_t i = 0; i < now->thread_count; i++)
        since->threads[i] = count_thread(now->threads[i], mark);
    for (size_t i = 0; i < now->transition_pair_count; i++) {
        since->pairs[i] = now->transition_pairs[i];
        since->pairs[i].count =
            less(since->pairs[i].count, Mark_pair(mark, &since->pairs[i]));
    }
    out->functions = since->functions;
    out->threads = since->threads;
    out->transition_pairs = since->pairs;
    if (!model->reset)
        return;
    since->at_s = model->base_uptime;
    out->events = less(out->events, Row_u64(model->base_events));
    out->lost = less(out->lost, Row_u64(model->base_lost));
}

int Since_make(struct Since *since, const struct Model *model, bool shown)
{
    const struct Snapshot *now = model->snapshot;
    size_t count = shown ? model->shown : now->function_count;
    *since = (struct Since){.snapshot = *now, .at_s = NAN, .tid = NULL_U64};
    if (shown && model->one_thread)
        since->tid = model->thread.tid;
    since->snapshot.function_count = count;
    since->functions = calloc(count + 1, sizeof *since->functions);
    since->threads = calloc(now->thread_count + 1, sizeof *since->threads);
    since->pairs = calloc(now->transition_pair_count + 1, sizeof *since->pairs);
    if (!since->functions || !since->threads || !since->pairs) {
        Since_release(since);
        return -ENOMEM;
    }
    fill(since, model, shown);
    return 0;
}

void Since_release(struct Since *since)
{
    free(since->functions);
    free(since->threads);
    free(since->pairs);
    *since = (struct Since){.at_s = NAN, .tid = NULL_U64};
}
