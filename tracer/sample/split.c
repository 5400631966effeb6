// SPDX-License-Identifier: MIT
// Parts by id, the least of which gives way; see the header.
#include "tracer/sample/split.h"

#include <stdlib.h>

// A newcomer's part: a free one, or the least, whose time is the others' now.
// A reader may meet it half done: an id with nothing, never another's time.
static struct SplitPart *make_room(struct Split *split, uint32_t id,
                                   const struct ShareTime *now)
{
    struct SplitPart *least = &split->parts[0];
    double least_share = ShareValue_window(&least->time, now);

    for (size_t i = 1; i < SPLIT_PARTS && Cell_get(&least->id); i++) {
        struct SplitPart *part = &split->parts[i];
        double share = ShareValue_window(&part->time, now);

        if (Cell_get(&part->id) && share >= least_share)
            continue;
        least = part;
        least_share = share;
    }
    if (Cell_get(&least->id))
        ShareValue_join(&split->others, &least->time, now);
    Cell_set_double(&least->time.window_ns, 0);
    Cell_set(&least->time.total_ns, 0);
    // Pairs with the acquire in Split_read.
    atomic_store_explicit(&least->id, id, memory_order_release);
    least->seen = 0;
    least->told = false;
    return least;
}

static struct SplitPart *find(struct Split *split, uint32_t id)
{
    for (size_t i = 0; i < SPLIT_PARTS; i++)
        if (Cell_get(&split->parts[i].id) == id)
            return &split->parts[i];
    return NULL;
}

struct SplitPart *Split_add(struct Split *split, uint32_t id,
                            const struct ShareTime *now,
                            struct ShareCredit *credit)
{
    struct SplitPart *part = id ? find(split, id) : NULL;

    if (id == 0) {
        ShareValue_credit(&split->others, credit);
        return NULL;
    }
    if (!part)
        part = make_room(split, id, now);
    ShareValue_credit(&part->time, credit);
    if (part->seen < UINT32_MAX)
        part->seen++;
    return part;
}

static int larger_first(const void *left, const void *right)
{
    const struct SplitRow *a = left, *b = right;

    return (a->share < b->share) - (a->share > b->share);
}

// In the window that ends now, or since the start where `now` is NULL.
static double read_value(const struct ShareValue *value,
                         const struct ShareTime *now)
{
    return now ? ShareValue_window(value, now)
               : (double)Cell_get(&value->total_ns);
}

static size_t read_all(const struct Split *split, const struct ShareTime *now,
                       struct SplitRow *rows)
{
    size_t count = 0;
    double others = read_value(&split->others, now);

    for (size_t i = 0; i < SPLIT_PARTS; i++) {
        const struct SplitPart *part = &split->parts[i];
        uint64_t id = atomic_load_explicit(&part->id, memory_order_acquire);
        double share = read_value(&part->time, now);

        if (id && share > 0)
            rows[count++] = (struct SplitRow){(uint32_t)id, share};
    }
    qsort(rows, count, sizeof *rows, larger_first);
    if (others > 0)
        rows[count++] = (struct SplitRow){0, others};
    return count;
}

size_t Split_read(const struct Split *split, const struct ShareTime *now,
                  struct SplitRow *rows)
{
    return read_all(split, now, rows);
}

size_t Split_totals(const struct Split *split, struct SplitRow *rows)
{
    return read_all(split, NULL, rows);
}
