// SPDX-License-Identifier: MIT
// Counts the garbage collector's collections and their pauses, by generation.
// The holder of the GIL calls Garbage_begin, Garbage_end and Garbage_forget.
// Any thread may read the counters. The thread that builds snapshots calls
// Garbage_share.
#ifndef OCULAR_TRACER_HOOK_GARBAGE_H
#define OCULAR_TRACER_HOOK_GARBAGE_H

#include "tracer/base/counter.h"

#define GARBAGE_NAME "<garbage collection>" // function's name in all lists
#define GARBAGE_GENERATIONS 3

struct GarbageGeneration {
    counter_t collections; // collections that have ended
    counter_t ticks;       // sum of their pauses
    counter_t longest;     // ticks of the longest pause
};

// Sums of a window whose older parts decay.
struct GarbageWindow {
    double at_s;       // time at which the window was last updated
    uint64_t ticks;    // sum of all pauses until `at_s`
    double pause, all; // seconds, weighted by their decay; `all` is wall time
};

struct Garbage {
    struct GarbageGeneration generations[GARBAGE_GENERATIONS];
    // 1 if collections are counted; 0 if their numbers are unknown
    counter_t known;
    uint64_t began; // ticks; 0 if the beginning was not seen
    struct GarbageWindow window;
};

// Sets all numbers to 0, at the time `now_s`.
void Garbage_reset(struct Garbage *garbage, double now_s);
void Garbage_begin(struct Garbage *garbage, uint64_t ticks);
// Counts the collection. Does nothing if its beginning was not seen.
void Garbage_end(struct Garbage *garbage, unsigned generation, uint64_t ticks);
// Forgets a collection whose end will not be seen.
void Garbage_forget(struct Garbage *garbage);
// Returns the number of collections of all generations.
uint64_t Garbage_collections(const struct Garbage *garbage);
// Returns the pauses of about the last ten seconds as a share of one core.
// The result is at most 1. Returns NaN if collections are not counted or no
// time has passed.
double Garbage_share(struct Garbage *garbage, double now_s, double hz);

#endif
