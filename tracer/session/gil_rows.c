// SPDX-License-Identifier: MIT
#include "tracer/session/gil_rows.h"
#include "tracer/base/rcu.h"

// Sets the name and the file of one function on a stack. If the function's code
// object was freed, only its id is known.
static void name(struct Snapshot *snapshot, struct StackPlace *place,
                 struct Registry *registry)
{
    const struct Code *code;

    Rcu_read_lock();
    code = Registry_by_id(registry, (uint32_t)place->id);
    if (code) {
        place->name = Snapshot_text(snapshot, code->who.name);
        place->file = Snapshot_text(snapshot, code->who.file);
    }
    Rcu_read_unlock();
}

void GilRows_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct Registry *registry)
{
    struct GilFigures figures;
    struct StackPlace *places;

    Sampler_gil(sampler, &figures);
    snapshot->gil_held = figures.held;
    snapshot->gil_waited = figures.waited;
    snapshot->gil_held_s = figures.held_s;
    snapshot->gil_waited_s = figures.waited_s;
    snapshot->gil_longest_s = figures.longest_s;
    snapshot->cpu_waited = figures.starved;
    if (!figures.depth)
        return;
    places = Snapshot_alloc(snapshot, figures.depth * sizeof *places);
    for (size_t i = 0; places && i < figures.depth; i++) {
        const struct PlaceInCode *from = &figures.frames[i];

        places[i] = (struct StackPlace){
            .id = from->id, .line = from->line ? from->line : NULL_U64};
        name(snapshot, &places[i], registry);
    }
    snapshot->gil_longest = places;
    snapshot->gil_longest_count = places ? figures.depth : 0;
}
