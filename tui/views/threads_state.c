// SPDX-License-Identifier: MIT
// See threads_state.h.
#define _GNU_SOURCE 1 // qsort_r
#include "tui/views/threads_state.h"

#include "tui/model/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ThreadOrder_name(const struct Thread *thread)
{
    return thread->name && *thread->name ? thread->name : "(no name)";
}

static double key_of(const struct Thread *thread, int sort)
{
    switch (sort) {
    case THREADS_BY_WAIT:
        return thread->wait_share;
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

// Threads that have ended come last. Equal ones stand by tid, and those that
// had the same tid by name.
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
        result = sign * strcmp(ThreadOrder_name(a), ThreadOrder_name(b));
    } else {
        double first = key_of(a, state->sort), second = key_of(b, state->sort);
        if (isnan(first) || isnan(second))
            result = isnan(first) - isnan(second);
        else
            result = sign * ((first < second) - (first > second));
    }
    if (!result)
        result = (a->tid > b->tid) - (a->tid < b->tid);
    return result ? result : strcmp(ThreadOrder_name(a), ThreadOrder_name(b));
}

struct ThreadOrder ThreadOrder_make(const struct ThreadsState *state,
                                    const struct Snapshot *now)
{
    size_t count = now ? now->thread_count : 0;
    struct ThreadOrder order = {malloc((count + 1) * sizeof *order.threads), 0};
    if (!order.threads)
        return order;
    for (size_t i = 0; i < count; i++)
        order.threads[order.count++] = &now->threads[i];
    qsort_r(order.threads, count, sizeof *order.threads, compare,
            (void *)state);
    return order;
}

void ThreadOrder_release(struct ThreadOrder *order)
{
    free(order->threads);
    *order = (struct ThreadOrder){0};
}

const struct Thread *ThreadOrder_at(const struct ThreadOrder *order, long index)
{
    return index > 0 && index <= order->count ? order->threads[index - 1]
                                              : NULL;
}

void ThreadsState_fit(struct ThreadsState *state,
                      const struct ThreadOrder *order,
                      const struct Snapshot *now, long height)
{
    const struct Thread *pinned =
        state->pinned ? ThreadKey_find(&state->pin, now) : NULL;
    if (!state->pinned)
        state->list.selected = 0;
    if (pinned) // the thread may have ended, or have another name
        state->pin = ThreadKey_of(pinned);
    for (long i = 0; pinned && i < order->count; i++)
        if (order->threads[i] == pinned)
            state->list.selected = i + 1;
    List_fit(&state->list, &(struct ListRows){.count = order->count + 1},
             height);
}

void ThreadsState_pin(struct ThreadsState *state,
                      const struct ThreadOrder *order)
{
    const struct Thread *thread = ThreadOrder_at(order, state->list.selected);
    state->pinned = thread != NULL;
    if (thread)
        state->pin = ThreadKey_of(thread);
}
