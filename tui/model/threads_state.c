// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // qsort_r
#include "tui/model/threads_state.h"

#include "tui/model/baseline.h"
#include "tui/model/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ThreadsState_name(const struct Thread *thread)
{
    return thread->name && *thread->name ? thread->name : "(no name)";
}

static double key_of(const struct Thread *thread, int sort)
{
    switch (sort) {
    case THREADS_BY_WAIT:
        return thread->wait_share;
    case THREADS_BY_GIL_HELD:
        return thread->gil_held_share;
    case THREADS_BY_GIL_WAIT:
        return thread->gil_wait_share;
    case THREADS_BY_TIME:
        return thread->cpu_s;
    case THREADS_BY_SAMPLES:
        return Row_u64(thread->samples);
    case THREADS_BY_TID:
        return -Row_u64(thread->tid);
    default:
        return thread->cpu_share;
    }
}

// Ended threads come last. Threads with equal keys are sorted by thread id, and
// then by name.
static int compare(const void *left, const void *right, void *context)
{
    const struct Thread *a = *(const struct Thread *const *)left;
    const struct Thread *b = *(const struct Thread *const *)right;
    const struct ThreadsState *state = context;
    int sign = state->invert ? -1 : 1;
    int result = (a->ended == 1) - (b->ended == 1);
    if (result)
        return result;
    if (state->sort == THREADS_BY_NAME) {
        result = sign * strcmp(ThreadsState_name(a), ThreadsState_name(b));
    } else {
        double first = key_of(a, state->sort), second = key_of(b, state->sort);
        if (isnan(first) || isnan(second))
            result = isnan(first) - isnan(second);
        else
            result = sign * ((first < second) - (first > second));
    }
    if (!result)
        result = (a->tid > b->tid) - (a->tid < b->tid);
    return result ? result : strcmp(ThreadsState_name(a), ThreadsState_name(b));
}

void ThreadsState_release(struct ThreadsState *state)
{
    free(state->order);
    state->order = NULL;
    state->count = 0;
}

void ThreadsState_arrange(struct ThreadsState *state,
                          const struct Snapshot *now)
{
    size_t count = now ? now->thread_count : 0;
    ThreadsState_release(state);
    state->order = malloc((count + 1) * sizeof *state->order);
    if (!state->order)
        return;
    for (size_t i = 0; i < count; i++)
        state->order[state->count++] = &now->threads[i];
    qsort_r(state->order, count, sizeof *state->order, compare, state);
}

const struct Thread *ThreadsState_at(const struct ThreadsState *state, long row)
{
    return row > 0 && row <= state->count ? state->order[row - 1] : NULL;
}

long ThreadsState_row(struct ThreadsState *state, const struct Snapshot *now)
{
    const struct Thread *pinned =
        state->pinned && now ? ThreadKey_find(&state->pin, now) : NULL;
    if (pinned) // The thread may have ended or changed its name.
        state->pin = ThreadKey_of(pinned);
    for (long i = 0; pinned && i < state->count; i++)
        if (state->order[i] == pinned)
            return i + 1;
    return state->pinned ? -1 : 0;
}

void ThreadsState_pin(struct ThreadsState *state, const struct Thread *thread)
{
    state->pinned = thread != NULL;
    if (thread)
        state->pin = ThreadKey_of(thread);
}

// --- Numbers

struct ThreadFigures ThreadFigures_of(const struct Model *model,
                                      const struct Thread *thread)
{
    const struct ThreadMark *base = Mark_thread(&model->baseline_mark, thread);
    const struct ThreadMark *since =
        base ? base : Mark_thread(&model->reset_mark, thread);
    // If a thread began after the baseline, its value at the baseline is 0.
    double before = model->baseline ? 0 : NAN;
    return (struct ThreadFigures){
        .cpu = thread->cpu_share,
        .cpu_before = base ? base->cpu_share : before,
        .wait = thread->wait_share,
        .wait_before = base ? base->wait_share : before,
        .gil_held = thread->gil_held_share,
        .gil_wait = thread->gil_wait_share,
        .seconds = thread->cpu_s - (since ? since->cpu_s : 0),
        .samples = Row_u64(thread->samples) - (since ? since->samples : 0)};
}

struct ThreadFigures ThreadFigures_of_all(const struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    struct ThreadFigures all = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; now && i < now->thread_count; i++) {
        struct ThreadFigures one = ThreadFigures_of(model, &now->threads[i]);
        all.cpu = Row_sum(all.cpu, one.cpu);
        all.cpu_before = Row_sum(all.cpu_before, one.cpu_before);
        all.gil_held = Row_sum(all.gil_held, one.gil_held);
        all.gil_wait = Row_sum(all.gil_wait, one.gil_wait);
        all.seconds = Row_sum(all.seconds, one.seconds);
    }
    return all;
}
