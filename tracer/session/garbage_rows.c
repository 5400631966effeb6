// SPDX-License-Identifier: MIT
#include "tracer/session/garbage_rows.h"

bool GarbageRows_fill(struct Snapshot *snapshot, struct Garbage *garbage,
                      double now_s, double hz)
{
    struct GarbageRow *rows =
        Snapshot_alloc(snapshot, GARBAGE_GENERATIONS * sizeof *rows);
    bool known = Counter_get(&garbage->known);

    if (!rows)
        return false;
    for (int i = 0; i < GARBAGE_GENERATIONS; i++) {
        const struct GarbageGeneration *counted = &garbage->generations[i];

        rows[i] = (struct GarbageRow){NULL_U64, NULL_F64, NULL_F64};
        if (known)
            rows[i] = (struct GarbageRow){
                Counter_get(&counted->collections),
                (double)Counter_get(&counted->ticks) / hz,
                (double)Counter_get(&counted->longest) / hz,
            };
    }
    snapshot->gc_share = Garbage_share(garbage, now_s, hz);
    snapshot->gc_generations = rows;
    snapshot->gc_generation_count = GARBAGE_GENERATIONS;
    return true;
}
