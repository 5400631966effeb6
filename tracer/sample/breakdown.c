// SPDX-License-Identifier: MIT
#include "tracer/sample/breakdown.h"

#include <stdlib.h>
#include <string.h>

// Returns a free part for a new id, or the smallest part after adding its time
// to `others`. Another thread may read a part that has its new id but no time
// yet. No thread reads a new id with the time of the old id.
static struct BreakdownPart *make_room(struct Breakdown *breakdown, uint32_t id,
                                       const struct ShareTime *now)
{
    struct BreakdownPart *least = &breakdown->parts[0];
    double least_share = ShareValue_window(&least->time, now);

    for (size_t i = 1; i < BREAKDOWN_PARTS && Counter_get(&least->id); i++) {
        struct BreakdownPart *part = &breakdown->parts[i];
        double share = ShareValue_window(&part->time, now);

        if (Counter_get(&part->id) && share >= least_share)
            continue;
        least = part;
        least_share = share;
    }
    if (Counter_get(&least->id))
        ShareValue_join(&breakdown->others, &least->time, now);
    Counter_set_double(&least->time.window_ns, 0);
    Counter_set(&least->time.total_ns, 0);
    // This store pairs with the acquire in Breakdown_read.
    atomic_store_explicit(&least->id, id, memory_order_release);
    // `least` points into `parts`, which is not constant.
    // NOLINTNEXTLINE(*-core.NullDereference)
    least->seen = 0;
    least->reported = false;
    return least;
}

static struct BreakdownPart *find(struct Breakdown *breakdown, uint32_t id)
{
    for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
        if (Counter_get(&breakdown->parts[i].id) == id)
            return &breakdown->parts[i];
    return NULL;
}

struct BreakdownPart *Breakdown_add(struct Breakdown *breakdown, uint32_t id,
                                    const struct ShareTime *now,
                                    struct ShareCredit *credit)
{
    struct BreakdownPart *part = id ? find(breakdown, id) : NULL;

    if (id == 0) {
        ShareValue_credit(&breakdown->others, credit);
        return NULL;
    }
    if (!part)
        part = make_room(breakdown, id, now);
    ShareValue_credit(&part->time, credit);
    if (part->seen < UINT32_MAX)
        part->seen++;
    return part;
}

static int larger_first(const void *left, const void *right)
{
    const struct Caller *a = left, *b = right;

    return (a->share < b->share) - (a->share > b->share);
}

// Returns the share of time in the window that ends at `now`, or the ns since
// the start if `now` is NULL.
static double read_value(const struct ShareValue *value,
                         const struct ShareTime *now)
{
    return now ? ShareValue_window(value, now)
               : (double)Counter_get(&value->total_ns);
}

size_t Breakdown_read(const struct Breakdown *breakdown,
                      const struct ShareTime *now, struct Caller *rows)
{
    size_t count = 0;
    double others = read_value(&breakdown->others, now);

    for (size_t i = 0; i < BREAKDOWN_PARTS; i++) {
        const struct BreakdownPart *part = &breakdown->parts[i];
        uint64_t id = atomic_load_explicit(&part->id, memory_order_acquire);
        double share = read_value(&part->time, now);

        if (id && share > 0)
            rows[count++] = (struct Caller){id, share};
    }
    qsort(rows, count, sizeof *rows, larger_first);
    if (others > 0)
        rows[count++] = (struct Caller){NULL_U64, others};
    return count;
}

const struct Caller *Breakdown_list(const struct Breakdown *breakdown,
                                    const struct ShareTime *now,
                                    struct Arena *arena, size_t *count)
{
    struct Caller rows[BREAKDOWN_ROWS], *list;
    size_t found = Breakdown_read(breakdown, now, rows);

    list = found ? Arena_alloc(arena, found * sizeof *list) : NULL;
    if (list)
        memcpy(list, rows, found * sizeof *list);
    *count = list ? found : 0;
    return list;
}
