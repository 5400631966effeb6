// SPDX-License-Identifier: MIT
#include "tracer/session/parts_row.h"

#include <string.h>

// Sets the time of waits for a CPU to null if the kernel does not count it.
static void hide_unknown(double waits[WAIT_KINDS], const struct Moment *at)
{
    if (!at->ready)
        waits[WAITS_CPU] = NULL_F64;
}

// Fills in the kinds of waits in a function's total time: zeros if there were
// no waits, and nulls if the kinds are not known.
static void fill_total_waits(struct PartShares *total,
                             const struct ShareWaits *from,
                             const struct ShareParts *parts,
                             const struct Moment *at)
{
    const struct ShareValue *whole = &parts->cumulative_wait;
    bool none = at->waits && ShareValue_window(whole, at->sampled) == 0;

    if (from &&
        ShareWaits_divide(from->total, whole, at->sampled, total->waits)) {
        hide_unknown(total->waits, at);
        return;
    }
    for (int i = 0; i < WAIT_KINDS; i++)
        total->waits[i] = none ? 0 : NULL_F64;
    hide_unknown(total->waits, at);
}

void PartsRow_fill(struct Arena *arena, struct Function *f,
                   const struct Code *code, const struct Moment *at)
{
    const struct ShareParts *parts = Share_parts(&code->share);
    const struct ShareWaits *from =
        at->waits ? Share_waits(&code->share) : NULL;
    struct WaitShares *waits;
    struct PartShares *total;
    double own[WAIT_KINDS];

    if (from && ShareWaits_divide(from->own, &parts->wait, at->sampled, own)) {
        waits = Arena_alloc(arena, sizeof *waits);
        if (!waits)
            return;
        hide_unknown(own, at);
        memcpy(waits->of, own, sizeof own);
        f->waits = waits;
        f->wait_count = 1;
    }
    total = f->total_share > 0 ? Arena_alloc(arena, sizeof *total) : NULL;
    if (!total)
        return;
    *total = (struct PartShares){
        .c = ShareValue_window(&parts->cumulative_c, at->sampled),
        .gc = ShareValue_window(&parts->cumulative_gc, at->sampled)};
    fill_total_waits(total, from, parts, at);
    f->total_parts = total;
    f->total_part_count = 1;
}
