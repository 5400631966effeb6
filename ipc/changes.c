// SPDX-License-Identifier: MIT
#include "ipc/changes.h"
#include "ipc/base/heap.h"
#include "ipc/base/id_map.h"
#include "ipc/function_order.h"
#include "ipc/rows.h"

#include <errno.h>
#include <string.h>

static const struct Field GONE_FIELDS[] = {
    U64(GoneFunction, id),
};
static const struct Record GONE_RECORD =
    RECORD(GoneFunction, "gone", GONE_FIELDS);

static const struct Field CHANGES_FIELDS[] = {
    F64(Changes, base_s),
    F64(Changes, fading.window_kept),
    F64(Changes, fading.run_kept),
    F64(Changes, fading.elapsed_s),
    LIST(Changes, gone, gone_count, GONE_RECORD),
};
const struct Record CHANGES_RECORD = RECORD(Changes, "changes", CHANGES_FIELDS);

void Changes_free(struct Changes *changes)
{
    if (!changes)
        return;
    Arena_release(&changes->arena);
    Heap_free(changes);
}

// Adds the estimated number of calls that a dark function (without hooks) has
// made since its row was filled. The error is proportional to the number of
// calls, because only the rate of the calls is known.
static void miss_calls(struct Function *f, double elapsed_s)
{
    double before = f->calls_estimated - (double)f->calls;
    double missed = before + f->missed_per_s * elapsed_s;

    if (!(missed > before))
        return;
    f->calls_error *= f->calls_estimated / before;
    f->calls_estimated = (double)f->calls + missed;
    f->calls_error *= missed / f->calls_estimated;
}

// Returns a copy of `size` bytes, or NULL if `from` is NULL or there is no
// memory.
static void *copy_of(const void *from, size_t size, struct Arena *arena)
{
    void *copy = from ? Arena_alloc(arena, size) : NULL;

    return copy ? memcpy(copy, from, size) : NULL;
}

// Returns a copy of shares, multiplied by `kept`.
static void *fade_shares(const void *from, size_t size, double kept,
                         struct Arena *arena)
{
    double *shares = copy_of(from, size, arena);

    for (size_t i = 0; shares && i < size / sizeof *shares; i++)
        shares[i] *= kept;
    return shares;
}

static bool fade_parts(struct Function *f, double kept, struct Arena *arena)
{
    const void *waits = f->waits, *parts = f->total_parts;
    const void *latencies = f->latencies;

    f->waits = fade_shares(waits, sizeof *f->waits, kept, arena);
    f->total_parts = fade_shares(parts, sizeof *f->total_parts, kept, arena);
    f->latencies = copy_of(latencies, sizeof *f->latencies, arena);
    f->wait_count = f->waits != NULL;
    f->total_part_count = f->total_parts != NULL;
    f->latency_count = f->latencies != NULL;
    return !waits == !f->waits && !parts == !f->total_parts &&
           !latencies == !f->latencies;
}

bool Fading_apply(const struct Fading *fading, struct Function *function,
                  struct Arena *arena)
{
    size_t bytes = function->caller_count * sizeof *function->callers;
    struct Caller *callers = bytes ? Arena_alloc(arena, bytes) : NULL;

    if (bytes && !callers)
        return false;
    for (size_t i = 0; i < function->caller_count; i++) {
        callers[i] = function->callers[i];
        callers[i].share *= fading->window_kept;
    }
    function->callers = callers;
    function->share *= fading->window_kept;
    function->cpu_share *= fading->window_kept;
    function->wait_share *= fading->window_kept;
    function->c_share *= fading->window_kept;
    function->total_share *= fading->window_kept;
    function->gil_blocked_share *= fading->window_kept;
    function->run_share *= fading->run_kept;
    // A rate with an error was counted in slices, in which all functions have
    // hooks. A rate that was counted in slices does not decay.
    if (function->rate_estimated == 1 && isnan(function->calls_per_s_error))
        function->calls_per_s *= fading->window_kept;
    miss_calls(function, fading->elapsed_s);
    function->age_s = fmax(function->age_s + fading->elapsed_s,
                           isnan(function->age_s) ? NAN : 0);
    return fade_parts(function, fading->window_kept, arena);
}

static bool mark(struct IdMap *map, uint64_t id)
{
    uint64_t *value = IdMap_at(map, id);

    if (value)
        *value = 1;
    return value;
}

// Marks the functions that are not copied from the base. Returns false if there
// is no memory.
static bool mark_replaced(struct IdMap *replaced, const struct Changes *changes,
                          const struct Snapshot *next)
{
    bool whole = true;

    for (size_t i = 0; whole && i < changes->gone_count; i++)
        whole = mark(replaced, changes->gone[i].id);
    for (size_t i = 0; whole && i < next->function_count; i++)
        whole = mark(replaced, next->functions[i].id);
    return whole;
}

static bool take_over(const struct Changes *changes, struct Snapshot *next,
                      struct Function *to, const struct Function *from)
{
    *to = *from;
    to->name = Snapshot_text(next, from->name);
    to->file = Snapshot_text(next, from->file);
    return (!from->name || to->name) && (!from->file || to->file) &&
           Fading_apply(&changes->fading, to, &next->arena);
}

int Changes_apply(const struct Changes *changes, const struct Snapshot *base,
                  struct Snapshot *next)
{
    size_t count = next->function_count;
    struct Function *all =
        Snapshot_alloc(next, (count + base->function_count) * sizeof *all);
    struct IdMap replaced = {.count = 0};
    bool whole = all && mark_replaced(&replaced, changes, next);

    if (whole && count)
        memcpy(all, next->functions, count * sizeof *all);
    for (size_t i = 0; whole && i < base->function_count; i++) {
        const struct Function *from = &base->functions[i];

        if (!IdMap_find(&replaced, from->id))
            whole = take_over(changes, next, &all[count++], from);
    }
    IdMap_release(&replaced);
    if (!whole)
        return -ENOMEM;
    FunctionOrder_sort(all, count, next->sampler_window_samples);
    next->functions = all;
    next->function_count = count;
    return 0;
}
