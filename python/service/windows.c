// SPDX-License-Identifier: MIT
// See windows.h.
#include "python/service/windows.h"
#include "tracer/code/arming.h"
#include "tracer/code/registry.h"

static void begin(struct Windows *windows, struct State *state)
{
    state->renew_next = Registry_first(state->engine.registry);
    // Where it has risen, what was not called since has enough.
    windows->active = windows->counted;
    windows->counted = 0;
    windows->before_ticks = windows->begun_ticks;
    windows->since_ticks =
        windows->next_hits >= windows->hits ? windows->begun_ticks : 0;
    windows->begun_ticks = Clock_read(&state->engine.clock);
    windows->hits = windows->next_hits;
    windows->next_hits = 0;
    state->window++;
}

bool Windows_is_renewing(const struct Windows *windows)
{
    return windows->next_hits || windows->unfinished;
}

void Windows_renew(struct Windows *windows, struct State *state,
                   uint64_t deadline)
{
    if (windows->next_hits)
        begin(windows, state);
    while (state->renew_next && Clock_read(&state->engine.clock) < deadline) {
        struct Code *code = state->renew_next;
        uint64_t seen = Counter_get(&code->hot.last_seen);

        state->renew_next = Registry_next(code);
        windows->counted += seen >= windows->before_ticks;
        if (seen >= windows->since_ticks)
            Code_renew(code, windows->hits, state->window);
    }
    windows->unfinished = state->renew_next != NULL;
}
