// SPDX-License-Identifier: MIT
#include "tracer/hook/garbage.h"

#include <math.h>

// Mean age in seconds of the garbage collections from which Garbage_share is
// computed.
#define WINDOW_S 10.0

void Garbage_reset(struct Garbage *garbage, double now_s)
{
    *garbage = (struct Garbage){.window.at_s = now_s};
}

void Garbage_begin(struct Garbage *garbage, uint64_t ticks)
{
    garbage->began = ticks;
}

void Garbage_forget(struct Garbage *garbage)
{
    garbage->began = 0;
}

void Garbage_end(struct Garbage *garbage, unsigned generation, uint64_t ticks)
{
    struct GarbageGeneration *counted;
    uint64_t pause = ticks - garbage->began;

    // The time stamp counters of two CPUs can differ by a few ticks.
    if (garbage->began && ticks > garbage->began) {
        if (generation >= GARBAGE_GENERATIONS)
            generation = GARBAGE_GENERATIONS - 1;
        counted = &garbage->generations[generation];
        Counter_add(&counted->collections, 1);
        Counter_add(&counted->ticks, pause);
        if (pause > Counter_get(&counted->longest))
            Counter_set(&counted->longest, pause);
    }
    garbage->began = 0;
}

uint64_t Garbage_collections(const struct Garbage *garbage)
{
    uint64_t count = 0;

    for (int i = 0; i < GARBAGE_GENERATIONS; i++)
        count += Counter_get(&garbage->generations[i].collections);
    return count;
}

static uint64_t sum(const struct Garbage *garbage)
{
    uint64_t ticks = 0;

    for (int i = 0; i < GARBAGE_GENERATIONS; i++)
        ticks += Counter_get(&garbage->generations[i].ticks);
    return ticks;
}

double Garbage_share(struct Garbage *garbage, double now_s, double hz)
{
    struct GarbageWindow *window = &garbage->window;
    double s = fmax(now_s - window->at_s, 0), kept = exp(-s / WINDOW_S);
    uint64_t ticks = sum(garbage);
    double pause = (double)(ticks - window->ticks) / hz;
    // `all` is the wall-clock time since the last call of Garbage_share, in
    // which older parts of this time weigh less. The pauses are treated as if
    // they were spread evenly over this time.
    double all = WINDOW_S * (1 - kept);

    window->pause = window->pause * kept + (s > 0 ? pause * all / s : pause);
    window->all = window->all * kept + all;
    window->at_s = now_s;
    window->ticks = ticks;
    if (!Counter_get(&garbage->known) || !(window->all > 0))
        return NAN;
    return fmin(window->pause / window->all, 1);
}
