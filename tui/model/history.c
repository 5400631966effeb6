// SPDX-License-Identifier: MIT
#include "tui/model/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Two moments of a history are at least APART_S seconds apart, so that the
// history covers a minute.
#define APART_S 0.9
#define LONGEST_S 60.0

static int compare(const void *left, const void *right)
{
    uint64_t a = ((const struct Total *)left)->key;
    uint64_t b = ((const struct Total *)right)->key;
    return (a > b) - (a < b);
}

// Returns a copy of a moment, in which the totals are sorted by key. If memory
// is out, the copy has no totals and stands for the start of tracing.
static struct Moment copy_of(const struct Moment *now)
{
    struct Moment copy = *now;
    copy.totals = malloc((now->count + 1) * sizeof *copy.totals);
    if (!copy.totals)
        return (struct Moment){0};
    if (now->count)
        memcpy(copy.totals, now->totals, now->count * sizeof *copy.totals);
    qsort(copy.totals, copy.count, sizeof *copy.totals, compare);
    return copy;
}

static void forget_oldest(struct History *history)
{
    Moment_release(&history->moments[0]);
    memmove(history->moments, history->moments + 1,
            --history->count * sizeof history->moments[0]);
}

void History_note(struct History *history, const struct Moment *now)
{
    double newest =
        history->count ? history->moments[history->count - 1].at_s : -INFINITY;
    if (!isfinite(now->at_s))
        return;
    if (now->at_s < newest || now->at_s < history->mark.at_s) {
        History_release(history);
        newest = -INFINITY;
    }
    if (now->at_s < newest + APART_S)
        return;
    // Drops the moments that no period needs. Of the moments that are older
    // than the longest period, one is kept.
    while (history->count == HISTORY_MOST ||
           (history->count > 1 &&
            history->moments[1].at_s <= now->at_s - LONGEST_S))
        forget_oldest(history);
    history->moments[history->count++] = copy_of(now);
}

void History_mark(struct History *history, const struct Moment *now)
{
    Moment_release(&history->mark);
    history->mark = copy_of(now);
}

const struct Moment *History_begin(const struct History *history, double now_s,
                                   enum Period period)
{
    double begin = now_s - (period == PERIOD_5_S ? 5 : 60) + APART_S / 2;
    size_t i = history->count;
    if (period == PERIOD_SINCE || !i)
        return &history->mark;
    while (i-- > 1)
        if (history->moments[i].at_s <= begin)
            break;
    return &history->moments[i];
}

struct Total Moment_since(const struct Moment *then, const struct Total *now)
{
    const struct Total *before = then->count
                                     ? bsearch(now, then->totals, then->count,
                                               sizeof *then->totals, compare)
                                     : NULL;
    struct Total since = *now;
    if (before) {
        since.all = fmax(now->all - before->all, 0);
        since.in_c = fmax(now->in_c - before->in_c, 0);
    }
    return since;
}

const char *History_about(const struct History *history, enum Period period)
{
    if (period != PERIOD_SINCE)
        return "";
    return history->mark.at_s > 0 ? ", since r" : ", since the start";
}

void Moment_release(struct Moment *moment)
{
    free(moment->totals);
    *moment = (struct Moment){0};
}

void History_release(struct History *history)
{
    while (history->count)
        Moment_release(&history->moments[--history->count]);
    Moment_release(&history->mark);
}
