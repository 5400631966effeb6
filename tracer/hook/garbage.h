// SPDX-License-Identifier: MIT
// Counts the garbage collections and their pauses for each generation. A thread
// that holds the GIL calls Garbage_begin, Garbage_end and Garbage_forget. Any
// thread may read the counts in struct Garbage. The thread that builds
// snapshots calls Garbage_share.
#pragma once

#include "tracer/base/counter.h"

// Name of the row for garbage collections.
#define GARBAGE_NAME "<garbage collection>"
#define GARBAGE_GENERATIONS 3

struct GarbageGeneration {
    counter_t collections; // Number of garbage collections that have ended.
    counter_t ticks;       // Ticks of all pauses of this generation.
    counter_t longest;     // Ticks of the longest pause of this generation.
};

// Sums over a window of time, in which the weight of older pauses decays.
struct GarbageWindow {
    double at_s;    // Seconds of the clock when the sums were last updated.
    uint64_t ticks; // Ticks of all pauses at the time `at_s`.
    // Sums of pauses and of wall-clock time in seconds, weighted by their
    // decay.
    double pause, all;
};

struct Garbage {
    struct GarbageGeneration generations[GARBAGE_GENERATIONS];
    // 1 if garbage collections are counted, and 0 if their numbers are unknown.
    counter_t known;
    // Ticks at the beginning of the present collection, or 0 if Ocular did not
    // see it begin.
    uint64_t began;
    struct GarbageWindow window;
};

// Sets all counts of garbage collections to 0 at the time `now_s`.
void Garbage_reset(struct Garbage *garbage, double now_s);
void Garbage_begin(struct Garbage *garbage, uint64_t ticks);
// Counts the garbage collection that ends now. Does nothing if Ocular did not
// see the collection begin.
void Garbage_end(struct Garbage *garbage, unsigned generation, uint64_t ticks);
// Forgets the present garbage collection, because Ocular will not see it end.
void Garbage_forget(struct Garbage *garbage);
// Returns the number of garbage collections of all generations.
uint64_t Garbage_collections(const struct Garbage *garbage);
// Returns the pauses in about the last ten seconds as a fraction of one core.
// The result is at most 1. Returns NaN if garbage collections are not counted,
// or if no time has passed.
double Garbage_share(struct Garbage *garbage, double now_s, double hz);
