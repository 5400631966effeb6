// SPDX-License-Identifier: MIT
#include "ipc/row_set.h"
#include "ipc/function_order.h"

#include <errno.h>

struct Fading Fading_between(const struct RowMoment *from,
                             const struct RowMoment *to)
{
    double aged = exp(fmin(from->window_age - to->window_age, 0));

    return (struct Fading){
        .window_kept =
            to->window_ns > 0 ? aged * from->window_ns / to->window_ns : 1,
        .run_kept = to->run_ns > 0 ? from->run_ns / to->run_ns : 1,
        .elapsed_s = to->ticks_s - from->ticks_s,
    };
}

static bool has(const struct RowSet *set, const struct SharedRow *row)
{
    // The load of `until` pairs with the store to `until` in the thread that
    // builds a later snapshot.
    return atomic_load_explicit(&row->until, memory_order_relaxed) >
           set->moment.uptime_s;
}

static bool add(const struct RowSet *set, struct Snapshot *out,
                struct Function *to, const struct SharedRow *row)
{
    struct Fading fading = Fading_between(row->moment, &set->moment);

    *to = row->function;
    return Fading_apply(&fading, to, &out->arena);
}

// Copies the rows that were filled after `since_s`. The copies have the numbers
// at the time of the snapshot, although the rows were filled earlier.
static int add_rows(const struct RowSet *set, struct Snapshot *out,
                    double since_s)
{
    struct Function *functions;
    size_t room = 0, count = 0;

    for (size_t i = 0; i < set->block_count; i++)
        if (set->blocks[i]->newest_s > since_s)
            room += set->blocks[i]->count;
    functions = Snapshot_alloc(out, room * sizeof *functions);
    if (!functions)
        return -ENOMEM;
    for (size_t i = 0; i < set->block_count; i++) {
        const struct RowBlock *block = set->blocks[i];

        for (size_t n = 0; block->newest_s > since_s && n < block->count; n++)
            if (block->rows[n].moment->uptime_s > since_s &&
                has(set, &block->rows[n]) &&
                !add(set, out, &functions[count++], &block->rows[n]))
                return -ENOMEM;
    }
    out->functions = functions;
    out->function_count = count;
    return 0;
}

// Copies a snapshot without its functions.
static void copy(struct Snapshot *out, const struct Snapshot *shared)
{
    struct Arena arena = out->arena;

    *out = *shared;
    out->arena = arena;
    out->shared = NULL;
}

int RowSet_whole(const struct Snapshot *shared, struct Snapshot *out)
{
    int error;

    copy(out, shared);
    if (!shared->shared)
        return 0;
    error = add_rows(shared->shared, out, -INFINITY);
    if (!error)
        FunctionOrder_sort((struct Function *)out->functions,
                           out->function_count, out->sampler_window_samples);
    return error;
}

static int add_gone(const struct RowSet *set, struct Changes *changes,
                    double since_s)
{
    struct GoneFunction *gone =
        Arena_alloc(&changes->arena, set->gone_count * sizeof *gone);

    if (!gone)
        return -ENOMEM;
    for (size_t i = 0; i < set->gone_count; i++)
        if (set->gone[i].uptime_s > since_s)
            gone[changes->gone_count++].id = set->gone[i].id;
    changes->gone = gone;
    return 0;
}

int RowSet_changes(const struct Snapshot *shared, const struct RowMoment *base,
                   struct Snapshot *out, struct Changes *changes)
{
    const struct RowSet *set = shared->shared;
    int error;

    copy(out, shared);
    *changes = (struct Changes){.base_s = base->uptime_s};
    if (!set || !(base->uptime_s >= set->known_s))
        return -ESTALE;
    changes->fading = Fading_between(base, &set->moment);
    error = add_gone(set, changes, base->uptime_s);
    return error ? error : add_rows(set, out, base->uptime_s);
}

int RowSet_settle(struct Snapshot *snapshot)
{
    struct Snapshot whole = {0};
    struct Function *functions;
    int error = RowSet_whole(snapshot, &whole);
    size_t count = whole.function_count;

    if (!snapshot->shared)
        return 0;
    functions =
        error ? NULL : Snapshot_alloc(snapshot, count * sizeof *functions);
    for (size_t i = 0; functions && i < count; i++) {
        struct Function *to = &functions[i];
        const struct Fading same = {1, 1, 0};

        *to = whole.functions[i];
        to->name = Snapshot_text(snapshot, to->name);
        to->file = Snapshot_text(snapshot, to->file);
        if (!to->name || !to->file ||
            !Fading_apply(&same, to, &snapshot->arena))
            functions = NULL;
    }
    Arena_release(&whole.arena);
    if (!functions)
        return -ENOMEM;
    snapshot->functions = functions;
    snapshot->function_count = count;
    snapshot->shared = NULL;
    return 0;
}
