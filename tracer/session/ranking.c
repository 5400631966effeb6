// SPDX-License-Identifier: MIT
#include "tracer/session/ranking.h"

#include <math.h>
#include <string.h>

struct Cost {
    double share;
    uint64_t self_cycles, total_cycles, calls;
};

static struct Cost cost_of(const struct Ranked *ranked)
{
    const struct Function *function = ranked->function;
    const struct RetiredRow *retired = ranked->retired;

    if (function)
        return (struct Cost){function->run_share, function->self_cycles,
                             function->total_cycles, function->calls};
    // If `function` is NULL, `retired` is not NULL.
    // NOLINTNEXTLINE(*-core.NullDereference)
    return (struct Cost){retired->run_share, retired->self_cycles,
                         retired->total_cycles, retired->calls};
}

static int larger_first(uint64_t a, uint64_t b)
{
    a = a == NULL_U64 ? 0 : a;
    b = b == NULL_U64 ? 0 : b;
    return (a < b) - (a > b);
}

int Ranking_compare(const struct Ranked *a, const struct Ranked *b)
{
    struct Cost x = cost_of(a), y = cost_of(b);
    double left = isnan(x.share) ? 0 : x.share;
    double right = isnan(y.share) ? 0 : y.share;
    int order;

    if (left != right)
        return left < right ? 1 : -1;
    order = larger_first(x.self_cycles, y.self_cycles);
    if (!order)
        order = larger_first(x.total_cycles, y.total_cycles);
    return order ? order : larger_first(x.calls, y.calls);
}

// Inserts a function into the sorted list of functions. Returns the new length
// of the list.
static size_t insert(struct Ranked *first, size_t count, size_t room,
                     struct Ranked ranked)
{
    size_t at = count;

    while (at > 0 && Ranking_compare(&ranked, &first[at - 1]) < 0)
        at--;
    if (at == room)
        return count;
    if (count < room)
        count++;
    memmove(&first[at + 1], &first[at], (count - 1 - at) * sizeof *first);
    first[at] = ranked;
    return count;
}

static bool sums_up_others(const struct RetiredRow *row)
{
    return !row->file && row->line == NULL_U64;
}

size_t Ranking_first(const struct Snapshot *snapshot, struct Ranked *first,
                     size_t room)
{
    size_t i, count = 0;

    for (i = 0; i < snapshot->function_count; i++)
        count = insert(first, count, room,
                       (struct Ranked){.function = &snapshot->functions[i]});
    for (i = 0; i < snapshot->retired_count; i++)
        if (!sums_up_others(&snapshot->retired[i]))
            count = insert(first, count, room,
                           (struct Ranked){.retired = &snapshot->retired[i]});
    return count;
}

const struct RetiredRow *Ranking_others(const struct Snapshot *snapshot)
{
    size_t i;

    for (i = 0; i < snapshot->retired_count; i++)
        if (sums_up_others(&snapshot->retired[i]))
            return &snapshot->retired[i];
    return NULL;
}
